//! A server to ask, and a client that writes bytes.

use std::net::SocketAddr;

use aiu_web::{Address, Limits, Transport, bind, serve};
use axum::Router;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) ended: JoinHandle<()>,
}

/// A server at a free port of the loopback interface.
pub(crate) async fn start(routes: Router, transport: Transport, limits: Limits) -> Server {
    let bound = bind(&"127.0.0.1:0".parse::<Address>().unwrap()).await.unwrap();
    let (address, stop) = (bound.address(), CancellationToken::new());
    let ended = tokio::spawn(serve(bound, routes, transport, limits, stop.clone()));
    Server { address, stop, ended }
}

/// What comes back for these bytes, until the server closes.
pub(crate) async fn answer(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut all = Vec::new();
    // A reset after the answer is an end like any other.
    let _ = stream.read_to_end(&mut all).await;
    String::from_utf8_lossy(&all).into_owned()
}

/// Status and body of a GET.
pub(crate) async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    parts(&answer(address, request.as_bytes()).await)
}

pub(crate) fn parts(answer: &str) -> (u16, String) {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    (status, body.unwrap_or_default())
}
