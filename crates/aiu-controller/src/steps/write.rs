//! Writing what was batched, and what came of it for every image.

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_core::batch::{AppName, ImageChange};
use aiu_core::outcome::{Failure, Outcome, Stage};
use aiu_core::template::commit_message;
use aiu_git::{BranchWritten, ChangedFile, WriteOrder, Written, shown_url};

use super::Row;
use super::batch::{Batches, Change};
use super::hold::with_trailers;
use crate::cluster::{Patched, Patches};
use crate::cycle::World;
use crate::report::{CycleReport, FileChange, Write, WritePlace};

/// What became of all batches.
#[derive(Debug, Default)]
pub struct AllWritten {
    specs: Patches,
    branches: Vec<(Arc<str>, BranchWritten)>,
}

/// Writes Applications, then branches; branches at the same time.
pub async fn write(batches: Batches, world: &World) -> AllWritten {
    let (dry_run, at_once) = (world.settings.dry_run, world.settings.concurrency);
    let specs = world.cluster.patch(batches.specs, dry_run, at_once).await;
    let template = Arc::clone(&world.settings.message);
    let holds = world.settings.hold_reverted;
    let order = WriteOrder {
        signature: world.settings.signature.clone(),
        message: Arc::new(move |plans, changes| {
            let names: Vec<&str> = plans.iter().map(|plan| &*plan.application.name).collect();
            let text = commit_message(&template, &names.join(", "), changes).text;
            if holds { with_trailers(&text, plans, changes) } else { text }
        }),
        remembers: holds,
        one_per_branch: world.settings.one_commit_per_branch,
        dry_run,
    };
    let remotes: Vec<Arc<str>> =
        batches.branches.iter().map(|work| Arc::clone(&work.batch.key.remote)).collect();
    let written = world.writers.write(batches.branches, &order).await;
    AllWritten { specs, branches: remotes.into_iter().zip(written).collect() }
}

/// What became of one Application's changes.
enum Fate {
    Changed(Vec<ImageChange>),
    AlreadySo,
    Failed(&'static str, String),
}

/// Gives every changed row its outcome and the report its writes.
pub fn settle(
    rows: &mut [Row],
    changes: Vec<Change>,
    written: AllWritten,
    report: &mut CycleReport,
) {
    let mut fates: BTreeMap<AppName, Fate> = BTreeMap::new();
    let mut told: BTreeMap<&AppName, Vec<ImageChange>> = BTreeMap::new();
    for change in &changes {
        let app = &rows[change.row].image.key.application;
        told.entry(app).or_default().push(change.change.clone());
    }
    report.files.extend(written.specs.files);
    for (app, patched) in written.specs.done {
        let told = told.remove(&app).unwrap_or_default();
        let fate = match patched {
            Ok(Patched::AlreadySo) => Fate::AlreadySo,
            Ok(Patched::Changed { place, file }) => {
                report.writes.push(Write { application: app.clone(), place, file });
                Fate::Changed(told)
            }
            Err(error) => Fate::Failed(error.reason(), error.to_string()),
        };
        fates.insert(app, fate);
    }
    for (remote, branch) in written.branches {
        settle_branch(&remote, branch, &mut fates, report);
    }
    for Change { row, change } in changes {
        let row = &mut rows[row];
        if row.is_open() {
            row.outcome = fates.get(&row.image.key.application).map(|fate| outcome(fate, change));
        }
    }
}

fn settle_branch(
    remote: &str,
    written: BranchWritten,
    fates: &mut BTreeMap<AppName, Fate>,
    report: &mut CycleReport,
) {
    let branch = written.branch.as_deref().unwrap_or("HEAD");
    report.files.extend(written.files.into_iter().map(|ChangedFile { path, before, after }| {
        let branch = Some((shown_url(remote), branch.to_owned()));
        FileChange { branch, file: path.to_string(), before, after }
    }));
    for one in written.commits {
        let fate = match one.written {
            Written::AlreadySo => Fate::AlreadySo,
            Written::Failed(error) => Fate::Failed(error.reason(), error.to_string()),
            Written::Changed { commit, files, changes } => {
                let place = WritePlace::Branch {
                    remote: shown_url(remote),
                    branch: branch.to_owned(),
                    commit: Some(commit.to_string()),
                };
                report.writes.extend(files.into_iter().map(|path| Write {
                    application: one.application.clone(),
                    place: place.clone(),
                    file: path.to_string(),
                }));
                Fate::Changed(changes)
            }
        };
        fates.insert(one.application, fate);
    }
}

/// A change that had no effect, in a commit that had one, was there already.
fn outcome(fate: &Fate, change: ImageChange) -> Outcome {
    match fate {
        Fate::Changed(changed) if changed.contains(&change) => Outcome::Updated(change),
        Fate::Changed(_) | Fate::AlreadySo => Outcome::AlreadySo,
        Fate::Failed(reason, message) => {
            Outcome::Failed(Failure { stage: Stage::Written, reason, message: message.clone() })
        }
    }
}
