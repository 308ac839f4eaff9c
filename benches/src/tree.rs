//! A process and everything below it, seen from outside while it works.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::figure::number;

/// How often is looked; a git command lasts longer.
const PAUSE: Duration = Duration::from_millis(2);

/// Looks at memory until it is asked what was seen.
pub struct Watch {
    stop: Arc<AtomicBool>,
    most: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// From now on, the process and its descendants.
    pub fn over(pid: u32) -> Self {
        let (stop, most) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (stopped, seen) = (Arc::clone(&stop), Arc::clone(&most));
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let all = descendants(pid);
                let pages: u64 = all.iter().map(|pid| resident(*pid)).sum();
                seen.fetch_max(pages, Ordering::Relaxed);
                thread::sleep(PAUSE);
            }
        });
        Self { stop, most, thread }
    }

    /// The most memory that all of them had at once, in MiB. Pages that they share count for
    /// each of them.
    pub fn peak(self) -> f64 {
        self.stop.store(true, Ordering::Relaxed);
        // A thread that panicked has seen nothing.
        let _ = self.thread.join();
        let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
        number(self.most.load(Ordering::Relaxed) * page) / 1024.0 / 1024.0
    }
}

/// What a process holds on to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// Memory, in MiB.
    pub memory: f64,
    /// Open files of all kinds.
    pub files: usize,
    /// Sockets among them.
    pub sockets: usize,
    /// Processes below it, and those of them that have ended and were not waited for.
    pub children: usize,
    pub zombies: usize,
}

impl Held {
    /// By a process that is alive.
    pub fn by(pid: u32) -> Self {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let targets: Vec<_> = open.filter_map(|entry| fs::read_link(entry.path()).ok()).collect();
        let is_socket = |path: &&std::path::PathBuf| path.to_string_lossy().starts_with("socket:");
        let below = &descendants(pid)[1..];
        let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
        Self {
            memory: number(resident(pid) * page) / 1024.0 / 1024.0,
            files: targets.len(),
            sockets: targets.iter().filter(is_socket).count(),
            children: below.len(),
            zombies: below.iter().filter(|pid| is_zombie(**pid)).count(),
        }
    }
}

/// The process and all below it.
fn descendants(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut next = 0;
    while let Some(pid) = all.get(next).copied() {
        next += 1;
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    all
}

/// In pages; none of a process that has ended.
fn resident(pid: u32) -> u64 {
    let memory = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    memory.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default()
}

fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// The files below a folder: how many, and their bytes.
pub fn size(folder: &Path) -> (usize, u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.fold((0, 0), |(files, bytes), entry| match entry.metadata() {
        Ok(about) if about.is_dir() => {
            let (below, more) = size(&entry.path());
            (files + below, bytes + more)
        }
        Ok(about) => (files + 1, bytes + about.len()),
        Err(_) => (files, bytes),
    })
}
