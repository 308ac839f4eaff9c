use std::sync::Arc;
use std::time::Duration;

use aiu_web::{Limits, Transport};
use axum::Router;
use axum::body::Bytes;
use axum::routing::{get as on_get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::client::{answer, get, parts, start};

/// Long enough to be reached by nobody in these tests.
const NEVER: Duration = Duration::from_mins(10);

fn limits() -> Limits {
    Limits { connections: 8, header: NEVER, answer: NEVER, farewell: NEVER }
}

fn routes() -> Router {
    Router::new().route("/", on_get(async || "here")).route("/", post(async |_: Bytes| "read"))
}

/// A client that sends a header for ever, one that sends none, and one that leaves its body out.
#[tokio::test]
async fn slow_clients_are_cut_off() {
    let short = Limits { header: Duration::from_millis(50), ..limits() };
    let server = start(routes(), Transport::Plain, short).await;
    for bytes in ["GET / HTTP/1.1\r\nHost: x\r\n", "GET / HT", ""] {
        let said = answer(server.address, bytes.as_bytes()).await;
        assert!(!said.contains("here"), "{said}");
    }
    // Between two requests as well.
    let said = answer(server.address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert_eq!(parts(&said), (200, "here".to_owned()));

    let short = Limits { answer: Duration::from_millis(50), ..limits() };
    let server = start(routes(), Transport::Plain, short).await;
    let request =
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nConnection: close\r\n\r\nfour";
    assert_eq!(parts(&answer(server.address, request.as_bytes()).await).0, 503);
}

#[tokio::test]
async fn headers_and_bodies_beyond_limits_are_refused() {
    let server = start(routes(), Transport::Plain, limits()).await;
    let close = "Connection: close\r\n";
    let big = format!("GET / HTTP/1.1\r\nHost: x\r\n{close}X: {}\r\n\r\n", "x".repeat(20_000));
    let many = "A: b\r\n".repeat(500);
    let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{close}{many}\r\n");
    let body = "x".repeat(3 << 20);
    let body = format!(
        "POST / HTTP/1.1\r\nHost: x\r\n{close}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for (request, status) in [(big, 431), (many, 431), ("nonsense\r\n\r\n".to_owned(), 400)] {
        assert_eq!(parts(&answer(server.address, request.as_bytes()).await).0, status);
    }
    // The client may still be writing when it is answered.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let write = async {
        let _ = writer.write_all(body.as_bytes()).await;
        std::future::pending::<()>().await;
    };
    let mut head = [0; 12];
    tokio::select! {
        read = reader.read_exact(&mut head) => { read.unwrap(); }
        () = write => {}
    }
    assert_eq!(&head, b"HTTP/1.1 413");
}

/// Who comes when all places are taken waits for one, and is served then.
#[tokio::test]
async fn connections_wait_for_a_place() {
    let server = start(routes(), Transport::Plain, Limits { connections: 1, ..limits() }).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    first.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut head = [0; 12];
    first.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    let second = get(server.address, "/");
    tokio::pin!(second);
    let early = tokio::time::timeout(Duration::from_millis(50), &mut second).await;
    assert!(early.is_err(), "the only place is taken");
    drop(first);
    assert_eq!(second.await, (200, "here".to_owned()));
}

/// A request under way is answered after the stop; a new one is not taken.
#[tokio::test]
async fn the_end_waits_for_requests_under_way() {
    let (entered, leave) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (here, there) = (Arc::clone(&entered), Arc::clone(&leave));
    let slow = async move || {
        here.notify_one();
        there.notified().await;
        "done"
    };
    let routes = Router::new().route("/", on_get(slow));
    let server = start(routes, Transport::Plain, limits()).await;
    let asked = tokio::spawn(get(server.address, "/"));
    entered.notified().await;
    // One that says nothing does not hold the end up.
    let idle = TcpStream::connect(server.address).await.unwrap();
    server.stop.cancel();
    while TcpStream::connect(server.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    leave.notify_one();
    assert_eq!(asked.await.unwrap(), (200, "done".to_owned()));
    server.ended.await.unwrap();
    drop(idle);
}

#[tokio::test]
async fn the_end_does_not_wait_for_ever() {
    let entered = Arc::new(Notify::new());
    let here = Arc::clone(&entered);
    let hang = async move || {
        here.notify_one();
        std::future::pending::<()>().await;
    };
    let routes = Router::new().route("/", on_get(hang));
    let short = Limits { farewell: Duration::from_millis(10), ..limits() };
    let server = start(routes, Transport::Plain, short).await;
    let asked = tokio::spawn(get(server.address, "/"));
    entered.notified().await;
    server.stop.cancel();
    server.ended.await.unwrap();
    assert_eq!(asked.await.unwrap().0, 0);
}
