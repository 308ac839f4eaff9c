//! Writing what was batched, and what came of it for every image.

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_core::batch::{AppName, ImageChange};
use aiu_core::outcome::{Failure, Outcome, Stage};
use aiu_core::template::commit_message;
use aiu_git::{BranchWritten, ChangedFile, WriteOrder, Written, shown_url};

use futures::StreamExt as _;

use super::Row;
use super::batch::{Batches, Change, SpecBatch};
use super::hold::with_trailers;
use crate::cluster::{PatchError, Patched};
use crate::cycle::World;
use crate::report::{CycleReport, Write, WritePlace};

/// What became of all batches.
#[derive(Debug, Default)]
pub struct AllWritten {
    specs: Vec<(AppName, Result<Patched, PatchError>)>,
    branches: Vec<(Arc<str>, BranchWritten)>,
}

/// Writes Applications, then branches; branches at the same time.
pub async fn write(batches: Batches, world: &World) -> AllWritten {
    let patches = batches.specs.into_iter().map(|batch| patch(batch, world));
    let specs = futures::stream::iter(patches).buffered(world.settings.concurrency.max(1));
    let specs = specs.collect().await;
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
        dry_run: world.settings.dry_run,
    };
    let remotes: Vec<Arc<str>> =
        batches.branches.iter().map(|work| Arc::clone(&work.batch.key.remote)).collect();
    let written = world.writers.write(batches.branches, &order).await;
    AllWritten { specs, branches: remotes.into_iter().zip(written).collect() }
}

async fn patch(batch: SpecBatch, world: &World) -> (AppName, Result<Patched, PatchError>) {
    let SpecBatch { application, source, wishes } = batch;
    let dry_run = world.settings.dry_run;
    let patched = world.cluster.patch(&application, source, &wishes, dry_run).await;
    (application, patched)
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
    for (app, patched) in written.specs {
        let told = told.remove(&app).unwrap_or_default();
        let fate = match patched {
            Ok(Patched::AlreadySo) => Fate::AlreadySo,
            Ok(Patched::Changed { place, file, before, after }) => {
                report.writes.push(Write {
                    application: app.clone(),
                    place,
                    file,
                    before: Some(before),
                    after,
                });
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
                report.writes.extend(files.into_iter().map(
                    |ChangedFile { path, before, after, .. }| Write {
                        application: one.application.clone(),
                        place: place.clone(),
                        file: path.to_string(),
                        before: before.as_deref().map(str::to_owned),
                        after: after.to_string(),
                    },
                ));
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
