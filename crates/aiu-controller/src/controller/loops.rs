//! From the start to the stop: watches, leadership, warm-up, and the loop that starts passes.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use super::queue::Unit;
use super::{Controller, Ended, Interval};
use crate::cluster::api::wire::{Applications, ImageUpdaters, Kind as _};
use crate::cluster::api::{self};
use crate::cycle::AnnotationMode;
use crate::leader::Contender;

/// How long passes may go on after the stop: less than the Deployment's grace of 10 s.
const GRACE: Duration = Duration::from_secs(8);
/// The loop turns at least so often, so that a hang can be seen.
const BEAT: Duration = Duration::from_secs(10);

impl Controller {
    /// Runs until it is stopped, or with `--once` until everything was looked at. Whether
    /// anything failed in a `--once` run.
    pub async fn run(
        self: &Arc<Self>,
        contender: Option<Contender>,
        stop: &CancellationToken,
    ) -> Result<bool, Ended> {
        let mut watches = JoinSet::new();
        let end_of_watches = CancellationToken::new();
        let until = &end_of_watches;
        api::watch::<Applications, _>(
            &mut watches,
            &self.api,
            |api| &api.applications,
            self,
            until,
        );
        api::watch::<ImageUpdaters, _>(&mut watches, &self.api, |api| &api.updaters, self, until);
        let ended = self.lead(contender, stop).await;
        end_of_watches.cancel();
        watches.join_all().await;
        ended
    }

    async fn lead(
        self: &Arc<Self>,
        contender: Option<Contender>,
        stop: &CancellationToken,
    ) -> Result<bool, Ended> {
        if !self.stores_filled(stop).await? {
            return Ok(false);
        }
        self.health.filled();
        let Some(mut contender) = contender else { return Ok(self.work(stop).await) };
        if !contender.acquire(stop).await {
            return Ok(false);
        }
        // Passes end before the lease is given back.
        let released = CancellationToken::new();
        let keep = contender.keep(&released);
        let mut keep = std::pin::pin!(keep);
        tokio::select! {
            failed = self.work(stop) => {
                released.cancel();
                keep.await;
                Ok(failed)
            }
            _ = &mut keep => Err(Ended::LeadershipLost),
        }
    }

    /// Waits for the first listings. `false` if the process is to stop instead.
    async fn stores_filled(&self, stop: &CancellationToken) -> Result<bool, Ended> {
        loop {
            let woken = self.woken.notified();
            let absent = self.api.updaters.is_absent();
            if absent && self.settings.annotation_mode == AnnotationMode::Never {
                return Err(Ended::NotInstalled(format!(
                    "no kind {}: {}",
                    ImageUpdaters::KIND,
                    ImageUpdaters::ABSENT
                )));
            }
            if self.api.applications.is_ready() && (self.api.updaters.is_ready() || absent) {
                return Ok(true);
            }
            self.health.turn();
            tokio::select! {
                () = woken => {}
                () = sleep(BEAT) => {}
                () = stop.cancelled() => return Ok(false),
            }
        }
    }

    /// The work of the one who leads.
    async fn work(self: &Arc<Self>, stop: &CancellationToken) -> bool {
        self.decide_annotations();
        self.tell_unread().await;
        let settings = &self.settings;
        if settings.once && !self.begin_once() {
            info!("No CRs found in run-once mode - will stop immediately");
            self.health.warm();
            return false;
        }
        if settings.warm_up {
            tokio::select! {
                () = self.warm_up() => {}
                () = stop.cancelled() => return false,
            }
        }
        self.health.warm();
        self.turn(stop).await;
        self.once.lock().failed
    }

    /// The loop: starts what is due, and notes what has ended.
    async fn turn(self: &Arc<Self>, stop: &CancellationToken) {
        let mut running: JoinSet<(Unit, Option<Duration>)> = JoinSet::new();
        while !stop.is_cancelled() {
            self.health.turn();
            while running.len() < self.settings.concurrent_reconciles.max(1) {
                let Some((unit, because)) = self.queue.lock().take(Instant::now()) else { break };
                let controller = Arc::clone(self);
                running.spawn(async move {
                    let next = controller.reconcile(&unit, because).await;
                    (unit, next)
                });
            }
            if self.is_over() && running.is_empty() {
                info!("received stop signal from reconciler, shutting down manager");
                return;
            }
            let has_room = running.len() < self.settings.concurrent_reconciles.max(1);
            let next = self.queue.lock().next().filter(|_| has_room);
            let due = async {
                match next {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.woken.notified() => {}
                () = due => {}
                () = sleep(BEAT) => {}
                Some(ended) = running.join_next() => self.ended(ended),
            }
        }
        let finished = timeout(GRACE, async {
            while let Some(ended) = running.join_next().await {
                self.ended(ended);
            }
        });
        if finished.await.is_err() {
            warn!("{} pass(es) did not end in time; the next start does their work", running.len());
            running.shutdown().await;
        }
    }

    fn ended(&self, ended: Result<(Unit, Option<Duration>), tokio::task::JoinError>) {
        match ended {
            Ok((unit, next)) => {
                let next = next.map(|delay| Instant::now() + delay);
                self.queue.lock().done(&unit, next);
            }
            // Panics of a pass are caught inside of it.
            Err(error) => error!("a pass ended without an answer: {error}"),
        }
    }

    /// With `--once`, notes what there is to do. Whether there is anything.
    fn begin_once(&self) -> bool {
        let resources = self.api.updaters.all().into_keys().map(Unit::Resource);
        let mut left: std::collections::BTreeSet<Unit> = resources.collect();
        if self.works_on_annotations() {
            let annotated = self.annotated().into_iter();
            left.extend(annotated.map(|name| Unit::Annotations(name.namespace)));
        }
        let count = left.len();
        self.once.lock().left = left;
        if count > 0 {
            info!("Run-once mode: will process {count} CRs before stopping");
        }
        count > 0
    }

    /// A unit that was counted is done, on whatever path; strangers are ignored (spec 21 §12).
    pub(super) fn once_done(&self, unit: &Unit, failed: bool) {
        if self.settings.once {
            let mut once = self.once.lock();
            once.left.remove(unit);
            once.failed |= failed;
        }
    }

    fn is_over(&self) -> bool {
        self.settings.once && self.once.lock().left.is_empty()
    }

    /// How long until a unit is looked at again.
    pub(super) fn requeue(&self) -> Option<Duration> {
        match self.settings.interval {
            Interval::Never | Interval::Once => None,
            Interval::Every(interval) => {
                debug!("Reconciliation will requeue after interval {interval:?}");
                Some(interval)
            }
        }
    }
}
