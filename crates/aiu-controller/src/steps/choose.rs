//! Shortlists, one per repository and policy, and the decision for each image.

use std::collections::HashMap;
use std::sync::Arc;

use aiu_core::decide::{DecideOptions, Shortlist, TagList, Verdict, decide, findings, shortlist};
use aiu_core::outcome::{Failure, Outcome, Stage};
use aiu_core::policy::UpdatePolicy;
use aiu_core::report::Finding;
use aiu_registry::{ScanError, ScanKey};

use super::Row;
use super::scan::request;
use crate::cycle::World;

/// What every scan came to.
pub type Scans = HashMap<ScanKey, Result<Arc<TagList>, Arc<ScanError>>>;

/// What images share: the same tags seen by the same policy.
pub type Shortlists = HashMap<(ScanKey, Arc<UpdatePolicy>), Arc<Shortlist>>;

/// Makes each shortlist once, however many images share it.
pub fn shortlists(rows: &[Row], scans: &Scans) -> Shortlists {
    let mut lists = Shortlists::new();
    for row in rows.iter().filter(|row| row.is_open()) {
        let Ok(policy) = &row.image.policy else { continue };
        let key = request(&row.image).key();
        if let Some(Ok(tags)) = scans.get(&key) {
            lists
                .entry((key, Arc::clone(policy)))
                .or_insert_with(|| Arc::new(shortlist(policy, tags)));
        }
    }
    lists
}

/// Decides every open row; those without anything to write are done with.
pub fn decisions(rows: &mut [Row], scans: &Scans, lists: &Shortlists, world: &World) {
    for row in rows.iter_mut().filter(|row| row.is_open()) {
        let policy = match &row.image.policy {
            Ok(policy) => Arc::clone(policy),
            Err(failure) => {
                row.outcome = Some(Outcome::Failed(failure.clone()));
                continue;
            }
        };
        let key = request(&row.image).key();
        if let Some(Err(error)) = scans.get(&key) {
            row.fail(Stage::Scanned, error.reason(), error.to_string());
            continue;
        }
        let Some(list) = lists.get(&(key, Arc::clone(&policy))) else {
            row.fail(Stage::Chosen, "StrategyUnsupported", unsupported(&policy));
            continue;
        };
        let options = DecideOptions {
            default_registry: world.registries.default_registry(),
            kustomize_name: row.image.names.kustomize.is_some(),
            allow_downgrade: world.settings.allow_downgrade,
        };
        let decision = decide(list, &policy, &row.image.configured, row.current.as_ref(), &options);
        row.findings = findings(&decision, &policy, &row.image.configured, row.current.as_ref());
        row.outcome = finished(&decision.verdict, &row.findings);
        row.decision = Some(decision);
    }
}

/// The outcome of a verdict that asks for no write.
fn finished(verdict: &Verdict, findings: &[Finding]) -> Option<Outcome> {
    match verdict {
        Verdict::UpdateTo(_) => None,
        Verdict::UpToDate => Some(Outcome::UpToDate),
        Verdict::Held(_) => Some(Outcome::Held),
        Verdict::NoCandidate(why) if why.is_failure() => Some(Outcome::Failed(Failure {
            stage: Stage::Chosen,
            reason: why.reason(),
            message: match findings.first() {
                Some(cause) => format!("{}; {}", cause.found, cause.fix),
                None => why.to_string(),
            },
        })),
        Verdict::NoCandidate(_) => Some(Outcome::NoCandidate),
    }
}

/// Strategies that look at images wait for the scanner to look at them.
fn unsupported(policy: &UpdatePolicy) -> String {
    format!(
        "the update strategy '{}' needs more than the list of tags, which this version does not ask for yet; use semver or alphabetical",
        policy.strategy.name()
    )
}
