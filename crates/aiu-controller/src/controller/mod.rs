//! The controller: watches, the loop over `ImageUpdater`s, and how it starts and stops
//! (spec 21 §1, §2).

mod health;
mod loops;
mod queue;
mod reconcile;
mod triggers;
mod warmup;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aiu_core::batch::AppName;
use parking_lot::Mutex;
use tokio::sync::Notify;

pub use health::Health;
pub use queue::Unit;

use crate::cluster::api::Api;
use crate::cycle::{AnnotationMode, Updater};
use crate::events::{Events, News};
use crate::leader::Leadership;
use crate::passes::Session;
use crate::report::CycleReport;
use queue::{Because, Queue};

/// When passes are made (spec 22 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Never: only finalizers are seen to.
    Never,
    /// Once for each generation.
    Once,
    /// Again and again.
    Every(Duration),
}

/// How the controller behaves.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// When passes are made.
    pub interval: Interval,
    /// End after everything was looked at once.
    pub once: bool,
    /// Ask registries before the first pass.
    pub warm_up: bool,
    /// How many resources are worked on at once.
    pub concurrent_reconciles: usize,
    /// Whether annotations count without a resource.
    pub annotation_mode: AnnotationMode,
    /// Whether events are sent.
    pub events: bool,
}

/// What happened, for metrics and pages.
#[derive(Debug)]
pub enum Happened<'a> {
    /// A pass of a resource has ended.
    Passed {
        /// The resource, or what stands in for it.
        unit: &'a AppName,
        /// What it came to.
        report: &'a CycleReport,
        /// How long it took.
        took: Duration,
        /// Whether nothing was to be written.
        dry_run: bool,
    },
    /// A resource is gone, and its series with it.
    Gone(&'a AppName),
}

/// Is told what happened.
pub type Observer = Arc<dyn Fn(Happened<'_>) + Send + Sync>;

/// Why the controller ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// Another replica leads now.
    #[error("leader election lost")]
    LeadershipLost,
    /// The kind is not installed, and nothing else was to be done.
    #[error("{0}")]
    NotInstalled(String),
}

/// The running controller.
pub struct Controller {
    api: Arc<Api>,
    session: Session,
    settings: ControllerSettings,
    health: Health,
    events: Events,
    observer: Option<Observer>,
    queue: Mutex<Queue>,
    woken: Notify,
    /// Whether annotated Applications are worked on without a resource; not known until the
    /// stores are filled.
    annotations: Mutex<Option<bool>>,
    /// Findings that were logged already, so that each is told once.
    logged: News,
    /// With `--once`: what is still to be looked at, and whether anything failed.
    once: Mutex<OnceState>,
}

#[derive(Debug, Default)]
struct OnceState {
    left: BTreeSet<Unit>,
    failed: bool,
    report: CycleReport,
}

impl Controller {
    /// A controller over an API server; it does nothing before [`Controller::run`].
    pub fn new(
        api: Arc<Api>,
        session: Session,
        settings: ControllerSettings,
        leadership: Leadership,
        observer: Option<Observer>,
    ) -> Self {
        let events = Events::new(settings.events);
        Self {
            health: Health::new(leadership),
            api,
            session,
            events,
            observer,
            queue: Mutex::default(),
            woken: Notify::new(),
            annotations: Mutex::new(None),
            logged: News::default(),
            once: Mutex::default(),
            settings,
        }
    }

    /// What a `--once` run came to, all passes together.
    pub fn report(&self) -> CycleReport {
        let mut report = std::mem::take(&mut self.once.lock().report);
        report.sort();
        report
    }

    /// What probes ask.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// How many resources are due and wait for their turn.
    pub fn waiting(&self) -> usize {
        self.queue.lock().waiting(tokio::time::Instant::now())
    }

    /// The resources of a namespace in the order of their claims: the older keeps an
    /// Application (ARCHITECTURE.md, choice 14). What stands in for resources comes last.
    fn claims(&self, namespace: &Arc<str>, runs: &Unit) -> Vec<Updater> {
        let seen = self.api.updaters.within(namespace);
        let mut seen: Vec<_> = seen.into_values().filter(|seen| !seen.deleting).collect();
        seen.sort_by(|a, b| (&a.created, &a.name).cmp(&(&b.created, &b.name)));
        let resources = seen.into_iter().filter_map(|seen| {
            Some(Updater {
                name: seen.name.clone(),
                resource: Arc::clone(seen.resource.as_ref().ok()?),
                annotated_only: false,
                runs: *runs == Unit::Resource(seen.name.clone()),
            })
        });
        let mut claims: Vec<Updater> = resources.collect();
        if self.works_on_annotations() {
            let assumed = Updater::assumed(Arc::clone(namespace));
            let is_run = *runs == Unit::Annotations(Arc::clone(namespace));
            claims.push(Updater { runs: is_run, ..assumed });
        }
        claims
    }

    fn works_on_annotations(&self) -> bool {
        *self.annotations.lock() == Some(true)
    }

    fn tell(&self, happened: Happened<'_>) {
        if let Happened::Gone(unit) = happened {
            self.events.forget(unit);
            self.logged.forget(unit);
        }
        if let Some(observer) = &self.observer {
            observer(happened);
        }
    }

    fn wake(&self, unit: Unit, because: Because) {
        self.queue.lock().wake(unit, tokio::time::Instant::now(), because);
        self.woken.notify_one();
    }
}
