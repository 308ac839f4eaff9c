//! What can go wrong with a remote, and what to do about it.
//!
//! Messages are made of the remote's own last words, with everything that could be a password
//! taken out by the module that ran `git`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aiu_core::batch::FilePath;
use aiu_core::edit::EditError;
use aiu_core::outcome::Remedy;

use crate::command::OLDEST;
use crate::credentials::AccessId;
use crate::remote::InvalidRemote;
use crate::tree::FileProblem;

/// A remote could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git` to run.
    #[error(
        "the program '{program}' was not found; install git {OLDEST} or later, or correct PATH"
    )]
    Missing {
        /// What was looked for.
        program: String,
    },
    /// There is a `git`, and it cannot do what is needed.
    #[error("the program '{program}' is git {version}; install {OLDEST} or later, or correct PATH")]
    TooOld {
        /// What was found.
        program: String,
        /// What it says of itself.
        version: String,
    },
    /// There is no `ssh` for git to run.
    #[error(
        "the program 'ssh', by which git reaches {remote}, was not found; install the OpenSSH client, or correct PATH"
    )]
    SshMissing {
        /// The remote.
        remote: Arc<str>,
    },
    /// The URL is none that `git` may be given.
    #[error("'{url}' cannot be used as a git repository: {cause}")]
    Remote {
        /// The URL, without its password.
        url: String,
        /// What is wrong with it.
        cause: InvalidRemote,
    },
    /// The remote does not accept who we are.
    #[error("{remote} refused the credentials in use ({access}): {words}")]
    Unauthorized {
        /// The remote.
        remote: Arc<str>,
        /// Which credentials were used.
        access: AccessId,
        /// What the remote said.
        words: String,
    },
    /// There is nothing to sign in with: no token was to be had, or what the Secret says cannot
    /// be used.
    #[error("nothing to sign in to {remote} with ({access}): {words}")]
    NoLogin {
        /// The remote.
        remote: Arc<str>,
        /// Which credentials were used.
        access: AccessId,
        /// Why.
        words: String,
        /// Whether it may pass by itself.
        passing: bool,
    },
    /// A commit could not be signed; unsigned it is not pushed.
    #[error(
        "the commit could not be signed: {words}; check --git-commit-signing-key and --git-commit-signing-method"
    )]
    NotSigned {
        /// What was said.
        words: String,
    },
    /// The SSH host is not among the known ones, or has another key.
    #[error(
        "the host key of {remote} could not be verified: {words}; add the host to the known hosts (ConfigMap argocd-ssh-known-hosts-cm, or ~/.ssh/known_hosts)"
    )]
    HostKeyUnknown {
        /// The remote.
        remote: Arc<str>,
        /// What the SSH client said.
        words: String,
    },
    /// Name resolution, connection, TLS, or a connection that broke.
    #[error("{remote} cannot be reached: {words}")]
    Unreachable {
        /// The remote.
        remote: Arc<str>,
        /// What git said.
        words: String,
    },
    /// The deadline passed and the processes were ended (spec 30 §5.3).
    #[error("`git {step}` for {remote} failed timeout after {}{}", Span(*after), Words(words))]
    TimedOut {
        /// The remote.
        remote: Arc<str>,
        /// The sub-command.
        step: &'static str,
        /// The deadline.
        after: Duration,
        /// What was said until then.
        words: String,
    },
    /// The server knows no such repository, or does not tell us of it.
    #[error(
        "there is no repository at {remote}, or the credentials in use ({access}) may not see it: {words}"
    )]
    NoRepository {
        /// The remote.
        remote: Arc<str>,
        /// Which credentials were used.
        access: AccessId,
        /// What the remote said.
        words: String,
    },
    /// A repository without any branch.
    #[error("{remote} has no branches yet; push a first commit to it")]
    Empty {
        /// The remote.
        remote: Arc<str>,
    },
    /// The default branch was asked for and the remote names none (spec 30 F10).
    #[error("no default branch found in remote {remote}; set the branch{}", Known(nearest))]
    NoDefaultBranch {
        /// The remote.
        remote: Arc<str>,
        /// Some branches that exist.
        nearest: Vec<Arc<str>>,
    },
    /// No branch of that name.
    #[error("branch '{branch}' does not exist in {remote}{}", Nearest(nearest, default.as_ref()))]
    BranchNotFound {
        /// The remote.
        remote: Arc<str>,
        /// What was asked for.
        branch: Arc<str>,
        /// The existing names that look most like it.
        nearest: Vec<Arc<str>>,
        /// The remote's default branch, where known.
        default: Option<Arc<str>>,
    },
    /// A tag or a commit where a branch is needed (spec 30 F19).
    #[error(
        "'{name}' is {kind} of {remote}, and only a branch can be written to; set the branch of the git write-back{}",
        Known(default.as_slice())
    )]
    NotABranch {
        /// The remote.
        remote: Arc<str>,
        /// What was asked for.
        name: Arc<str>,
        /// `a tag` or `a commit`.
        kind: &'static str,
        /// The remote's default branch, where known.
        default: Option<Arc<str>>,
    },
    /// A name that git would not take for a branch.
    #[error("'{name}' is not a valid name of a branch; see `git help check-ref-format`")]
    BranchName {
        /// The name.
        name: Arc<str>,
    },
    /// The remote takes no push from us (spec 30 §5.3).
    #[error(
        "could not push {branch} to origin: {words}; check that the credentials in use ({access}) may write to {remote}"
    )]
    PushRejected {
        /// The remote.
        remote: Arc<str>,
        /// The branch.
        branch: Arc<str>,
        /// Which credentials were used.
        access: AccessId,
        /// What the remote said.
        words: String,
    },
    /// The remote protects this branch.
    #[error(
        "could not push {branch} to origin: {words}; the branch is protected in {remote}: let the updater write to it, or use a pull request or another branch (git-branch: {branch}:image-updates)"
    )]
    BranchProtected {
        /// The remote.
        remote: Arc<str>,
        /// The branch.
        branch: Arc<str>,
        /// What the remote said.
        words: String,
    },
    /// Others were faster, every time.
    #[error(
        "could not push {branch} to origin: others pushed to it first, {attempts} times in a row ({words}); the next cycle tries again"
    )]
    LostRaces {
        /// The branch.
        branch: Arc<str>,
        /// How often it was tried.
        attempts: u32,
        /// What the remote said the last time.
        words: String,
    },
    /// The folder of mirrors cannot be used.
    #[error("the cache folder {} cannot be used: {cause}; make it writable or name another one", folder.display())]
    Cache {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The disk is full. What was begun is thrown away.
    #[error(
        "the mirror of {remote} does not fit on the disk: {words}; make room in the cache folder, or name another one (--cache-dir)"
    )]
    CacheFull {
        /// The remote.
        remote: Arc<str>,
        /// What git said.
        words: String,
    },
    /// `git` failed in a way that has no name here.
    #[error("`git {step}` for {remote} failed: {words}")]
    Failed {
        /// The remote.
        remote: Arc<str>,
        /// The sub-command.
        step: &'static str,
        /// What git said.
        words: String,
    },
    /// The program is about to end, or no longer the leader: nothing is pushed any more.
    #[error("not written: the program is stopping")]
    Stopped,
    /// A defect of this program ended the work on a branch.
    #[error(
        "not written: the work on the branch broke off, the log says why; the next cycle tries again"
    )]
    BrokenOff,
}

/// One Application's changes could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The remote, for all Applications of the branch.
    #[error(transparent)]
    Git(Arc<GitError>),
    /// This file refuses the edit.
    #[error("{path}: {cause}")]
    Edit {
        /// The file.
        path: FilePath,
        /// Why.
        cause: EditError,
    },
    /// This file is none that is edited.
    #[error("{path}: {cause}")]
    File {
        /// The file.
        path: FilePath,
        /// Why.
        cause: FileProblem,
    },
}

/// How long a passing trouble of the network is left alone.
const PASSING: Duration = Duration::from_secs(30);

impl GitError {
    /// Decided here, next to the variants, so that no caller matches on them.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::NoLogin { passing: true, .. } => Remedy::RetryAfter(PASSING),
            Self::LostRaces { .. } | Self::Stopped | Self::BrokenOff => {
                Remedy::RetryAfter(Duration::ZERO)
            }
            Self::Missing { .. }
            | Self::TooOld { .. }
            | Self::SshMissing { .. }
            | Self::Remote { .. }
            | Self::Unauthorized { .. }
            | Self::NoLogin { .. }
            | Self::NotSigned { .. }
            | Self::HostKeyUnknown { .. }
            | Self::NoRepository { .. }
            | Self::Empty { .. }
            | Self::NoDefaultBranch { .. }
            | Self::BranchNotFound { .. }
            | Self::NotABranch { .. }
            | Self::BranchName { .. }
            | Self::PushRejected { .. }
            | Self::BranchProtected { .. }
            | Self::Cache { .. }
            | Self::CacheFull { .. }
            | Self::Failed { .. } => Remedy::AwaitChange,
        }
    }

    /// Stable word for conditions, events and metrics (spec 00 §6). The words that the
    /// specification does not list are `GitMissing`, `GitTooOld`, `SshMissing`, `GitUrlInvalid`,
    /// `GitUnreachable`, `GitRepositoryNotFound`, `GitCacheUnusable`, `GitFailed`,
    /// `CommitNotSigned` and `Stopped`.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "GitMissing",
            Self::TooOld { .. } => "GitTooOld",
            Self::SshMissing { .. } => "SshMissing",
            Self::Remote { .. } => "GitUrlInvalid",
            Self::Unauthorized { .. } | Self::NoLogin { passing: false, .. } => "GitUnauthorized",
            Self::NotSigned { .. } => "CommitNotSigned",
            Self::HostKeyUnknown { .. } => "GitHostKeyUnknown",
            Self::NoLogin { passing: true, .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. } => "GitUnreachable",
            Self::NoRepository { .. } => "GitRepositoryNotFound",
            Self::Empty { .. }
            | Self::NoDefaultBranch { .. }
            | Self::BranchNotFound { .. }
            | Self::NotABranch { .. }
            | Self::BranchName { .. } => "BranchNotFound",
            Self::PushRejected { .. } | Self::LostRaces { .. } => "GitPushRejected",
            Self::BranchProtected { .. } => "BranchProtected",
            Self::Cache { .. } | Self::CacheFull { .. } => "GitCacheUnusable",
            Self::Failed { .. } | Self::BrokenOff => "GitFailed",
            Self::Stopped => "Stopped",
        }
    }
}

impl WriteError {
    /// What to do now.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Git(error) => error.remedy(),
            Self::Edit { .. } | Self::File { .. } => Remedy::AwaitChange,
        }
    }

    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Git(error) => error.reason(),
            Self::Edit { cause, .. } => cause.reason(),
            Self::File { cause, .. } => cause.reason(),
        }
    }
}

/// A duration as the original prints it: `1m30s`.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match (seconds / 60, seconds % 60) {
            (0, 0) => write!(f, "{}ms", self.0.as_millis()),
            (0, seconds) => write!(f, "{seconds}s"),
            (minutes, seconds) => write!(f, "{minutes}m{seconds}s"),
        }
    }
}

/// `: words`, or nothing.
struct Words<'a>(&'a str);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

/// ` (it has main, dev)`, or nothing.
struct Known<'a>(&'a [Arc<str>]);

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " (it has {})", self.0.join(", ")) }
    }
}

/// `; there is …; the default branch is …`, as far as known.
struct Nearest<'a>(&'a [Arc<str>], Option<&'a Arc<str>>);

impl fmt::Display for Nearest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() {
            write!(f, "; nearest are {}", self.0.join(", "))?;
        }
        match self.1 {
            Some(default) => write!(f, "; the remote's default is {default}"),
            None => Ok(()),
        }
    }
}
