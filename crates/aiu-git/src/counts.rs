//! How often git was run, for metrics and for the tests that hold the budgets.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

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

/// What was pushed to one host since start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushStats {
    /// Host and port as in the URL; `local` for repositories on this disk.
    pub host: String,
    /// Pushes, successful or not.
    pub pushes: u64,
    /// Those that somebody else's came before.
    pub races: u64,
}

/// More hosts than this are not told apart.
const MAX_HOSTS: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    by_host: Mutex<BTreeMap<String, (u64, u64)>>,
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
            Step::Version
            | Step::Init
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

    /// A push to this host has ended.
    pub(crate) fn pushed(&self, host: &str, was_race: bool) {
        let mut by_host = self.by_host.lock();
        let is_new = !by_host.contains_key(host);
        let host = if is_new && by_host.len() >= MAX_HOSTS { "others" } else { host };
        let (pushes, races) = by_host.entry(host.to_owned()).or_default();
        *pushes += 1;
        *races += u64::from(was_race);
    }

    pub(crate) fn pushes(&self) -> Vec<PushStats> {
        let by_host = self.by_host.lock();
        let stats = |(host, &(pushes, races)): (&String, &(u64, u64))| PushStats {
            host: host.clone(),
            pushes,
            races,
        };
        by_host.iter().map(stats).collect()
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
