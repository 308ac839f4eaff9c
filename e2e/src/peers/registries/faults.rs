//! What stands between us and a registry, and does to the answers what networks do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::net::sockopt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::listener::{Listener, end_of_head, read_head};

/// What becomes of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is answered.
    None,
    /// It is asked after so long.
    Wait(Duration),
    /// The connection is reset before an answer.
    Reset,
    /// The connection ends in the middle of the body.
    Cut,
    /// Nothing comes after the middle of the body, and the connection stays.
    StalledBody,
    /// The head comes a few bytes at a time, with a break after each piece.
    SlowHead(Duration),
}

/// Decides about a question by its number, from 0, and its first line.
type Plan = Box<dyn Fn(usize, &str) -> Fault + Send + Sync>;

/// A listener before a registry. Dropping it ends it, and every connection.
pub(crate) struct Faults {
    listener: Listener,
    shared: Arc<Shared>,
}

struct Shared {
    /// Host and port of the registry.
    behind: String,
    plan: Plan,
    /// The first line of each question.
    asked: Mutex<Vec<String>>,
}

impl Faults {
    /// Stands before the registry at `url`, which speaks plain HTTP.
    pub(crate) async fn before(
        url: &str,
        plan: impl Fn(usize, &str) -> Fault + Send + Sync + 'static,
    ) -> Result<Self> {
        let behind = url.strip_prefix("http://").context("a URL in plain HTTP")?.to_owned();
        let shared = Arc::new(Shared { behind, plan: Box::new(plan), asked: Mutex::default() });
        let served = Arc::clone(&shared);
        let serve_one = move |client| serve(client, Arc::clone(&served));
        Ok(Self { listener: Listener::start(serve_one).await?, shared })
    }

    /// The base of the API, as it is seen from here.
    pub(crate) fn url(&self) -> &str {
        self.listener.url()
    }

    /// The first line of each question so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().expect("nobody panics while it is held").clone()
    }
}

/// One question on a connection, which ends with the answer.
async fn serve(mut client: TcpStream, shared: Arc<Shared>) -> Result<()> {
    let head = read_head(&mut client).await?;
    let line = head.lines().next().unwrap_or_default().to_owned();
    let number = {
        let mut asked = shared.asked.lock().expect("nobody panics while it is held");
        asked.push(line.clone());
        asked.len() - 1
    };
    let fault = (shared.plan)(number, &line);
    match fault {
        Fault::Reset => return Ok(sockopt::set_socket_linger(&client, Some(Duration::ZERO))?),
        Fault::Wait(length) => sleep(length).await,
        _ => {}
    }
    let answer = ask(&shared.behind, &head).await?;
    let body = end_of_head(&answer).context("an answer has a head")?;
    let middle = body + (answer.len() - body) / 2;
    match fault {
        Fault::Cut => client.write_all(&answer[..middle]).await?,
        Fault::StalledBody => {
            client.write_all(&answer[..middle]).await?;
            std::future::pending::<()>().await;
        }
        Fault::SlowHead(pause) => {
            for piece in answer[..body].chunks(16) {
                client.write_all(piece).await?;
                sleep(pause).await;
            }
            client.write_all(&answer[body..]).await?;
        }
        _ => client.write_all(&answer).await?,
    }
    Ok(client.shutdown().await?)
}

/// The whole answer of the registry, which is asked to close the connection after it, and so says
/// the same to whom it is handed on.
async fn ask(behind: &str, head: &str) -> Result<Vec<u8>> {
    let mut server = TcpStream::connect(behind).await.context("the registry is not there")?;
    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    server.write_all(head.as_bytes()).await?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).await?;
    Ok(answer)
}
