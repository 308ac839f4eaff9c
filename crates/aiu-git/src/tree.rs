//! What stands at a path of a commit: a file with its mode, nothing, or something that is not
//! edited (spec 30 F4: links are never followed).

mod case;

use std::collections::{BTreeSet, HashMap};

use aiu_core::batch::FilePath;
use aiu_core::edit::{FileKind, FolderFilter, KUSTOMIZATION_NAMES, ManifestFolder};

use crate::object::ObjectId;
use case::Spellings;

/// The mode of a regular file; it outlives edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    Executable,
}

impl Mode {
    /// As `fast-import` takes it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "100644",
            Self::Executable => "100755",
        }
    }
}

/// Why a file is not read and not edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// Following it could lead out of the repository.
    #[error("it is a symbolic link; name the file that it points to")]
    Symlink,
    /// Its content is in another repository.
    #[error("it is a submodule; name a file of this repository")]
    Submodule,
    /// A folder where a file is needed.
    #[error("it is a folder; name a file")]
    Folder,
    /// On the way to it stands something that is no folder.
    #[error("'{0}' is not a folder")]
    NotAFolder(String),
    /// Another encoding.
    #[error("it is not encoded as UTF-8; save it as UTF-8")]
    NotUtf8,
    /// A few lines that stand for the content, which is elsewhere.
    #[error(
        "it is a pointer of Git LFS, and what it stands for is not in the repository; take the file out of LFS (.gitattributes)"
    )]
    LfsPointer,
    /// Nothing, while something is called the same but for upper and lower case; on many disks
    /// it would be the same file.
    #[error(
        "there is no such file, but '{0}', which differs in upper and lower case; correct the path"
    )]
    OtherCase(String),
    /// Too much text for a manifest.
    #[error(
        "it has {bytes} bytes, and files of more than {limit} bytes are not edited; keep the image's keys in a file of their own"
    )]
    TooBig {
        /// Its size.
        bytes: u64,
        /// The limit of the settings.
        limit: u64,
    },
}

impl FileProblem {
    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::OtherCase(_) => "TargetMissing",
            _ => "ManifestUnreadable",
        }
    }
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Missing,
    File { mode: Mode, blob: ObjectId },
    Refused(FileProblem),
}

/// All paths that must be looked at for one target: a kustomization has several names.
pub(crate) fn candidates(path: &FilePath, kind: FileKind) -> Vec<FilePath> {
    match kind {
        FileKind::Kustomization => KUSTOMIZATION_NAMES
            .iter()
            .filter_map(|name| FilePath::join(path.as_str(), name).ok())
            .collect(),
        FileKind::HelmValues
        | FileKind::HelmOverride
        | FileKind::KustomizeOverride
        | FileKind::PluginOverride
        | FileKind::Manifest => vec![path.clone()],
    }
}

/// Looks for some paths in the output of `ls-tree -r -z`, piece by piece.
pub(crate) struct TreeReader<'a> {
    wanted: HashMap<&'a str, &'a FilePath>,
    /// The folders on the way to wanted paths.
    watched: HashMap<&'a str, Vec<&'a FilePath>>,
    /// Folders whose files are wanted, whichever they are.
    folders: Vec<(&'a ManifestFolder, FolderFilter<'a>)>,
    spellings: Spellings<'a>,
    found: Found,
    unfinished: Vec<u8>,
}

/// What stands at the paths and in the folders that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// An entry for every wanted path, and for every file of a wanted folder.
    pub(crate) entries: HashMap<FilePath, Entry>,
    /// The files of the wanted folders, in the order of their paths. Links and submodules are
    /// none.
    pub(crate) folders: HashMap<ManifestFolder, Vec<FilePath>>,
}

impl<'a> TreeReader<'a> {
    pub(crate) fn new(
        wanted: &'a BTreeSet<FilePath>,
        manifests: &'a BTreeSet<ManifestFolder>,
    ) -> Self {
        let mut watched: HashMap<&str, Vec<&FilePath>> = HashMap::new();
        for path in wanted {
            for folder in folders(path.as_str()) {
                watched.entry(folder).or_default().push(path);
            }
        }
        let folders = manifests.iter().map(|folder| (folder, folder.filter())).collect();
        let listed = manifests.iter().map(|folder| (folder.clone(), Vec::new())).collect();
        let found = Found { entries: HashMap::new(), folders: listed };
        let spellings = Spellings::of(wanted);
        let wanted = wanted.iter().map(|path| (path.as_str(), path)).collect();
        Self { wanted, watched, folders, spellings, found, unfinished: Vec::new() }
    }

    /// Takes the next piece of output.
    pub(crate) fn take(&mut self, piece: &[u8]) {
        let mut parts = piece.split(|byte| *byte == 0);
        self.unfinished.extend_from_slice(parts.next().unwrap_or_default());
        for part in parts {
            let line = std::mem::replace(&mut self.unfinished, part.to_vec());
            // A name that is not UTF-8 cannot be wanted.
            if let Ok(line) = std::str::from_utf8(&line) {
                self.line(line);
            }
        }
    }

    /// `MODE TYPE ID<tab>PATH`.
    fn line(&mut self, line: &str) {
        let Some((head, path)) = line.split_once('\t') else { return };
        let mut head = head.split(' ');
        let (mode, id) = (head.next().unwrap_or_default(), head.nth(1).unwrap_or_default());
        for below in self.watched.get(path).into_iter().flatten() {
            let problem = FileProblem::NotAFolder(path.to_owned());
            self.found.entries.insert((*below).clone(), Entry::Refused(problem));
        }
        if let Some(wanted) = self.wanted.get(path) {
            self.found.entries.insert((*wanted).clone(), entry(mode, id));
        }
        self.in_folders(mode, id, path);
        self.spellings.see(path);
        for folder in folders(path) {
            if let Some(wanted) = self.wanted.get(folder) {
                self.found.entries.insert((*wanted).clone(), Entry::Refused(FileProblem::Folder));
            }
        }
    }

    fn in_folders(&mut self, mode: &str, id: &str, path: &str) {
        for (folder, filter) in &self.folders {
            if filter.admits(path)
                && let file @ Entry::File { .. } = entry(mode, id)
                && let Ok(path) = FilePath::join("", path)
            {
                self.found.folders.entry((*folder).clone()).or_default().push(path.clone());
                self.found.entries.insert(path, file);
            }
        }
    }

    /// What was found, with an entry for every wanted path.
    pub(crate) fn finish(mut self) -> Found {
        for path in self.wanted.into_values() {
            let entry = self.found.entries.entry(path.clone());
            entry.or_insert_with(|| match self.spellings.other(path.as_str()) {
                Some(other) => Entry::Refused(FileProblem::OtherCase(other.to_owned())),
                None => Entry::Missing,
            });
        }
        self.found
    }
}

fn entry(mode: &str, id: &str) -> Entry {
    match (mode, ObjectId::parse(id)) {
        ("120000", _) => Entry::Refused(FileProblem::Symlink),
        ("160000", _) => Entry::Refused(FileProblem::Submodule),
        ("100755", Some(blob)) => Entry::File { mode: Mode::Executable, blob },
        (_, Some(blob)) => Entry::File { mode: Mode::Plain, blob },
        (_, None) => Entry::Missing,
    }
}

/// The folders above a path, outermost first: `a`, `a/b` of `a/b/c`.
pub(crate) fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use aiu_core::batch::FilePath;

    use super::{Entry, FileProblem, Found, ManifestFolder, Mode, TreeReader};

    #[test]
    fn every_wanted_path_gets_an_answer_however_the_stream_is_cut() {
        let id = "a".repeat(40);
        let file = |mode| Entry::File { mode, blob: super::ObjectId::parse(&id).unwrap() };
        #[rustfmt::skip]
        let rows = [
            ("a/plain.yaml",    file(Mode::Plain)),
            ("a/run.yaml",      file(Mode::Executable)),
            ("a/old-mode.yaml", file(Mode::Plain)),
            ("a/ü \"q\".yaml",  file(Mode::Plain)),
            ("link.yaml",       Entry::Refused(FileProblem::Symlink)),
            ("module",          Entry::Refused(FileProblem::Submodule)),
            ("a",               Entry::Refused(FileProblem::Folder)),
            ("deep",            Entry::Refused(FileProblem::Folder)),
            ("link.yaml/x",     Entry::Refused(FileProblem::NotAFolder("link.yaml".to_owned()))),
            ("none.yaml",       Entry::Missing),
            ("A/Plain.yaml",    Entry::Refused(FileProblem::OtherCase("a/plain.yaml".to_owned()))),
            ("DEEP/none.yaml",  Entry::Refused(FileProblem::OtherCase("deep".to_owned()))),
            ("deep/none.yaml",  Entry::Missing),
        ];
        let listed = [
            ("100644 blob", "a/plain.yaml"),
            ("100755 blob", "a/run.yaml"),
            ("100664 blob", "a/old-mode.yaml"),
            ("100644 blob", "a/ü \"q\".yaml"),
            ("100644 blob", "deep/er/x"),
            ("120000 blob", "link.yaml"),
            ("160000 commit", "module"),
            ("100644 blob", "other.yaml"),
        ];
        let lines: Vec<String> =
            listed.iter().map(|(head, path)| format!("{head} {id}\t{path}\0")).collect();
        let stream = lines.concat();
        let wanted: BTreeSet<FilePath> =
            rows.iter().map(|(path, _)| FilePath::join("", path).unwrap()).collect();
        let folder = |name: &str, recurse| ManifestFolder {
            folder: FilePath::join("", name).unwrap(),
            recurse,
            include: None,
            exclude: None,
        };
        let folders = [folder("a", false), folder("", true), folder("none", true)].into();
        for size in [1, 3, stream.len()] {
            let mut reader = TreeReader::new(&wanted, &folders);
            stream.as_bytes().chunks(size).for_each(|piece| reader.take(piece));
            let Found { entries, folders } = reader.finish();
            // Those wanted, and one that only a folder holds.
            assert_eq!(entries.len(), rows.len() + 1);
            let names = |name, recurse| {
                let files = folders[&folder(name, recurse)].iter().map(FilePath::as_str);
                files.collect::<Vec<_>>().join(" ")
            };
            let in_a = "a/plain.yaml a/run.yaml a/old-mode.yaml a/ü \"q\".yaml";
            assert_eq!(names("a", false), in_a, "no folder inside");
            assert_eq!(names("", true), format!("{in_a} other.yaml"), "no link, no other file");
            assert_eq!(names("none", true), "");
            for (path, expected) in &rows {
                assert_eq!(entries[&FilePath::join("", path).unwrap()], *expected, "{path}");
            }
        }
    }
}
