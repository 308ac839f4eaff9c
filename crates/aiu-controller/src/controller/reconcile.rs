//! One `ImageUpdater`, once: finalizer, pass, status (spec 21 §2).

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aiu_api::PREFIX;
use aiu_api::image_updater::ImageUpdaterStatus;
use aiu_api::status::{self, Numbers, Pass};
use aiu_core::batch::{AppName, ImageChange};
use aiu_core::outcome::Outcome;
use aiu_core::report::Finding;
use futures::FutureExt as _;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tracing::{Instrument as _, debug, error, error_span, info, warn};

use super::queue::{Because, Unit};
use super::{Controller, Happened, Interval};
use crate::cluster::Cluster;
use crate::cluster::api::objects::{Seen as _, SeenUpdater};
use crate::cluster::api::wire::{ImageUpdaters, Wire, resource};
use crate::cluster::api::{ApiError, View, within_deadline};
use crate::crash;
use crate::cycle::PassSettings;
use crate::phrases;
use crate::report::CycleReport;

/// The controller's finalizer (spec 20 §1).
fn finalizer() -> String {
    format!("resources-finalizer.{PREFIX}")
}

/// A pass that lasts longer says so in its status (ARCHITECTURE.md, "What operators see").
const LONG: Duration = Duration::from_secs(5);

/// With passes that are made once, the warm-up's answers are good for so long.
const ACCEPTED_ONCE: Duration = Duration::from_mins(1);

impl Controller {
    /// Looks at one unit; when to look again.
    pub(super) async fn reconcile(&self, unit: &Unit, because: Because) -> Option<Duration> {
        let AppName { namespace, name } = unit.name();
        // At the level that no filter leaves out: its fields belong to errors too.
        let span = error_span!(
            "reconcile",
            logger = "reconcile",
            imageUpdater_namespace = %namespace,
            imageUpdater_name = %name,
        );
        match unit {
            Unit::Resource(name) => self.resource(name, because).instrument(span).await,
            Unit::Annotations(namespace) => {
                let pass = self.annotations_of(namespace, because);
                pass.instrument(span).await
            }
        }
    }

    async fn resource(&self, name: &AppName, because: Because) -> Option<Duration> {
        let unit = Unit::Resource(name.clone());
        debug!("Starting reconciliation for ImageUpdater resource.");
        let Some(seen) = self.api.updaters.get(name) else {
            info!("ImageUpdater resource not found. Ignoring since object must be deleted.");
            self.once_done(&unit, false);
            return None;
        };
        if seen.deleting {
            let again = self.let_go(&seen).await;
            self.once_done(&unit, false);
            return again;
        }
        if let Err(error) = self.hold(&seen).await {
            error!("Failed to add finalizer: {error}");
            self.once_done(&unit, true);
            return self.retry(&error);
        }
        if self.settings.interval == Interval::Never {
            debug!(
                "Requeue interval is not configured or below zero; will not requeue based on time unless an error occurs or explicitly requested."
            );
            self.once_done(&unit, false);
            return None;
        }
        let failed = self.check(&unit, &seen, because).await;
        self.once_done(&unit, failed);
        self.requeue()
    }

    async fn annotations_of(&self, namespace: &Arc<str>, because: Because) -> Option<Duration> {
        let unit = Unit::Annotations(Arc::clone(namespace));
        if self.settings.interval == Interval::Never || !self.works_on_annotations() {
            self.once_done(&unit, false);
            return None;
        }
        let report = self.pass(&unit, because).await;
        let failed = report.as_ref().map_or(true, CycleReport::failed);
        if let Err(error) = &report {
            error!("Error processing CR {unit}: {error}");
        }
        self.remember(&unit, report);
        self.once_done(&unit, failed);
        self.requeue()
    }

    /// With `--once`, keeps what is printed at the end.
    fn remember(&self, unit: &Unit, result: Result<CycleReport, String>) {
        if self.settings.once {
            let failed = |error| CycleReport {
                failed_updaters: vec![(unit.name(), error)],
                ..CycleReport::default()
            };
            self.once.lock().report.append(result.unwrap_or_else(failed));
        }
    }

    /// The pass of a resource and its status. Whether anything failed.
    async fn check(&self, unit: &Unit, seen: &SeenUpdater, because: Because) -> bool {
        let result = if let Err(problem) = &seen.resource {
            Err(problem.clone())
        } else {
            let pass = self.pass(unit, because);
            let mut pass = std::pin::pin!(pass);
            tokio::select! {
                result = &mut pass => result,
                () = sleep(LONG) => {
                    self.say_in_progress(seen).await;
                    pass.await
                }
            }
        };
        // What is told as a whole failure: nothing of the resource could be worked on.
        let result = result.and_then(|report| match report.failed_updaters.first() {
            Some((_, text)) if report.images.is_empty() => Err(text.clone()),
            _ => Ok(report),
        });
        match (&result, self.settings.interval) {
            (Err(error), Interval::Every(_)) => {
                warn!("Reconciliation failed for {unit}, will retry at normal interval: {error}");
            }
            (Err(error), _) => error!("Error processing CR {unit}: {error}"),
            (Ok(_), Interval::Every(_)) => {}
            (Ok(_), _) => info!("Finish Reconciliation for CR {unit}"),
        }
        self.say_result(seen, result.as_ref().map_err(String::as_str)).await;
        let failed = result.as_ref().map_or(true, CycleReport::failed);
        self.remember(unit, result);
        failed
    }

    /// One pass with its log lines, events and numbers. A panic ends the pass alone.
    async fn pass(&self, unit: &Unit, because: Because) -> Result<CycleReport, String> {
        let namespace = unit.name().namespace;
        let view = View::of_namespace(Arc::clone(&self.api), &namespace);
        info!("Listing all applications in target namespace: {namespace}");
        if view.is_empty() {
            info!("No applications found in target namespace: {namespace}");
        }
        let claims = self.claims(&namespace, unit);
        let mut settings = PassSettings { ..self.session.settings().clone() };
        settings.signature.date = SystemTime::now();
        settings.accepted_age = match (because, self.settings.interval) {
            (Because::Asked, _) | (_, Interval::Never) => Duration::ZERO,
            (_, Interval::Every(interval)) => interval / 2,
            (_, Interval::Once) => ACCEPTED_ONCE,
        };
        let started = Instant::now();
        let pass = async {
            crash::panic_in(&unit.name());
            self.session.pass_over(Cluster::Api(view), &claims, &settings).await
        };
        let report = AssertUnwindSafe(pass).catch_unwind().await;
        let mut report = report.map_err(|_| {
            "the pass panicked: a fault of this program; please report it with the log".to_owned()
        })?;
        let took = started.elapsed();
        // The log tells each finding once; who else is told judges for himself.
        let fresh = self.fresh_findings(&unit.name(), &report);
        let all = std::mem::replace(&mut report.findings, fresh);
        phrases::log(&report, settings.dry_run);
        report.findings = all;
        self.tell(Happened::Passed {
            unit: &unit.name(),
            report: &report,
            took,
            dry_run: settings.dry_run,
        });
        if !settings.dry_run {
            self.events.send(&self.api, &unit.name(), &report).await;
        }
        Ok(report)
    }

    /// The findings that the log does not have yet.
    fn fresh_findings(&self, unit: &AppName, report: &CycleReport) -> Vec<(AppName, Finding)> {
        let key = |(name, finding): &(AppName, Finding)| {
            (name.clone(), finding.reason, finding.found.clone())
        };
        let fresh = self.logged.fresh(unit, report.findings.iter().map(key).collect());
        let mut findings = report.findings.clone();
        findings.retain(|found| fresh.contains(&key(found)));
        findings
    }

    /// Adds our finalizer behind those of others.
    async fn hold(&self, seen: &SeenUpdater) -> Result<(), ApiError> {
        let ours = finalizer();
        if seen.finalizers.contains(&ours) {
            return Ok(());
        }
        debug!("Finalizer not found, adding it to the ImageUpdater resource.");
        let mut finalizers = seen.finalizers.clone();
        finalizers.push(ours);
        self.set_finalizers(seen, &finalizers).await
    }

    /// Takes our finalizer away from a resource that is being deleted.
    async fn let_go(&self, seen: &SeenUpdater) -> Option<Duration> {
        let ours = finalizer();
        if seen.finalizers.contains(&ours) {
            debug!("ImageUpdater resource is being deleted, running finalizer.");
            self.tell(Happened::Gone(&seen.name));
            debug!("Finalizer logic complete, removing finalizer from the resource.");
            let others = seen.finalizers.iter().filter(|other| **other != ours);
            let others: Vec<String> = others.cloned().collect();
            match self.set_finalizers(seen, &others).await {
                Ok(()) | Err(ApiError::Gone(_)) => {}
                Err(error) => {
                    error!("Failed to remove finalizer: {error}");
                    return self.retry(&error);
                }
            }
        }
        debug!("Stop reconciliation as the ImageUpdater is being deleted.");
        None
    }

    /// The version read goes with the list, so that nobody's finalizer is lost.
    async fn set_finalizers(
        &self,
        seen: &SeenUpdater,
        finalizers: &[String],
    ) -> Result<(), ApiError> {
        self.api.may_write()?;
        let metadata = json!({ "finalizers": finalizers, "resourceVersion": seen.version });
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        let updaters = self.updaters_in(&seen.name.namespace);
        let parameters = PatchParams::default();
        let answer = updaters.patch(&seen.name.name, &parameters, &patch);
        let kind = resource::<ImageUpdaters>();
        let answer = within_deadline(answer, "patch", &kind, &seen.name).await?;
        self.api.updaters.put(&seen.name, SeenUpdater::of(answer));
        Ok(())
    }

    /// A write that failed is tried again soon if that may help; a conflict at once, since the
    /// watch brings what was changed.
    fn retry(&self, error: &ApiError) -> Option<Duration> {
        match error {
            ApiError::Conflict(_) => Some(Duration::from_secs(1)),
            ApiError::Gone(_) | ApiError::NotLeader => None,
            _ => match self.settings.interval {
                Interval::Every(interval) => Some(interval.min(Duration::from_secs(30))),
                _ if self.settings.once => None,
                _ => Some(Duration::from_secs(30)),
            },
        }
    }

    async fn say_in_progress(&self, seen: &SeenUpdater) {
        let before = self.known_status(seen);
        let status = status::in_progress(&before, seen.generation, &now());
        if let Err(error) = self.write_status(&seen.name, &status).await {
            let name = &seen.name;
            warn!(
                "Failed to set Reconciling status condition for {name}, status may be stale: {error}"
            );
        }
    }

    /// The one write of status that a pass makes (spec 20 §4.3).
    async fn say_result(&self, seen: &SeenUpdater, result: Result<&CycleReport, &str>) {
        let dry_run = self.session.settings().dry_run;
        let changes: Vec<ImageChange> = match result {
            Ok(report) if !dry_run => changes(report),
            _ => Vec::new(),
        };
        let numbers = result.map(|report| {
            let counters = report.counters();
            Numbers {
                applications: report.applications,
                images: counters.considered,
                updated: counters.updated,
                errors: counters.errors + report.failed_updaters.len(),
            }
        });
        let now = now();
        let causes = result.map(causes).unwrap_or_default();
        let generation = seen.generation;
        let pass =
            Pass { generation, now: &now, result: numbers, causes: &causes, changes: &changes };
        let status = status::after(&self.known_status(seen), &pass);
        match self.write_status(&seen.name, &status).await {
            Ok(()) | Err(ApiError::Gone(_)) => {}
            Err(error) => warn!(
                "Failed to update status after reconcile for {}, status may be stale: {error}",
                seen.name
            ),
        }
    }

    /// The status as it was last seen, which may be later than the pass's beginning.
    fn known_status(&self, seen: &SeenUpdater) -> ImageUpdaterStatus {
        let now = self.api.updaters.get(&seen.name);
        now.map_or_else(|| seen.status.clone(), |now| now.status.clone())
    }

    async fn write_status(
        &self,
        name: &AppName,
        status: &ImageUpdaterStatus,
    ) -> Result<(), ApiError> {
        self.api.may_write()?;
        let status = serde_json::to_value(status).unwrap_or(Value::Null);
        let patch = Patch::Merge(json!({ "status": status }));
        let updaters = self.updaters_in(&name.namespace);
        let parameters = PatchParams::default();
        let answer = updaters.patch_status(&name.name, &parameters, &patch);
        let resource = format!("{}/status", resource::<ImageUpdaters>());
        let answer = within_deadline(answer, "patch", &resource, name).await?;
        self.api.updaters.put(name, SeenUpdater::of(answer));
        Ok(())
    }

    fn updaters_in(&self, namespace: &str) -> kube::Api<Wire<ImageUpdaters>> {
        kube::Api::namespaced(self.api.client.clone(), namespace)
    }
}

/// What was written.
fn changes(report: &CycleReport) -> Vec<ImageChange> {
    let updated = report.images.iter().filter_map(|image| match &image.outcome {
        Outcome::Updated(change) => Some(change.clone()),
        _ => None,
    });
    updated.collect()
}

/// Why images failed: of each reason the first, as the log tells it.
fn causes(report: &CycleReport) -> Vec<String> {
    let failed = report.images.iter().filter_map(|image| match &image.outcome {
        Outcome::Failed(failure) | Outcome::Dropped(failure) => {
            Some((&image.key.application, failure))
        }
        _ => None,
    });
    let dropped = report.dropped.iter().map(|dropped| (&dropped.application, &dropped.failure));
    let mut told = BTreeSet::new();
    failed
        .chain(dropped)
        .filter(|(_, failure)| told.insert(failure.reason))
        .map(|(app, failure)| format!("{}: {app}: {}.", failure.reason, failure.message))
        .collect()
}

/// The time as Kubernetes writes it: whole seconds.
fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
