//! The established log sentences (spec 21 §7), as a function of the report.
//!
//! Users match on these texts, so they stand here and nowhere else. New lines add `reason`.

use aiu_core::batch::ImageChange;
use aiu_core::decide::Verdict;
use aiu_core::image::TagRef;
use aiu_core::outcome::{Failure, Outcome, Stage};
use tracing::{debug, error, error_span, info, warn};

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
    let mut previous = None;
    for image in &report.images {
        let application = &image.key.application;
        if previous.replace(application) != Some(application) {
            debug!(application = %application, "Processing application");
        }
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

/// What came of one image; its fields are on every line (spec 22 §9).
fn outcome(image: &ImageReport, dry_run: bool) {
    let is_quiet = match image.outcome {
        Outcome::NotLive | Outcome::UpToDate => true,
        Outcome::NoCandidate => image.findings.is_empty(),
        _ => false,
    };
    if is_quiet && !tracing::enabled!(tracing::Level::DEBUG) {
        // Most images of most passes: not even the fields are put together.
        return;
    }
    let application = image.key.application.to_string();
    let (image_alias, image_name) = (alias(image), image.repository.as_str());
    let running = image.current.as_ref().and_then(|current| current.reference.as_ref());
    let tag = running.and_then(|running| running.tag.as_ref());
    let registry = running.and_then(|running| running.repository.registry());
    // At the level that no filter leaves out.
    let span = error_span!(
        "image",
        application,
        image_registry = registry.map(ToString::to_string),
        image_name,
        image_alias,
        image_tag = tag.and_then(TagRef::name).map(ToString::to_string),
        image_digest = tag.and_then(TagRef::pinned_digest).map(ToString::to_string),
    );
    let _lines = span.entered();
    if let Some(decision) = &image.decision {
        debug!("Considering this image for update");
        constraint(image);
        let list = &decision.shortlist;
        debug!(
            "found {} from {} tags eligible for consideration",
            list.candidates.len(),
            list.len()
        );
    }
    match &image.outcome {
        Outcome::NotLive => {
            debug!("Image '{image_name}' seems not to be live in this application, skipping");
        }
        Outcome::UpToDate => {
            debug!("Image '{}' already on latest allowed version", current(image));
        }
        Outcome::AlreadySo => info!("New image {} already set in spec", winner(image)),
        Outcome::NoCandidate => {
            for finding in &image.findings {
                warn!(reason = finding.reason, "{}; {}", finding.found, finding.fix);
            }
            debug!("No suitable image tag for upgrade found in list of available tags.");
        }
        Outcome::Held => {
            let verdict = image.decision.as_ref().map(|d| d.verdict.to_string());
            warn!("{}", verdict.unwrap_or_default());
        }
        Outcome::Updated(change) => {
            info!("Setting new image to {}", change.to);
            info!(
                "Successfully updated image '{}' to '{}', but pending spec update (dry run={dry_run})",
                from(change),
                change.to
            );
        }
        Outcome::Dropped(failure) => warn!(reason = failure.reason, "{}", failed(failure)),
        Outcome::Failed(failure) => {
            error!(reason = failure.reason, "{}", failed(failure));
        }
    }
}

/// The text behind the configured name, which is a constraint (spec 21 §7.1, step 4).
fn constraint(image: &ImageReport) {
    let behind = image.configured.rsplit_once('=').map_or(&*image.configured, |(_, text)| text);
    let constraint = behind.strip_prefix(&image.repository).and_then(|rest| rest.strip_prefix(':'));
    if let Some(constraint) = constraint {
        debug!("Using version constraint '{constraint}' when looking for a new tag");
    } else {
        debug!("Using no version constraint when looking for a new tag");
    }
}

/// What the target holds already.
fn winner(image: &ImageReport) -> String {
    let verdict = image.decision.as_ref().map(|decision| &decision.verdict);
    match verdict {
        Some(Verdict::UpdateTo(tag)) => format!("{}:{}", image.repository, tag.as_tag_value()),
        _ => current(image),
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
