//! What the tests share: short ways to say things.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aiu_core::batch::{
    AppName, BranchBatch, BranchKey, CommitPlan, FileEdit, FilePath, ImageChange,
};
use aiu_core::edit::{FileKind, HelmKeys, Keys, Wish};
use aiu_core::image::ImageReference;
use aiu_git::{
    BranchRead, BranchWork, BranchWritten, FileText, GitAccess, GitSettings, Identity, Mirrors,
    Signature, Wanted, WriteOrder, Writers, Written,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Mirrors and writers with a cache folder of their own.
pub(crate) struct Bench {
    pub(crate) cache: Arc<TempDir>,
    pub(crate) mirrors: Arc<Mirrors>,
    pub(crate) writers: Arc<Writers>,
    pub(crate) stop: CancellationToken,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut GitSettings)) -> Self {
        let cache = tempfile::tempdir().expect("temporary folders can be made");
        Self::within(Arc::new(cache), change)
    }

    /// Another process that uses the same cache folder.
    pub(crate) fn beside(&self) -> Self {
        Self::within(Arc::clone(&self.cache), |_| {})
    }

    /// A later process, which finds what this one leaves.
    pub(crate) fn restarted(self) -> Self {
        let cache = Arc::clone(&self.cache);
        drop(self);
        Self::within(cache, |_| {})
    }

    fn within(cache: Arc<TempDir>, change: impl FnOnce(&mut GitSettings)) -> Self {
        let mut settings = settings(cache.path());
        change(&mut settings);
        let mirrors = Arc::new(Mirrors::new(settings));
        let stop = CancellationToken::new();
        let writers = Arc::new(Writers::new(Arc::clone(&mirrors), stop.clone()));
        Self { cache, mirrors, writers, stop }
    }

    /// Reads values files of one branch.
    pub(crate) async fn read(&self, key: &BranchKey, files: &[&str]) -> BranchRead {
        self.mirrors.read(vec![wanted(key, files)]).await.remove(0)
    }

    /// What the files of one branch say.
    pub(crate) async fn texts(&self, key: &BranchKey, files: &[&str]) -> Vec<String> {
        let texts = match self.read(key, files).await.texts {
            Ok(texts) => texts,
            Err(error) => return vec![format!("{}: {error}", error.reason())],
        };
        let say = |file: &&str| match texts.file(&path(file), FileKind::HelmValues) {
            None => "not asked for".to_owned(),
            Some(FileText::Missing) => "missing".to_owned(),
            Some(FileText::Text { text, .. }) => text.to_string(),
            Some(FileText::Unreadable { problem, .. }) => problem.to_string(),
        };
        files.iter().map(say).collect()
    }

    /// Writes the plans to one branch.
    pub(crate) async fn write(&self, key: &BranchKey, plans: Vec<CommitPlan>) -> BranchWritten {
        self.writers.write(vec![work(key, plans)], &order()).await.remove(0)
    }

    /// Questions, fetches of tips, fetches of contents and pushes since the start.
    pub(crate) fn asked(&self) -> (u64, u64, u64, u64) {
        let counts = self.mirrors.counts();
        (counts.ls_remote, counts.fetch_tip, counts.fetch_blobs, counts.push)
    }
}

pub(crate) fn settings(cache: &Path) -> GitSettings {
    GitSettings {
        local_remotes: true,
        retry_pause: Duration::from_millis(1),
        ..GitSettings::new(cache)
    }
}

pub(crate) fn path(text: &str) -> FilePath {
    FilePath::join("", text).expect("a path inside the repository")
}

/// `base:head` of a remote; either may be empty.
pub(crate) fn key(url: &str, branches: &str) -> BranchKey {
    let (base, head) = branches.split_once(':').unwrap_or((branches, ""));
    let name = |text: &str| (!text.is_empty()).then(|| Arc::from(text));
    BranchKey { remote: url.into(), base: name(base), head: name(head) }
}

pub(crate) fn wanted(key: &BranchKey, files: &[&str]) -> Wanted {
    let files = files.iter().map(|file| (path(file), FileKind::HelmValues)).collect();
    Wanted { key: key.clone(), access: GitAccess::Ambient, files, folders: BTreeSet::new() }
}

pub(crate) fn work(key: &BranchKey, commits: Vec<CommitPlan>) -> BranchWork {
    BranchWork { batch: BranchBatch { key: key.clone(), commits }, access: GitAccess::Ambient }
}

/// An Application that sets keys of values files to tags: `a/values.yaml web=v2 job=v3; b web=v2`.
pub(crate) fn plan(app: &str, edits: &str) -> CommitPlan {
    plan_of(app, edits, FileKind::HelmValues)
}

pub(crate) fn plan_of(app: &str, edits: &str, kind: FileKind) -> CommitPlan {
    let edits = edits.split("; ").map(|edit| {
        let (file, sets) = edit.rsplit_once(".yaml ").expect("a file and what is set in it");
        let wishes = sets.split(' ').map(wish).collect();
        FileEdit { path: path(&format!("{file}.yaml")), kind, wishes }
    });
    let edits: Vec<FileEdit> = edits.collect();
    let mut changes: Vec<ImageChange> = Vec::new();
    for wish in edits.iter().flat_map(|edit| &edit.wishes) {
        if !changes.iter().any(|change| change.to == wish.image) {
            let (to, labels) = (wish.image.clone(), BTreeMap::new());
            changes.push(ImageChange { alias: None, from: None, to, labels });
        }
    }
    let application = AppName { namespace: "argocd".into(), name: app.into() };
    CommitPlan { application, edits, changes, author: None }
}

/// `KEY=TAG`.
fn wish(text: &str) -> Wish {
    let (key, tag) = text.split_once('=').expect("a key and a tag");
    let image: ImageReference = format!("{key}:{tag}").parse().expect("an image");
    Wish { keys: Keys::Helm(HelmKeys::NameAndTag { name: None, tag: Some(key.into()) }), image }
}

pub(crate) fn order() -> WriteOrder {
    let identity = Identity::default;
    let date = SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000);
    WriteOrder {
        signature: Signature { author: identity(), committer: identity(), date, sign_off: false },
        message: Arc::new(|plans, changes| {
            let changes: Vec<String> = changes.iter().map(|it| it.to.to_string()).collect();
            let names: Vec<&str> = plans.iter().map(|plan| &*plan.application.name).collect();
            format!("update {}\n\n{}\n", names.join(", "), changes.join("\n"))
        }),
        remembers: false,
        one_per_branch: false,
        dry_run: false,
    }
}

/// What became of the plans, one line each.
pub(crate) fn told(written: &BranchWritten) -> Vec<String> {
    let word = |written: &Written| match written {
        Written::Changed { files, .. } => {
            let paths: Vec<&str> = files.iter().map(FilePath::as_str).collect();
            format!("changed {}", paths.join(", "))
        }
        Written::AlreadySo => "already so".to_owned(),
        Written::Failed(error) => format!("{}: {error}", error.reason()),
    };
    let commits = written.commits.iter();
    commits.map(|it| format!("{} {}", it.application.name, word(&it.written))).collect()
}

/// Subjects of a branch's commits, newest first.
pub(crate) fn subjects(remote: &aiu_testkit::git::GitRemote, branch: &str) -> Vec<String> {
    let log = remote.log(branch).into_iter();
    log.map(|commit| commit.message.lines().next().unwrap_or_default().to_owned()).collect()
}
