//! What tags point to, and what lies there: a tag's digest with an age, everything by digest
//! for as long as there is room.

use std::sync::Arc;
use std::time::Duration;

use aiu_core::decide::{ImageMeta, Inspection};
use aiu_core::image::{Digest, Platform, Tag};
use aiu_http::header::CONTENT_TYPE;
use aiu_http::{Answer, Method, StatusCode};
use tokio::time::Instant;

use crate::client::{Ask, Client, Remote};
use crate::error::ScanError;
use crate::flights::{Flights, Landed};
use crate::manifest::{self, Child, Config, Manifest};
use crate::scanner::{ScanKey, is_kept};

/// Tags whose digest is remembered.
const MAX_TAGS: usize = 100_000;
/// Manifests and configs that are remembered, each.
const MAX_CONTENTS: usize = 100_000;
/// Largest manifest (spec 11 G19).
const MAX_MANIFEST: usize = 4 * 1024 * 1024;
/// Largest config.
const MAX_CONFIG: usize = 8 * 1024 * 1024;
/// Indexes within indexes are followed this deep.
const MAX_DEPTH: usize = 3;

/// How much of an image must be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The digest that the tag names, if there is an image for a wanted platform.
    Digest,
    /// Build date and labels, too.
    Config,
}

/// What is wanted of an image.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) tag: &'a Tag,
    pub(crate) detail: Detail,
    /// Empty for any.
    pub(crate) platforms: &'a [Platform],
    /// What the tag points to must have been asked since.
    pub(crate) not_before: Instant,
}

/// A content, or the lack of it, which is a registry's final word for now.
#[derive(Clone)]
enum Content<T> {
    There(Arc<T>),
    /// There, and of no use.
    Unusable,
    Missing,
}

type Told<T> = Result<T, Arc<ScanError>>;

/// One content of a repository. Who asks is not part of it: a digest is learned from a tag
/// only, and tags are resolved for each asker apart.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ContentKey {
    endpoint: Arc<str>,
    repository: Arc<str>,
    digest: Digest,
}

pub(crate) struct Images {
    tags: Flights<(ScanKey, Tag), Told<Option<Digest>>>,
    manifests: Flights<ContentKey, Told<Content<Manifest>>>,
    configs: Flights<ContentKey, Told<Content<Config>>>,
}

/// What an image turned out to be.
enum Seen {
    Image(ImageMeta),
    OtherPlatform,
    Unusable,
}

impl Images {
    pub(crate) fn new() -> Self {
        Self {
            tags: Flights::new(MAX_TAGS),
            manifests: Flights::new(MAX_CONTENTS),
            configs: Flights::new(MAX_CONTENTS),
        }
    }

    /// Looks at the image behind a tag.
    pub(crate) async fn inspect(
        &self,
        client: &Client,
        remote: &Remote<'_>,
        wanted: Wanted<'_>,
    ) -> Told<Inspection> {
        let Some(digest) = self.resolve(client, remote, wanted).await? else {
            return Ok(Inspection::NoManifest);
        };
        if wanted.detail == Detail::Digest && wanted.platforms.is_empty() {
            let meta = ImageMeta { digest: Some(digest), ..ImageMeta::default() };
            return Ok(Inspection::Image(meta));
        }
        Ok(match self.look(client, remote, wanted, &digest, MAX_DEPTH).await? {
            Seen::Image(meta) => Inspection::Image(ImageMeta { digest: Some(digest), ..meta }),
            Seen::OtherPlatform => Inspection::WrongPlatform,
            Seen::Unusable => Inspection::NoManifest,
        })
    }

    /// The digest that the tag names, from an answer no older than wanted.
    pub(crate) async fn resolve(
        &self,
        client: &Client,
        remote: &Remote<'_>,
        wanted: Wanted<'_>,
    ) -> Told<Option<Digest>> {
        let key = (remote.request.key(), wanted.tag.clone());
        let fresh = |started| started >= wanted.not_before;
        let accepts =
            |landed: &Landed<Told<Option<Digest>>>| fresh(landed.started) || is_kept(landed);
        let ask = async |before: Option<Told<Option<Digest>>>| {
            let known = matches!(before, Some(Ok(Some(_))));
            let content = wanted.detail == Detail::Config || !wanted.platforms.is_empty();
            // Whoever needs the content anyway and has none yet gets both in one request.
            if (known || !content)
                && let Some(digest) = head(client, remote, wanted.tag).await.map_err(Arc::new)?
            {
                return Ok(Some(digest));
            }
            self.fetch_tag(client, remote, wanted.tag).await
        };
        self.tags.get(&key, fresh, accepts, ask).await
    }

    /// Gets the manifest that the tag names, and remembers it by its digest.
    async fn fetch_tag(
        &self,
        client: &Client,
        remote: &Remote<'_>,
        tag: &Tag,
    ) -> Told<Option<Digest>> {
        let answer = ask_manifest(client, remote, Method::GET, tag.as_str()).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        if answer.status != StatusCode::OK {
            return Err(Arc::new(client.understand(remote, &answer).await));
        }
        let digest = manifest::digest_of(&answer.body);
        let content = manifest_in(&answer);
        let key = content_key(remote, &digest);
        let accepts = |landed: &Landed<_>| is_for_ever(landed);
        // The outcome is what was just read, or what was known under this digest before.
        self.manifests.get(&key, |_| false, accepts, async |_| Ok(content)).await.map(|_| ())?;
        Ok(Some(digest))
    }

    /// Looks at the image, or the images, that a digest names.
    async fn look(
        &self,
        client: &Client,
        remote: &Remote<'_>,
        wanted: Wanted<'_>,
        digest: &Digest,
        depth: usize,
    ) -> Told<Seen> {
        let Content::There(found) = self.manifest(client, remote, wanted, digest).await? else {
            return Ok(Seen::Unusable);
        };
        let children = match &*found {
            Manifest::Image { config } => {
                return self.look_at_config(client, remote, wanted, config).await;
            }
            Manifest::Index(children) => children,
        };
        let is_wanted = |child: &&Child| child.platform.is_wanted(wanted.platforms);
        let children: Vec<&Child> = children.iter().filter(is_wanted).collect();
        if children.is_empty() {
            return Ok(Seen::OtherPlatform);
        }
        if wanted.detail == Detail::Digest {
            return Ok(Seen::Image(ImageMeta::default()));
        }
        if depth == 0 {
            return Ok(Seen::Unusable);
        }
        let mut images = Vec::new();
        for child in children {
            let seen = self.look(client, remote, wanted, &child.digest, depth - 1);
            match Box::pin(seen).await? {
                Seen::Image(meta) => images.push(meta),
                Seen::OtherPlatform => {}
                Seen::Unusable => return Ok(Seen::Unusable),
            }
        }
        Ok(newest(images).map_or(Seen::OtherPlatform, Seen::Image))
    }

    async fn look_at_config(
        &self,
        client: &Client,
        remote: &Remote<'_>,
        wanted: Wanted<'_>,
        digest: &Digest,
    ) -> Told<Seen> {
        let Content::There(config) = self.config(client, remote, wanted, digest).await? else {
            return Ok(Seen::Unusable);
        };
        if !config.platform.is_wanted(wanted.platforms) {
            return Ok(Seen::OtherPlatform);
        }
        let labels = config.labels.clone();
        Ok(Seen::Image(ImageMeta { created: config.created, digest: None, labels }))
    }

    async fn manifest(
        &self,
        client: &Client,
        remote: &Remote<'_>,
        wanted: Wanted<'_>,
        digest: &Digest,
    ) -> Told<Content<Manifest>> {
        let accepts = |landed: &Landed<_>| is_good(landed, wanted.not_before);
        let ask = async |_| {
            let answer = ask_manifest(client, remote, Method::GET, digest.as_str()).await?;
            let there = is_there(client, remote, &answer, digest).await?;
            Ok(if there { manifest_in(&answer) } else { Content::Missing })
        };
        self.manifests.get(&content_key(remote, digest), |_| true, accepts, ask).await
    }

    async fn config(
        &self,
        client: &Client,
        remote: &Remote<'_>,
        wanted: Wanted<'_>,
        digest: &Digest,
    ) -> Told<Content<Config>> {
        let accepts = |landed: &Landed<_>| is_good(landed, wanted.not_before);
        let ask = async |_| {
            let url = remote.url(&format!("{}/blobs/{digest}", remote.request.path));
            let (method, max_body) = (Method::GET, MAX_CONFIG);
            let ask = Ask { method, url, accept: &["*/*"], known_etag: None, max_body };
            let answer = client.ask(remote, &ask).await.map_err(Arc::new)?;
            let there = is_there(client, remote, &answer, digest).await?;
            Ok(if there { content(Config::read(&answer.body)) } else { Content::Missing })
        };
        self.configs.get(&content_key(remote, digest), |_| true, accepts, ask).await
    }
}

/// The digest of the tag, if the registry tells it without the manifest.
async fn head(
    client: &Client,
    remote: &Remote<'_>,
    tag: &Tag,
) -> Result<Option<Digest>, ScanError> {
    let url = manifest_url(remote, tag.as_str());
    let (method, accept) = (Method::HEAD, manifest::ACCEPT);
    let ask = Ask { method, url, accept, known_etag: None, max_body: MAX_MANIFEST };
    let answer = client.ask(remote, &ask).await?;
    if answer.status != StatusCode::OK {
        return Ok(None);
    }
    let digest = answer.header("docker-content-digest").map(Digest::new);
    Ok(digest.filter(Digest::is_well_formed))
}

async fn ask_manifest(
    client: &Client,
    remote: &Remote<'_>,
    method: Method,
    reference: &str,
) -> Told<Answer> {
    let url = manifest_url(remote, reference);
    let accept = manifest::ACCEPT;
    let ask = Ask { method, url, accept, known_etag: None, max_body: MAX_MANIFEST };
    client.ask(remote, &ask).await.map_err(Arc::new)
}

fn manifest_url(remote: &Remote<'_>, reference: &str) -> aiu_http::Url {
    remote.url(&format!("{}/manifests/{reference}", remote.request.path))
}

fn content_key(remote: &Remote<'_>, digest: &Digest) -> ContentKey {
    ContentKey {
        endpoint: Arc::clone(&remote.request.endpoint.prefix),
        repository: Arc::clone(&remote.request.path),
        digest: digest.clone(),
    }
}

fn manifest_in(answer: &Answer) -> Content<Manifest> {
    content(Manifest::read(answer.header(CONTENT_TYPE), &answer.body))
}

fn content<T>(read: Result<T, String>) -> Content<T> {
    read.map_or(Content::Unusable, |value| Content::There(Arc::new(value)))
}

/// Whether an answer holds what `digest` names, or says that it is not there.
async fn is_there(
    client: &Client,
    remote: &Remote<'_>,
    answer: &Answer,
    digest: &Digest,
) -> Told<bool> {
    match answer.status {
        StatusCode::OK if manifest::matches(digest, &answer.body) => Ok(true),
        StatusCode::OK => {
            let cause = format!("what it sends for {digest} has another digest");
            Err(Arc::new(remote.bad_answer(cause)))
        }
        StatusCode::NOT_FOUND => Ok(false),
        _ => Err(Arc::new(client.understand(remote, answer).await)),
    }
}

/// Content by digest never changes; what is missing may come, what failed may pass.
fn is_for_ever<T>(landed: &Landed<Told<Content<T>>>) -> bool {
    matches!(landed.value, Ok(Content::There(_) | Content::Unusable))
}

fn is_good<T>(landed: &Landed<Told<Content<T>>>, not_before: Instant) -> bool {
    is_for_ever(landed) || landed.started >= not_before || is_kept(landed)
}

/// Date and labels of the youngest image. If one does not say when it was built, nobody knows
/// which that is, and there is no date.
fn newest(images: Vec<ImageMeta>) -> Option<ImageMeta> {
    let undated = images.iter().any(|image| image.created.is_none());
    let newest = images.into_iter().max_by_key(|image| image.created)?;
    Some(ImageMeta { created: newest.created.filter(|_| !undated), ..newest })
}

/// How long a known tag is taken to point where it did, for strategies that look at all of
/// them: an hour at most, half of it at least, so that not all tags are asked about at once.
pub(crate) fn patience(tag: &Tag) -> Duration {
    // FNV-1a, and the upper bits of a product: names of tags differ in their last digits only.
    let bytes = tag.as_str().bytes();
    let mixed =
        bytes.fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let spread = (mixed.wrapping_mul(0x9e37_79b1) >> 16) % 1800;
    Duration::from_secs(u64::from(1800 + spread))
}
