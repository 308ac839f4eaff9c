//! The warm-up (spec 21 §2.2): a dry first pass, so that what registries answer is known when the
//! real one begins, and the annotations that nobody reads.

use std::sync::Arc;

use aiu_core::batch::AppName;
use futures::FutureExt as _;
use tracing::{debug, error, info, warn};

use super::Controller;
use super::queue::Unit;
use crate::cluster::Cluster;
use crate::cluster::api::View;
use crate::cycle::{AnnotationMode, PassSettings};
use crate::report::CycleReport;
use crate::steps::plan;

/// Whose lines these are.
const LOGGER: &str = "warmup-cache";

impl Controller {
    /// A dry pass over everything. Failures are logged and keep nobody from starting: the passes
    /// themselves will report them (spec 21 §12).
    pub(super) async fn warm_up(&self) {
        debug!(logger = LOGGER, "Caches are synced. Warming up image cache...");
        let units = self.units();
        let count = units.len();
        debug!(logger = LOGGER, "Found {count} ImageUpdater CRs to process for cache warm-up.");
        if count == 0 {
            info!(logger = LOGGER, "No ImageUpdater CRs to process");
        } else {
            let webhook = false;
            info!(
                logger = LOGGER,
                "Processing {count} ImageUpdater CRs (warmUp: true, webhook: {webhook})"
            );
        }
        let mut failed = Vec::new();
        for unit in units {
            self.health.turn();
            if let Err(text) = self.warm_up_for(&unit).await {
                failed.push(format!("CR {unit}: {text}"));
            }
        }
        if !failed.is_empty() {
            error!(
                logger = LOGGER,
                "Failed to process ImageUpdater CRs during warm-up: failed to process {} ImageUpdater CRs: [{}]",
                failed.len(),
                failed.join(" ")
            );
        } else if count > 0 {
            info!(logger = LOGGER, "Successfully processed all {count} ImageUpdater CRs");
        }
        debug!(
            logger = LOGGER,
            "Readiness state set to 'true'. Controller can now start reconciling."
        );
        info!(logger = LOGGER, "Finished cache warm-up.");
    }

    /// A dry pass of one unit, or why it failed as a whole.
    async fn warm_up_for(&self, unit: &Unit) -> Result<(), String> {
        let AppName { namespace, name } = unit.name();
        let at = (tracing::field::display(&namespace), tracing::field::display(&name));
        debug!(
            logger = LOGGER,
            imageUpdater_namespace = at.0,
            imageUpdater_name = at.1,
            "Processing CR"
        );
        let pass = std::panic::AssertUnwindSafe(self.dry_pass(unit)).catch_unwind().await;
        let failure = match pass {
            Ok(report) => report.failed_updaters.into_iter().next().map(|(_, text)| text),
            Err(_) => Some("the pass panicked".to_owned()),
        };
        if let Some(text) = failure {
            error!(
                logger = LOGGER,
                imageUpdater_namespace = at.0,
                imageUpdater_name = at.1,
                "Failed to process ImageUpdater CR: {text}"
            );
            return Err(text);
        }
        info!(
            logger = LOGGER,
            imageUpdater_namespace = at.0,
            imageUpdater_name = at.1,
            "Successfully processed ImageUpdater CR"
        );
        Ok(())
    }

    fn units(&self) -> Vec<Unit> {
        let mut units: Vec<Unit> =
            self.api.updaters.all().into_keys().map(Unit::Resource).collect();
        if self.works_on_annotations() {
            let mut namespaces: Vec<Arc<str>> =
                self.annotated().into_iter().map(|name| name.namespace).collect();
            namespaces.dedup();
            units.extend(namespaces.into_iter().map(Unit::Annotations));
        }
        units
    }

    async fn dry_pass(&self, unit: &Unit) -> CycleReport {
        let namespace = unit.name().namespace;
        let view = View::of_namespace(Arc::clone(&self.api), &namespace);
        let settings = PassSettings { dry_run: true, ..self.session.settings().clone() };
        let claims = self.claims(&namespace, unit);
        self.session.pass_over(Cluster::Api(view), &claims, &settings).await
    }

    /// Where annotations alone do not count and there is no resource either, no pass would ever
    /// say so (spec 40 B1-5).
    pub(super) async fn tell_unread(&self) {
        if self.settings.annotation_mode != AnnotationMode::Never
            || !self.api.updaters.all().is_empty()
        {
            return;
        }
        info!("No ImageUpdater CRs to process");
        let findings = self.annotated().into_iter().map(|name| {
            let finding = plan::unread(&name);
            (name, finding)
        });
        let report = CycleReport { findings: findings.collect(), ..CycleReport::default() };
        for (name, finding) in &report.findings {
            warn!(application = %name, reason = finding.reason, "{}; {}", finding.found, finding.fix);
        }
        let nobody = AppName { namespace: "".into(), name: "".into() };
        self.events.send(&self.api, &nobody, &report).await;
    }
}
