//! Leadership: one replica writes, by a Lease that Go's client library can read (spec 21 §2.4).
//!
//! Record and timings are those of client-go, so that an original and this program can contend
//! for one lease during a swap, and never both hold it. Time since another holder's last sign of
//! life is measured on our own monotonic clock, so a jump of anybody's wall clock does no harm.

use std::sync::Arc;
use std::time::Duration;

use aiu_core::batch::AppName;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::api::{ObjectMeta, PostParams};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info};

use crate::cluster::api::{ApiError, within_deadline};

/// The lease of the original.
pub const LEASE: &str = "c21b75f2.argoproj.io";

/// How long a lease holds after its last renewal.
const DURATION: Duration = Duration::from_secs(15);
/// A holder that could not renew for so long stops.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// Between two tries.
const RETRY: Duration = Duration::from_secs(2);

/// Whether this process may write. Cheap to clone and to ask.
#[derive(Clone, Debug)]
pub struct Leadership {
    /// `None` without an election; else until when the lease is surely ours.
    until: Option<Arc<Mutex<Option<Instant>>>>,
}

impl Leadership {
    /// Without an election this process always writes.
    pub fn without_election() -> Self {
        Self { until: None }
    }

    /// Nobody leads until the election says so.
    pub fn contended() -> Self {
        Self { until: Some(Arc::default()) }
    }

    /// Whether this process may write now.
    pub fn is_leader(&self) -> bool {
        match &self.until {
            None => true,
            Some(until) => until.lock().is_some_and(|until| Instant::now() < until),
        }
    }

    /// Whether there is an election at all.
    pub fn is_contended(&self) -> bool {
        self.until.is_some()
    }

    fn hold(&self, until: Option<Instant>) {
        if let Some(ours) = &self.until {
            *ours.lock() = until;
        }
    }
}

/// What is to be done about the lease.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Create(LeaseSpec),
    Update(LeaseSpec),
    /// Somebody else holds it.
    Wait,
}

/// What one replica knows of the lease.
struct Election {
    identity: String,
    /// The record as last seen, and when that was news.
    observed: Option<(LeaseSpec, Instant)>,
}

impl Election {
    /// What to do, given the lease as it stands.
    fn step(&mut self, lease: Option<&LeaseSpec>, now: Instant, wall: Timestamp) -> Step {
        let Some(record) = lease else { return Step::Create(self.record(None, wall)) };
        if self.observed.as_ref().is_none_or(|(known, _)| known != record) {
            self.observed = Some((record.clone(), now));
        }
        let holder = record.holder_identity.as_deref().unwrap_or_default();
        let seen = self.observed.as_ref().map_or(now, |(_, seen)| *seen);
        let seconds = record.lease_duration_seconds.unwrap_or_default();
        let valid = now < seen + Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        if !holder.is_empty() && holder != self.identity && valid {
            return Step::Wait;
        }
        Step::Update(self.record(Some(record), wall))
    }

    /// The record that says that we hold it.
    fn record(&self, before: Option<&LeaseSpec>, wall: Timestamp) -> LeaseSpec {
        let ours = before.filter(|b| b.holder_identity.as_deref() == Some(&*self.identity));
        let transitions = before.and_then(|before| before.lease_transitions).unwrap_or_default();
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            acquire_time: (ours.and_then(|ours| ours.acquire_time.clone()))
                .or_else(|| Some(micro(wall))),
            renew_time: Some(micro(wall)),
            lease_transitions: Some(match (before, ours) {
                (Some(_), None) => transitions + 1,
                _ => transitions,
            }),
            ..before.cloned().unwrap_or_default()
        }
    }

    /// The record that says that nobody holds it (client-go's release).
    fn released(before: &LeaseSpec, wall: Timestamp) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            acquire_time: Some(micro(wall)),
            renew_time: Some(micro(wall)),
            ..before.clone()
        }
    }
}

/// Wall time with the precision that records have.
fn micro(wall: Timestamp) -> MicroTime {
    MicroTime(Timestamp::from_microsecond(wall.as_microsecond()).unwrap_or(wall))
}

/// A contender for the lease.
pub struct Contender {
    leases: kube::Api<Lease>,
    name: AppName,
    election: Election,
    leadership: Leadership,
}

impl Contender {
    /// A contender in a namespace, under a name that no other replica has.
    pub fn new(client: Client, namespace: &str, identity: String, leadership: Leadership) -> Self {
        Self {
            leases: kube::Api::namespaced(client, namespace),
            name: AppName { namespace: namespace.into(), name: LEASE.into() },
            election: Election { identity, observed: None },
            leadership,
        }
    }

    /// Waits until the lease is ours. `false` if the process is to stop instead.
    pub async fn acquire(&mut self, stop: &CancellationToken) -> bool {
        info!("attempting to acquire leader lease {}...", self.name);
        let mut told = None;
        loop {
            let tried = tokio::select! {
                tried = self.attempt() => tried,
                () = stop.cancelled() => return false,
            };
            match tried {
                Ok(true) => {
                    info!("successfully acquired lease {}", self.name);
                    return true;
                }
                Ok(false) => debug!("lease {} is held by another replica", self.name),
                Err(error) => {
                    let text = error.to_string();
                    if told.as_ref() != Some(&text) {
                        error!("error retrieving resource lock {}: {text}", self.name);
                    }
                    told = Some(text);
                }
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY) => {}
                () = stop.cancelled() => return false,
            }
        }
    }

    /// Keeps the lease. Ends when it is lost (`false`), or given back at the stop (`true`).
    pub async fn keep(&mut self, stop: &CancellationToken) -> bool {
        let mut renewed = Instant::now();
        loop {
            tokio::select! {
                () = tokio::time::sleep(RETRY) => {}
                () = stop.cancelled() => {
                    self.release().await;
                    return true;
                }
            }
            let left = (renewed + RENEW_DEADLINE).saturating_duration_since(Instant::now());
            match tokio::time::timeout(left, self.attempt()).await {
                Ok(Ok(true)) => renewed = Instant::now(),
                Ok(Err(error)) => {
                    error!("error retrieving resource lock {}: {error}", self.name);
                    if renewed.elapsed() >= RENEW_DEADLINE {
                        break;
                    }
                }
                Ok(Ok(false)) | Err(_) => break,
            }
        }
        self.leadership.hold(None);
        error!("leader election lost");
        false
    }

    /// One try to get or keep the lease.
    async fn attempt(&mut self) -> Result<bool, ApiError> {
        let found = within_deadline(self.leases.get_opt(LEASE), "get", RESOURCE, &self.name);
        let found = found.await?;
        let record = found.as_ref().map(|lease| lease.spec.clone().unwrap_or_default());
        let (before, wall) = (Instant::now(), Timestamp::now());
        let written = match self.election.step(record.as_ref(), before, wall) {
            Step::Wait => {
                self.leadership.hold(None);
                return Ok(false);
            }
            Step::Create(spec) => {
                let metadata = ObjectMeta { name: Some(LEASE.to_owned()), ..Default::default() };
                let lease = Lease { metadata, spec: Some(spec) };
                let parameters = PostParams::default();
                let created = self.leases.create(&parameters, &lease);
                within_deadline(created, "create", RESOURCE, &self.name).await
            }
            Step::Update(spec) => self.replace(found.unwrap_or_default(), spec).await,
        };
        match written {
            Ok(lease) => {
                let spec = lease.spec.unwrap_or_default();
                self.election.observed = Some((spec, before));
                self.leadership.hold(Some(before + RENEW_DEADLINE));
                Ok(true)
            }
            // Somebody was faster; what they wrote is read next time.
            Err(ApiError::Conflict(_)) => Ok(self.leadership.is_leader()),
            Err(error) => Err(error),
        }
    }

    /// The version that was read is sent back, so that the slower of two is refused.
    async fn replace(&self, mut lease: Lease, spec: LeaseSpec) -> Result<Lease, ApiError> {
        lease.spec = Some(spec);
        let parameters = PostParams::default();
        let replaced = self.leases.replace(LEASE, &parameters, &lease);
        within_deadline(replaced, "update", RESOURCE, &self.name).await
    }

    /// Gives the lease back, so that another replica need not wait. Best effort.
    async fn release(&mut self) {
        self.leadership.hold(None);
        let found = within_deadline(self.leases.get(LEASE), "get", RESOURCE, &self.name).await;
        let Ok(lease) = found else { return };
        let record = lease.spec.clone().unwrap_or_default();
        if record.holder_identity.as_deref() == Some(&*self.election.identity) {
            let released = Election::released(&record, Timestamp::now());
            let _ = self.replace(lease, released).await;
        }
    }
}

const RESOURCE: &str = "leases.coordination.k8s.io";

#[cfg(test)]
mod tests {
    use super::*;

    fn election(identity: &str) -> Election {
        Election { identity: identity.to_owned(), observed: None }
    }

    fn held_by(holder: &str, renewed: i64, transitions: i32) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            acquire_time: Some(micro(Timestamp::from_second(1).unwrap())),
            renew_time: Some(micro(Timestamp::from_second(renewed).unwrap())),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        }
    }

    fn shown(step: &Step) -> String {
        let (verb, spec) = match step {
            Step::Create(spec) => ("create", spec),
            Step::Update(spec) => ("update", spec),
            Step::Wait => return "wait".to_owned(),
        };
        let second = |time: &Option<MicroTime>| time.as_ref().unwrap().0.as_second();
        format!(
            "{verb}: {} since {}, {} transitions, {} s",
            spec.holder_identity.as_deref().unwrap(),
            second(&spec.acquire_time),
            spec.lease_transitions.unwrap(),
            spec.lease_duration_seconds.unwrap(),
        )
    }

    #[test]
    fn the_lease_is_taken_kept_and_respected_as_in_client_go() {
        let wall = Timestamp::from_second(100).unwrap();
        let start = Instant::now();
        let rows = [
            (None, "create: us since 100, 0 transitions, 15 s"),
            (Some(held_by("us", 90, 3)), "update: us since 1, 3 transitions, 15 s"),
            (Some(held_by("", 90, 3)), "update: us since 100, 4 transitions, 15 s"),
            (Some(held_by("them", 90, 3)), "wait"),
        ];
        for (lease, expected) in rows {
            assert_eq!(shown(&election("us").step(lease.as_ref(), start, wall)), expected);
        }
    }

    /// Whatever the wall clocks say: another holder is given its time from when we saw it.
    #[test]
    fn a_silent_holder_is_followed_after_its_duration_on_our_own_clock() {
        let (start, mut us) = (Instant::now(), election("us"));
        let wall = Timestamp::from_second(1_000_000).unwrap();
        let theirs = held_by("them", 5, 0);
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(us.step(Some(&theirs), start, wall), Step::Wait);
        assert_eq!(us.step(Some(&theirs), after(14), wall), Step::Wait);
        let renewed = held_by("them", 6, 0);
        assert_eq!(us.step(Some(&renewed), after(14), wall), Step::Wait);
        assert_eq!(us.step(Some(&renewed), after(28), wall), Step::Wait);
        let taken = us.step(Some(&renewed), after(29), wall);
        assert_eq!(shown(&taken), "update: us since 1000000, 1 transitions, 15 s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_good_until_the_deadline_and_no_longer() {
        let leadership = Leadership::contended();
        assert!(!leadership.is_leader());
        leadership.hold(Some(Instant::now() + RENEW_DEADLINE));
        assert!(leadership.is_leader());
        tokio::time::advance(RENEW_DEADLINE).await;
        assert!(!leadership.is_leader());
        assert!(Leadership::without_election().is_leader());
    }
}
