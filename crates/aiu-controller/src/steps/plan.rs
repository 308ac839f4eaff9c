//! Selecting and resolving: which images of which Applications, with which settings.

use std::collections::BTreeMap;

use aiu_api::annotations;
use aiu_api::application::Application;
use aiu_api::plan::{TrackedImage, WorkPlan};
use aiu_api::resolve::{Context, resolve};
use aiu_api::select::{Matched, invalid_selectors, select};
use aiu_core::batch::AppName;
use aiu_core::outcome::{Failure, Outcome, Stage};
use aiu_core::policy::Policies;
use aiu_core::report::{Finding, Severity};
use aiu_registry::Credentials;

use super::Row;
use crate::cycle::{Updater, World};
use crate::report::{CycleReport, ImageReport};
use crate::unlock::Access;

/// The plan of all resources together, and a report that knows what could not be planned.
pub fn plan(updaters: &[Updater], world: &World) -> (WorkPlan, CycleReport) {
    let applications = world.cluster.applications();
    let applications: Vec<(&AppName, &Application)> =
        applications.iter().map(|(name, app)| (name, &**app)).collect();
    let context = Context {
        registries: &world.registries,
        namespace: &world.settings.namespace,
        platform: &world.settings.platform,
    };
    let mut plan = WorkPlan::default();
    let mut report = CycleReport::default();
    let mut owners: BTreeMap<&AppName, &AppName> = BTreeMap::new();
    for updater in updaters {
        let Updater { name, resource, .. } = updater;
        let matched = match matched(updater, &applications) {
            Ok(matched) => matched,
            // Its own pass tells.
            Err(_) if !updater.runs => continue,
            Err(cause) => {
                report.failed_updaters.push((name.clone(), cause));
                continue;
            }
        };
        if !updater.runs {
            for (app, _) in matched {
                owners.entry(app).or_insert(name);
            }
            continue;
        }
        for (pattern, cause) in invalid_selectors(resource) {
            let text = format!("invalid label selector of '{pattern}' provided: {cause}");
            report.failed_updaters.push((name.clone(), text));
        }
        let (mine, contested): (Vec<_>, Vec<_>) =
            matched.into_iter().partition(|(app, _)| !owners.contains_key(app));
        // What is merely assumed yields to any resource without a word.
        if !updater.annotated_only {
            let contests = contested.iter().map(|(app, _)| contest(app, owners[app], name));
            report.findings.extend(contests);
        }
        owners.extend(mine.iter().map(|(app, _)| (*app, name)));
        let mine: Vec<Matched<'_>> = mine.into_iter().map(|(_, matched)| matched).collect();
        merge(&mut plan, resolve(resource, &mine, &context));
    }
    report.findings.extend(not_read(&applications, &owners));
    report.findings.append(&mut plan.findings);
    report.dropped.append(&mut plan.dropped);
    report.applications = plan.applications;
    // Stable: the images of one Application keep their configured order.
    plan.images.sort_by(|a, b| a.key.application.cmp(&b.key.application));
    share_policies(&mut plan.images);
    (plan, report)
}

/// Images that ask the same hold one policy, whose expressions are compiled once.
pub(super) fn share_policies(images: &mut [TrackedImage]) {
    let mut policies = Policies::default();
    for policy in images.iter_mut().filter_map(|image| image.policy.as_mut().ok()) {
        policies.share(policy);
    }
}

/// The Applications of the resource's own namespace that it selects (spec 21 §1).
fn matched<'a>(
    updater: &'a Updater,
    applications: &[(&'a AppName, &'a Application)],
) -> Result<Vec<(&'a AppName, Matched<'a>)>, String> {
    let in_scope = applications.iter().filter(|(name, app)| {
        let speaks_of = !updater.annotated_only || annotations::any(&app.metadata.annotations);
        name.namespace == updater.name.namespace && speaks_of
    });
    let in_scope: Vec<_> = in_scope.collect();
    let matched = select(&updater.resource, in_scope.iter().map(|(_, application)| *application))
        .map_err(|error| error.to_string())?;
    // Those selected come in the order of those asked about, so one walk finds their names.
    let mut names = in_scope.iter();
    let with_name = |matched: Matched<'a>| {
        let (name, _) = names.find(|(_, app)| std::ptr::eq(*app, matched.application))?;
        Some((*name, matched))
    };
    Ok(matched.into_iter().filter_map(with_name).collect())
}

fn merge(plan: &mut WorkPlan, mut more: WorkPlan) {
    plan.applications += more.applications;
    plan.images.append(&mut more.images);
    plan.dropped.append(&mut more.dropped);
    plan.findings.append(&mut more.findings);
}

/// Two resources claim one Application: the first keeps it.
fn contest(app: &AppName, owner: &AppName, other: &AppName) -> (AppName, Finding) {
    let finding = Finding {
        severity: Severity::Warning,
        reason: "Contested",
        found: format!("the ImageUpdater {other} selects it too; {owner} keeps it"),
        fix: format!("let only one of them match '{}'", app.name),
    };
    (app.clone(), finding)
}

/// Annotated Applications that nothing reads (spec 00 §6, `AnnotationsNotRead`).
fn not_read(
    applications: &[(&AppName, &Application)],
    owners: &BTreeMap<&AppName, &AppName>,
) -> Vec<(AppName, Finding)> {
    let unread = applications.iter().filter(|(name, app)| {
        annotations::any(&app.metadata.annotations) && !owners.contains_key(name)
    });
    unread.map(|(name, _)| ((*name).clone(), self::unread(name))).collect()
}

/// What to say of an annotated Application that nothing reads.
pub fn unread(name: &AppName) -> Finding {
    Finding {
        severity: Severity::Warning,
        reason: "AnnotationsNotRead",
        found: "it has image annotations, but no ImageUpdater selects it".to_owned(),
        fix: format!(
            "add to an ImageUpdater in namespace {}: {{namePattern: {}, useAnnotations: true}}",
            name.namespace, name.name
        ),
    }
}

/// The images as rows, at their start; those whose credentials cannot be had end at once.
pub fn rows(plan: WorkPlan, access: &Access) -> Vec<Row> {
    let start = |image: TrackedImage| {
        let key = match access.key(&image).transpose() {
            Ok(key) => key,
            Err(failure) => {
                let message = format!(
                    "Could not set images verification settings for image {}, skipping: {}",
                    image.configured, failure.message
                );
                let outcome = Some(Outcome::Dropped(Failure { message, ..failure }));
                return Row { outcome, ..Row::new(image, Credentials::Anonymous) };
            }
        };
        match access.registry(&image.key) {
            Ok(credentials) => {
                let git = access.git(&image).and_then(Result::ok);
                Row { git, key, ..Row::new(image, credentials) }
            }
            Err(failure) => Row {
                outcome: Some(Outcome::Failed(failure)),
                ..Row::new(image, Credentials::Anonymous)
            },
        }
    };
    plan.images.into_iter().map(start).collect()
}

/// A row's place in the report. A row that no step ended was missed by one: say so.
pub fn finish(row: Row) -> ImageReport {
    let missed = || {
        Outcome::Failed(Failure {
            stage: Stage::Written,
            reason: "NotWritten",
            message: "no step of the pass came to an end for this image".to_owned(),
        })
    };
    ImageReport {
        configured: row.image.configured.to_string(),
        repository: row.image.configured.repository.to_string(),
        key: row.image.key,
        settings: row.image.settings,
        current: row.current,
        decision: row.decision,
        findings: row.findings,
        outcome: row.outcome.unwrap_or_else(missed),
    }
}
