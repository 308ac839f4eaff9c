//! What a pass did, as data. Log lines, tables and exit codes are functions of it.

use std::sync::Arc;

use aiu_api::origin::Setting;
use aiu_api::plan::Dropped;
use aiu_core::batch::AppName;
use aiu_core::decide::{Current, Decision};
use aiu_core::outcome::{Counters, ImageKey, Outcome};
use aiu_core::report::Finding;

/// Everything that one pass did.
#[derive(Clone, Debug, Default)]
pub struct CycleReport {
    /// How many Applications had at least one usable image.
    pub applications: usize,
    /// One row per image, ordered by Application.
    pub images: Vec<ImageReport>,
    /// Images and Applications whose settings could not be used.
    pub dropped: Vec<Dropped>,
    /// What to tell although the work went on.
    pub findings: Vec<(AppName, Finding)>,
    /// Resources that failed as a whole: `(namespace/name, one sentence)`.
    pub failed_updaters: Vec<(AppName, String)>,
    /// What was written, or would have been in a dry run, in order.
    pub writes: Vec<Write>,
    /// The files of those writes, each once; objects of a cluster are none.
    pub files: Vec<FileChange>,
}

/// What came of one image.
#[derive(Clone, Debug)]
pub struct ImageReport {
    /// Its identity.
    pub key: ImageKey,
    /// What the user configured.
    pub configured: String,
    /// The repository as configured.
    pub repository: String,
    /// What it was at, and where that was read; unknown if the pass did not get so far.
    pub current: Option<Current>,
    /// Which level set each of its settings.
    pub settings: Arc<[Setting]>,
    /// What was decided, with a reason for every tag; unknown if the pass did not get so far.
    pub decision: Option<Decision>,
    /// What a person should know about the decision, causes before consequences.
    pub findings: Vec<Finding>,
    /// What came of it.
    pub outcome: Outcome,
}

/// One file that was written on behalf of one Application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// On whose behalf.
    pub application: AppName,
    /// Where it was written.
    pub place: WritePlace,
    /// The file's path, relative to the folder or repository.
    pub file: String,
}

/// What the writes to one file come to together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The remote, without credentials, and the branch; `None` for a file of the folder.
    pub branch: Option<(String, String)>,
    /// The file's path, relative to the folder or repository.
    pub file: String,
    /// The text before; `None` for a new file.
    pub before: Option<Arc<str>>,
    /// The text after.
    pub after: Arc<str>,
}

/// Where a file was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WritePlace {
    /// A manifest of the folder.
    Folder,
    /// An object of the cluster.
    Cluster,
    /// A branch of a git remote.
    Branch {
        /// The remote, without credentials.
        remote: String,
        /// The branch.
        branch: String,
        /// The commit, unless this was a dry run.
        commit: Option<String>,
    },
}

impl CycleReport {
    /// Appends what another pass did.
    pub fn append(&mut self, mut other: Self) {
        self.applications += other.applications;
        self.images.append(&mut other.images);
        self.dropped.append(&mut other.dropped);
        for found in other.findings {
            // Two passes of one namespace find the same.
            if !self.findings.contains(&found) {
                self.findings.push(found);
            }
        }
        self.failed_updaters.append(&mut other.failed_updaters);
        self.writes.append(&mut other.writes);
        self.files.append(&mut other.files);
    }

    /// Brings it into the order that one pass over everything has.
    pub fn sort(&mut self) {
        self.images.sort_by(|a, b| a.key.application.cmp(&b.key.application));
        self.dropped.sort_by(|a, b| a.application.cmp(&b.application));
        self.findings.sort_by(|a, b| a.0.cmp(&b.0));
        self.failed_updaters.sort();
    }

    /// The counters of the established summary line.
    pub fn counters(&self) -> Counters {
        Counters::of(self.images.iter().map(|image| (&image.key, &image.outcome)))
    }

    /// Whether anything failed: an image, an Application's settings, or a whole resource.
    pub fn failed(&self) -> bool {
        self.counters().errors > 0 || !self.dropped.is_empty() || !self.failed_updaters.is_empty()
    }
}
