//! Calls to one repository of one registry: signed in when asked to be, refusals understood.

use std::sync::Arc;

use aiu_http::header::{ACCEPT, HeaderValue, IF_NONE_MATCH};
use aiu_http::{Answer, Call, Http, Method, Rate, StatusCode, TlsProfile, Url};
use parking_lot::Mutex;

use crate::api_error;
use crate::auth::{Auth, Scheme, Shown, scheme_of, wants_password};
use crate::credentials::Credentials;
use crate::error::{ScanError, ScanProblem};
use crate::scanner::ScanRequest;
use crate::tls::CaFiles;

/// Calls registries, and remembers how they want to be signed in to.
pub(crate) struct Client {
    http: Http,
    auth: Auth,
    ca_files: Arc<CaFiles>,
}

/// One repository as it is reached: what was asked for, and what it takes to ask.
pub(crate) struct Remote<'a> {
    pub(crate) request: &'a ScanRequest,
    pub(crate) api: Url,
    pub(crate) tls: TlsProfile,
    pub(crate) rate: Rate,
    host: String,
    /// Those of the request, until they are refused and newer ones are fetched.
    credentials: Mutex<Credentials>,
}

/// One question to a repository.
pub(crate) struct Ask<'a> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) accept: &'a [&'static str],
    pub(crate) known_etag: Option<&'a str>,
    pub(crate) max_body: usize,
}

impl Remote<'_> {
    /// Who asks, as of now.
    pub(crate) fn credentials(&self) -> Credentials {
        self.credentials.lock().clone()
    }

    pub(crate) fn error(&self, problem: ScanProblem) -> ScanError {
        let (host, repository) = (self.host.clone(), self.request.path.to_string());
        ScanError { host, repository, problem }
    }

    pub(crate) fn bad_answer(&self, cause: String) -> ScanError {
        self.error(ScanProblem::BadAnswer { cause })
    }

    pub(crate) fn unauthorized(&self, said: String) -> ScanError {
        let credentials = self.request.credentials.id();
        self.error(ScanProblem::Unauthorized { credentials, said })
    }

    /// A status that is neither success nor refusal of credentials.
    pub(crate) fn failing(&self, answer: &Answer) -> ScanError {
        let said = api_error::said(answer);
        if answer.status.is_server_error() {
            self.error(ScanProblem::Failing { said })
        } else {
            self.bad_answer(said)
        }
    }

    /// A URL below the API's base.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.api.clone();
        url.set_path(&format!("{}/v2/{path}", self.api.path().trim_end_matches('/')));
        url
    }

    fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.api.origin()
    }
}

impl Client {
    pub(crate) fn new(http: Http, ca_files: Arc<CaFiles>) -> Self {
        Self { http, auth: Auth::new(), ca_files }
    }

    pub(crate) fn http(&self) -> &Http {
        &self.http
    }

    /// Checks name, URL and certificates of a repository. Asks nobody.
    pub(crate) async fn open<'a>(&self, request: &'a ScanRequest) -> Result<Remote<'a>, ScanError> {
        let api_url = &*request.endpoint.api_url;
        let fail = |host: &str, problem| ScanError {
            host: host.to_owned(),
            repository: request.path.to_string(),
            problem,
        };
        let api = api_url.parse::<Url>().ok().filter(|url| url.host_str().is_some());
        let Some(api) = api.filter(|url| matches!(url.scheme(), "http" | "https")) else {
            let said = format!(
                "unsupported protocol scheme in '{api_url}': api_url begins with http:// or https://"
            );
            return Err(fail(&request.endpoint.prefix, ScanProblem::NotARegistry { said }));
        };
        let name = api.host_str().unwrap_or_default().to_owned();
        let host = match api.port() {
            Some(port) => format!("{name}:{port}"),
            None => name.clone(),
        };
        if let Some(cause) = request.irregularity() {
            return Err(fail(&host, ScanProblem::InvalidName { cause }));
        }
        let tls = self
            .ca_files
            .profile(&request.endpoint, &name)
            .await
            .map_err(|cause| fail(&host, ScanProblem::Certificates { cause }))?;
        let rate = Rate::from_limit(request.endpoint.limit);
        let credentials = Mutex::new(request.credentials.newest());
        Ok(Remote { request, api, tls, rate, host, credentials })
    }

    /// Asks, signing in as far as the registry demands it. The answer is any but a refusal of
    /// credentials. A refused token is fetched anew once, and so are refused credentials, where
    /// there is a way to fetch them; what is refused then is an error.
    pub(crate) async fn ask(
        &self,
        remote: &Remote<'_>,
        ask: &Ask<'_>,
    ) -> Result<Answer, ScanError> {
        if !remote.is_own(&ask.url) {
            // A page or blob elsewhere: nothing that was given to the registry goes there.
            let answer = self.send(remote, ask, None).await?;
            return refused(remote, &Credentials::Anonymous, answer);
        }
        let credentials = remote.credentials();
        let error = match self.ask_first(remote, ask, &credentials).await {
            Err(error) if matches!(error.problem, ScanProblem::Unauthorized { .. }) => error,
            other => return other,
        };
        match credentials.renewed().await {
            Ok(None) => Err(error),
            Ok(Some(newer)) => {
                *remote.credentials.lock() = newer.clone();
                self.ask_as(remote, ask, &newer).await
            }
            Err(cause) => Err(error.beside(&cause)),
        }
    }

    /// The first who asks a registry goes alone and learns how it wants to be signed in to;
    /// the others follow, and need not be refused for it.
    async fn ask_first(
        &self,
        remote: &Remote<'_>,
        ask: &Ask<'_>,
        credentials: &Credentials,
    ) -> Result<Answer, ScanError> {
        let mut own = None;
        let first = self.auth.first(remote);
        first.get_or_init(async || own = Some(self.ask_as(remote, ask, credentials).await)).await;
        match own {
            Some(answer) => answer,
            None => self.ask_as(remote, ask, credentials).await,
        }
    }

    async fn ask_as(
        &self,
        remote: &Remote<'_>,
        ask: &Ask<'_>,
        credentials: &Credentials,
    ) -> Result<Answer, ScanError> {
        let shown = match self.auth.known(remote) {
            Some(scheme) => {
                self.auth.obtain(&self.http, remote, credentials, &scheme, None).await?
            }
            None => None,
        };
        let answer = self.send(remote, ask, shown.as_ref()).await?;
        if !remote.is_own(&answer.url) {
            // Redirected: another host's challenge says nothing about this registry, and must
            // not be answered with what is meant for it.
            return refused(remote, credentials, answer);
        }
        let scheme = match answer.status {
            StatusCode::UNAUTHORIZED => scheme_of(&answer, credentials),
            StatusCode::FORBIDDEN | StatusCode::NOT_FOUND if shown.is_none() => {
                self.unasked_challenge(remote, credentials).await?
            }
            _ => return refused(remote, credentials, answer),
        };
        let Some(scheme) = scheme else { return refused(remote, credentials, answer) };
        let again =
            self.auth.obtain(&self.http, remote, credentials, &scheme, shown.as_ref()).await?;
        self.auth.learn(remote, scheme);
        match again {
            Some(again) => {
                refused(remote, credentials, self.send(remote, ask, Some(&again)).await?)
            }
            None => refused(remote, credentials, answer),
        }
    }

    /// Registries that serve anonymous users deny the existence of what is private instead of
    /// asking who is there. With credentials at hand, their root is visited once for the
    /// challenge (spec 11 G9).
    async fn unasked_challenge(
        &self,
        remote: &Remote<'_>,
        credentials: &Credentials,
    ) -> Result<Option<Scheme>, ScanError> {
        if credentials.pair().is_none() || self.auth.known(remote) == Some(Scheme::Open) {
            return Ok(None);
        }
        let answer = self.ping(remote).await?;
        if answer.status == StatusCode::UNAUTHORIZED && remote.is_own(&answer.url) {
            return Ok(scheme_of(&answer, credentials));
        }
        self.auth.learn(remote, Scheme::Open);
        Ok(None)
    }

    /// Visits the root of the API, without signing in.
    pub(crate) async fn ping(&self, remote: &Remote<'_>) -> Result<Answer, ScanError> {
        let call = Call::get(remote.url("")).tls(remote.tls.clone()).rate(remote.rate);
        self.http.send(&call).await.map_err(|error| remote.error(ScanProblem::of(error)))
    }

    async fn send(
        &self,
        remote: &Remote<'_>,
        ask: &Ask<'_>,
        shown: Option<&Shown>,
    ) -> Result<Answer, ScanError> {
        let mut call = Call::new(ask.method.clone(), ask.url.clone())
            .tls(remote.tls.clone())
            .max_body(ask.max_body);
        if remote.is_own(&ask.url) {
            call = call.rate(remote.rate);
        }
        for media_type in ask.accept {
            call = call.header(ACCEPT, HeaderValue::from_static(media_type));
        }
        if let Some(etag) = ask.known_etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            call = call.header(IF_NONE_MATCH, etag);
        }
        if let Some(shown) = shown {
            call = shown.on(call);
        }
        self.http.send(&call).await.map_err(|error| remote.error(ScanProblem::of(error)))
    }

    /// What an unsuccessful answer means. Where it may be that no registry lives there at all,
    /// the root of the API is visited to tell.
    pub(crate) async fn understand(&self, remote: &Remote<'_>, answer: &Answer) -> ScanError {
        let said = api_error::said(answer);
        if answer.status != StatusCode::NOT_FOUND {
            return remote.failing(answer);
        }
        // Below a base of its own, a registry takes a part of a wrong base for a name.
        if api_error::names_code(answer, "NAME_UNKNOWN") && remote.api.path() == "/" {
            return remote.error(ScanProblem::NotFound { said });
        }
        match self.ping(remote).await {
            Ok(root) if matches!(root.status.as_u16(), 200 | 401 | 403) => {
                remote.error(ScanProblem::NotFound { said })
            }
            Ok(root) => {
                let said = format!(
                    "received HTTP code {} for GET {}",
                    root.status.as_u16(),
                    aiu_http::shown(&root.url)
                );
                remote.error(ScanProblem::NotARegistry { said })
            }
            Err(error) => error,
        }
    }
}

/// The answer, unless it refuses what was shown.
fn refused(
    remote: &Remote<'_>,
    credentials: &Credentials,
    answer: Answer,
) -> Result<Answer, ScanError> {
    match answer.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            let said = if wants_password(&answer, credentials) {
                "no basic auth credentials".to_owned()
            } else {
                api_error::said(&answer)
            };
            Err(remote.unauthorized(said))
        }
        _ => Ok(answer),
    }
}
