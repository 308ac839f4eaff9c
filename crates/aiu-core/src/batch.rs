//! Edits grouped into the units that are written: one branch, or one Application.
//!
//! Everything is ordered, so that equal inputs give equal commits.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::edit::{FileKind, Wish};
use crate::image::{Alias, ImageReference};

/// Namespace and name of an Argo CD Application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppName {
    /// The namespace the Application lives in.
    pub namespace: Arc<str>,
    /// The Application's name.
    pub name: Arc<str>,
}

impl fmt::Display for AppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A path inside a repository: relative, `/`-separated, and unable to leave the tree or to
/// reach into `.git` (spec 30 F4).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(Arc<str>);

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    /// It climbs out of the repository.
    #[error("the path '{0}' leaves the repository")]
    Escapes(String),
    /// It names git's own folder.
    #[error("the path '{0}' is inside .git")]
    GitFolder(String),
    /// Nothing is left after cleaning, or a NUL byte or line break stands in it.
    #[error("the path '{0}' names no file")]
    NoFile(String),
}

impl FilePath {
    /// Joins `path` to `folder` and cleans the result as Go's `path.Clean` does. A leading `/`
    /// of `path` means the root of the repository.
    pub fn join(folder: &str, path: &str) -> Result<Self, InvalidPath> {
        let full = match path.strip_prefix('/') {
            Some(from_root) => from_root.to_owned(),
            None => format!("{folder}/{path}"),
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in full.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err(InvalidPath::Escapes(full));
                    }
                }
                part if part.eq_ignore_ascii_case(".git") => {
                    return Err(InvalidPath::GitFolder(full));
                }
                part => parts.push(part),
            }
        }
        if full.contains(['\0', '\n', '\r']) {
            return Err(InvalidPath::NoFile(full));
        }
        Ok(Self(parts.join("/").into()))
    }

    /// The cleaned path; empty for the root folder.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}

/// The branch that a batch is read from and pushed to: the unit of serial writing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchKey {
    /// The remote's URL as configured. Which of two spellings are one remote is the git
    /// adapter's knowledge.
    pub remote: Arc<str>,
    /// The branch that is read; `None` for the remote's default branch.
    pub base: Option<Arc<str>>,
    /// The branch that is pushed, if it is not the base.
    pub head: Option<Arc<str>>,
}

/// Shows the remote without its login: a URL may hold a password.
impl fmt::Debug for BranchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.remote.rsplit_once('@').map_or(&*self.remote, |(_, place)| place);
        f.debug_struct("BranchKey")
            .field("remote", &place)
            .field("base", &self.base)
            .field("head", &self.head)
            .finish()
    }
}

/// From which reference to which, for one image of one Application.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageChange {
    /// The image's alias, if the user gave one.
    pub alias: Option<Alias>,
    /// What the target said; without tag where nothing was known.
    pub from: Option<ImageReference>,
    /// What it shall say.
    pub to: ImageReference,
    /// Labels of the new image, where a message template asks for them.
    pub labels: BTreeMap<String, String>,
}

/// All that should hold in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The file; for [`FileKind::Kustomization`] its folder, in which the first existing of
    /// `kustomization.yaml`, `kustomization.yml`, `Kustomization` is meant.
    pub path: FilePath,
    /// The file's shape.
    pub kind: FileKind,
    /// What it shall say, in configured order.
    pub wishes: Vec<Wish>,
}

/// Who is to be named as the author of a commit (spec 40 B16).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Author {
    /// The name.
    pub name: Arc<str>,
    /// The mail address.
    pub email: Arc<str>,
}

/// One commit: what one Application changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPlan {
    /// The Application on whose behalf it is made.
    pub application: AppName,
    /// The edits, ordered by path.
    pub edits: Vec<FileEdit>,
    /// The changes that the message tells, in configured order; never empty (spec 30 F22).
    pub changes: Vec<ImageChange>,
    /// Who is named as its author, if not the one who commits.
    pub author: Option<Author>,
}

/// All commits for one branch, in order: one fetch, one push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchBatch {
    /// The branch.
    pub key: BranchKey,
    /// Its commits, ordered by Application.
    pub commits: Vec<CommitPlan>,
}
