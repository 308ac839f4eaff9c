//! How often git was run, for metrics and for the tests that hold the budgets.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::command::Step;

/// A snapshot of the counters since start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GitCounts {
    /// Questions for the branches of a remote.
    pub ls_remote: u64,
    /// Fetches of tips, each for any number of branches of one remote.
    pub fetch_tip: u64,
    /// Fetches of file contents, each for any number of files of one remote.
    pub fetch_blobs: u64,
    /// Pushes, successful or not.
    pub push: u64,
    /// All processes, these included.
    pub processes: u64,
    /// Mirrors thrown away because they were damaged or had grown too large.
    pub rebuilt: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    ls_remote: AtomicU64,
    fetch_tip: AtomicU64,
    fetch_blobs: AtomicU64,
    push: AtomicU64,
    processes: AtomicU64,
    rebuilt: AtomicU64,
}

impl Counters {
    pub(crate) fn started(&self, step: Step) {
        add(&self.processes);
        match step {
            Step::LsRemote => add(&self.ls_remote),
            Step::FetchTips => add(&self.fetch_tip),
            Step::FetchBlobs => add(&self.fetch_blobs),
            Step::Push => add(&self.push),
            Step::Init
            | Step::ListRefs
            | Step::ListTree
            | Step::ReadBlobs
            | Step::Commit
            | Step::Sign
            | Step::FetchHistory
            | Step::Log
            | Step::Remember => {}
        }
    }

    pub(crate) fn rebuilt(&self) {
        add(&self.rebuilt);
    }

    pub(crate) fn now(&self) -> GitCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        GitCounts {
            ls_remote: read(&self.ls_remote),
            fetch_tip: read(&self.fetch_tip),
            fetch_blobs: read(&self.fetch_blobs),
            push: read(&self.push),
            processes: read(&self.processes),
            rebuilt: read(&self.rebuilt),
        }
    }
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
