//! A container registry in this process, on the loopback interface.
//!
//! It speaks the distribution protocol over real sockets, so that paging, tokens, conditional
//! requests and broken answers are tested as they happen. It holds images with their configs,
//! counts what it is asked, and misbehaves on demand. It stores nothing and accepts no pushes
//! over the network: content comes from the test, through [`Repository`].
//!
//! The server lives on the runtime that starts it and keeps that runtime's time, paused or not.
//!
//! ```no_run
//! # async fn example() {
//! use aiu_testkit::registry::{Access, Fault, Registry};
//!
//! let registry = Registry::start().await;
//! registry.repository("org/app").tags(["1.0.0", "1.1.0"]);
//! registry.require(Access::bearer());
//! registry.inject(Fault::status(503).times(1));
//! // … let the code under test talk to `registry.url()` …
//! assert_eq!(registry.counts().listings, 1);
//! # }
//! ```

mod access;
#[cfg(feature = "tls")]
mod certificates;
#[cfg(feature = "clock")]
pub mod clock;
mod content;
mod fault;
mod log;
mod page;
mod server;
mod wire;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub use access::Access;
#[cfg(feature = "tls")]
pub use certificates::AUTHORITY;
pub use content::{Image, Repository};
pub use fault::Fault;
pub use log::{Counts, Kind, Request};
pub use page::{Links, Paging};

use server::State;
pub(crate) use wire::{Cut, Port};

/// A running registry; stopped when dropped.
pub struct Registry {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<State>,
    stopped: Cut,
    stop: Mutex<Option<oneshot::Sender<()>>>,
}

impl Registry {
    /// Starts an empty, open registry on a free port.
    pub async fn start() -> Self {
        Self::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
            .await
            .expect("a free port on the loopback interface")
    }

    /// Starts an empty, open registry on `address`.
    pub async fn start_on(address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let stopped = Cut::default();
        let port = Port::new(listener, stopped.clone());
        Ok(Self::serving(address, "http", port, stopped))
    }

    /// Starts an empty, open registry that speaks TLS with a certificate of [`AUTHORITY`].
    #[cfg(feature = "tls")]
    pub async fn start_tls() -> Self {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(any).await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let stopped = Cut::default();
        let port = Port::new(listener, stopped.clone()).with_tls();
        Self::serving(address, "https", port, stopped)
    }

    fn serving(address: SocketAddr, scheme: &'static str, port: Port, stopped: Cut) -> Self {
        let state = Arc::new(State::new(format!("{scheme}://{address}")));
        let (stop, stopping) = oneshot::channel();
        tokio::spawn(server::serve(port, Arc::clone(&state), stopping));
        Self { address, scheme, state, stopped, stop: Mutex::new(Some(stop)) }
    }

    /// `127.0.0.1:PORT`, as it stands in image names.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// `http://127.0.0.1:PORT`, as it stands in the registries file.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// The repository `name`, made on first use.
    pub fn repository(&self, name: &str) -> Repository {
        self.state.content.lock().entry(name.to_owned()).or_default();
        Repository::new(name, Arc::clone(&self.state))
    }

    /// Every tag, and the digest that it names now.
    pub fn digests(&self) -> Vec<(String, String)> {
        let content = self.state.content.lock();
        let mut digests: Vec<_> = content.values().flat_map(|shelf| shelf.tags.clone()).collect();
        digests.sort();
        digests
    }

    /// From now on asks clients for this.
    pub fn require(&self, access: Access) {
        *self.state.access.lock() = access;
    }

    /// Forgets every token it gave out.
    pub fn revoke_tokens(&self) {
        self.state.tokens.revoke();
    }

    /// From now on divides listings so.
    pub fn paging(&self, paging: Paging) {
        *self.state.paging.lock() = Some(paging);
    }

    /// From now on sends an `ETag` with each page and honours `If-None-Match`.
    pub fn offer_etags(&self) {
        self.state.quirks.lock().etags = true;
    }

    /// From now on leaves out `Docker-Content-Digest`, as some proxies do.
    pub fn hide_digests(&self) {
        self.state.quirks.lock().hide_digests = true;
    }

    /// From now on tells what refers to a manifest.
    pub fn offer_referrers(&self) {
        self.state.referrers.store(true, Ordering::Relaxed);
    }

    /// From now on refuses the parameter `n` of listings with status 400.
    pub fn refuse_page_size(&self) {
        self.state.quirks.lock().refuse_page_size = true;
    }

    /// Adds a fault. Faults are tried in the order in which they were added.
    pub fn inject(&self, fault: Fault) {
        self.state.faults.lock().push(fault);
    }

    /// How many bytes of [`Fault::flood`] were taken so far.
    pub fn flooded(&self) -> u64 {
        self.state.flooded.load(Ordering::Relaxed)
    }

    /// Removes all faults.
    pub fn heal(&self) {
        self.state.faults.lock().clear();
    }

    /// What was asked so far, in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.state.log.lock().clone()
    }

    /// Sums over [`Registry::requests`].
    pub fn counts(&self) -> Counts {
        Counts::of(self.state.log.lock().iter())
    }

    /// Sums over the requests about one repository.
    pub fn counts_of(&self, repository: &str) -> Counts {
        let log = self.state.log.lock();
        Counts::of(log.iter().filter(|r| r.repository.as_deref() == Some(repository)))
    }

    /// Forgets what was asked so far.
    pub fn reset_counts(&self) {
        self.state.log.lock().clear();
    }

    /// Dies: open connections break, new ones are refused. The counts stay.
    pub fn stop(&self) {
        self.stopped.cut();
        if let Some(stop) = self.stop.lock().take() {
            // The receiver is gone only if the runtime has ended, and the server with it.
            let _ = stop.send(());
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.stop();
    }
}
