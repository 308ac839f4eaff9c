//! Shared scans: each question is asked once, however many images want to know.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aiu_core::decide::{Inspection, Metadata, Needs, TagList};
use aiu_core::image::{Digest, Platform, Tag};
use aiu_core::outcome::Remedy;
use aiu_core::registries::{Dates, Endpoint};
use aiu_http::{HostStats, Http, HttpSettings};
use futures::{StreamExt as _, TryStreamExt as _};
use tokio::time::Instant;

use crate::client::{Client, Remote};
use crate::credentials::cloud::Clouds;
use crate::credentials::cloud::aws::Pushed;
use crate::credentials::{Credentials, CredentialsId, Variables};
use crate::error::{ScanError, ScanProblem};
use crate::flights::{Flights, Landed};
use crate::images::{Detail, Images, Wanted, patience};
use crate::pages::{Listing, list};
use crate::signature::{Checked, SignatureError, Signed};
use crate::tls::CaFiles;

/// Listings kept; those asked for longest ago make room.
const CAPACITY: usize = 20_000;

/// Tags of one repository looked at in parallel (spec 10 §8.4).
const INSPECTED_AT_ONCE: usize = 20;

/// What a scan is about. Two scans with equal keys see the same tags. The name of the
/// credentials is part of it: what one tenant may list is never answered from another
/// tenant's scan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScanKey {
    /// The registry, by its prefix.
    pub endpoint: Arc<str>,
    /// The repository, as the registry knows it.
    pub repository: Arc<str>,
    /// Who asks.
    pub credentials: CredentialsId,
}

/// A question about a repository, with all it takes to ask it.
#[derive(Clone, Debug)]
pub struct ScanRequest {
    /// The registry.
    pub endpoint: Arc<Endpoint>,
    /// The repository, as the registry knows it ([`Endpoint::wire_path`]).
    pub path: Arc<str>,
    /// Who asks.
    pub credentials: Credentials,
}

impl ScanRequest {
    /// What it is about.
    pub fn key(&self) -> ScanKey {
        ScanKey {
            endpoint: Arc::clone(&self.endpoint.prefix),
            repository: Arc::clone(&self.path),
            credentials: self.credentials.id(),
        }
    }

    /// What is wrong with the repository's name, if no registry can have it.
    pub(crate) fn irregularity(&self) -> Option<String> {
        // A host in front, since the first part of a bare path may look like one.
        match format!("registry.invalid/{}", self.path).parse::<aiu_core::image::Repository>() {
            Ok(repository) => {
                let cause = repository.irregularity()?;
                Some(cause.to_string().replace("registry.invalid/", ""))
            }
            Err(cause) => Some(cause.to_string()),
        }
    }
}

/// What all scans have in common.
#[derive(Clone, Debug)]
pub struct ScannerSettings {
    /// How HTTP is spoken.
    pub http: HttpSettings,
    /// A folder of certificates by name of host, trusted for that host (spec 11 §1.6).
    pub ca_folder: Option<PathBuf>,
    /// What clouds are signed in to with.
    pub variables: Variables,
}

impl Default for ScannerSettings {
    fn default() -> Self {
        let ca_folder = Some(PathBuf::from("/app/config/tls"));
        Self { http: HttpSettings::default(), ca_folder, variables: Variables::of_process() }
    }
}

type Scan = Result<Arc<Listing>, Arc<ScanError>>;

/// When images were pushed.
type Told = Result<Pushed, Arc<ScanError>>;

/// Asks registries, each question once.
///
/// A failure is shared like an answer, for as long as its remedy says: a dead registry costs
/// one request, not one per image.
pub struct Scanner {
    client: Client,
    clouds: Arc<Clouds>,
    listings: Flights<ScanKey, Scan>,
    images: Images,
    pushed: Flights<ScanKey, Told>,
    checked: Checked,
}

impl Scanner {
    /// A scanner that knows nothing yet.
    pub fn new(settings: ScannerSettings) -> Self {
        let ca_folder = settings.ca_folder.map(|folder| Arc::from(Path::new(&folder)));
        let http = Http::new(settings.http);
        let ca_files = Arc::new(CaFiles::new(ca_folder));
        let clouds = Clouds::new(http.clone(), settings.variables, Arc::clone(&ca_files));
        let client = Client::new(http, ca_files);
        Self {
            client,
            clouds: Arc::new(clouds),
            listings: Flights::new(CAPACITY),
            images: Images::new(),
            pushed: Flights::new(CAPACITY),
            checked: Checked::default(),
        }
    }

    /// All tags of a repository, from a listing that began no earlier than `not_before`.
    ///
    /// Whoever accepts an older listing gets it without a request; whoever comes while it is
    /// being fetched waits for it.
    pub async fn list_tags(
        &self,
        request: &ScanRequest,
        not_before: Instant,
    ) -> Result<Arc<TagList>, Arc<ScanError>> {
        self.listing(request, not_before).await.map(|listing| Arc::clone(&listing.tags))
    }

    /// As [`Scanner::list_tags`], with what was left out of the list.
    pub async fn listing(
        &self,
        request: &ScanRequest,
        not_before: Instant,
    ) -> Result<Arc<Listing>, Arc<ScanError>> {
        let joins = |started| started >= not_before;
        let accepts = |landed: &Landed<Scan>| landed.started >= not_before || is_kept(landed);
        let ask = async |before: Option<Scan>| {
            let before = before.and_then(Result::ok);
            self.ask(request, before.as_deref()).await.map(Arc::new).map_err(Arc::new)
        };
        self.listings.get(&request.key(), joins, accepts, ask).await
    }

    /// [`Scanner::list_tags`] for many, at most `concurrency` at once; answers in the order
    /// of the requests. Equal requests are one question.
    pub async fn list_many(
        &self,
        requests: &[ScanRequest],
        not_before: Instant,
        concurrency: usize,
    ) -> Vec<Result<Arc<TagList>, Arc<ScanError>>> {
        // Unordered, lest the answers behind a slow registry wait for it.
        let requests: Vec<_> = requests.iter().cloned().enumerate().collect();
        let mut answers: Vec<_> =
            futures::stream::iter(requests)
                .map(|(place, request)| async move {
                    (place, self.list_tags(&request, not_before).await)
                })
                .buffer_unordered(concurrency.max(1))
                .collect()
                .await;
        answers.sort_unstable_by_key(|(place, _)| *place);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// What lies behind one tag, from an answer that was asked for no earlier than
    /// `not_before`. `platforms` are those wanted, empty for any.
    pub async fn inspect(
        &self,
        request: &ScanRequest,
        tag: &Tag,
        detail: Detail,
        platforms: &[Platform],
        not_before: Instant,
    ) -> Result<Inspection, Arc<ScanError>> {
        let remote = self.client.open(request).await.map_err(Arc::new)?;
        let wanted = Wanted { tag, detail, platforms, not_before };
        self.images.inspect(&self.client, &remote, wanted).await
    }

    /// What a shortlist must be told ([`Shortlist::needs`](aiu_core::decide::Shortlist)).
    ///
    /// One tag without an answer fails all of them, since nothing may be chosen then (spec 10
    /// F6). A single digest is as fresh as `not_before`; where the dates of all tags are
    /// wanted, a known tag is asked about once an hour.
    pub async fn inspect_needs(
        &self,
        request: &ScanRequest,
        needs: &Needs,
        platforms: &[Platform],
        not_before: Instant,
    ) -> Result<Metadata, Arc<ScanError>> {
        let (tags, detail) = match needs {
            Needs::Nothing => return Ok(Metadata::new()),
            Needs::Digest(tag) => (std::slice::from_ref(tag), Detail::Digest),
            Needs::Dates(tags) => (&**tags, Detail::Config),
        };
        let remote = &self.client.open(request).await.map_err(Arc::new)?;
        if matches!(needs, Needs::Dates(_)) && request.endpoint.dates == Dates::Pushed {
            return self.push_dates(remote, tags, not_before).await;
        }
        let now = Instant::now();
        futures::stream::iter(tags.to_vec())
            .map(|tag| async move {
                let not_before = match detail {
                    Detail::Digest => not_before,
                    Detail::Config => now.checked_sub(patience(&tag)).unwrap_or(not_before),
                };
                let wanted = Wanted { tag: &tag, detail, platforms, not_before };
                let answer = self.images.inspect(&self.client, remote, wanted).await?;
                Ok((tag, answer))
            })
            .buffer_unordered(INSPECTED_AT_ONCE)
            .try_collect()
            .await
    }

    /// When tags were pushed, from one description of the whole repository. Images are not looked
    /// at, and so neither are their platforms (spec 40 B13).
    async fn push_dates(
        &self,
        remote: &Remote<'_>,
        tags: &[Tag],
        not_before: Instant,
    ) -> Result<Metadata, Arc<ScanError>> {
        let request = remote.request;
        let joins = |started| started >= not_before;
        let accepts = |landed: &Landed<Told>| landed.started >= not_before || is_kept(landed);
        let ask = async |_| {
            let asker = request.credentials.id();
            let told = self.clouds.pushed(&request.endpoint, &asker, &request.path);
            // Boxed, since it is large, seldom needed, and part of every pass.
            let told = Box::pin(told).await;
            told.map_err(|error| Arc::new(remote.error(ScanProblem::PushDates(Box::new(error)))))
        };
        let pushed = self.pushed.get(&request.key(), joins, accepts, ask).await?;
        let answer = |tag: &Tag| match pushed.get(tag) {
            Some(image) => Inspection::Image(image.clone()),
            None => Inspection::NoManifest,
        };
        Ok(tags.iter().map(|tag| (tag.clone(), answer(tag))).collect())
    }

    /// Checks that an image is signed, and tells which digest is: the one that is written with
    /// it, else what its tag means before and after the check.
    pub async fn check_signature(
        &self,
        request: &ScanRequest,
        signed: Signed<'_>,
    ) -> Result<Digest, SignatureError> {
        let opened = self.client.open(request).await;
        let remote = opened.map_err(|error| SignatureError::Scan(Arc::new(error)))?;
        self.checked.check(&self.client, &self.images, &remote, signed).await
    }

    /// The sign-in of clouds, over this scanner's connections.
    pub(crate) fn clouds(&self) -> &Arc<Clouds> {
        &self.clouds
    }

    /// What each host was asked so far, ordered by host.
    pub fn stats(&self) -> Vec<HostStats> {
        self.client.http().stats()
    }

    async fn ask(
        &self,
        request: &ScanRequest,
        before: Option<&Listing>,
    ) -> Result<Listing, ScanError> {
        let remote = self.client.open(request).await?;
        list(&self.client, &remote, before).await
    }
}

/// Whether asking again would be too early, whatever the caller wants.
pub(crate) fn is_kept<T>(landed: &Landed<Result<T, Arc<ScanError>>>) -> bool {
    match landed.value.as_ref().map_err(|error| error.remedy()) {
        Err(Remedy::RetryAfter(pause)) => Instant::now() < landed.at + pause,
        Err(Remedy::AwaitChange) | Ok(_) => false,
    }
}
