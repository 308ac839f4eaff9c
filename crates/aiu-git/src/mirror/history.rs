//! What the past of a branch says, message by message: asked only where a value is about to
//! move and what people took back shall stay back (spec 40 B10).
//!
//! The past is fetched without any files into a repository that is thrown away at once, since
//! the mirror itself holds one commit per branch. What a force push took out of the branch is
//! remembered by the mirror, for as long as it lives.

use std::path::Path;
use std::sync::Arc;

use aiu_core::batch::BranchKey;
use futures::future::join_all;

use super::{Age, Ground, Mirror, Mirrors, Want, ours_ref};
use crate::answer::{self, Trouble};
use crate::command::{Call, Step};
use crate::credentials::GitAccess;
use crate::error::GitError;
use crate::object::ObjectId;

/// How many commits are looked at.
const COMMITS: &str = "200";

/// Messages of commits, newest first; then those of ours that were pushed and are known here.
pub type Messages = Result<Vec<String>, Arc<GitError>>;

impl Mirrors {
    /// The messages of the last commits of each branch, in the order of the questions.
    pub async fn histories(&self, asked: Vec<(BranchKey, GitAccess)>) -> Vec<Messages> {
        let asked = asked.into_iter().map(async |(key, access)| {
            let (_, mirror) = self.mirror(&key.remote, &access).map_err(Arc::new)?;
            let want = Want::new(key, []);
            let grounds = mirror.ground(std::slice::from_ref(&want), Age::Known).await;
            let ground = grounds.into_iter().next().expect("one answer per question")?;
            let told = mirror.history(&ground).await;
            told.map_err(|trouble| Arc::new(trouble.into_error(&mirror.remote)))
        });
        join_all(asked).await
    }
}

impl Mirror {
    async fn history(&self, ground: &Ground) -> Result<Vec<String>, Trouble> {
        let private = self.git.vault.private().await;
        let private = private.map_err(|error| {
            let error = crate::command::CallError::NotEquipped(error);
            answer::local(&self.remote, Step::FetchHistory, error)
        })?;
        let name = format!(
            "history-{}",
            super::turn::name_of(&format!("{}\n{}", self.folder, ground.branch.read))
        );
        let folder = Throwaway(private.path(&name));
        self.fetch_history(&folder.0, &ground.branch.read).await?;
        let mut messages = self.messages(&folder.0, &["refs/history"]).await?;
        let pushed = format!("--glob={}/*", ours_ref(&ground.branch.pushed));
        messages.extend(self.messages(ground.store.folder(), &[&pushed]).await?);
        Ok(messages)
    }

    async fn fetch_history(&self, folder: &Path, branch: &str) -> Result<(), Trouble> {
        let local = |step, error| answer::local(&self.remote, step, error);
        let init = Call::new(Step::Init, &["--quiet", "--bare", "--template="]).within(folder);
        self.git.output(init).await.map_err(|error| local(Step::Init, error))?;
        let what = format!("+refs/heads/{branch}:refs/history");
        let depth = format!("--depth={COMMITS}");
        let args = [
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--filter=tree:0",
            &depth,
            "origin",
            &what,
        ];
        let fetch = Call::new(Step::FetchHistory, &args)
            .within(folder)
            .towards(&self.remote, &self.access)
            .setting(format!("remote.origin.url={}", self.remote.url()))
            .setting("remote.origin.promisor=true")
            .setting("remote.origin.partialCloneFilter=tree:0");
        let fetched = self.git.output(fetch).await;
        fetched.map_err(|error| {
            answer::remote(&self.remote, &self.access, Step::FetchHistory, error)
        })?;
        Ok(())
    }

    async fn messages(&self, folder: &Path, which: &[&str]) -> Result<Vec<String>, Trouble> {
        let mut args = vec!["--format=%B%x00", "-n", COMMITS];
        args.extend(which);
        let call = Call::new(Step::Log, &args).within(folder);
        let output = self.git.output(call).await;
        let output = output.map_err(|error| answer::local(&self.remote, Step::Log, error))?;
        let texts = String::from_utf8_lossy(&output).into_owned();
        Ok(texts
            .split('\0')
            .map(str::trim)
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect())
    }

    /// Remembers a commit of ours that was pushed, whatever becomes of the branch.
    pub(crate) async fn remember(&self, ground: &Ground, commit: &ObjectId) {
        let name = format!("{}/{commit}", ours_ref(&ground.branch.pushed));
        let args = [name.as_str(), commit.as_str()];
        let call = Call::new(Step::Remember, &args).within(ground.store.folder());
        if let Err(error) = self.git.output(call).await {
            tracing::warn!(remote = %self.remote, "what was pushed is not remembered: {error:?}");
        }
    }
}

/// A folder that disappears.
struct Throwaway(std::path::PathBuf);

impl Drop for Throwaway {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
