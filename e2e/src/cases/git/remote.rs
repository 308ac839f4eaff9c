//! A repository on a server: seeded by somebody else, and looked at behind the server's back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::super::same;
use crate::files::write;
use crate::git::git;

/// What the program signs its commits with, unless it is told otherwise.
pub(super) const UPDATER: &str = "argocd-image-updater <noreply@argoproj.io>";

pub(super) struct Remote {
    /// What an Application names.
    pub(super) url: String,
    path: PathBuf,
    /// Where others push to.
    door: String,
}

impl Remote {
    /// Others come by the disk.
    pub(super) fn on_disk(url: String, path: PathBuf) -> Self {
        let door = path.display().to_string();
        Self { url, path, door }
    }

    /// Others come by a URL that signs them in.
    pub(super) fn behind(url: String, path: PathBuf, door: String) -> Self {
        Self { url, path, door }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A commit of somebody else on top of a branch, which is begun if there is none; the new tip.
    pub(super) async fn push(&self, branch: &str, files: &[(&str, &str)]) -> Result<String> {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        self.push_bytes(branch, &files.collect()).await
    }

    /// The same for files whose bytes may be no text.
    pub(super) async fn push_bytes(
        &self,
        branch: &str,
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Result<String> {
        let clone = self.clone(branch).await?;
        for (path, bytes) in files {
            write(clone.path(), path, "")?;
            std::fs::write(clone.path().join(path), bytes)?;
        }
        git(clone.path(), &["add", "--all"]).await?;
        git(clone.path(), &["commit", "--quiet", "--message", "by hand"]).await?;
        let what = format!("HEAD:refs/heads/{branch}");
        git(clone.path(), &["push", "--quiet", "origin", &what]).await?;
        self.tip(branch).await
    }

    /// A work tree of the branch, as its files stand on the server.
    pub(super) async fn clone(&self, branch: &str) -> Result<tempfile::TempDir> {
        let clone = tempfile::tempdir().context("cannot make a temporary folder")?;
        git(clone.path(), &["clone", "--quiet", &self.door, "."]).await?;
        if self.has(branch).await {
            git(clone.path(), &["checkout", "--quiet", branch]).await?;
        }
        Ok(clone)
    }

    pub(super) async fn has(&self, branch: &str) -> bool {
        self.tip(branch).await.is_ok()
    }

    pub(super) async fn tip(&self, branch: &str) -> Result<String> {
        git(&self.path, &["rev-parse", "--verify", &format!("refs/heads/{branch}")]).await
    }

    /// The text of a file at the tip, without a line break at its end.
    pub(super) async fn text(&self, branch: &str, path: &str) -> Result<String> {
        git(&self.path, &["show", &format!("{branch}:{path}")]).await
    }

    /// What `git log` prints for a range.
    pub(super) async fn log(&self, format: &str, range: &str) -> Result<String> {
        git(&self.path, &["log", &format!("--format={format}"), range]).await
    }

    /// Checks that one commit of the program stands on `parent`, and that it changed these files.
    pub(super) async fn one_commit(&self, branch: &str, parent: &str, files: &str) -> Result<()> {
        self.one_commit_of(UPDATER, branch, parent, files).await
    }

    /// The same with an author of its own.
    pub(super) async fn one_commit_of(
        &self,
        author: &str,
        branch: &str,
        parent: &str,
        files: &str,
    ) -> Result<()> {
        let range = format!("{parent}..{branch}");
        let log = self.log("%an <%ae>|%cn <%ce>|%P", &range).await?;
        same("commits of the pass", &log, &format!("{author}|{UPDATER}|{parent}"))?;
        let changed = git(&self.path, &["diff", "--name-only", parent, branch]).await?;
        same("files of the commit", &changed.replace('\n', " "), files)
    }

    /// Checks that nobody has written.
    pub(super) async fn unchanged(&self, branch: &str, tip: &str) -> Result<()> {
        let now = self.tip(branch).await?;
        ensure!(now == tip, "{branch} of {} has moved to {now}", self.url);
        Ok(())
    }
}
