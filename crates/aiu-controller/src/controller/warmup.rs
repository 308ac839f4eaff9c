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

impl Controller {
    /// A dry pass over everything. Failures are logged and keep nobody from starting: the passes
    /// themselves will report them (spec 21 §12).
    pub(super) async fn warm_up(&self) {
        debug!(logger = "warmup-cache", "Caches are synced. Warming up image cache...");
        let units = self.units();
        debug!(
            logger = "warmup-cache",
            "Found {} ImageUpdater CRs to process for cache warm-up.",
            units.len()
        );
        if units.is_empty() {
            info!(logger = "warmup-cache", "No ImageUpdater CRs to process");
        }
        for unit in units {
            self.health.turn();
            let pass = std::panic::AssertUnwindSafe(self.dry_pass(&unit)).catch_unwind().await;
            let failure = match pass {
                Ok(report) => report.failed_updaters.into_iter().next().map(|(_, text)| text),
                Err(_) => Some("the pass panicked".to_owned()),
            };
            if let Some(text) = failure {
                error!(
                    logger = "warmup-cache",
                    "Failed to process ImageUpdater CRs during warm-up: CR {unit}: {text}"
                );
            }
        }
        debug!(
            logger = "warmup-cache",
            "Readiness state set to 'true'. Controller can now start reconciling."
        );
        info!(logger = "warmup-cache", "Finished cache warm-up.");
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
