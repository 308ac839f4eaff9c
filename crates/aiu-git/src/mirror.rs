//! Warm mirrors: one bare partial clone per remote and credentials, and the texts of files at
//! the tips of its branches.
//!
//! A pass asks every remote once for its branches, fetches tips only if they moved, and fetches
//! the contents of all wanted files that were not seen before in one go. Committing and pushing
//! is the writer's work; it stands on the [`Ground`] that is laid here.

mod ask;
mod cache;
mod history;
mod store;
mod turn;

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use aiu_core::batch::{BranchKey, FilePath};
use aiu_core::edit::{FileKind, ManifestFolder};
use futures::future::join_all;
use parking_lot::Mutex;
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

use crate::command::Git;
use crate::counts::{GitCounts, PushStats};
use crate::credentials::{AccessId, GitAccess};
use crate::error::GitError;
use crate::listing::Resolved;
use crate::object::ObjectId;
use crate::redact::shown_url;
use crate::remote::{RemoteId, RemoteUrl};
use crate::settings::GitSettings;
use crate::snapshot::{File, Snapshot, pick};
use crate::tree::{FileProblem, candidates};

use cache::Cache;
pub use history::Messages;
pub(crate) use store::Store;
use turn::Turn;
pub(crate) use turn::{draft_ref, ours_ref, tip_ref};

/// Files of one branch that somebody wants to read.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The branch: its head if that exists, else its base (spec 30 §2.3).
    pub key: BranchKey,
    /// With whose rights.
    pub access: GitAccess,
    /// The files; for a kustomization its folder.
    pub files: Vec<(FilePath, FileKind)>,
    /// Folders of plain manifests, all of whose files are read.
    pub folders: BTreeSet<ManifestFolder>,
}

/// What became of one [`Wanted`].
#[derive(Clone, Debug)]
pub struct BranchRead {
    /// The branch that was asked for.
    pub key: BranchKey,
    /// Its texts, or why there are none. Branches of one remote share an error.
    pub texts: Result<BranchTexts, Arc<GitError>>,
}

/// Texts of files at the tip of a branch.
#[derive(Clone, Debug)]
pub struct BranchTexts {
    /// The branch that was read.
    pub branch: Arc<str>,
    /// Its tip.
    pub commit: ObjectId,
    snapshot: Arc<Snapshot>,
}

/// What a target says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileText {
    /// There is no such file.
    Missing,
    /// The file and its text.
    Text {
        /// Of a kustomization, the file in the folder; else the path asked for.
        path: FilePath,
        /// All of it.
        text: Arc<str>,
    },
    /// There is something that is not edited.
    Unreadable {
        /// Where.
        path: FilePath,
        /// Why.
        problem: FileProblem,
    },
}

impl BranchTexts {
    /// What the target says; `None` if it was not among the wanted files.
    pub fn file(&self, path: &FilePath, kind: FileKind) -> Option<FileText> {
        let (path, file) = pick(path, kind, |candidate| self.snapshot.file(candidate))?;
        Some(match file {
            File::Missing => FileText::Missing,
            File::Readable { text, .. } => FileText::Text { path, text: Arc::clone(text) },
            File::Refused(problem) => FileText::Unreadable { path, problem: problem.clone() },
        })
    }

    /// The files of a folder, in the order of their paths; `None` if it was not among the wanted.
    pub fn manifests(&self, folder: &ManifestFolder) -> Option<&[FilePath]> {
        self.snapshot.folder(folder)
    }
}

/// All mirrors of this process.
pub struct Mirrors {
    git: Arc<Git>,
    settings: Arc<GitSettings>,
    cache: Arc<Cache>,
    open: Mutex<HashMap<MirrorKey, (u64, Arc<Mirror>)>>,
    fingerprints: RandomState,
}

/// Who shares a mirror: equal remote and equal rights.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MirrorKey {
    remote: RemoteId,
    access: AccessId,
    /// Tells passwords inside URLs apart, in this process only.
    login: Option<u64>,
}

impl Mirrors {
    /// No mirror is opened before it is needed.
    pub fn new(settings: GitSettings) -> Self {
        let git = Arc::new(Git::new(&settings));
        Self {
            git,
            cache: Arc::new(Cache::new(settings.cache.clone())),
            settings: Arc::new(settings),
            open: Mutex::default(),
            fingerprints: RandomState::new(),
        }
    }

    /// How often git was run so far.
    pub fn counts(&self) -> GitCounts {
        self.git.counters.now()
    }

    /// What was pushed so far, by host.
    pub fn pushes(&self) -> Vec<PushStats> {
        self.git.counters.pushes()
    }

    pub(crate) fn settings(&self) -> &GitSettings {
        &self.settings
    }

    /// Reads the wanted files as the remotes have them now; answers in the order of the
    /// questions. Remotes are read at the same time.
    pub async fn read(&self, wanted: Vec<Wanted>) -> Vec<BranchRead> {
        let mut results: Vec<Option<BranchRead>> = vec![None; wanted.len()];
        let mut groups: HashMap<MirrorKey, (Arc<Mirror>, Vec<(usize, Want)>)> = HashMap::new();
        for (at, wanted) in wanted.into_iter().enumerate() {
            let Wanted { key, access, files, folders } = wanted;
            match self.mirror(&key.remote, &access) {
                Err(error) => results[at] = Some(BranchRead { key, texts: Err(Arc::new(error)) }),
                Ok((mirror_key, mirror)) => {
                    let group = groups.entry(mirror_key).or_insert_with(|| (mirror, Vec::new()));
                    let files = files.iter().map(|(path, kind)| (path, *kind));
                    group.1.push((at, Want { folders, ..Want::new(key, files) }));
                }
            }
        }
        let reading = groups.into_values().map(async |(mirror, wants)| mirror.read(wants).await);
        for (at, read) in join_all(reading).await.into_iter().flatten() {
            results[at] = Some(read);
        }
        results.into_iter().map(|read| read.expect("every question belongs to one group")).collect()
    }

    /// The mirror for a remote, as seen with these rights.
    pub(crate) fn mirror(
        &self,
        url: &str,
        access: &GitAccess,
    ) -> Result<(MirrorKey, Arc<Mirror>), GitError> {
        let remote = RemoteUrl::parse(url, self.settings.local_remotes)
            .map_err(|cause| GitError::Remote { url: shown_url(url), cause })?;
        let login = remote
            .login()
            .map(|(user, password)| self.fingerprints.hash_one((user, password.expose_secret())));
        let key = MirrorKey { remote: remote.id().clone(), access: access.id(), login };
        let content = match access {
            GitAccess::Ambient => 0,
            GitAccess::Login(login) => self.fingerprints.hash_one(login),
        };
        let mut open = self.open.lock();
        // Of a Secret that was changed the mirror begins anew, with what is on disk.
        open.retain(|known, (of, _)| *known != key || *of == content);
        let (_, mirror) = open.entry(key.clone()).or_insert_with(|| {
            let (git, settings) = (Arc::clone(&self.git), Arc::clone(&self.settings));
            let cache = Arc::clone(&self.cache);
            let folder = folder_name(&key);
            let turn = tokio::sync::Mutex::new(Turn::default());
            let access = access.clone();
            (content, Arc::new(Mirror { remote, access, folder, git, settings, cache, turn }))
        });
        Ok((key, Arc::clone(mirror)))
    }
}

/// A name for the folder of a mirror: the repository's, for people, and a hash.
fn folder_name(key: &MirrorKey) -> String {
    let name = key.remote.as_str().rsplit('/').next().unwrap_or_default();
    let plain = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let plain: String = plain.take(40).collect();
    let hash = Sha256::digest(format!("{}\n{}", key.remote.as_str(), key.access));
    let (start, _) = hash.split_first_chunk().expect("the hash has 32 bytes");
    format!("{plain}-{:016x}", u64::from_be_bytes(*start))
}

/// One remote, as seen with certain rights.
pub(crate) struct Mirror {
    pub(crate) remote: RemoteUrl,
    pub(crate) access: GitAccess,
    folder: String,
    pub(crate) git: Arc<Git>,
    settings: Arc<GitSettings>,
    cache: Arc<Cache>,
    /// git allows one fetch at a time in a repository (`shallow.lock`): who fetches or reads
    /// holds the turn meanwhile. Commits and pushes need none.
    turn: tokio::sync::Mutex<Turn>,
}

/// A branch and the paths in it that somebody needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    pub(crate) key: BranchKey,
    paths: BTreeSet<FilePath>,
    folders: BTreeSet<ManifestFolder>,
}

impl Want {
    pub(crate) fn new<'a>(
        key: BranchKey,
        files: impl IntoIterator<Item = (&'a FilePath, FileKind)>,
    ) -> Self {
        let paths = files.into_iter().flat_map(|(path, kind)| candidates(path, kind)).collect();
        Self { key, paths, folders: BTreeSet::new() }
    }
}

/// What commits are built on: a tip, what the wanted files say there, and the repository that
/// holds it, for as long as this value lives.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) branch: Resolved,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) store: Arc<Store>,
}

/// How old the knowledge of a remote may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// The remote is asked.
    Now,
    /// What this process knows, if anything.
    Known,
}

impl Mirror {
    /// Reads the files of one pass.
    async fn read(&self, wants: Vec<(usize, Want)>) -> Vec<(usize, BranchRead)> {
        let (places, wants): (Vec<usize>, Vec<Want>) = wants.into_iter().unzip();
        let grounds = self.ground(&wants, Age::Now).await;
        let reads = wants.into_iter().zip(grounds).map(|(want, ground)| BranchRead {
            key: want.key,
            texts: ground.map(|Ground { branch, snapshot, .. }| BranchTexts {
                branch: branch.read,
                commit: branch.tip,
                snapshot,
            }),
        });
        places.into_iter().zip(reads).collect()
    }
}
