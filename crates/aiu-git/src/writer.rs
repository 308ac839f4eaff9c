//! Writing: commits for branches, grouped and pushed.
//!
//! One worker per branch, started on demand. While it pushes, wishes for the same branch queue
//! up; when it is done it takes all of them as the next batch: no timers, natural batching
//! under load. A rejected push means: look again, apply the same wishes to the new texts, push
//! again.

mod lane;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use aiu_core::batch::{AppName, BranchBatch, BranchKey, CommitPlan, FilePath, ImageChange};
use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::commit::Signature;
use crate::credentials::GitAccess;
use crate::error::{GitError, WriteError};
use crate::listing::Resolved;
use crate::mirror::{Age, Mirror, MirrorKey, Mirrors, Want};
use crate::object::ObjectId;
use crate::stack::ChangedFile;

/// Renders the message of a commit from its plans, one or several, and those of their changes
/// that had an effect.
pub type Message = Arc<dyn Fn(&[&CommitPlan], &[ImageChange]) -> String + Send + Sync>;

/// How commits are made.
#[derive(Clone)]
pub struct WriteOrder {
    /// Who and when.
    pub signature: Signature,
    /// What they say.
    pub message: Message,
    /// What is pushed is remembered, whatever becomes of the branch (`--hold-reverted`).
    pub remembers: bool,
    /// All Applications of a branch share a commit (`--commit-per branch`).
    pub one_per_branch: bool,
    /// Everything is done but the push (`--dry-run`, `plan`).
    pub dry_run: bool,
}

/// The commits for one branch, and with whose rights they are pushed.
#[derive(Clone, Debug)]
pub struct BranchWork {
    /// The branch and its commits.
    pub batch: BranchBatch,
    /// With whose rights.
    pub access: GitAccess,
}

/// What became of one [`BranchWork`].
#[derive(Clone, Debug)]
pub struct BranchWritten {
    /// The branch as it was asked for.
    pub key: BranchKey,
    /// The name of the branch that was, or would have been, pushed; `None` if it was never
    /// found out.
    pub branch: Option<Arc<str>>,
    /// What became of each plan, in the order of the plans.
    pub commits: Vec<CommitWritten>,
    /// The files of those plans that changed, ordered by path, with the texts before and after
    /// everything that was pushed together.
    pub files: Vec<ChangedFile>,
}

/// What became of the plan of one Application.
#[derive(Clone, Debug)]
pub struct CommitWritten {
    /// The Application.
    pub application: AppName,
    /// What became of it.
    pub written: Written,
}

/// What became of a plan.
#[derive(Clone, Debug)]
pub enum Written {
    /// It is on the branch; in a dry run: it would be.
    Changed {
        /// The commit.
        commit: ObjectId,
        /// Its files, ordered by path.
        files: Vec<FilePath>,
        /// The planned changes that had an effect.
        changes: Vec<ImageChange>,
    },
    /// The branch says already what is wished. No commit.
    AlreadySo,
    /// Nothing of it was written.
    Failed(Arc<WriteError>),
}

/// Writes to branches, for as long as the program may.
pub struct Writers {
    shared: Arc<Shared>,
}

struct Shared {
    mirrors: Arc<Mirrors>,
    retry_pause: Duration,
    lanes: Mutex<HashMap<LaneKey, Vec<Pending>>>,
    pushes: Semaphore,
    /// Cancelled when nothing may be pushed any more: the end of the program, or of leadership.
    stop: CancellationToken,
    tasks: TaskTracker,
    jitter: RandomState,
}

/// What is written one after the other: one branch of one remote, with equal rights.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LaneKey {
    mirror: MirrorKey,
    pushed: Arc<str>,
    read: Arc<str>,
    dry_run: bool,
}

/// Plans that wait for their lane. At most as many as there are callers: each waits for its
/// answer before it comes again.
struct Pending {
    plans: Vec<CommitPlan>,
    order: WriteOrder,
    done: oneshot::Sender<Landed>,
}

/// What became of plans, in their order, and the branch that they were for in the end: a default
/// branch may have been renamed meanwhile.
struct Landed {
    branch: Arc<str>,
    commits: Vec<CommitWritten>,
    files: Vec<ChangedFile>,
}

impl Writers {
    /// Writers into the mirrors' remotes. Once `stop` is cancelled no push begins; what has
    /// begun ends.
    pub fn new(mirrors: Arc<Mirrors>, stop: CancellationToken) -> Self {
        let settings = mirrors.settings();
        let shared = Shared {
            retry_pause: settings.retry_pause,
            lanes: Mutex::default(),
            pushes: Semaphore::new(settings.pushes_at_once.max(1)),
            stop,
            tasks: TaskTracker::new(),
            jitter: RandomState::new(),
            mirrors,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Writes all of it, branches at the same time; answers in the order of the questions.
    /// A caller that goes away does not undo what was begun.
    pub async fn write(&self, works: Vec<BranchWork>, order: &WriteOrder) -> Vec<BranchWritten> {
        let lanes = works.iter().map(|work| self.lane(work, order.dry_run));
        let lanes = join_all(lanes).await;
        // All at once: what one call writes to a branch is one push.
        let mut queues: BTreeMap<LaneKey, (lane::Worker, Vec<Pending>)> = BTreeMap::new();
        let mut waiting = Vec::new();
        for (work, lane) in works.into_iter().zip(lanes) {
            let BranchBatch { key, commits: plans } = work.batch;
            let applications = plans.iter().map(|plan| plan.application.clone()).collect();
            let (branch, answer) = match lane {
                Err(error) => (None, Err(error)),
                Ok((lane, mirror)) => {
                    let branch = Some(Arc::clone(&lane.pushed));
                    let (done, answer) = oneshot::channel();
                    let queue = queues.entry(lane).or_insert_with_key(|lane| {
                        let (shared, lane) = (Arc::clone(&self.shared), lane.clone());
                        (lane::Worker { shared, lane, mirror, key: key.clone() }, Vec::new())
                    });
                    queue.1.push(Pending { plans, order: order.clone(), done });
                    (branch, Ok(answer))
                }
            };
            waiting.push(Waiting { key, branch, applications, answer });
        }
        for (lane, (worker, pending)) in queues {
            self.enqueue(lane, worker, pending);
        }
        join_all(waiting.into_iter().map(Waiting::written)).await
    }

    /// Waits for the pushes that have begun. Cancel the token first.
    pub async fn close(&self) {
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// Which branch is meant. Different keys may mean the same one (`HEAD` and `main`); after a
    /// pass has read the branch this asks nobody.
    async fn lane(
        &self,
        work: &BranchWork,
        dry_run: bool,
    ) -> Result<(LaneKey, Arc<Mirror>), Arc<GitError>> {
        let BranchWork { batch: BranchBatch { key, .. }, access } = work;
        let found = self.shared.mirrors.mirror(&key.remote, access);
        let (mirror_key, mirror) = found.map_err(Arc::new)?;
        let want = Want::new(key.clone(), []);
        let grounds = mirror.ground(std::slice::from_ref(&want), Age::Known).await;
        let ground = grounds.into_iter().next().expect("one answer per question")?;
        let Resolved { pushed, read, .. } = ground.branch;
        Ok((LaneKey { mirror: mirror_key, pushed, read, dry_run }, mirror))
    }

    /// Adds to a lane, and starts its worker if it has none.
    fn enqueue(&self, lane: LaneKey, worker: lane::Worker, pending: Vec<Pending>) {
        match self.shared.lanes.lock().entry(lane) {
            Entry::Occupied(mut queue) => queue.get_mut().extend(pending),
            Entry::Vacant(free) => {
                free.insert(pending);
                self.shared.tasks.spawn(worker.run());
            }
        }
    }
}

/// An answer to come.
struct Waiting {
    key: BranchKey,
    branch: Option<Arc<str>>,
    applications: Vec<AppName>,
    answer: Result<oneshot::Receiver<Landed>, Arc<GitError>>,
}

impl Waiting {
    async fn written(self) -> BranchWritten {
        let Self { key, branch, applications, answer } = self;
        let broken_off = || all_failed(&applications, &Arc::new(GitError::BrokenOff));
        let failed = |commits| BranchWritten {
            key: key.clone(),
            branch: branch.clone(),
            commits,
            files: Vec::new(),
        };
        match answer {
            Err(error) => failed(all_failed(&applications, &error)),
            Ok(answer) => match answer.await {
                Err(_) => failed(broken_off()),
                Ok(Landed { branch, commits, files }) => {
                    BranchWritten { key, branch: Some(branch), commits, files }
                }
            },
        }
    }
}

fn all_failed(applications: &[AppName], error: &Arc<GitError>) -> Vec<CommitWritten> {
    let failed = |application: &AppName| CommitWritten {
        application: application.clone(),
        written: Written::Failed(Arc::new(WriteError::Git(Arc::clone(error)))),
    };
    applications.iter().map(failed).collect()
}

impl Shared {
    /// A pause after the `attempt`th lost race: doubled each time, and anything between half
    /// and all of that, so that rivals do not stay in step.
    fn pause(&self, attempt: u32) -> Duration {
        let full = self.retry_pause.saturating_mul(1 << attempt.min(16).saturating_sub(1));
        let random = self.jitter.hash_one(std::time::Instant::now()) % 512;
        full / 2 + full.saturating_mul(u32::try_from(random).unwrap_or(0)) / 1024
    }
}
