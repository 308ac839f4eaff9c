//! What is to be changed, grouped into what is written at once: one Application's spec, or
//! one branch with a commit per Application.

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_api::plan::{GitTarget, Target};
use aiu_core::batch::{AppName, BranchBatch, BranchKey, CommitPlan, FileEdit, ImageChange};
use aiu_core::decide::Verdict;
use aiu_core::edit::Wish;
use aiu_core::image::{ImageReference, TagRef};
use aiu_core::outcome::{Failure, Outcome, Stage};
use aiu_core::template::{BranchData, Template, branch_name};
use aiu_git::BranchWork;

use super::read::{self, Resolved, Seen, Texts, resolved};
use super::{Row, manifests};
use crate::cluster::SpecEdit;

/// One change, and the row that it belongs to.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which row.
    pub row: usize,
    /// From what to what.
    pub change: ImageChange,
}

/// What one pass writes.
#[derive(Debug, Default)]
pub struct Batches {
    /// Edits of Applications.
    pub specs: Vec<SpecEdit>,
    /// Commits.
    pub branches: Vec<BranchWork>,
}

/// The open rows whose verdict asks for a write.
pub fn changes(rows: &[Row]) -> Vec<Change> {
    let open = rows.iter().enumerate().filter(|(_, row)| row.is_open());
    open.flat_map(|(index, row)| {
        let verdict = row.decision.as_ref().map(|decision| &decision.verdict);
        let to = match verdict {
            Some(Verdict::UpdateTo(tag)) => Some(tag),
            _ => None,
        };
        let changes = to.map(|tag| changes_of(row, tag)).unwrap_or_default();
        changes.into_iter().map(move |change| Change { row: index, change })
    })
    .collect()
}

/// The row's change; where plain manifests hold several tags, one for each (spec 40 B3).
fn changes_of(row: &Row, tag: &TagRef) -> Vec<ImageChange> {
    let configured = &row.image.configured;
    let to = ImageReference { repository: configured.repository.clone(), tag: Some(tag.clone()) };
    let change = |from: Option<&ImageReference>| ImageChange {
        alias: configured.alias.clone(),
        from: from.cloned(),
        to: to.clone(),
        labels: row.labels.clone(),
    };
    if row.fields.is_empty() {
        let current = row.current.as_ref().and_then(|current| current.reference.as_ref());
        return vec![change(current)];
    }
    let behind = |from: &&ImageReference| from.tag.as_ref() != Some(tag);
    let references = manifests::references(row).into_iter().filter(behind);
    references.map(|from| change(Some(from))).collect()
}

/// Groups the changes. Rows that cannot be grouped, because their branch's name cannot be
/// made, end here.
pub fn batches(rows: &mut [Row], changes: &[Change], texts: &Texts) -> Batches {
    let mut by_app: BTreeMap<AppName, Vec<&Change>> = BTreeMap::new();
    for change in changes {
        let app = &rows[change.row].image.key.application;
        by_app.entry(app.clone()).or_default().push(change);
    }
    let mut batches = Batches::default();
    let mut branches: BTreeMap<Seen, BranchWork> = BTreeMap::new();
    for (app, changes) in by_app {
        let first = &rows[changes[0].row];
        match (&first.image.target, &first.git) {
            (Target::File(target), Some(access)) => {
                let (target, access) = (target.clone(), access.clone());
                match commit(rows, &changes, &app, &target, texts) {
                    Ok((key, plan)) => {
                        let seen = (key.clone(), access.id());
                        let batch = BranchBatch { key, commits: Vec::new() };
                        let work = branches.entry(seen);
                        let work = work.or_insert_with(|| BranchWork { batch, access });
                        work.batch.commits.push(plan);
                    }
                    Err(failure) => {
                        for change in changes {
                            rows[change.row].outcome = Some(Outcome::Failed(failure.clone()));
                        }
                    }
                }
            }
            _ => batches.specs.push(SpecEdit {
                source: first.image.source,
                wishes: wishes(rows, &changes, &app, false),
                application: app,
            }),
        }
    }
    batches.branches = branches.into_values().collect();
    batches
}

/// The commit of one Application, and the branch that it goes to.
fn commit(
    rows: &[Row],
    changes: &[&Change],
    app: &AppName,
    target: &GitTarget,
    texts: &Texts,
) -> Result<(BranchKey, CommitPlan), Failure> {
    let failure = |reason, message| Failure { stage: Stage::Written, reason, message };
    let branch = read::branch(&rows[changes[0].row], texts)
        .map_err(|(reason, message)| failure(reason, message))?;
    let resolved =
        resolved(&target.file, branch).map_err(|(reason, cause)| failure(reason, cause))?;
    let edits = match resolved {
        Resolved::File(path, kind) => {
            // Argo CD lets the lists of an override file replace those of the spec, so it must
            // carry every image of the Application, changed or not.
            let wishes = wishes(rows, changes, app, kind.is_override());
            vec![FileEdit { path, kind, wishes }]
        }
        Resolved::Manifests(_) => {
            let wished = changes.iter().map(|it| (&rows[it.row], it.change.to.clone()));
            manifests::edits(&wished.collect::<Vec<_>>())
        }
    };
    let told: Vec<ImageChange> = changes.iter().map(|change| change.change.clone()).collect();
    let mut key = target.branch.clone();
    if let Some(template) = &key.head {
        let name =
            head(template, app, &told).map_err(|cause| failure("BranchNameInvalid", cause))?;
        key.head = Some(name);
    }
    let author = target.author.clone();
    Ok((key, CommitPlan { application: app.clone(), edits, changes: told, author }))
}

/// What a target shall say: the changes, and with `all` the present values of the other
/// images, in configured order.
fn wishes(rows: &[Row], changes: &[&Change], app: &AppName, all: bool) -> Vec<Wish> {
    // Rows are ordered by Application.
    let first = rows.partition_point(|row| row.image.key.application < *app);
    let own = rows[first..].iter().take_while(|row| row.image.key.application == *app);
    own.zip(first..)
        .filter_map(|(row, index)| {
            let image = match changes.iter().find(|change| change.row == index) {
                Some(change) => change.change.to.clone(),
                None if all => row.current.as_ref()?.reference.clone()?,
                None => return None,
            };
            Some(Wish { keys: row.keys.clone()?, image })
        })
        .collect()
}

/// The branch that is pushed to, from its template (spec 30 §2.4).
fn head(template: &str, app: &AppName, changes: &[ImageChange]) -> Result<Arc<str>, String> {
    let template = Template::parse(template).map_err(|error| error.to_string())?;
    let name = branch_name(&template, &BranchData::new(app, "", changes))
        .map_err(|error| error.to_string())?;
    Ok(name.text.into())
}
