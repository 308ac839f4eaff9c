//! A way to a server on which every client is looked at.
//!
//! While a connection waits to be taken up its client lives, and so do the processes that started
//! it: their arguments and their environments are read then. Which processes count is told by a
//! variable that they all inherit.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::ports::Ports;

/// The variable. Its value tells runs from each other.
pub(crate) const MARK: &str = "AIU_E2E_RUN";

/// Listens for clients of one server, and hands on what they and it say.
pub(crate) struct Watch {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Watch {
    /// Listens in front of a server.
    pub(super) async fn before(server: &str, ports: &mut Ports) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, ports.free()?))
            .await
            .context("cannot listen in front of a server")?;
        let address = listener.local_addr().context("a listener has an address")?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (found, server) = (Arc::clone(&seen), server.to_owned());
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (found, server) = (Arc::clone(&found), server.clone());
                tokio::spawn(serve(client, server, found));
            }
        });
        Ok(Self { address, seen, task })
    }

    /// Where clients go, as `host:port`.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// The processes that were seen with this value of [`MARK`]: arguments, then environment.
    pub(crate) fn seen(&self, mark: &str) -> Vec<String> {
        let mark = format!("{MARK}={mark}\n");
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter().filter(|process| process.contains(&mark)).cloned().collect()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut client: TcpStream, server: String, seen: Arc<Mutex<Vec<String>>>) {
    if let Ok(processes) = tokio::task::spawn_blocking(marked).await {
        seen.lock().unwrap_or_else(PoisonError::into_inner).extend(processes);
    }
    if let Ok(mut server) = TcpStream::connect(server).await {
        // Either side may hang up at any time; the other one sees it.
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}

/// All processes that carry the mark. Those that end meanwhile are left out.
fn marked() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let read = |folder: &Path, file: &str| std::fs::read(folder.join(file)).ok();
    let lines = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', "\n");
    let mut found = Vec::new();
    for folder in entries.flatten().map(|entry| entry.path()) {
        let Some(environment) = read(&folder, "environ").map(lines) else { continue };
        if environment.contains(MARK)
            && let Some(arguments) = read(&folder, "cmdline").map(lines)
        {
            found.push(format!("{arguments}\n{environment}"));
        }
    }
    found
}
