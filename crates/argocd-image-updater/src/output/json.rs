//! The same answers as data, with fields that stay (documented in `docs/reference/json.md`).

use super::diff::{PlaceDiff, diffs};
use aiu_controller::cluster::files::Problem;
use aiu_controller::report::{CycleReport, ImageReport, Write, WritePlace};
use aiu_core::decide::{Verdict, explain};
use aiu_core::outcome::{Failure, Outcome};
use serde_json::{Value, json as value};

/// A pass as one JSON document.
pub fn json(report: &CycleReport, problems: &[Problem], dry_run: bool) -> String {
    let counters = report.counters();
    let document = value!({
        "dryRun": dry_run,
        "summary": {
            "applications": report.applications,
            "considered": counters.considered,
            "skipped": counters.skipped,
            "updated": counters.updated,
            "errors": counters.errors,
        },
        "images": report.images.iter().map(image).collect::<Vec<_>>(),
        "leftOut": report.dropped.iter().map(|dropped| value!({
            "application": dropped.application.to_string(),
            "image": dropped.image,
            "reason": dropped.failure.reason,
            "message": dropped.failure.message,
        })).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(|(application, finding)| {
            let mut row = value!(finding);
            row["application"] = application.to_string().into();
            row
        }).collect::<Vec<_>>(),
        "problems": problems.iter().map(|problem| value!({
            "reason": problem.reason,
            "message": problem.message,
            "fails": problem.fails,
        })).collect::<Vec<_>>(),
        "failedUpdaters": report.failed_updaters.iter().map(|(name, message)| value!({
            "imageUpdater": name.to_string(),
            "message": message,
        })).collect::<Vec<_>>(),
        "writes": report.writes.iter().map(write).collect::<Vec<_>>(),
        "diffs": diffs(&report.files).iter().map(place_diff).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn image(image: &ImageReport) -> Value {
    let at = image.current.as_ref().and_then(|current| current.reference.as_ref());
    let tag = at.and_then(|at| at.tag.as_ref());
    let (outcome, failure) = outcome(&image.outcome);
    let tags = image.decision.as_ref().map(|d| explain(d, tag).lines().collect::<Vec<_>>());
    value!({
        "application": image.key.application.to_string(),
        "image": &*image.key.image,
        "configured": image.configured,
        "repository": image.repository,
        "current": at.map(ToString::to_string),
        "verdict": image.decision.as_ref().map(|decision| decision.verdict.to_string()),
        "updateTo": image.decision.as_ref().and_then(|decision| match &decision.verdict {
            Verdict::UpdateTo(tag) => Some(tag.as_tag_value()),
            _ => None,
        }),
        "outcome": outcome,
        "reason": failure.map(|failure| failure.reason),
        "message": failure.map(|failure| failure.message.as_str()),
        "stage": failure.map(|failure| failure.stage.word()),
        "findings": image.findings,
        "settings": image.settings.iter().map(|setting| value!({
            "name": setting.name,
            "value": setting.value,
            "level": setting.level.word(),
            "place": setting.place,
        })).collect::<Vec<_>>(),
        "tags": tags,
    })
}

fn outcome(outcome: &Outcome) -> (&'static str, Option<&Failure>) {
    match outcome {
        Outcome::Dropped(failure) => ("dropped", Some(failure)),
        Outcome::NotLive => ("notLive", None),
        Outcome::NoCandidate => ("noCandidate", None),
        Outcome::UpToDate => ("upToDate", None),
        Outcome::AlreadySo => ("alreadySo", None),
        Outcome::Held => ("held", None),
        Outcome::Updated(_) => ("updated", None),
        Outcome::Failed(failure) => ("failed", Some(failure)),
    }
}

fn place_diff(diff: &PlaceDiff) -> Value {
    let (remote, branch) = diff.branch.as_ref().map(|(remote, branch)| (remote, branch)).unzip();
    value!({ "remote": remote, "branch": branch, "diff": diff.text })
}

fn write(write: &Write) -> Value {
    let (remote, branch, commit) = match &write.place {
        WritePlace::Folder | WritePlace::Cluster => (None, None, None),
        WritePlace::Branch { remote, branch, commit } => {
            (Some(remote), Some(branch), commit.as_ref())
        }
    };
    value!({
        "application": write.application.to_string(),
        "file": write.file,
        "remote": remote,
        "branch": branch,
        "commit": commit,
    })
}
