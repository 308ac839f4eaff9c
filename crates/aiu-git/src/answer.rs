//! What the last words of a failed git command mean.
//!
//! The words are those of git, ssh, curl and the forges, in English (`LC_ALL=C`).

use std::sync::Arc;

use crate::command::{CallError, Step};
use crate::credentials::token::NoToken;
use crate::credentials::{GitAccess, NotEquipped};
use crate::error::GitError;
use crate::remote::RemoteUrl;

/// Why a command could not do its work, as far as the mirror has to act on it.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It is as it is.
    Git(GitError),
    /// The branches have moved on since they were listed.
    Moved,
    /// The server hands out whole commits only: an old protocol, or a proxy that forces one.
    NoContents,
    /// The disk that the mirror is on is full.
    NoSpace { words: String },
    /// Nothing explains it but a mirror that is damaged.
    Damaged { step: Step, words: String },
}

impl Trouble {
    /// The error to report when nothing more is tried.
    pub(crate) fn into_error(self, remote: &RemoteUrl) -> GitError {
        match self {
            Self::Git(error) => error,
            Self::Moved | Self::NoContents => GitError::Failed {
                remote: remote.shown(),
                step: Step::FetchTips.name(),
                words: "the server does not hand out what it listed a moment ago".to_owned(),
            },
            Self::NoSpace { words } => GitError::CacheFull { remote: remote.shown(), words },
            Self::Damaged { step, words } => {
                GitError::Failed { remote: remote.shown(), step: step.name(), words }
            }
        }
    }
}

/// What `words` are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    NoSsh,
    HostKey,
    Login,
    NoRepository,
    Network,
    Moved,
    /// Anything else that the server says, not git here.
    Remote,
}

/// Looked for in this order: an SSH client that gives up also says that it could not read.
const SIGNS: [(Cause, &[&str]); 7] = [
    // Of the system, and of the shells that git asks where options are given as well.
    (Cause::NoSsh, &["cannot run ssh", "ssh: not found", "ssh: command not found"]),
    (Cause::HostKey, &["host key verification failed", "remote host identification has changed"]),
    (
        Cause::Login,
        &[
            "authentication failed",
            "could not read username",
            "could not read password",
            "terminal prompts disabled",
            "permission denied (",
            "returned error: 401",
            "returned error: 403",
            "access denied",
            "invalid username or password",
            "invalid credentials",
            "too many authentication failures",
            "permission to ",
        ],
    ),
    (
        Cause::NoRepository,
        &[
            "repository not found",
            "' not found",
            "does not appear to be a git repository",
            "returned error: 404",
            "repository does not exist",
            "could not be found or you don't have permission",
        ],
    ),
    (
        Cause::Moved,
        &["not our ref", "unadvertised object", "couldn't find remote ref", "no such remote ref"],
    ),
    (
        Cause::Network,
        &[
            "could not resolve",
            "failed to connect",
            "couldn't connect",
            "unable to connect",
            "connection refused",
            "connection timed out",
            "connection reset",
            "connection closed",
            "operation timed out",
            "network is unreachable",
            "no route to host",
            "name resolution",
            "certificate",
            "ssl",
            "tls",
            "proxy",
            "early eof",
            "hung up unexpectedly",
            "unexpected disconnect",
            "rpc failed",
            "returned error: 5",
            "kex_exchange_identification",
            "unable to access",
        ],
    ),
    (Cause::Remote, &["remote error:"]),
];

fn cause(words: &str) -> Option<Cause> {
    let words = words.to_lowercase();
    let found = SIGNS.iter().find(|(_, signs)| signs.iter().any(|sign| words.contains(sign)));
    found.map(|(cause, _)| *cause)
}

/// What git here says when the disk is full; the server's lines, which are marked, do not count.
fn is_full(words: &str) -> bool {
    const SIGNS: [&str; 4] =
        ["no space left on device", "out of diskspace", "disk quota exceeded", "file too large"];
    let ours = words.lines().map(str::trim_start).filter(|line| !line.starts_with("remote:"));
    ours.map(str::to_lowercase).any(|line| SIGNS.iter().any(|sign| line.contains(sign)))
}

/// Explains the failure of a command that stays on this machine.
pub(crate) fn local(remote: &RemoteUrl, step: Step, error: CallError) -> Trouble {
    match error {
        CallError::Failed { words } if is_full(&words) => Trouble::NoSpace { words: gist(&words) },
        CallError::Failed { words } => Trouble::Damaged { step, words: gist(&words) },
        other => Trouble::Git(not_run(remote, &GitAccess::Ambient, step, other)),
    }
}

/// Explains why a commit is not signed: the mirror is not to blame.
pub(crate) fn signing(remote: &RemoteUrl, error: CallError) -> Trouble {
    match error {
        CallError::Failed { words } => Trouble::Git(GitError::NotSigned { words: gist(&words) }),
        other => local(remote, Step::Sign, other),
    }
}

/// Explains the failure of a command that talks to the remote.
pub(crate) fn remote(
    remote: &RemoteUrl,
    access: &GitAccess,
    step: Step,
    error: CallError,
) -> Trouble {
    let CallError::Failed { words } = error else {
        return Trouble::Git(not_run(remote, access, step, error));
    };
    let was_unchecked = access.was_unchecked();
    let (shown, access, gist) = (remote.shown(), access.id_for(remote), gist(&words));
    // Other commands write nothing here.
    let writes = matches!(step, Step::FetchTips | Step::FetchBlobs | Step::FetchHistory);
    if writes && is_full(&words) {
        return Trouble::NoSpace { words: gist };
    }
    Trouble::Git(match cause(&words) {
        None => return Trouble::Damaged { step, words: gist },
        Some(Cause::Moved) if step == Step::FetchBlobs => return Trouble::NoContents,
        Some(Cause::Moved) => return Trouble::Moved,
        Some(Cause::Remote) => GitError::Failed { remote: shown, step: step.name(), words: gist },
        Some(Cause::NoSsh) => GitError::SshMissing { remote: shown },
        Some(Cause::HostKey) => {
            GitError::HostKeyUnknown { remote: shown, words: with_hint(gist, was_unchecked) }
        }
        Some(Cause::Login) => GitError::Unauthorized { remote: shown, access, words: gist },
        Some(Cause::NoRepository) => GitError::NoRepository { remote: shown, access, words: gist },
        Some(Cause::Network) => {
            let about_trust = was_unchecked && words.to_lowercase().contains("certificate");
            GitError::Unreachable { remote: shown, words: with_hint(gist, about_trust) }
        }
    })
}

/// Explains why a push failed before the remote said anything about the branch. Who may read
/// and not write is rejected, not unknown.
pub(crate) fn push(
    remote: &RemoteUrl,
    access: &GitAccess,
    branch: &Arc<str>,
    error: CallError,
) -> Trouble {
    if let CallError::Failed { words } = &error {
        let shown = words.to_lowercase();
        let signs = ["error: 403", "read only", "read-only", "denied to", "not allowed to push"];
        if signs.iter().any(|sign| shown.contains(sign)) {
            return Trouble::Git(refused(remote, access, branch, gist(words)));
        }
    }
    self::remote(remote, access, Step::Push, error)
}

/// The error for a branch that the remote will not have.
pub(crate) fn refused(
    remote: &RemoteUrl,
    access: &GitAccess,
    branch: &Arc<str>,
    words: String,
) -> GitError {
    let access = access.id_for(remote);
    let (remote, branch) = (remote.shown(), Arc::clone(branch));
    if words.to_lowercase().contains("protected") {
        GitError::BranchProtected { remote, branch, words }
    } else {
        GitError::PushRejected { remote, branch, access, words }
    }
}

/// Who comes from the original may have relied on checks that it left out (spec 30 F1).
fn with_hint(words: String, was_unchecked: bool) -> String {
    if was_unchecked {
        format!(
            "{words}; to go on without this check, as with earlier versions, set insecure: \"true\" in the Secret"
        )
    } else {
        words
    }
}

fn not_run(remote: &RemoteUrl, access: &GitAccess, step: Step, error: CallError) -> GitError {
    let access = access.id_for(remote);
    let (remote, step) = (remote.shown(), step.name());
    match error {
        CallError::NotEquipped(NotEquipped::Private { folder, cause }) => {
            GitError::Cache { folder, cause }
        }
        CallError::NotEquipped(NotEquipped::Token(NoToken { words, passing })) => {
            GitError::NoLogin { remote, access, words, passing }
        }
        CallError::NotEquipped(NotEquipped::NotSigned(words)) => GitError::NotSigned { words },
        CallError::NotEquipped(NotEquipped::Unusable(words)) => {
            GitError::NoLogin { remote, access, words, passing: false }
        }
        CallError::Missing { program } => GitError::Missing { program },
        CallError::TooOld { program, version } => GitError::TooOld { program, version },
        CallError::System(error) => GitError::Failed { remote, step, words: error.to_string() },
        CallError::TimedOut { after, words } => {
            GitError::TimedOut { remote, step, after, words: gist(&words) }
        }
        CallError::Failed { words } => GitError::Failed { remote, step, words: gist(&words) },
    }
}

/// Lines that say nothing about this failure.
const NOISE: [&str; 8] = [
    "hint:",
    "to ",
    "please make sure you have the correct access rights",
    "and the repository exists.",
    "error: failed to push some refs",
    "fatal: could not read from remote repository",
    "warning:",
    "done",
];

/// How many lines of somebody else's message are shown, and how many characters.
const LINES: usize = 6;
const CHARACTERS: usize = 600;

/// The telling lines of a message, as one.
pub(crate) fn gist(words: &str) -> String {
    let lines = words.lines().map(plain).filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.collect();
    let telling = |line: &&String| {
        let line = line.to_lowercase();
        !NOISE.iter().any(|noise| line.starts_with(noise))
    };
    let mut kept: Vec<&String> = lines.iter().filter(telling).collect();
    if kept.is_empty() {
        kept = lines.iter().collect();
    }
    let last = kept.split_off(kept.len().saturating_sub(LINES));
    let text = last.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("; ");
    if text.is_empty() {
        return "it gave no reason".to_owned();
    }
    match text.char_indices().nth(CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A line without control characters and without the mark of the remote's own lines.
fn plain(line: &str) -> String {
    let last = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
    let mut text = String::with_capacity(last.len());
    let mut characters = last.chars();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' {
            // A colour: ESC [ … letter.
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else if !c.is_control() {
            text.push(c);
        }
    }
    let text = text.trim();
    text.strip_prefix("remote:").unwrap_or(text).trim().to_owned()
}

#[cfg(test)]
#[path = "answer/tests.rs"]
mod tests;
