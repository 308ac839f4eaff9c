//! An HTTP service whose answers are a function of what it is asked.

use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Query, Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `GET`, `POST`, ….
    pub method: String,
    /// Without the query.
    pub path: String,
    /// The query's parameters.
    pub query: HashMap<String, String>,
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: String,
}

impl Asked {
    /// A header's value; empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The body as the fields of a form.
    pub fn form(&self) -> HashMap<String, String> {
        // A form is written like a query.
        let uri = format!("/?{}", self.body).parse::<Uri>().unwrap_or_default();
        Query::try_from_uri(&uri).map(|Query(fields)| fields).unwrap_or_default()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// An answer.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { status, headers, body: body.to_string() }
    }

    pub(super) fn text(status: u16, body: impl Into<String>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }
}

/// What a service knows, and how it answers from it.
pub(super) trait Answers: Send + 'static {
    fn answer(&mut self, asked: &Asked) -> Reply;
}

struct Shared<S> {
    state: Mutex<S>,
    log: Mutex<Vec<Asked>>,
}

/// A running service; stopped when dropped.
pub(super) struct Service<S> {
    address: SocketAddr,
    shared: Arc<Shared<S>>,
    server: JoinHandle<()>,
}

impl<S: Answers> Service<S> {
    pub(super) async fn start(state: S) -> Self {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(any).await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared { state: Mutex::new(state), log: Mutex::default() });
        let router = Router::new().fallback(handle::<S>).with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            // Its only error is that of accepting, which it handles itself.
            let _ = axum::serve(listener, router).await;
        });
        Self { address, shared, server }
    }

    pub(super) fn host(&self) -> String {
        self.address.to_string()
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it knows, to be looked at or changed.
    pub(super) fn state(&self) -> MutexGuard<'_, S> {
        self.shared.state.lock()
    }

    /// All requests so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.shared.log.lock().clone()
    }
}

impl<S> Drop for Service<S> {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn handle<S: Answers>(State(shared): State<Arc<Shared<S>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1024 * 1024).await.unwrap_or_default();
    let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap_or_default().to_owned())
    };
    let asked = Asked {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: Query::try_from_uri(&parts.uri).map(|Query(all)| all).unwrap_or_default(),
        headers: parts.headers.iter().map(header).collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    shared.log.lock().push(asked.clone());
    let reply = shared.state.lock().answer(&asked);
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::builder().status(status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(reply.body)).expect("headers that a stand-in wrote")
}
