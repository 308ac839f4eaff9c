//! Metrics (spec 21 §10): the established names, and what is new, as a function of reports and
//! of counters that others keep.
//!
//! Labels come from closed sets: resources, hosts, reasons. Never tags, paths or messages.

mod process;
mod text;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use aiu_core::batch::AppName;
use aiu_core::decide::Verdict;
use aiu_core::image::Repository;
use aiu_core::outcome::{ImageKey, Outcome};
use aiu_core::report::Severity;
use aiu_git::PushStats;
use aiu_registry::HostStats;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::report::{CycleReport, ImageReport};
use text::{Histogram, Kind, Page};

/// Upper bounds in seconds: of a pass, from a quiet one to one that waits for a slow registry.
const PASS_SECONDS: &[f64] =
    &[0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0];
/// Upper bounds in seconds: from a moment to a day that a tag waits to be written.
const DELAY_SECONDS: &[f64] =
    &[1.0, 5.0, 15.0, 60.0, 120.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0];

/// What happened since the start.
#[derive(Debug)]
pub struct Metrics(Mutex<State>);

#[derive(Debug)]
struct State {
    updaters: BTreeMap<AppName, Counted>,
    passes: Histogram,
    delays: Histogram,
    /// When the tag that an image shall go to was first seen.
    awaited: HashMap<ImageKey, Awaited>,
    /// When each registry, as images name it, last answered with tags.
    answered: BTreeMap<String, Instant>,
}

/// The series of one resource.
#[derive(Debug, Default)]
struct Counted {
    applications: usize,
    considered: usize,
    updated: usize,
    errors: usize,
    /// What the last pass found, by reason and severity.
    findings: BTreeMap<(&'static str, &'static str), usize>,
    /// The images of the last pass, so that what is awaited for them goes with them.
    images: BTreeSet<ImageKey>,
}

#[derive(Debug)]
struct Awaited {
    tag: String,
    since: Instant,
}

/// What others count, at this moment.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// By host.
    pub registries: Vec<HostStats>,
    /// By host.
    pub pushes: Vec<PushCounts>,
    /// How many wait, by what they wait for.
    pub queues: Vec<(&'static str, usize)>,
    /// Requests to the Kubernetes API.
    pub api_requests: u64,
    /// Those that failed.
    pub api_errors: u64,
    /// Whether this replica leads; unknown without an election.
    pub leads: Option<bool>,
}

/// What was pushed to one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushCounts {
    pub host: String,
    pub pushes: u64,
    /// Pushes that somebody else's came before.
    pub races: u64,
}

impl From<PushStats> for PushCounts {
    fn from(PushStats { host, pushes, races }: PushStats) -> Self {
        Self { host, pushes, races }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self(Mutex::new(State {
            updaters: BTreeMap::new(),
            passes: Histogram::new(PASS_SECONDS),
            delays: Histogram::new(DELAY_SECONDS),
            awaited: HashMap::new(),
            answered: BTreeMap::new(),
        }))
    }
}

impl Metrics {
    /// A pass of a resource has ended. Warm-ups are none.
    pub fn passed(&self, updater: &AppName, report: &CycleReport, took: Duration, dry_run: bool) {
        let mut state = self.0.lock();
        let now = Instant::now();
        state.passes.observe(took.as_secs_f64());
        state.count(updater, report, dry_run);
        for image in &report.images {
            state.wait(image, now.checked_sub(took).unwrap_or(now), now, dry_run);
            if image.decision.is_some() {
                state.answered.insert(registry(image), now);
            }
        }
    }

    /// A resource is gone, and its series with it.
    pub fn gone(&self, updater: &AppName) {
        let mut state = self.0.lock();
        if let Some(counted) = state.updaters.remove(updater) {
            counted.images.iter().for_each(|key| {
                state.awaited.remove(key);
            });
        }
    }

    /// The page for `/metrics`.
    pub fn page(&self, measured: &Measured) -> String {
        let mut page = Page::default();
        self.0.lock().write(&mut page);
        measured.write(&mut page);
        process::write(&mut page);
        page.finish()
    }
}

/// The registry as the image's name has it.
fn registry(image: &ImageReport) -> String {
    let repository = image.repository.parse::<Repository>().ok();
    let named = repository.as_ref().and_then(Repository::registry).map(ToString::to_string);
    named.unwrap_or_else(|| "default".to_owned())
}

impl State {
    fn count(&mut self, updater: &AppName, report: &CycleReport, dry_run: bool) {
        let counters = report.counters();
        let counted = self.updaters.entry(updater.clone()).or_default();
        // A resource that could not be worked on at all has counted nothing anew.
        if !report.failed_updaters.iter().any(|(name, _)| name == updater) {
            counted.applications = report.applications;
            counted.considered = counters.considered;
        }
        if !dry_run {
            counted.updated += counters.updated;
        }
        counted.errors += counters.errors;
        counted.findings = findings(report);
        let images = report.images.iter().map(|image| image.key.clone()).collect();
        let before = std::mem::replace(&mut counted.images, images);
        for key in before.difference(&counted.images) {
            self.awaited.remove(key);
        }
    }

    /// From the first sight of a tag to its writing.
    fn wait(&mut self, image: &ImageReport, started: Instant, now: Instant, dry_run: bool) {
        let verdict = image.decision.as_ref().map(|decision| &decision.verdict);
        let Some(Verdict::UpdateTo(tag)) = verdict else {
            // What could not be decided this time is still awaited.
            if verdict.is_some() {
                self.awaited.remove(&image.key);
            }
            return;
        };
        let tag = tag.as_tag_value();
        let known = self.awaited.get(&image.key).filter(|awaited| awaited.tag == tag);
        let since = known.map_or(started, |awaited| awaited.since);
        if matches!(image.outcome, Outcome::Updated(_)) && !dry_run {
            self.delays.observe(now.duration_since(since).as_secs_f64());
            self.awaited.remove(&image.key);
        } else {
            self.awaited.insert(image.key.clone(), Awaited { tag, since });
        }
    }

    fn write(&self, page: &mut Page) {
        type Column = fn(&Counted) -> usize;
        #[rustfmt::skip]
        let columns: [(&str, Kind, &str, Column); 5] = [
            ("applications_watched_total", Kind::Gauge, "The total number of applications watched by Argo CD Image Updater CR", |c| c.applications),
            ("images_watched_total", Kind::Gauge, "Number of images watched by Argo CD Image Updater CR", |c| c.considered),
            ("images_updated_total", Kind::Counter, "Number of images updated by Argo CD Image Updater CR", |c| c.updated),
            ("images_errors_total", Kind::Counter, "Number of errors reported by Argo CD Image Updater CR", |c| c.errors),
            // The original's own dashboard asks for it.
            ("images_updated_error_total", Kind::Counter, "The same as argocd_image_updater_images_errors_total, under its name of the 0.x line", |c| c.errors),
        ];
        for (name, kind, help, column) in columns {
            let family = page.family(name, kind, help);
            for (updater, counted) in &self.updaters {
                let labels = [
                    ("image_updater_cr_name", &*updater.name),
                    ("image_updater_cr_namespace", &*updater.namespace),
                ];
                family.sample(&labels, column(counted));
            }
        }
        let mut all: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (what, count) in self.updaters.values().flat_map(|counted| &counted.findings) {
            *all.entry(*what).or_default() += count;
        }
        let family = page.family(
            "findings",
            Kind::Gauge,
            "What the last passes found, by reason and severity",
        );
        for ((reason, severity), count) in all {
            family.sample(&[("reason", reason), ("severity", severity)], count);
        }
        page.family(
            "update_delay_seconds",
            Kind::Histogram,
            "Time from the first sight of a tag to its writing",
        )
        .histogram(&self.delays);
        page.family(
            "pass_duration_seconds",
            Kind::Histogram,
            "Time that a pass over one resource took",
        )
        .histogram(&self.passes);
        let now = Instant::now();
        let family = page.family(
            "scan_age_seconds",
            Kind::Gauge,
            "Time since the tags of a registry were last known in a pass",
        );
        for (registry, answered) in &self.answered {
            let age = now.duration_since(*answered).as_secs_f64();
            family.sample(&[("registry", registry)], age);
        }
    }
}

/// Findings, and failures as findings, by reason and severity.
fn findings(report: &CycleReport) -> BTreeMap<(&'static str, &'static str), usize> {
    let mut all = BTreeMap::new();
    let mut add = |reason, severity| *all.entry((reason, word(severity))).or_default() += 1;
    for (_, finding) in &report.findings {
        add(finding.reason, finding.severity);
    }
    for dropped in &report.dropped {
        add(dropped.failure.reason, Severity::Warning);
    }
    for image in &report.images {
        match &image.outcome {
            Outcome::Failed(failure) => add(failure.reason, Severity::Error),
            Outcome::Dropped(failure) => add(failure.reason, Severity::Warning),
            Outcome::NotLive => add("ImageNotLive", Severity::Note),
            _ => {}
        }
        for finding in &image.findings {
            add(finding.reason, finding.severity);
        }
    }
    all
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

impl Measured {
    fn write(&self, page: &mut Page) {
        type Column = fn(&HostStats) -> f64;
        #[rustfmt::skip]
        let columns: [(&str, Kind, &str, Column); 6] = [
            ("registry_requests_total", Kind::Counter, "The total number of requests to this endpoint", |r| number(r.requests)),
            ("registry_requests_failed_total", Kind::Counter, "The number of failed requests to this endpoint", |r| number(r.failed)),
            ("registry_retries_total", Kind::Counter, "Requests to this registry that repeated a failed one", |r| number(r.retries)),
            ("registry_rate_limited_total", Kind::Counter, "Requests that this registry refused, or that were not made, because of its limits", |r| number(r.rate_limited)),
            ("registry_throttled_seconds_total", Kind::Counter, "Time that requests waited for the limits of this registry", |r| r.throttled.as_secs_f64()),
            ("registry_paused_seconds", Kind::Gauge, "How long this registry will be left alone", |r| r.paused.as_secs_f64()),
        ];
        for (name, kind, help, column) in columns {
            let family = page.family(name, kind, help);
            for registry in &self.registries {
                family.sample(&[("registry", &registry.host)], column(registry));
            }
        }
        self.write_quotas(page);
        let family = page.family(
            "git_pushes_total",
            Kind::Counter,
            "Pushes to this host, successful or not",
        );
        for push in &self.pushes {
            family.sample(&[("host", &push.host)], number(push.pushes));
        }
        let family = page.family(
            "git_push_races_total",
            Kind::Counter,
            "Pushes to this host that somebody else's came before",
        );
        for push in &self.pushes {
            family.sample(&[("host", &push.host)], number(push.races));
        }
        let family =
            page.family("queue_depth", Kind::Gauge, "How many wait, by what they wait for");
        for (queue, waiting) in &self.queues {
            family.sample(&[("queue", queue)], *waiting);
        }
        page.family(
            "k8s_api_requests_total",
            Kind::Counter,
            "The total number of K8S API requests performed by the Argo CD Image Updater",
        )
        .sample(&[], number(self.api_requests));
        page.family(
            "k8s_api_errors_total",
            Kind::Counter,
            "The total number of K8S API requests resulting in error",
        )
        .sample(&[], number(self.api_errors));
        if let Some(leads) = self.leads {
            page.family("leads", Kind::Gauge, "Whether this replica leads")
                .sample(&[], usize::from(leads));
        }
    }
}

impl Measured {
    /// What registries say of their own limits; those that say nothing have no series.
    fn write_quotas(&self, page: &mut Page) {
        type Column = fn(&HostStats) -> Option<u64>;
        #[rustfmt::skip]
        let columns: [(&str, &str, Column); 3] = [
            ("registry_quota_requests", "Requests that this registry says it allows in a window", |r| r.quota.limit),
            ("registry_quota_remaining_requests", "Requests that were left in the window when this registry last said so", |r| r.quota.remaining),
            ("registry_quota_window_seconds", "How long the window of this registry's limit is", |r| r.quota.window.map(|w| w.as_secs())),
        ];
        for (name, help, column) in columns {
            let family = page.family(name, Kind::Gauge, help);
            for registry in &self.registries {
                if let Some(value) = column(registry) {
                    family.sample(&[("registry", &registry.host)], number(value));
                }
            }
        }
    }
}

/// Counters beyond 2^53 are not exact; nobody will notice.
#[expect(clippy::cast_precision_loss, reason = "counters stay far below the limit")]
fn number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
