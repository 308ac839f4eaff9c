//! The client: settings, connections per TLS profile, and the life of one call.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::time::{Instant, sleep};

use crate::call::Route;
use crate::error::{DnsFailure, innermost};
use crate::exchange::{Budget, Failure};
use crate::host::{HostStats, Hosts};
use crate::retry::{ATTEMPTS, is_passing, pause_after};
use crate::{Answer, Call, HttpError, TlsProfile};

/// Pauses that hosts demand are waited out up to this, in all, per call.
const PATIENCE: Duration = Duration::from_mins(1);

/// Profiles kept with their connections; certificates that are renewed leave old ones behind.
const MAX_PROFILES: usize = 64;

/// What all calls have in common.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// How the client introduces itself.
    pub user_agent: String,
    /// The most time one call may take, repetitions included. Waiting for a host's limits
    /// does not count.
    pub deadline: Duration,
    /// The most time a connection may take to come about.
    pub connect_timeout: Duration,
    /// The most requests open at one host at once.
    pub open_requests: usize,
    /// Whether proxies are used.
    pub proxies: Proxies,
}

/// Whether proxies are used.
#[derive(Clone, PartialEq, Eq)]
pub enum Proxies {
    /// Those of `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
    Environment,
    /// None.
    Off,
    /// This one for everything; its URL may hold a password.
    Through(Arc<str>),
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment => "Environment",
            Self::Off => "Off",
            Self::Through(_) => "Through(..)",
        })
    }
}

impl Default for HttpSettings {
    /// 60 s per call, 10 s to connect, 10 requests per host, proxies of the environment
    /// (spec 11 §2.1, G19).
    fn default() -> Self {
        Self {
            user_agent: concat!("argocd-image-updater/", env!("CARGO_PKG_VERSION")).to_owned(),
            deadline: Duration::from_mins(1),
            connect_timeout: Duration::from_secs(10),
            open_requests: 10,
            proxies: Proxies::Environment,
        }
    }
}

/// The HTTP client. Clones share connections, limits and counters.
///
/// TLS uses the `rustls` provider that the process has installed, else `aws-lc-rs`.
#[derive(Clone)]
pub struct Http(Arc<Inner>);

pub(crate) struct Inner {
    settings: HttpSettings,
    pub(crate) hosts: Hosts,
    clients: Mutex<HashMap<(TlsProfile, Route), reqwest::Client>>,
}

impl Http {
    /// A client that has not connected to anything yet.
    pub fn new(settings: HttpSettings) -> Self {
        let hosts = Hosts::new(settings.open_requests.max(1));
        Self(Arc::new(Inner { settings, hosts, clients: Mutex::default() }))
    }

    /// What each host was asked so far, ordered by host.
    pub fn stats(&self) -> Vec<HostStats> {
        self.0.hosts.stats()
    }

    /// Makes a call and returns its complete answer, whatever the status.
    ///
    /// Waits for the host's limits first. Connections that fail and servers that fail in a
    /// passing way are tried again, if the call may be repeated; the last answer is returned.
    /// "Too many requests" is waited out for up to a minute, then it is an error.
    pub async fn send(&self, call: &Call) -> Result<Answer, HttpError> {
        let inner = &self.0;
        let mut budget = Budget { time: inner.deadline(call), patience: PATIENCE };
        let started = Instant::now();
        let mut attempt = 1;
        loop {
            let last = attempt == ATTEMPTS || !call.is_idempotent();
            let wait = match inner.attempt(call, &mut budget).await {
                Ok(answer) if last || !is_passing(answer.status) => return Ok(answer),
                Ok(_) => Some(pause_after(attempt)),
                Err(Failure::Paused { host, length }) if !call.is_idempotent() => {
                    return Err(host.rate_limited(length));
                }
                // The wait is the host's pause itself, and bounded by patience, not by count.
                Err(Failure::Paused { .. }) => None,
                Err(Failure::Unreachable { cause, .. }) if !last && cause.may_pass() => {
                    Some(pause_after(attempt))
                }
                Err(Failure::Unreachable { host, cause }) => {
                    host.gave_up(started, &cause);
                    return Err(host.unreachable(cause));
                }
                Err(Failure::Final(error)) => return Err(error),
            };
            inner.hosts.of(&call.url).count_retry();
            if let Some(wait) = wait {
                attempt += 1;
                budget.time = budget.time.saturating_sub(wait);
                sleep(wait).await;
            }
        }
    }
}

impl Inner {
    pub(crate) fn connect_timeout(&self) -> Duration {
        self.settings.connect_timeout
    }

    pub(crate) fn deadline(&self, call: &Call) -> Duration {
        let usual = self.settings.deadline;
        call.deadline.map_or(usual, |own| own.min(usual))
    }

    /// The connections of a profile and route, made on first use.
    pub(crate) fn client(
        &self,
        tls: &TlsProfile,
        route: Route,
    ) -> Result<reqwest::Client, HttpError> {
        let key = (tls.clone(), route);
        let mut clients = self.clients.lock();
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = self.build(tls, route)?;
        if clients.len() >= MAX_PROFILES {
            clients.clear();
        }
        clients.insert(key, client.clone());
        Ok(client)
    }

    fn build(&self, tls: &TlsProfile, route: Route) -> Result<reqwest::Client, HttpError> {
        let builder = reqwest::Client::builder()
            .user_agent(&self.settings.user_agent)
            .connect_timeout(self.settings.connect_timeout)
            .pool_max_idle_per_host(5)
            .tls_version_min(reqwest::tls::Version::TLS_1_2)
            .dns_resolver(SystemResolver)
            // Followed in `exchange`, where each hop meets the limits of its host.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never());
        let builder = match (&self.settings.proxies, route) {
            (Proxies::Environment, Route::Usual) => builder,
            (Proxies::Off, _) | (_, Route::Direct) => builder.no_proxy(),
            (Proxies::Through(url), Route::Usual) => {
                let proxy = reqwest::Proxy::all(&**url);
                let proxy = proxy.map_err(|_| HttpError::Client("the proxy is no URL".into()))?;
                builder.no_proxy().proxy(proxy)
            }
        };
        tls.apply(builder)?.build().map_err(|error| HttpError::Client(innermost(&error)))
    }
}

/// The system's resolver, with an error that can be told from others.
struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            let found: Vec<SocketAddr> = found.map_err(|e| DnsFailure(e.to_string()))?.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
