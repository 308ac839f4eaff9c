//! The texts of the files that a plan writes to, at the tips of their branches.
//!
//! One question per remote and pass, whatever the number of Applications (`aiu-git`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use aiu_api::plan::{GitTarget, Target, TargetFile, WorkPlan};
use aiu_core::batch::{BranchKey, FilePath};
use aiu_core::edit::{FileKind, ManifestFolder};
use aiu_git::{BranchTexts, FileText, GitError, Wanted};

use crate::cycle::World;
use crate::unlock::Access;

/// What every branch of the plan says, or why it says nothing.
pub type Texts = HashMap<BranchKey, Result<BranchTexts, Arc<GitError>>>;

/// Reads all files that the plan writes to.
pub async fn texts(plan: &WorkPlan, access: &Access, world: &World) -> Texts {
    let mut wanted: BTreeMap<BranchKey, Sought> = BTreeMap::new();
    for image in plan.images.iter().filter(|image| access.registry(&image.key).is_ok()) {
        if let Target::File(target) = &image.target {
            wanted.entry(read_key(target)).or_default().add(&target.file);
        }
    }
    let wanted = wanted.into_iter().map(|(key, sought)| Wanted {
        key,
        access: access.git(),
        files: sought.files.into_iter().collect(),
        folders: sought.folders,
    });
    let read = world.mirrors.read(wanted.collect()).await;
    read.into_iter().map(|branch| (branch.key, branch.texts)).collect()
}

/// The branch that is read for a target. A head whose name depends on the decision is not
/// known yet; its current value is the base's.
pub fn read_key(target: &GitTarget) -> BranchKey {
    let mut key = target.branch.clone();
    key.head = key.head.filter(|head| !head.contains("{{"));
    key
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
    let exists = |path: &FilePath, kind| {
        branch.file(path, kind).is_some_and(|found| found != FileText::Missing)
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
