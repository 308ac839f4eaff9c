//! The texts of the files that a plan writes to, at the tips of their branches.
//!
//! One question per remote and pass, whatever the number of Applications (`aiu-git`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use aiu_api::plan::{GitTarget, Target, TargetFile, WorkPlan};
use aiu_core::batch::{BranchKey, FilePath};
use aiu_core::edit::{FileKind, ManifestFolder};
use aiu_git::credentials::AccessId;
use aiu_git::{BranchTexts, FileProblem, FileText, GitAccess, GitError, Wanted};

use super::Row;
use crate::cycle::World;
use crate::unlock::Access;

/// A branch, as seen with certain rights: what one may read is not told to another.
pub type Seen = (BranchKey, AccessId);

/// What every branch of the plan says, or why it says nothing.
pub type Texts = HashMap<Seen, Result<BranchTexts, Arc<GitError>>>;

/// Reads all files that the plan writes to.
pub async fn texts(plan: &WorkPlan, access: &Access, world: &World) -> Texts {
    let mut wanted: BTreeMap<Seen, (GitAccess, Sought)> = BTreeMap::new();
    for image in plan.images.iter().filter(|image| access.registry(&image.key).is_ok()) {
        if let (Target::File(target), Some(Ok(git))) = (&image.target, access.git(image)) {
            let place = wanted.entry(read_key(target, &git));
            place.or_insert_with(|| (git, Sought::default())).1.add(&target.file);
        }
    }
    let (seen, wanted): (Vec<Seen>, Vec<Wanted>) = wanted
        .into_iter()
        .map(|(seen, (access, Sought { files, folders }))| {
            let key = seen.0.clone();
            (seen, Wanted { key, access, files: files.into_iter().collect(), folders })
        })
        .unzip();
    let read = world.mirrors.read(wanted).await;
    seen.into_iter().zip(read).map(|(seen, branch)| (seen, branch.texts)).collect()
}

/// The branch that is read for a target. A head whose name depends on the decision is not
/// known yet; its current value is the base's.
pub fn read_key(target: &GitTarget, access: &GitAccess) -> Seen {
    let mut key = target.branch.clone();
    key.head = key.head.filter(|head| !head.contains("{{"));
    (key, access.id())
}

/// What was read for a row's target.
pub fn branch<'a>(row: &Row, texts: &'a Texts) -> Result<&'a BranchTexts, Unreadable> {
    let not_read = || ("GitUnreachable", "the branch was not read".to_owned());
    let (Target::File(target), Some(access)) = (&row.image.target, &row.git) else {
        return Err(not_read());
    };
    match texts.get(&read_key(target, access)) {
        Some(Ok(branch)) => Ok(branch),
        Some(Err(error)) => Err((error.reason(), error.to_string())),
        None => Err(not_read()),
    }
}

/// The chart file that makes a folder a Helm source.
const CHART: &str = "Chart.yaml";

/// What is read of one branch.
#[derive(Default)]
struct Sought {
    files: BTreeSet<(FilePath, FileKind)>,
    folders: BTreeSet<ManifestFolder>,
}

impl Sought {
    fn add(&mut self, file: &TargetFile) {
        match file {
            TargetFile::Known(path, kind) => drop(self.files.insert((path.clone(), *kind))),
            TargetFile::ByFolder { file, folder, manifests } => {
                self.files.insert((file.clone(), FileKind::KustomizeOverride));
                self.files.insert((folder.clone(), FileKind::Kustomization));
                self.files.extend(chart(folder).map(|chart| (chart, FileKind::HelmValues)));
                self.folders.extend(manifests.clone());
            }
            TargetFile::Manifests(folder) => drop(self.folders.insert(folder.clone())),
        }
    }
}

/// What a target turns out to be.
pub enum Resolved<'a> {
    /// One file.
    File(FilePath, FileKind),
    /// The plain manifests of a folder.
    Manifests(&'a ManifestFolder),
}

fn chart(folder: &FilePath) -> Option<FilePath> {
    FilePath::join(folder.as_str(), CHART).ok()
}

/// The file that a target means, and its shape, now that the folder's content is known: as
/// Argo CD finds it out, a chart makes a Helm source and a kustomization a Kustomize one.
pub fn resolved<'a>(
    target: &'a TargetFile,
    branch: &BranchTexts,
) -> Result<Resolved<'a>, Unreadable> {
    let (file, folder, manifests) = match target {
        TargetFile::Known(path, kind) => return Ok(Resolved::File(path.clone(), *kind)),
        TargetFile::Manifests(folder) => return Ok(Resolved::Manifests(folder)),
        TargetFile::ByFolder { file, folder, manifests } => (file, folder, manifests),
    };
    let exists = |path: &FilePath, kind| match branch.file(path, kind) {
        // Argo CD does not take the one for the other either.
        Some(FileText::Unreadable { problem, .. }) => !matches!(problem, FileProblem::OtherCase(_)),
        Some(FileText::Text { .. }) => true,
        Some(FileText::Missing) | None => false,
    };
    if chart(folder).is_some_and(|chart| exists(&chart, FileKind::HelmValues)) {
        Ok(Resolved::File(file.clone(), FileKind::HelmOverride))
    } else if exists(folder, FileKind::Kustomization) {
        Ok(Resolved::File(file.clone(), FileKind::KustomizeOverride))
    } else if let Some(manifests) = manifests {
        Ok(Resolved::Manifests(manifests))
    } else {
        let cause = format!(
            "the folder '{folder}' on branch '{}' holds neither a chart nor a kustomization; correct spec.source.path, or name a write-back-target ('manifests' for plain manifests)",
            branch.branch
        );
        Err(("UnsupportedSourceType", cause))
    }
}

/// What cannot be read, as the report tells it: reason and sentence.
pub type Unreadable = (&'static str, String);

/// The text of a target; `None` if there is no such file.
pub fn text(
    branch: &BranchTexts,
    path: &FilePath,
    kind: FileKind,
) -> Result<Option<(FilePath, Arc<str>)>, Unreadable> {
    match branch.file(path, kind) {
        Some(FileText::Text { path, text }) => Ok(Some((path, text))),
        Some(FileText::Unreadable { path, problem }) => {
            Err((problem.reason(), format!("{path}: {problem}")))
        }
        Some(FileText::Missing) | None => Ok(None),
    }
}
