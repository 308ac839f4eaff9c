//! The established log sentences (spec 21 §7), as a function of the report.
//!
//! Users match on these texts, so they stand here and nowhere else. New lines add `reason`.

use aiu_core::batch::ImageChange;
use aiu_core::outcome::{Failure, Outcome, Stage};
use tracing::{debug, error, info, warn};

use crate::report::{CycleReport, ImageReport};

/// Logs one pass.
pub fn log(report: &CycleReport, dry_run: bool) {
    info!(
        "Starting image update cycle, considering {} application(s) for update",
        report.applications
    );
    for (updater, cause) in &report.failed_updaters {
        error!(
            imageUpdater_namespace = %updater.namespace,
            imageUpdater_name = %updater.name,
            "{cause}"
        );
    }
    for dropped in &report.dropped {
        let reason = dropped.failure.reason;
        warn!(application = %dropped.application, reason, "{}", dropped.failure.message);
    }
    for (app, finding) in &report.findings {
        warn!(application = %app, reason = finding.reason, "{}; {}", finding.found, finding.fix);
    }
    for image in &report.images {
        outcome(image, dry_run);
    }
    written(report, dry_run);
    let counters = report.counters();
    info!(
        "Processing results: applications={} images_considered={} images_skipped={} images_updated={} errors={}",
        report.applications,
        counters.considered,
        counters.skipped,
        counters.updated,
        counters.errors
    );
}

fn outcome(image: &ImageReport, dry_run: bool) {
    let application = image.key.application.to_string();
    let (image_alias, image_name) = (alias(image), image.repository.as_str());
    match &image.outcome {
        Outcome::NotLive => debug!(
            application,
            image_name,
            image_alias,
            "Image '{image_name}' seems not to be live in this application, skipping"
        ),
        Outcome::UpToDate | Outcome::AlreadySo => debug!(
            application,
            image_name,
            image_alias,
            "Image '{}' already on latest allowed version",
            current(image)
        ),
        Outcome::NoCandidate => debug!(
            application,
            image_name,
            image_alias,
            "No suitable image tag for upgrade found in list of available tags."
        ),
        Outcome::Held => {
            let verdict = image.decision.as_ref().map(|d| d.verdict.to_string());
            warn!(application, image_name, image_alias, "{}", verdict.unwrap_or_default());
        }
        Outcome::Updated(change) => {
            info!(application, image_name, image_alias, "Setting new image to {}", change.to);
            info!(
                application,
                image_name,
                image_alias,
                "Successfully updated image '{}' to '{}', but pending spec update (dry run={dry_run})",
                from(change),
                change.to
            );
        }
        Outcome::Dropped(failure) => {
            let reason = failure.reason;
            warn!(application, image_name, image_alias, reason, "{}", failed(failure));
        }
        Outcome::Failed(failure) => {
            let reason = failure.reason;
            error!(application, image_name, image_alias, reason, "{}", failed(failure));
        }
    }
}

/// What happened to the updates of each Application.
fn written(report: &CycleReport, dry_run: bool) {
    let mut updated: Vec<(&aiu_core::batch::AppName, usize)> = Vec::new();
    for image in report.images.iter().filter(|i| matches!(i.outcome, Outcome::Updated(_))) {
        match updated.last_mut() {
            Some((app, count)) if **app == image.key.application => *count += 1,
            _ => updated.push((&image.key.application, 1)),
        }
    }
    for (app, count) in updated {
        if dry_run {
            info!(application = %app, "Dry run - not committing {count} changes to application");
        } else {
            info!(application = %app, "Committing {count} parameter update(s) for application {}", app.name);
            info!(application = %app, "Successfully updated the live application spec");
        }
    }
}

/// The alias, where the image has one.
fn alias(image: &ImageReport) -> Option<&str> {
    (*image.key.image != *image.repository).then_some(&*image.key.image)
}

fn current(image: &ImageReport) -> String {
    let reference = image.current.as_ref().and_then(|current| current.reference.as_ref());
    reference.map_or_else(|| image.configured.clone(), ToString::to_string)
}

fn from(change: &ImageChange) -> String {
    change.from.as_ref().map_or_else(String::new, ToString::to_string)
}

/// The sentence that the reference has for a failure at this stage.
fn failed(failure: &Failure) -> String {
    let message = &failure.message;
    match failure.stage {
        Stage::Selected => message.clone(),
        Stage::Scanned => format!("Could not get tags from registry: {message}"),
        // A check that fails has a sentence of its own (spec 10 §10.1).
        Stage::Chosen if message.starts_with("Unable to verify image ") => message.clone(),
        Stage::Chosen => format!("Unable to find newest version from available tags: {message}"),
        Stage::Written => format!("Could not update application spec: {message}"),
    }
}
