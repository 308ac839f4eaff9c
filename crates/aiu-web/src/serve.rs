//! Answering requests: limits, deadlines, TLS, and an end in order.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use futures::future::select_all;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use crate::{Bound, Certificates};

/// What a client may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once; who comes later waits.
    pub connections: usize,
    /// From the start of a connection, or the end of the last request, to the end of a header.
    pub header: Duration,
    /// From the end of a header to the end of the answer's making.
    pub answer: Duration,
    /// Time for requests under way once the server shall stop.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            header: Duration::from_secs(30),
            answer: Duration::from_secs(30),
            farewell: Duration::from_secs(5),
        }
    }
}

/// Largest header that is read, in bytes.
const MAX_HEADER: usize = 16 * 1024;
/// Requests of one HTTP/2 connection at once.
const MAX_STREAMS: u32 = 32;

/// What is spoken below HTTP.
pub enum Transport {
    Plain,
    /// HTTPS; with HTTP/2 only where it is allowed.
    Tls {
        certificates: Certificates,
        http2: bool,
    },
}

/// Answers until `stop`; then lets requests under way end.
pub async fn serve(
    bound: Bound,
    routes: Router,
    transport: Transport,
    limits: Limits,
    stop: CancellationToken,
) {
    let tls = match transport {
        Transport::Plain => None,
        Transport::Tls { certificates, http2 } => {
            Some(TlsAcceptor::from(certificates.server_config(http2)))
        }
    };
    let answer = limits.answer;
    let routes = routes.layer(from_fn(move |request, next| within(answer, request, next)));
    let places = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        // Nobody closes the semaphore.
        let place = tokio::select! {
            () = stop.cancelled() => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            stream = accept(&bound) => stream,
        };
        let Some(stream) = stream else { continue };
        let (routes, tls, watcher) = (routes.clone(), tls.clone(), graceful.watcher());
        connections.spawn(async move {
            let _place = place;
            connection(stream, routes, tls, limits, watcher).await;
        });
        while connections.try_join_next().is_some() {}
    }
    drop(bound);
    let _ = timeout(limits.farewell, graceful.shutdown()).await;
    connections.shutdown().await;
}

/// The next connection at any of the sockets.
async fn accept(bound: &Bound) -> Option<TcpStream> {
    let any = bound.listeners.iter().map(|listener| Box::pin(listener.accept()));
    match select_all(any).await.0 {
        Ok((stream, _)) => Some(stream),
        Err(error) => {
            // Out of file descriptors, say: what is open must end first.
            debug!("cannot accept a connection: {error}");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}

async fn connection(
    stream: TcpStream,
    routes: Router,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    watcher: Watcher,
) {
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else {
        return speak(stream, false, routes, limits, watcher).await;
    };
    match timeout(limits.header, tls.accept(stream)).await {
        Ok(Ok(stream)) => {
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            speak(stream, is_http2, routes, limits, watcher).await;
        }
        Ok(Err(error)) => debug!("TLS handshake failed: {error}"),
        Err(_) => debug!("TLS handshake took too long"),
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    is_http2: bool,
    routes: Router,
    limits: Limits,
    watcher: Watcher,
) {
    // Which version is spoken was agreed on below: nothing is guessed from first bytes.
    let mut builder = Builder::new(TokioExecutor::new());
    builder = if is_http2 { builder.http2_only() } else { builder.http1_only() };
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header)
        .max_buf_size(MAX_HEADER);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(MAX_HEADER).unwrap_or(u32::MAX))
        .keep_alive_interval(limits.header)
        .keep_alive_timeout(limits.header);
    let service = TowerToHyperService::new(routes);
    let served = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    if let Err(error) = watcher.watch(served).await {
        debug!("connection ended: {error}");
    }
}

/// Ends what takes too long, an unsent body included.
async fn within(limit: Duration, request: Request, next: Next) -> Response {
    match timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
