//! The HTTP side: reads a request, decides, answers, and writes it into the log.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{ConnectInfo, Query, Request as HttpRequest, State as Shared};
use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LINK, WWW_AUTHENTICATE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt as _};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::access::{Access, Tokens};
use super::content::{Shelf, sha256};
use super::fault::{Effect, Fault, effect_on};
use super::page::{Page, Paging};
use super::wire::{Cut, Port};
use super::{Kind, Request};

/// Everything the handle and the server share. Locks are held for a look, never across an await.
pub(super) struct State {
    /// Scheme, host and port.
    origin: String,
    pub(super) content: Mutex<HashMap<String, Shelf>>,
    pub(super) access: Mutex<Access>,
    pub(super) tokens: Tokens,
    pub(super) paging: Mutex<Option<Paging>>,
    pub(super) quirks: Mutex<Quirks>,
    /// Whether it has the referrers API.
    pub(super) referrers: AtomicBool,
    pub(super) faults: Mutex<Vec<Fault>>,
    /// Bytes of bodies that were made to flood clients.
    pub(super) flooded: AtomicU64,
    pub(super) log: Mutex<Vec<Request>>,
}

/// Lasting habits, unlike faults.
#[derive(Clone, Copy, Default)]
pub(super) struct Quirks {
    pub(super) etags: bool,
    pub(super) hide_digests: bool,
    pub(super) refuse_page_size: bool,
}

impl State {
    pub(super) fn new(origin: String) -> Self {
        Self {
            origin,
            content: Mutex::default(),
            access: Mutex::default(),
            tokens: Tokens::default(),
            paging: Mutex::default(),
            quirks: Mutex::default(),
            referrers: AtomicBool::default(),
            faults: Mutex::default(),
            flooded: AtomicU64::default(),
            log: Mutex::default(),
        }
    }
}

/// Serves until told to stop or until the handle is gone.
pub(super) async fn serve(port: Port, state: Arc<State>, stopping: oneshot::Receiver<()>) {
    let service = Router::new()
        .fallback(handle)
        .with_state(state)
        .into_make_service_with_connect_info::<Cut>();
    let stopped = async {
        // An error means that the handle was dropped, which is the same wish.
        let _ = stopping.await;
    };
    tokio::select! {
        // The server's only error is that of accepting, which it handles itself.
        _ = axum::serve(port, service).into_future() => {}
        () = stopped => {}
    }
}

/// What a request is about.
enum Ask {
    Ping,
    Listing(String),
    Manifest(String, String),
    Blob(String, String),
    Referrers(String, String),
    Token,
    Other,
}

impl Ask {
    fn of(path: &str) -> Self {
        if path == "/token" {
            return Self::Token;
        }
        let Some(rest) = path.strip_prefix("/v2") else { return Self::Other };
        let Some(rest) = rest.strip_prefix('/') else { return Self::Other };
        if rest.is_empty() {
            return Self::Ping;
        }
        if let Some(name) = rest.strip_suffix("/tags/list") {
            return Self::Listing(name.to_owned());
        }
        if let Some((name, reference)) = rest.rsplit_once("/manifests/") {
            return Self::Manifest(name.to_owned(), reference.to_owned());
        }
        if let Some((name, digest)) = rest.rsplit_once("/referrers/") {
            return Self::Referrers(name.to_owned(), digest.to_owned());
        }
        match rest.rsplit_once("/blobs/") {
            Some((name, digest)) => Self::Blob(name.to_owned(), digest.to_owned()),
            None => Self::Other,
        }
    }

    fn kind(&self, method: &Method) -> Kind {
        match self {
            Self::Ping => Kind::Ping,
            Self::Listing(_) => Kind::Listing,
            Self::Manifest(..) if method == Method::HEAD => Kind::ManifestHead,
            Self::Manifest(..) => Kind::ManifestGet,
            Self::Blob(..) => Kind::Blob,
            Self::Referrers(..) => Kind::Referrers,
            Self::Token => Kind::Token,
            Self::Other => Kind::Other,
        }
    }

    fn repository(&self, query: &Parameters) -> Option<String> {
        match self {
            Self::Listing(name)
            | Self::Manifest(name, _)
            | Self::Blob(name, _)
            | Self::Referrers(name, _) => Some(name.clone()),
            Self::Token => query.get("scope").and_then(|scope| scope_repository(scope)),
            Self::Ping | Self::Other => None,
        }
    }
}

pub(super) type Parameters = HashMap<String, String>;

/// `org/app` of `repository:org/app:pull`.
fn scope_repository(scope: &str) -> Option<String> {
    let rest = scope.strip_prefix("repository:")?;
    Some(rest.rsplit_once(':')?.0.to_owned())
}

async fn handle(
    Shared(state): Shared<Arc<State>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    request: HttpRequest,
) -> Response {
    let (request, _) = request.into_parts();
    let query = Query::try_from_uri(&request.uri).map(|Query(all)| all).unwrap_or_default();
    let ask = Ask::of(request.uri.path());
    let (kind, method) = (ask.kind(&request.method), request.method.clone());
    let repository = ask.repository(&query);
    let entry = state.begin(&request, kind, repository.clone());
    let effect = effect_on(&mut state.faults.lock(), kind, repository.as_deref());
    let answer = || state.answer(&ask, &query, &request.uri, &request.headers);
    let response = match effect {
        None => answer(),
        Some(Effect::RevokeTokens) => {
            state.tokens.revoke();
            answer()
        }
        Some(Effect::Delay(delay)) => {
            tokio::time::sleep(delay).await;
            answer()
        }
        Some(Effect::Answer { status, headers, body }) => replaced(status, headers, body),
        Some(Effect::Body(body)) => with_body(answer(), body),
        Some(Effect::Flood(bytes)) => streamed(answer(), flood(Arc::clone(&state), bytes)),
        Some(Effect::Trickle(pause)) => streamed(answer(), trickle(pause)),
        Some(Effect::ContentType(content_type)) => with_content_type(answer(), &content_type),
        Some(Effect::CutBody) => cut_in_the_middle(answer()),
        Some(Effect::Cut) => {
            cut.cut();
            return StatusCode::NO_CONTENT.into_response();
        }
        Some(Effect::Hang) => std::future::pending().await,
    };
    let mut log = state.log.lock();
    // Nothing is there where the log was cleared meanwhile.
    if let Some(request) = log.get_mut(entry) {
        request.status = response.status().as_u16();
        let has_body = method != Method::HEAD;
        request.bytes = response.body().size_hint().exact().filter(|_| has_body).unwrap_or(0);
    }
    drop(log);
    response
}

impl State {
    /// Writes the request into the log and returns its place there.
    fn begin(&self, request: &Parts, kind: Kind, repository: Option<String>) -> usize {
        let authorization = request
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split(' ').next())
            .map(str::to_owned);
        let mut log = self.log.lock();
        log.push(Request {
            at: Instant::now(),
            kind,
            method: request.method.to_string(),
            target: request.uri.to_string(),
            repository,
            authorization,
            status: 0,
            bytes: 0,
        });
        log.len() - 1
    }

    fn answer(&self, ask: &Ask, query: &Parameters, uri: &Uri, headers: &HeaderMap) -> Response {
        if matches!(ask, Ask::Token) {
            return self.token(query, headers);
        }
        let repository = ask.repository(query);
        let access = self.access.lock().clone();
        if !access.admits(headers, repository.as_deref(), &self.tokens) {
            return unauthorized(access.challenges(&self.origin, repository.as_deref()));
        }
        match ask {
            Ask::Ping => axum::Json(json!({})).into_response(),
            Ask::Listing(name) => self.listing(name, query, uri, headers),
            Ask::Manifest(name, reference) => self.manifest(name, reference),
            Ask::Blob(name, digest) => self.blob(name, digest),
            Ask::Referrers(name, digest) => self.referrers(name, digest),
            Ask::Token | Ask::Other => StatusCode::NOT_FOUND.into_response(),
        }
    }

    fn token(&self, query: &Parameters, headers: &HeaderMap) -> Response {
        let access = self.access.lock().clone();
        let scope = query.get("scope").map_or("", String::as_str);
        if !access.gives_token(headers, scope) {
            return refusal(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "incorrect login");
        }
        let (lifetime, oauth_key) = match access {
            Access::Bearer { lifetime, oauth_key, .. } => (lifetime, oauth_key),
            Access::Narrow { .. } => (Duration::from_mins(5), false),
            Access::Open | Access::Basic { .. } => return StatusCode::NOT_FOUND.into_response(),
        };
        let repository = query.get("scope").and_then(|scope| scope_repository(scope));
        let token = self.tokens.give(repository, lifetime);
        let key = if oauth_key { "access_token" } else { "token" };
        axum::Json(json!({ key: token, "expires_in": lifetime.as_secs() })).into_response()
    }

    fn listing(&self, name: &str, query: &Parameters, uri: &Uri, headers: &HeaderMap) -> Response {
        let quirks = *self.quirks.lock();
        if quirks.refuse_page_size && query.contains_key("n") {
            let message = "invalid number of results requested";
            return refusal(StatusCode::BAD_REQUEST, "PAGINATION_NUMBER_INVALID", message);
        }
        let paging = self.paging.lock().clone();
        let content = self.content.lock();
        let Some(held) = content.get(name) else { return name_unknown() };
        let page = Page::of(held, query, paging.as_ref());
        let body = json!({ "name": name, "tags": page.tags }).to_string();
        let mut response = if quirks.etags {
            conditional(body, headers)
        } else {
            ([(CONTENT_TYPE, "application/json")], body).into_response()
        };
        if let Some(link) = page.link(name, uri, &self.origin, paging.as_ref()) {
            response.headers_mut().insert(LINK, header(&link));
        }
        response
    }

    fn manifest(&self, name: &str, reference: &str) -> Response {
        let content = self.content.lock();
        let Some(held) = content.get(name) else { return name_unknown() };
        let Some((digest, stored)) = held.manifest(reference) else {
            return refusal(StatusCode::NOT_FOUND, "MANIFEST_UNKNOWN", "manifest unknown");
        };
        // For HEAD the server leaves the body out and keeps its length.
        let mut response = stored.body.clone().into_response();
        response.headers_mut().insert(CONTENT_TYPE, header(&stored.media_type));
        if !self.quirks.lock().hide_digests {
            response.headers_mut().insert("docker-content-digest", header(digest));
        }
        response
    }

    fn referrers(&self, name: &str, digest: &str) -> Response {
        let content = self.content.lock();
        let held = content.get(name).filter(|_| self.referrers.load(Ordering::Relaxed));
        let Some(held) = held else { return StatusCode::NOT_FOUND.into_response() };
        let index = json!({ "schemaVersion": 2, "manifests": held.referrers(digest) });
        ([(CONTENT_TYPE, "application/vnd.oci.image.index.v1+json")], index.to_string())
            .into_response()
    }

    fn blob(&self, name: &str, digest: &str) -> Response {
        let content = self.content.lock();
        match content.get(name).and_then(|shelf| shelf.blobs.get(digest)) {
            Some(bytes) => bytes.clone().into_response(),
            None => refusal(StatusCode::NOT_FOUND, "BLOB_UNKNOWN", "blob unknown to registry"),
        }
    }
}

/// The body, or "not modified" if the client has it already.
fn conditional(body: String, headers: &HeaderMap) -> Response {
    let etag = format!("\"{}\"", sha256(body.as_bytes()));
    if headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, [(ETAG, etag)]).into_response();
    }
    ([(CONTENT_TYPE, "application/json".to_owned()), (ETAG, etag)], body).into_response()
}

fn unauthorized(challenges: Vec<String>) -> Response {
    let mut response = refusal(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "authentication required");
    for challenge in challenges {
        response.headers_mut().append(WWW_AUTHENTICATE, header(&challenge));
    }
    response
}

fn name_unknown() -> Response {
    refusal(StatusCode::NOT_FOUND, "NAME_UNKNOWN", "repository name not known to registry")
}

fn refusal(status: StatusCode, code: &str, message: &str) -> Response {
    let body = json!({ "errors": [{ "code": code, "message": message }] });
    (status, axum::Json(body)).into_response()
}

fn replaced(status: u16, headers: Vec<(String, String)>, body: String) -> Response {
    let mut response = body.into_response();
    response.headers_mut().remove(CONTENT_TYPE);
    *response.status_mut() = StatusCode::from_u16(status).expect("a status that a test wrote");
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().expect("a header that a test wrote");
        response.headers_mut().append(name, header(&value));
    }
    response
}

fn with_body(mut response: Response, body: String) -> Response {
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    response
}

fn with_content_type(mut response: Response, content_type: &str) -> Response {
    response.headers_mut().insert(CONTENT_TYPE, header(content_type));
    response
}

/// A body of bytes that come when they come.
fn streamed(mut response: Response, body: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from_stream(body.map(Ok::<_, io::Error>));
    response
}

/// So many bytes in pieces of a mebibyte. What was made is counted.
fn flood(state: Arc<State>, bytes: u64) -> impl Stream<Item = Bytes> + Send {
    let piece = Bytes::from(vec![b' '; 1024 * 1024]);
    let pieces = futures::stream::repeat(piece).take(usize::try_from(bytes >> 20).unwrap_or(0));
    pieces.inspect(move |piece| {
        state.flooded.fetch_add(piece.len() as u64, Ordering::Relaxed);
    })
}

fn trickle(pause: Duration) -> impl Stream<Item = Bytes> + Send {
    futures::stream::repeat(Bytes::from_static(b" ")).then(move |byte| async move {
        tokio::time::sleep(pause).await;
        byte
    })
}

/// Promises more than it sends: the body breaks off, and the server cuts the connection.
fn cut_in_the_middle(mut response: Response) -> Response {
    response.headers_mut().remove(CONTENT_LENGTH);
    let pieces =
        [Ok(Bytes::from_static(b"{\"name\":")), Err(io::ErrorKind::ConnectionAborted.into())];
    *response.body_mut() =
        Body::from_stream(futures::stream::iter::<[io::Result<Bytes>; 2]>(pieces));
    response
}

fn header(text: &str) -> HeaderValue {
    text.parse().expect("a header value made of a test's own text")
}
