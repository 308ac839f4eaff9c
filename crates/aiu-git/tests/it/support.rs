//! What the tests share: short ways to say things.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aiu_core::batch::{
    AppName, BranchBatch, BranchKey, CommitPlan, FileEdit, FilePath, ImageChange,
};
use aiu_core::edit::{FileKind, HelmKeys, Keys, Wish};
use aiu_git::{
    BranchRead, BranchWork, BranchWritten, GitAccess, GitSettings, Identity, Mirrors, Signature,
    Wanted, WriteOrder, Writers, Written,
};
use tokio_util::sync::CancellationToken;

/// A cache folder, mirrors and writers.
pub(crate) struct Bench {
    pub(crate) cache: tempfile::TempDir,
    pub(crate) mirrors: Arc<Mirrors>,
    pub(crate) writers: Arc<Writers>,
    pub(crate) stop: CancellationToken,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut GitSettings)) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), change)
    }

    /// As a new process that finds what an earlier one left.
    pub(crate) fn restarted(self) -> Self {
        let Self { cache, mirrors, writers, .. } = self;
        drop((writers, mirrors));
        Self::in_folder(cache, |_| {})
    }

    pub(crate) fn in_folder(
        cache: tempfile::TempDir,
        change: impl FnOnce(&mut GitSettings),
    ) -> Self {
        let mut settings = settings(cache.path());
        change(&mut settings);
        let mirrors = Arc::new(Mirrors::new(settings));
        let stop = CancellationToken::new();
        let writers = Arc::new(Writers::new(Arc::clone(&mirrors), stop.clone()));
        Self { cache, mirrors, writers, stop }
    }

    /// Reads files of one branch.
    pub(crate) async fn read(&self, key: &BranchKey, files: &[&str]) -> BranchRead {
        let files = files.iter().map(|file| (path(file), FileKind::HelmValues)).collect();
        let wanted = Wanted { key: key.clone(), access: GitAccess::Ambient, files };
        self.mirrors.read(vec![wanted]).await.remove(0)
    }

    /// Writes the plans to one branch.
    pub(crate) async fn write(&self, key: &BranchKey, plans: Vec<CommitPlan>) -> BranchWritten {
        self.writers.write(vec![work(key, plans)], &order()).await.remove(0)
    }
}

pub(crate) fn settings(cache: &std::path::Path) -> GitSettings {
    GitSettings {
        local_remotes: true,
        retry_pause: Duration::from_millis(1),
        ..GitSettings::new(cache)
    }
}

pub(crate) fn path(text: &str) -> FilePath {
    FilePath::join("", text).unwrap()
}

/// `base:head` of a remote, either may be empty.
pub(crate) fn key(url: &str, branches: &str) -> BranchKey {
    let (base, head) = branches.split_once(':').unwrap_or((branches, ""));
    let name = |text: &str| (!text.is_empty()).then(|| Arc::from(text));
    BranchKey { remote: url.into(), base: name(base), head: name(head) }
}

pub(crate) fn work(key: &BranchKey, commits: Vec<CommitPlan>) -> BranchWork {
    BranchWork { batch: BranchBatch { key: key.clone(), commits }, access: GitAccess::Ambient }
}

/// `app` sets keys to tags in files: `a/values.yaml image=1.2 other=3; b.yaml image=1.2`.
pub(crate) fn plan(app: &str, edits: &str) -> CommitPlan {
    plan_of(app, edits, FileKind::HelmValues)
}

pub(crate) fn plan_of(app: &str, edits: &str, kind: FileKind) -> CommitPlan {
    let mut changes = Vec::new();
    let edits = edits.split("; ").map(|edit| {
        let (file, sets) = edit.split_once(' ').unwrap();
        let wishes = sets.split(' ').map(|set| {
            let (key, tag) = set.split_once('=').unwrap();
            let image: aiu_core::image::ImageReference =
                format!("example/{key}:{tag}").parse().unwrap();
            let to = image.clone();
            let change = ImageChange { alias: None, from: None, to, labels: Default::default() };
            if !changes.contains(&change) {
                changes.push(change);
            }
            let keys = HelmKeys::NameAndTag { name: None, tag: Some(key.into()) };
            Wish { keys: Keys::Helm(keys), image }
        });
        FileEdit { path: path(&file.replace("%20", " ")), kind, wishes: wishes.collect() }
    });
    let edits = edits.collect();
    let application = AppName { namespace: "argocd".into(), name: app.into() };
    CommitPlan { application, edits, changes }
}

pub(crate) fn order() -> WriteOrder {
    WriteOrder {
        signature: Signature {
            author: Identity::default(),
            committer: Identity::default(),
            date: SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000),
            sign_off: false,
        },
        message: Arc::new(|plan, changes| {
            let changes: String = changes.iter().map(|change| format!("{}\n", change.to)).collect();
            format!("update {}\n\n{changes}", plan.application.name)
        }),
        dry_run: false,
    }
}

/// What became of the plans, one word or sentence each.
pub(crate) fn told(written: &BranchWritten) -> Vec<String> {
    let word = |written: &Written| match written {
        Written::Changed { files, .. } => {
            let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            format!("changed {}", paths.join(", "))
        }
        Written::AlreadySo => "already so".to_owned(),
        Written::Failed(error) => format!("{}: {error}", error.reason()),
    };
    written
        .commits
        .iter()
        .map(|it| format!("{} {}", it.application.name, word(&it.written)))
        .collect()
}
