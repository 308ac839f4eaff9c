//! The worker of one branch.

use std::collections::BTreeSet;
use std::sync::Arc;

use aiu_core::batch::{AppName, BranchKey, CommitPlan, FilePath, ImageChange};

use super::{CommitWritten, Landed, LaneKey, Pending, Shared, WriteOrder, Written, all_failed};
use crate::answer::{self, Trouble};
use crate::command::Step;
use crate::commit::{Identity, NewCommit, Signature, Texts, commit, sign};
use crate::error::{GitError, WriteError};
use crate::mirror::{Age, Ground, Mirror, Want, draft_ref, tip_ref};
use crate::object::ObjectId;
use crate::push::{NotPushed, push};
use crate::stack::{ChangedFile, Draft, Stack, Stacked, stack};

/// How often a batch is pushed while others are faster (spec 30 F3).
const ATTEMPTS: u32 = 5;

pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) lane: LaneKey,
    pub(super) mirror: Arc<Mirror>,
    pub(super) key: BranchKey,
}

/// One plan of a batch, and how its commit is to be made.
struct Item<'a> {
    plan: &'a CommitPlan,
    order: &'a WriteOrder,
}

impl Item<'_> {
    /// The one that the Application names, else the one that the order does.
    fn author(&self) -> Identity {
        let named = self.plan.author.as_ref();
        let named = named.and_then(|author| Identity::new(&author.name, &author.email));
        named.unwrap_or_else(|| self.order.signature.author.clone())
    }
}

/// What came of a plan before the push.
type Standing = Result<Stacked, Arc<WriteError>>;

impl Worker {
    /// Works until nobody waits any more.
    pub(super) async fn run(self) {
        let _given_up = GiveUp(&self);
        while let Some(batch) = self.next() {
            self.serve(batch).await;
        }
    }

    /// All that waits now; the lane ends when there is nothing.
    fn next(&self) -> Option<Vec<Pending>> {
        let mut lanes = self.shared.lanes.lock();
        let waiting = lanes.get_mut(&self.lane).map(std::mem::take).unwrap_or_default();
        if waiting.is_empty() {
            lanes.remove(&self.lane);
            return None;
        }
        Some(waiting)
    }

    /// Writes a batch and answers everybody in it.
    async fn serve(&self, batch: Vec<Pending>) {
        let mut items: Vec<Item<'_>> = Vec::new();
        for Pending { plans, order, .. } in &batch {
            items.extend(plans.iter().map(|plan| Item { plan, order }));
        }
        // Commits are ordered by Application, whoever asked first.
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|at| &items[*at].plan.application);
        let sorted: Vec<&Item<'_>> = order.iter().map(|at| &items[*at]).collect();
        let Landed { branch, commits: written, files } =
            self.write(&sorted).await.unwrap_or_else(|error| Landed {
                branch: Arc::clone(&self.lane.pushed),
                commits: all_failed(&applications(&sorted), &error),
                files: Vec::new(),
            });
        let mut answers: Vec<Option<CommitWritten>> = vec![None; items.len()];
        for (at, written) in order.into_iter().zip(written) {
            answers[at] = Some(written);
        }
        let mut answers = answers.into_iter().flatten();
        for Pending { plans, done, .. } in batch {
            // Nobody may be there any more to hear it.
            let commits: Vec<_> = answers.by_ref().take(plans.len()).collect();
            let files = files_of(&commits, &files);
            let _ = done.send(Landed { branch: Arc::clone(&branch), commits, files });
        }
    }

    /// Writes the plans, starting over when others were faster. An error means that the branch
    /// could not even be read.
    async fn write(&self, items: &[&Item<'_>]) -> Result<Landed, Arc<GitError>> {
        let _slot = self.shared.pushes.acquire().await.expect("the semaphore is never closed");
        let edits = items.iter().flat_map(|item| &item.plan.edits);
        let want = Want::new(self.key.clone(), edits.map(|edit| (&edit.path, edit.kind)));
        let (mut attempt, mut age, mut mended) = (1, Age::Known, false);
        loop {
            let grounds = self.mirror.ground(std::slice::from_ref(&want), age).await;
            let ground = grounds.into_iter().next().expect("one answer per question")?;
            let Stack { plans, files } =
                stack(&ground.snapshot, items.iter().map(|item| item.plan));
            let standings: Vec<Standing> =
                plans.into_iter().map(|it| it.map_err(Arc::new)).collect();
            let error = match self.land(&ground, items, &standings, &files).await {
                Ok(ids) => {
                    let branch = Arc::clone(&ground.branch.pushed);
                    let commits = results(items, standings, Ok(ids));
                    return Ok(Landed { branch, commits, files: files.into_values().collect() });
                }
                Err(NotPushed::Lost { .. }) if attempt < ATTEMPTS => {
                    self.pause(attempt).await;
                    (attempt, age) = (attempt + 1, Age::Now);
                    continue;
                }
                Err(NotPushed::Trouble(Trouble::Damaged { words, .. })) if !mended => {
                    self.mirror.condemn(&ground.store, &words).await;
                    mended = true;
                    continue;
                }
                Err(NotPushed::Lost { words }) => {
                    let branch = Arc::clone(&self.lane.pushed);
                    GitError::LostRaces { branch, attempts: ATTEMPTS, words }
                }
                Err(NotPushed::Trouble(trouble)) => {
                    if let Trouble::NoSpace { .. } = trouble {
                        self.mirror.make_room(&ground.store).await;
                    }
                    trouble.into_error(&self.mirror.remote)
                }
            };
            let branch = Arc::clone(&ground.branch.pushed);
            let commits = results(items, standings, Err(Arc::new(error)));
            return Ok(Landed { branch, commits, files: Vec::new() });
        }
    }

    /// Commits and pushes what was drafted on one ground; gives the commits' ids.
    async fn land(
        &self,
        ground: &Ground,
        items: &[&Item<'_>],
        standings: &[Standing],
        texts: &Texts,
    ) -> Result<Vec<ObjectId>, NotPushed> {
        let drafts: Vec<(&Item<'_>, &Draft)> = items
            .iter()
            .zip(standings)
            .filter_map(|(item, it)| Some((*item, draft(it)?)))
            .collect();
        let groups = grouped(&drafts);
        let commits: Vec<NewCommit<'_>> = groups.iter().map(|group| new_commit(group)).collect();
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let ids = self.commit(ground, texts, &commits).await?;
        // Who shares a commit shares its id.
        let ids = groups.iter().zip(ids).flat_map(|(group, id)| vec![id; group.len()]);
        let ids: Vec<ObjectId> = ids.collect();
        if let Some(last) = ids.last()
            && !self.lane.dry_run
        {
            if self.shared.stop.is_cancelled() {
                return Err(NotPushed::Trouble(Trouble::Git(GitError::Stopped)));
            }
            push(&self.mirror, ground, last).await?;
            self.mirror.pushed(ground, last, texts).await;
            if items.iter().any(|item| item.order.remembers) {
                self.mirror.remember(ground, last).await;
            }
        }
        Ok(ids)
    }

    async fn commit(
        &self,
        ground: &Ground,
        texts: &Texts,
        commits: &[NewCommit<'_>],
    ) -> Result<Vec<ObjectId>, NotPushed> {
        let (git, branch) = (&self.mirror.git, &ground.branch);
        let signs = git.signer.is_on() && !self.lane.dry_run;
        let name = if self.lane.dry_run || signs { draft_ref } else { tip_ref };
        let reference = name(&branch.pushed);
        let made = {
            let _undisturbed = ground.store.commits().await;
            commit(git, &ground.store, &reference, &branch.tip, texts, commits).await
        };
        let made = made.map_err(|error| {
            NotPushed::Trouble(answer::local(&self.mirror.remote, Step::Commit, error))
        })?;
        if !signs {
            return Ok(made);
        }
        let signed = sign(git, &ground.store, &branch.tip, &made, commits).await;
        signed.map_err(|error| NotPushed::Trouble(answer::signing(&self.mirror.remote, error)))
    }

    /// Leaves the branch to others for a moment; not if the program stops.
    async fn pause(&self, attempt: u32) {
        tokio::select! {
            () = tokio::time::sleep(self.shared.pause(attempt)) => {}
            () = self.shared.stop.cancelled() => {}
        }
    }
}

fn draft(standing: &Standing) -> Option<&Draft> {
    match standing {
        Ok(Stacked::Draft(draft)) => Some(draft),
        _ => None,
    }
}

/// Drafts, and whose they are.
type Drafts<'a> = [(&'a Item<'a>, &'a Draft)];

/// The drafts of one commit each: neighbours that are to share one do, if the same person
/// makes it (spec 40 B15, B16).
fn grouped<'a>(drafts: &'a Drafts<'a>) -> Vec<&'a Drafts<'a>> {
    let share = |a: &Item<'_>, b: &Item<'_>| {
        a.order.one_per_branch && b.order.one_per_branch && a.author() == b.author()
    };
    drafts.chunk_by(|(a, _), (b, _)| share(a, b)).collect()
}

/// The commit that drafts share.
fn new_commit<'a>(drafts: &'a Drafts<'a>) -> NewCommit<'a> {
    let (first, _) = drafts[0];
    let plans: Vec<&CommitPlan> = drafts.iter().map(|(item, _)| item.plan).collect();
    let changes: Vec<ImageChange> =
        drafts.iter().flat_map(|(_, draft)| draft.changes.iter().cloned()).collect();
    let message = (first.order.message)(&plans, &changes);
    let splices = drafts.iter().flat_map(|(_, draft)| &draft.files).collect();
    let signature = Signature { author: first.author(), ..first.order.signature.clone() };
    NewCommit { signature, message, splices }
}

/// The files that some of the commits changed.
fn files_of(commits: &[CommitWritten], files: &[ChangedFile]) -> Vec<ChangedFile> {
    let paths: BTreeSet<&FilePath> = commits
        .iter()
        .filter_map(|commit| match &commit.written {
            Written::Changed { files, .. } => Some(files),
            Written::AlreadySo | Written::Failed(_) => None,
        })
        .flatten()
        .collect();
    files.iter().filter(|file| paths.contains(&file.path)).cloned().collect()
}

/// Hands the commits' ids, or why there are none, to the plans that were drafted and to those
/// that counted on them; what was so already or failed by itself stays what it is.
fn results(
    items: &[&Item<'_>],
    standings: Vec<Standing>,
    landed: Result<Vec<ObjectId>, Arc<GitError>>,
) -> Vec<CommitWritten> {
    let mut landed = landed.map(Vec::into_iter);
    let mut written = |standing| match (standing, &mut landed) {
        (Err(error), _) => Written::Failed(error),
        (Ok(Stacked::AlreadySo), _) | (Ok(Stacked::SoByOthers), Ok(_)) => Written::AlreadySo,
        (Ok(Stacked::SoByOthers | Stacked::Draft(_)), Err(error)) => {
            Written::Failed(Arc::new(WriteError::Git(Arc::clone(error))))
        }
        (Ok(Stacked::Draft(Draft { files, changes })), Ok(ids)) => {
            let commit = ids.next().expect("one id was given for every draft");
            let files = files.into_iter().map(|splice| splice.path).collect();
            Written::Changed { commit, files, changes }
        }
    };
    let applications = items.iter().map(|item| item.plan.application.clone());
    let pairs = applications.zip(standings);
    pairs.map(|(application, it)| CommitWritten { application, written: written(it) }).collect()
}

fn applications(items: &[&Item<'_>]) -> Vec<AppName> {
    items.iter().map(|item| item.plan.application.clone()).collect()
}

/// Frees the lane of a worker that panics, so that the next who comes gets a new one; those who
/// wait hear that nothing was written.
struct GiveUp<'a>(&'a Worker);

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.shared.lanes.lock().remove(&self.0.lane);
        }
    }
}
