//! What stands between the controller and the API server, and does at the wrong moment what a busy
//! cluster does some day: the server's own answers, but somebody writes first, a watch is ended as
//! too old, or a thousand changes come at once.
//!
//! It listens in plain HTTP. Who asks, and what they may, is what the request says.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt, stream};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

use super::kubernetes::ApiServer;
use crate::files::write;

/// The last line of a watch whose place the server has forgotten.
const GONE: &str = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (2)","reason":"Expired","code":410}}
"#;

/// The proxy, until it is dropped.
pub(crate) struct Between {
    kubeconfig: PathBuf,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    server: String,
    client: Client,
    /// How many patches of Applications somebody else is still faster than.
    rivals: AtomicUsize,
    /// How many such writes there have been.
    rival_writes: AtomicUsize,
    /// What every open watch of Applications is told.
    tell: broadcast::Sender<Told>,
}

#[derive(Clone)]
enum Told {
    Line(Bytes),
    End,
}

impl Between {
    /// Starts in front of a server; its kubeconfig is that of this user.
    pub(crate) async fn start(server: &ApiServer, user: &str, folder: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("no port")?;
        let address = listener.local_addr().context("a bound socket has an address")?;
        let (tell, _) = broadcast::channel(64);
        let shared = Arc::new(Shared {
            server: server.url(),
            client: server.client(),
            rivals: AtomicUsize::new(0),
            rival_writes: AtomicUsize::new(0),
            tell,
        });
        let app = Router::new().fallback(forward).with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            // It ends with its task, which is aborted.
            let _ = axum::serve(listener, app).await;
        });
        let text = format!(
            "apiVersion: v1
kind: Config
clusters: [{{name: between, cluster: {{server: 'http://{address}'}}}}]
users: [{{name: {user}, user: {{token: {user}}}}}]
contexts: [{{name: between, context: {{cluster: between, user: {user}, namespace: argocd}}}}]
current-context: between
"
        );
        write(folder, "between.kubeconfig", &text)?;
        Ok(Self { kubeconfig: folder.join("between.kubeconfig"), shared, task })
    }

    /// The file that leads here.
    pub(crate) fn kubeconfig(&self) -> String {
        self.kubeconfig.display().to_string()
    }

    /// From now on somebody writes right before each of so many patches of Applications.
    pub(crate) fn rivals(&self, count: usize) {
        self.shared.rivals.store(count, Ordering::SeqCst);
    }

    /// How often somebody was faster.
    pub(crate) fn rival_writes(&self) -> usize {
        self.shared.rival_writes.load(Ordering::SeqCst)
    }

    /// How many watches of Applications are open.
    pub(crate) fn watches(&self) -> usize {
        self.shared.tell.receiver_count()
    }

    /// Ends every watch of Applications as one that is too old; how many there were.
    pub(crate) fn expire(&self) -> usize {
        self.shared.tell.send(Told::End).unwrap_or_default()
    }

    /// Tells every watch of Applications that these were changed, all in one piece.
    pub(crate) fn changed(&self, objects: &[Value]) {
        let lines = objects.iter().map(|object| {
            let event = json!({"type": "MODIFIED", "object": object});
            format!("{event}\n")
        });
        let lines = lines.collect::<String>();
        let _ = self.shared.tell.send(Told::Line(lines.into()));
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    match shared.answer(request).await {
        Ok(response) => response,
        Err(error) => (StatusCode::BAD_GATEWAY, format!("{error:#}")).into_response(),
    }
}

impl Shared {
    async fn answer(&self, request: Request) -> Result<Response> {
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, usize::MAX).await.context("cannot read a request")?;
        let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
        if parts.method == Method::PATCH && path.contains("/applications/") {
            self.write_first(path).await?;
        }
        let is_watch = path.ends_with("/applications") && query.contains("watch=true");
        // Before the server is asked: what is told from here on is not missed.
        let told = is_watch.then(|| self.tell.subscribe());
        let url = format!("{}{}", self.server, parts.uri);
        let asked = self.client.request(parts.method, url).headers(passed_on(&parts.headers));
        let answer = asked.body(body).send().await.context("the server does not answer")?;
        let (status, headers) = (answer.status(), passed_on(answer.headers()));
        let bytes = answer.bytes_stream();
        let body = match told {
            Some(told) => Body::from_stream(with_news(bytes, told)),
            None => Body::from_stream(bytes),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }

    /// Somebody changes the Application, as long as rivals are left.
    async fn write_first(&self, path: &str) -> Result<()> {
        let left = |left: usize| left.checked_sub(1);
        if self.rivals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_err() {
            return Ok(());
        }
        let turn = self.rival_writes.fetch_add(1, Ordering::SeqCst);
        let fields = json!({"spec": {"destination": {"name": format!("rival-{turn}")}}});
        let url = format!("{}{path}", self.server);
        let request = self.client.patch(url).bearer_auth("admin");
        let request = request.header(header::CONTENT_TYPE, "application/merge-patch+json");
        let answer = request.body(fields.to_string()).send().await.context("the rival")?;
        answer.error_for_status().context("the rival")?;
        Ok(())
    }
}

/// Headers without those that belong to one connection.
fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for own in [header::HOST, header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH]
    {
        headers.remove(own);
    }
    headers
}

/// The server's stream, and what is told in between, until an end is told.
fn with_news(
    bytes: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    told: broadcast::Receiver<Told>,
) -> impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static {
    enum Next {
        Server(reqwest::Result<Bytes>),
        Told(Told),
    }
    let news = stream::unfold(told, async |mut told| {
        let next = told.recv().await.ok()?;
        Some((Next::Told(next), told))
    });
    let both = stream::select(bytes.map(Next::Server), news);
    both.scan(false, |ended, next| {
        let bytes = match next {
            _ if *ended => None,
            Next::Server(bytes) => Some(bytes),
            Next::Told(Told::Line(line)) => Some(Ok(line)),
            Next::Told(Told::End) => {
                *ended = true;
                Some(Ok(Bytes::from_static(GONE.as_bytes())))
            }
        };
        std::future::ready(bytes)
    })
}
