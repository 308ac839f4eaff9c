//! What the files of one commit say: only those that were asked for.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use aiu_core::batch::FilePath;
use aiu_core::edit::{FileKind, ManifestFolder};

use crate::object::{Content, ObjectId};
use crate::stack::ChangedFile;
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

    /// What a commit that changes these files and nothing else leaves of this one.
    pub(crate) fn after<'a>(&self, changed: impl IntoIterator<Item = &'a ChangedFile>) -> Self {
        let mut after = self.clone();
        let mut some_created = false;
        for ChangedFile { path, before, after: text } in changed {
            some_created |= before.is_none();
            let mode = match self.files.get(path) {
                Some(File::Readable { mode, .. }) => *mode,
                _ => Mode::Plain,
            };
            after.blobs.remove(path);
            after.files.insert(path.clone(), File::Readable { mode, text: Arc::clone(text) });
        }
        if some_created {
            // What was missing may now be a folder, and folders may hold more.
            after.files.retain(|_, file| matches!(file, File::Readable { .. }));
            after.folders.clear();
        }
        after
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

/// Whether a text is what Git LFS keeps in place of a file.
fn is_lfs_pointer(text: &str) -> bool {
    text.starts_with("version https://git-lfs.github.com/spec/")
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
                    Some(Content::Text(text)) if is_lfs_pointer(text) => {
                        File::Refused(FileProblem::LfsPointer)
                    }
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
        self.put(commit, snapshot);
    }

    /// Remembers a snapshot, and forgets the one that was not used for longest.
    pub(crate) fn put(&mut self, commit: &ObjectId, snapshot: Snapshot) {
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

#[cfg(test)]
mod tests {
    use aiu_core::batch::FilePath;

    use super::{ChangedFile, File, Mode, Snapshot};

    fn path(text: &str) -> FilePath {
        FilePath::join("", text).unwrap()
    }

    fn readable(text: &str) -> File {
        File::Readable { mode: Mode::Executable, text: text.into() }
    }

    #[test]
    fn a_commit_of_ours_leaves_the_rest_known_unless_it_creates_a_file() {
        let (a, b, c) = (path("a"), path("b"), path("c"));
        let files =
            [(a.clone(), readable("1")), (b.clone(), readable("1")), (c.clone(), File::Missing)];
        let before = Snapshot::of(files);
        let changed = |path: &FilePath, before: Option<&str>| ChangedFile {
            path: path.clone(),
            before: before.map(Into::into),
            after: "2".into(),
        };
        let after = before.after([&changed(&a, Some("1"))]);
        assert_eq!(after.file(&a), Some(&readable("2")));
        assert_eq!(after.file(&b), Some(&readable("1")));
        assert_eq!(after.file(&c), Some(&File::Missing));
        let after = before.after([&changed(&path("d/e"), None)]);
        let made = File::Readable { mode: Mode::Plain, text: "2".into() };
        assert_eq!(after.file(&path("d/e")), Some(&made));
        assert_eq!((after.file(&b), after.file(&c)), (Some(&readable("1")), None));
    }
}
