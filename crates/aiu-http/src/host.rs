//! One host: its limits, its moods and its counters, shared by all calls to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::limits::{Bucket, Rate};
use crate::quota::Quota;
use crate::redact::host_of;
use crate::{HttpError, Unreachable};

/// How long a host that cannot be reached is left alone: long enough that hundreds of
/// repositories on a dead host do not wait for it one after another, short enough that nobody
/// notices once it is back.
const DOWN_FOR: Duration = Duration::from_secs(15);

/// More hosts than this are forgotten, unless in use; redirects may name any number of them.
const MAX_HOSTS: usize = 1000;

/// What one host was asked so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostStats {
    /// Host and, where it is not the scheme's own, port.
    pub host: String,
    /// Requests sent, each redirect and each repetition included.
    pub requests: u64,
    /// Requests that brought no answer, or one that says that the host failed or refuses for now.
    pub failed: u64,
    /// Requests that repeated a failed one.
    pub retries: u64,
    /// Answers that ask for a pause, and requests that were not made because of one.
    pub rate_limited: u64,
    /// Time that calls spent waiting for this host's limits.
    pub throttled: Duration,
    /// What is left of the pause that the host demanded.
    pub paused: Duration,
    /// What the host last said of its own limits.
    pub quota: Quota,
}

/// All hosts talked to.
pub(crate) struct Hosts {
    open: usize,
    known: Mutex<BTreeMap<String, Arc<Host>>>,
}

impl Hosts {
    pub(crate) fn new(open: usize) -> Self {
        Self { open, known: Mutex::default() }
    }

    pub(crate) fn of(&self, url: &Url) -> Arc<Host> {
        let name = host_of(url);
        let mut known = self.known.lock();
        if known.len() >= MAX_HOSTS && !known.contains_key(&name) {
            known.retain(|_, host| Arc::strong_count(host) > 1);
        }
        let new = || Arc::new(Host::new(name.clone(), self.open));
        Arc::clone(known.entry(name.clone()).or_insert_with(new))
    }

    pub(crate) fn stats(&self) -> Vec<HostStats> {
        self.known.lock().values().map(|host| host.stats()).collect()
    }
}

pub(crate) struct Host {
    pub(crate) name: String,
    open: Semaphore,
    /// Calls with a limit, whether they wait for it or are open: few, so that no crowd wakes up
    /// for every request that the limit lets pass.
    limited: Semaphore,
    flow: Mutex<Flow>,
}

/// What changes with every request. Locked for a look, never across an await.
struct Flow {
    bucket: Bucket,
    paused_until: Option<Instant>,
    down: Option<(Instant, Unreachable)>,
    answered: Option<Instant>,
    requests: u64,
    failed: u64,
    retries: u64,
    rate_limited: u64,
    throttled: Duration,
    quota: Quota,
}

/// The right to have one request open.
pub(crate) struct Permit<'a> {
    /// When it was given: deadlines count from here.
    pub(crate) since: Instant,
    _open: SemaphorePermit<'a>,
    _limited: Option<SemaphorePermit<'a>>,
}

/// What a look at the host's state says.
enum Gate {
    Go,
    Wait(Instant),
    Pause(Instant),
}

impl Host {
    fn new(name: String, open: usize) -> Self {
        let flow = Flow {
            bucket: Bucket::full(Instant::now()),
            paused_until: None,
            down: None,
            answered: None,
            requests: 0,
            failed: 0,
            retries: 0,
            rate_limited: 0,
            throttled: Duration::ZERO,
            quota: Quota::default(),
        };
        let (open, limited) = (Semaphore::new(open), Semaphore::new(open));
        Self { name, open, limited, flow: Mutex::new(flow) }
    }

    /// Waits until the host may be sent one more request.
    ///
    /// `patience` is how long the caller is willing to sit out pauses that the host demanded;
    /// it shrinks by what was spent. Nothing is reserved in advance, so a cancelled caller
    /// takes nothing from the others; and who waits for a limit holds no open request back from
    /// callers that have none.
    pub(crate) async fn permit(
        &self,
        rate: Rate,
        patience: &mut Duration,
    ) -> Result<Permit<'_>, HttpError> {
        let asked = Instant::now();
        let limited = match rate {
            Rate::PerSecond(_) => Some(of(&self.limited).await),
            Rate::Unlimited => None,
        };
        loop {
            let open = of(&self.open).await;
            let now = Instant::now();
            match self.look(rate, now)? {
                Gate::Go => {
                    self.flow.lock().throttled += now - asked;
                    return Ok(Permit { since: now, _open: open, _limited: limited });
                }
                Gate::Wait(until) => {
                    drop(open);
                    sleep_until(until).await;
                }
                Gate::Pause(until) => {
                    drop(open);
                    let left = until - now;
                    if left > *patience {
                        self.flow.lock().rate_limited += 1;
                        return Err(self.rate_limited(left));
                    }
                    sleep_until(until).await;
                    *patience -= left;
                }
            }
        }
    }

    fn look(&self, rate: Rate, now: Instant) -> Result<Gate, HttpError> {
        let mut flow = self.flow.lock();
        if let Some((until, cause)) = &flow.down
            && *until > now
        {
            return Err(self.unreachable(cause.clone()));
        }
        if let Some(until) = flow.paused_until
            && until > now
        {
            return Ok(Gate::Pause(until));
        }
        Ok(match flow.bucket.take(rate, now) {
            Ok(()) => {
                flow.requests += 1;
                Gate::Go
            }
            Err(until) => Gate::Wait(until),
        })
    }

    /// Holds back everyone's requests for so long.
    pub(crate) fn pause(&self, length: Duration) {
        let until = Instant::now() + length;
        let mut flow = self.flow.lock();
        flow.paused_until = Some(flow.paused_until.map_or(until, |now| now.max(until)));
        flow.rate_limited += 1;
    }

    /// An answer arrived: the host is alive.
    pub(crate) fn answered(&self) {
        let mut flow = self.flow.lock();
        flow.answered = Some(Instant::now());
        flow.down = None;
    }

    /// An answer said this of the host's limits.
    pub(crate) fn told(&self, quota: Quota) {
        let mut flow = self.flow.lock();
        flow.quota = quota.or(flow.quota);
    }

    /// A call that started at `since` gave up. Unless the host has answered others meanwhile,
    /// nobody needs to try for a while.
    pub(crate) fn gave_up(&self, since: Instant, cause: &Unreachable) {
        let mut flow = self.flow.lock();
        if flow.answered.is_none_or(|at| at < since) {
            flow.down = Some((Instant::now() + DOWN_FOR, cause.clone()));
        }
    }

    pub(crate) fn count_failure(&self) {
        self.flow.lock().failed += 1;
    }

    pub(crate) fn count_retry(&self) {
        self.flow.lock().retries += 1;
    }

    pub(crate) fn unreachable(&self, cause: Unreachable) -> HttpError {
        HttpError::Unreachable { host: self.name.clone(), cause }
    }

    pub(crate) fn rate_limited(&self, retry_after: Duration) -> HttpError {
        HttpError::RateLimited { host: self.name.clone(), retry_after }
    }

    fn stats(&self) -> HostStats {
        let flow = self.flow.lock();
        HostStats {
            host: self.name.clone(),
            requests: flow.requests,
            failed: flow.failed,
            retries: flow.retries,
            rate_limited: flow.rate_limited,
            throttled: flow.throttled,
            paused: flow
                .paused_until
                .map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now())),
            quota: flow.quota,
        }
    }
}

async fn of(semaphore: &Semaphore) -> SemaphorePermit<'_> {
    semaphore.acquire().await.expect("the semaphore is never closed")
}
