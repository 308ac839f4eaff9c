//! The least of a web server: one question on a connection.

use anyhow::{Context, Result};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// Listens until it is dropped, which ends every connection.
pub(super) struct Listener {
    url: String,
    task: JoinHandle<()>,
}

impl Listener {
    /// Serves each connection so.
    pub(super) async fn start<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Result<Self>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        let url = format!("http://{}", listener.local_addr()?);
        let task = tokio::spawn(async move {
            // Held here, so that connections end with the listener.
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let served = serve(client);
                // One that breaks is told by whoever asked.
                connections.spawn(async move { drop(served.await) });
            }
        });
        Ok(Self { url, task })
    }

    /// Without a slash at the end.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The first line of a question and its headers, to the empty line.
pub(super) async fn read_head(client: &mut TcpStream) -> Result<String> {
    let mut head = Vec::new();
    while end_of_head(&head).is_none() {
        let mut part = [0; 4096];
        let count = client.read(&mut part).await.context("cannot read")?;
        anyhow::ensure!(count > 0, "the question broke off");
        head.extend_from_slice(&part[..count]);
    }
    String::from_utf8(head).context("a head is text")
}

/// Where the body begins.
pub(super) fn end_of_head(text: &[u8]) -> Option<usize> {
    let empty = b"\r\n\r\n";
    text.windows(empty.len()).position(|window| window == empty).map(|at| at + empty.len())
}
