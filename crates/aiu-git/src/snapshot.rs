//! What the files of one commit say: only those that were asked for.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use aiu_core::batch::FilePath;
use aiu_core::edit::{FileKind, ManifestFolder};

use crate::object::{Content, ObjectId};
use crate::tree::{Entry, FileProblem, Found, Mode, candidates};

/// One path of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum File {
    Missing,
    Readable { mode: Mode, text: Arc<str> },
    Refused(FileProblem),
}

/// Some paths of a commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    files: HashMap<FilePath, File>,
    /// The files of folders that were asked for.
    folders: HashMap<ManifestFolder, Vec<FilePath>>,
    /// Which content a readable file has.
    blobs: HashMap<FilePath, ObjectId>,
}

impl Snapshot {
    /// A snapshot of these files.
    #[cfg(test)]
    pub(crate) fn of(files: impl IntoIterator<Item = (FilePath, File)>) -> Self {
        Self { files: files.into_iter().collect(), ..Self::default() }
    }

    /// What stands at `path`; `None` if it was not asked for.
    pub(crate) fn file(&self, path: &FilePath) -> Option<&File> {
        self.files.get(path)
    }

    /// The files of a folder; `None` if it was not asked for.
    pub(crate) fn folder(&self, folder: &ManifestFolder) -> Option<&[FilePath]> {
        self.folders.get(folder).map(Vec::as_slice)
    }

    /// Those of `folders` that were not asked for yet.
    pub(crate) fn unlisted(&self, folders: &BTreeSet<ManifestFolder>) -> BTreeSet<ManifestFolder> {
        let unlisted = folders.iter().filter(|folder| !self.folders.contains_key(*folder));
        unlisted.cloned().collect()
    }

    /// Those of `paths` that were not asked for yet.
    pub(crate) fn unseen(&self, paths: &BTreeSet<FilePath>) -> BTreeSet<FilePath> {
        paths.iter().filter(|path| !self.files.contains_key(*path)).cloned().collect()
    }
}

/// Picks the file that a target means out of its candidates: for a kustomization the first
/// that can be read, else the first that exists. Without one the target's own path is missing.
/// `None` if a candidate was never looked at.
pub(crate) fn pick<'a>(
    path: &FilePath,
    kind: FileKind,
    look: impl Fn(&FilePath) -> Option<&'a File>,
) -> Option<(FilePath, &'a File)> {
    let mut existing = None;
    for candidate in candidates(path, kind) {
        match look(&candidate)? {
            File::Missing => {}
            readable @ File::Readable { .. } => return Some((candidate, readable)),
            refused @ File::Refused(_) => existing = existing.or(Some((candidate, refused))),
        }
    }
    Some(existing.unwrap_or((path.clone(), &File::Missing)))
}

/// How many commits are remembered per mirror.
const REMEMBERED: usize = 32;

/// The snapshots of a mirror, the last used ones. Files with equal content share their text.
#[derive(Default)]
pub(crate) struct Snapshots {
    by_commit: HashMap<ObjectId, Arc<Snapshot>>,
    last_used: VecDeque<ObjectId>,
}

impl Snapshots {
    /// What is known of `commit`.
    pub(crate) fn get(&mut self, commit: &ObjectId) -> Arc<Snapshot> {
        match self.by_commit.get(commit) {
            Some(snapshot) => {
                let snapshot = Arc::clone(snapshot);
                self.use_now(commit);
                snapshot
            }
            None => Arc::default(),
        }
    }

    /// All texts known, by content.
    pub(crate) fn contents(&self) -> HashMap<ObjectId, Content> {
        let mut contents = HashMap::new();
        for snapshot in self.by_commit.values() {
            for (path, blob) in &snapshot.blobs {
                if let Some(File::Readable { text, .. }) = snapshot.files.get(path) {
                    contents.insert(blob.clone(), Content::Text(Arc::clone(text)));
                }
            }
        }
        contents
    }

    /// Adds what was found at paths of `commit`; files without content in `contents` are left
    /// out.
    pub(crate) fn learn(
        &mut self,
        commit: &ObjectId,
        found: Found,
        contents: &HashMap<ObjectId, Content>,
        limit: u64,
    ) {
        let mut snapshot = self.get(commit).as_ref().clone();
        snapshot.folders.extend(found.folders);
        for (path, entry) in found.entries {
            let file = match entry {
                Entry::Missing => File::Missing,
                Entry::Refused(problem) => File::Refused(problem),
                Entry::File { mode, blob } => match contents.get(&blob) {
                    None => continue,
                    Some(Content::Text(text)) => {
                        snapshot.blobs.insert(path.clone(), blob);
                        File::Readable { mode, text: Arc::clone(text) }
                    }
                    Some(Content::NotUtf8) => File::Refused(FileProblem::NotUtf8),
                    Some(Content::TooBig { bytes }) => {
                        File::Refused(FileProblem::TooBig { bytes: *bytes, limit })
                    }
                },
            };
            snapshot.files.insert(path, file);
        }
        self.by_commit.insert(commit.clone(), Arc::new(snapshot));
        self.use_now(commit);
        while self.last_used.len() > REMEMBERED {
            if let Some(oldest) = self.last_used.pop_front() {
                self.by_commit.remove(&oldest);
            }
        }
    }

    fn use_now(&mut self, commit: &ObjectId) {
        self.last_used.retain(|known| known != commit);
        self.last_used.push_back(commit.clone());
    }
}
