//! A repository over HTTP: git's own CGI program behind a small server.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use axum::serve::Listener as _;
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::registry::{Cut, Port};

/// Serves one repository on a port of this machine, until it is dropped.
pub struct HttpGit {
    scheme: &'static str,
    port: u16,
    served: Arc<Served>,
    task: JoinHandle<()>,
}

struct Served {
    repository: PathBuf,
    backend: PathBuf,
    /// The `Authorization` headers that are let in; anybody if there are none.
    logins: Mutex<Vec<String>>,
    /// Processes with this text in their environment are looked at during every request.
    watched: Mutex<Option<String>>,
    /// Their arguments and environments.
    seen: Mutex<Vec<String>>,
    /// Whether clients are spoken to as of old, whatever they can.
    old_protocol: AtomicBool,
    /// After how many bytes of an answer to a fetch nothing more comes.
    stall: Mutex<Option<usize>>,
    requests: Mutex<Vec<String>>,
}

impl HttpGit {
    /// Serves `repository` to who sends `login` as `Authorization` header, or to anybody.
    pub async fn serve(repository: &Path, login: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
        Self::serving(repository, login, "http", Port::new(listener, Cut::default()))
    }

    /// The same over TLS, with a certificate of [`AUTHORITY`](crate::registry::AUTHORITY).
    #[cfg(feature = "tls")]
    pub async fn serve_tls(repository: &Path, login: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
        let port = Port::new(listener, Cut::default()).with_tls();
        Self::serving(repository, login, "https", port)
    }

    fn serving(
        repository: &Path,
        login: Option<&str>,
        scheme: &'static str,
        listener: Port,
    ) -> Self {
        let exec_path = super::git(repository, &["--exec-path"], b"");
        let exec_path = String::from_utf8(exec_path).expect("a path of this machine");
        let served = Arc::new(Served {
            repository: repository.to_owned(),
            backend: Path::new(exec_path.trim()).join("git-http-backend"),
            logins: Mutex::new(login.map(str::to_owned).into_iter().collect()),
            watched: Mutex::default(),
            seen: Mutex::default(),
            old_protocol: AtomicBool::new(false),
            stall: Mutex::default(),
            requests: Mutex::default(),
        });
        let port = listener.local_addr().expect("it is bound").port();
        let app = Router::new().fallback(answer).with_state(Arc::clone(&served));
        let task = tokio::spawn(async move {
            axum::serve(listener, app).await.expect("the server runs until it is dropped");
        });
        Self { scheme, port, served, task }
    }

    /// From now on lets in who sends this `Authorization` header, and nobody else.
    pub fn let_in(&self, login: &str) {
        *self.served.logins.lock() = vec![login.to_owned()];
    }

    /// During every request, notes arguments and environments of all processes that have this
    /// text in their environment.
    pub fn watch(&self, mark: &str) {
        *self.served.watched.lock() = Some(mark.to_owned());
    }

    /// What was noted: one text per process and request.
    pub fn seen(&self) -> Vec<String> {
        self.served.seen.lock().clone()
    }

    /// The address, with `login` (`user:password@`) before the host.
    pub fn url(&self, login: &str) -> String {
        format!("{}://{login}127.0.0.1:{}/repository.git", self.scheme, self.port)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Keeps from git which protocol a client speaks, as some proxies do: it falls back to the
    /// oldest.
    pub fn force_old_protocol(&self) {
        self.served.old_protocol.store(true, Ordering::Relaxed);
    }

    /// Lets every longer answer to a fetch stop after so many bytes, without an end; until it is
    /// told otherwise.
    pub fn stall_after(&self, bytes: Option<usize>) {
        *self.served.stall.lock() = bytes;
    }

    /// Method, path and query of all requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.served.requests.lock().clone()
    }
}

impl Drop for HttpGit {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    State(served): State<Arc<Served>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    served.requests.lock().push(format!("{method} {uri}"));
    let watched = served.watched.lock().clone();
    if let Some(mark) = watched {
        served.seen.lock().extend(processes(&mark));
    }
    let logins = served.logins.lock().clone();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let known = header("authorization").is_some_and(|login| logins.iter().any(|it| it == login));
    if !logins.is_empty() && !known {
        return Response::builder()
            .status(StatusCode::UNAUTHORIZED)
            .header("www-authenticate", "Basic realm=\"git\"")
            .body(Body::empty())
            .expect("a plain answer");
    }
    let mut command = tokio::process::Command::from(super::command(&served.backend));
    command
        .env("GIT_PROJECT_ROOT", served.repository.parent().expect("it is in a folder"))
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method.as_str())
        .env("PATH_INFO", uri.path())
        .env("QUERY_STRING", uri.query().unwrap_or_default())
        .env("REMOTE_ADDR", "127.0.0.1");
    if !logins.is_empty() {
        command.env("REMOTE_USER", "tester");
    }
    for (name, variable) in [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "HTTP_GIT_PROTOCOL"),
    ] {
        command.env(variable, header(name).unwrap_or_default());
    }
    if served.old_protocol.load(Ordering::Relaxed) {
        command.env_remove("HTTP_GIT_PROTOCOL");
    }
    command.env("CONTENT_LENGTH", body.len().to_string());
    let response = respond(&run(command, &body).await);
    let stall = served.stall.lock().filter(|_| uri.path().ends_with("/git-upload-pack"));
    match stall {
        Some(after) => stalled(response, after).await,
        None => response,
    }
}

/// The beginning of a longer answer, and then nothing.
async fn stalled(response: Response, after: usize) -> Response {
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("it is in memory");
    if body.len() <= after {
        return Response::from_parts(head, Body::from(body));
    }
    let start = futures::stream::iter([Ok::<_, std::convert::Infallible>(body.slice(..after))]);
    let endless = futures::StreamExt::chain(start, futures::stream::pending());
    Response::from_parts(head, Body::from_stream(endless))
}

/// Arguments and environment of every process with `mark` in its environment.
fn processes(mark: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let texts = all.filter_map(|entry| {
        let read = |name: &str| std::fs::read(entry.path().join(name)).ok();
        let (arguments, environment) = (read("cmdline")?, read("environ")?);
        let text = [arguments, environment].concat();
        Some(String::from_utf8_lossy(&text).replace('\0', "\n"))
    });
    texts.filter(|text| text.contains(mark)).collect()
}

async fn run(mut command: tokio::process::Command, body: &[u8]) -> Vec<u8> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("git comes with its HTTP backend");
    let mut stdin = child.stdin.take().expect("it is piped");
    let feeding = async {
        // It may answer without reading all.
        let _ = stdin.write_all(body).await;
        drop(stdin);
    };
    let ((), output) = tokio::join!(feeding, child.wait_with_output());
    output.expect("the backend can be waited for").stdout
}

/// A CGI answer as an HTTP one.
fn respond(output: &[u8]) -> Response {
    let end = output.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(output.len());
    let head = String::from_utf8_lossy(&output[..end]);
    let mut response = Response::builder();
    for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
        response = match name {
            "Status" => response.status(&value[..3]),
            _ => response.header(name, value),
        };
    }
    let body = output.get(end + 4..).unwrap_or_default().to_vec();
    response.body(Body::from(body)).expect("the backend's headers are valid")
}
