//! The only place that starts `git`.
//!
//! Every command gets a fixed environment (no prompts, no hooks, English messages, only the
//! transports we allow), its own process group, and a deadline after which the whole group is
//! ended. Input and output are streamed at the same time, so neither can block the other.
//! What the answers mean is for others to say.

mod surroundings;
mod version;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;

use crate::counts::Counters;
use crate::credentials::{Equipment, GitAccess, NotEquipped, Vault, equip};
use crate::redact::redact;
use crate::remote::RemoteUrl;
use crate::settings::GitSettings;
use crate::signing::Signer;
use surroundings::Surroundings;
pub(crate) use version::OLDEST;
use version::too_old;

/// How many processes run at once, over all remotes.
const AT_ONCE: usize = 16;
/// How much of standard error is kept, from its end.
const LAST_WORDS: usize = 8 << 10;
/// How much output is taken where all of it is kept; only a list of branches comes near.
const ALL: usize = 64 << 20;
/// How long standard error is read on after the end: a helper that lives on may hold it open.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Version,
    Init,
    ListRefs,
    LsRemote,
    FetchTips,
    FetchBlobs,
    ListTree,
    ReadBlobs,
    Commit,
    Sign,
    FetchHistory,
    Log,
    Remember,
    Push,
}

impl Step {
    /// The sub-command.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Init => "init",
            Self::ListRefs => "for-each-ref",
            Self::LsRemote => "ls-remote",
            Self::FetchTips | Self::FetchBlobs | Self::FetchHistory => "fetch",
            Self::Log => "log",
            Self::Remember => "update-ref",
            Self::ListTree => "ls-tree",
            Self::ReadBlobs => "cat-file",
            Self::Commit => "fast-import",
            Self::Sign => "commit-tree",
            Self::Push => "push",
        }
    }
}

/// One command to be run.
pub(crate) struct Call<'a> {
    step: Step,
    repository: Option<&'a Path>,
    remote: Option<(&'a RemoteUrl, &'a GitAccess)>,
    settings: Vec<String>,
    variables: Vec<(&'static str, OsString)>,
    args: Vec<String>,
    input: Input<'a>,
}

/// What a command reads, piece by piece.
type Input<'a> = Box<dyn Iterator<Item = Vec<u8>> + Send + 'a>;

impl<'a> Call<'a> {
    /// A command with what stands after the sub-command. It stays on this machine.
    pub(crate) fn new(step: Step, args: &[&str]) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self {
            step,
            repository: None,
            remote: None,
            settings: Vec::new(),
            variables: Vec::new(),
            args,
            input: Box::new(std::iter::empty()),
        }
    }

    /// The bare repository it works in.
    pub(crate) fn within(self, repository: &'a Path) -> Self {
        Self { repository: Some(repository), ..self }
    }

    /// The remote it talks to, and as whom.
    pub(crate) fn towards(self, remote: &'a RemoteUrl, access: &'a GitAccess) -> Self {
        Self { remote: Some((remote, access)), ..self }
    }

    /// A `key=value` setting for this command alone.
    pub(crate) fn setting(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// A variable of the environment for this command alone.
    pub(crate) fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Its standard input.
    pub(crate) fn input(self, input: impl Into<Vec<u8>>) -> Self {
        self.input_parts(std::iter::once(input.into()))
    }

    /// Its standard input, made while it is read.
    pub(crate) fn input_parts(self, parts: impl Iterator<Item = Vec<u8>> + Send + 'a) -> Self {
        Self { input: Box::new(parts), ..self }
    }
}

/// A command did not do its work.
#[derive(Debug)]
pub(crate) enum CallError {
    /// No such program.
    Missing { program: String },
    /// It lacks what is needed here.
    TooOld { program: String, version: String },
    /// The system could not start it, or broke a pipe to it.
    System(io::Error),
    /// The deadline passed.
    TimedOut { after: Duration, words: String },
    /// It ended with a failure; the last words of its standard error, redacted.
    Failed { words: String },
    /// It was not started, since there is nothing to sign in with.
    NotEquipped(NotEquipped),
}

/// Starts `git`.
pub(crate) struct Git {
    program: PathBuf,
    deadline: Duration,
    grace: Duration,
    surroundings: Surroundings,
    permits: Semaphore,
    /// Set once the program has been found to be new enough.
    known: OnceCell<()>,
    pub(crate) vault: Vault,
    pub(crate) signer: Signer,
    pub(crate) counters: Counters,
}

impl Git {
    pub(crate) fn new(settings: &GitSettings) -> Self {
        Self {
            program: settings.program.clone(),
            deadline: settings.deadline,
            grace: settings.grace,
            surroundings: Surroundings::of_this_process(settings.local_remotes),
            permits: Semaphore::new(AT_ONCE),
            known: OnceCell::new(),
            vault: Vault::new(settings),
            signer: Signer::new(settings.signing.clone()),
            counters: Counters::default(),
        }
    }

    /// Runs a command and returns its output.
    pub(crate) async fn output(&self, call: Call<'_>) -> Result<Vec<u8>, CallError> {
        let (mut output, mut whole) = (Vec::new(), true);
        let mut keep = |bytes: &[u8]| {
            whole &= output.len() + bytes.len() <= ALL;
            if whole {
                output.extend_from_slice(bytes);
            }
        };
        self.run(call, &mut keep).await?;
        if whole {
            return Ok(output);
        }
        Err(CallError::System(io::Error::other("it has more to say than is listened to")))
    }

    /// Runs a command and hands its output on piece by piece, also when it fails in the end.
    pub(crate) async fn run(
        &self,
        call: Call<'_>,
        take: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<(), CallError> {
        self.known.get_or_try_init(async || self.look_at_version().await).await?;
        self.run_known(call, take).await
    }

    /// Asks the program for its version, before anything else and once: what an old one says
    /// to options that it does not know would not be understood.
    async fn look_at_version(&self) -> Result<(), CallError> {
        let mut said = Vec::new();
        let call = Call::new(Step::Version, &[]);
        self.run_known(call, &mut |piece| said.extend_from_slice(piece)).await?;
        match too_old(&String::from_utf8_lossy(&said)) {
            None => Ok(()),
            Some(version) => {
                Err(CallError::TooOld { program: self.program.display().to_string(), version })
            }
        }
    }

    /// Boxed, since the types of all who wait for git would else become too long to compile.
    fn run_known<'a>(
        &'a self,
        call: Call<'a>,
        take: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> BoxFuture<'a, Result<(), CallError>> {
        self.attend_to(call, take).boxed()
    }

    async fn attend_to(
        &self,
        call: Call<'_>,
        take: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<(), CallError> {
        let _permit = self.permits.acquire().await.expect("the semaphore is never closed");
        let equipment = match call.remote {
            Some((remote, access)) => {
                equip(access, remote, &self.vault).await.map_err(CallError::NotEquipped)?
            }
            None => Equipment::default(),
        };
        let mut command = self.command(&call, &equipment);
        let mut child = command.spawn().map_err(|error| self.not_started(error))?;
        self.counters.started(call.step);
        let mut group = Group::of(&child);
        let mut said = Vec::new();
        let attended = attend(&mut child, call.input, take, &mut said);
        let ended = timeout(self.deadline, attended).await;
        let Ok(ended) = ended else {
            group.end(&mut child, self.grace).await;
            let words = last_words(&said, &equipment.secrets);
            return Err(CallError::TimedOut { after: self.deadline, words });
        };
        let status = ended.map_err(CallError::System)?;
        group.is_gone();
        if status.success() {
            return Ok(());
        }
        let words = last_words(&said, &equipment.secrets);
        self.forget_refused(call.remote, &words);
        Err(CallError::Failed { words })
    }

    /// A token that was taken back before its time is not offered again.
    fn forget_refused(&self, remote: Option<(&RemoteUrl, &GitAccess)>, words: &str) {
        let refused = ["Authentication failed", "error: 401", "error: 403"];
        if let Some((_, GitAccess::Login(login))) = remote
            && refused.iter().any(|sign| words.contains(sign))
        {
            self.vault.tokens.forget(login);
        }
    }

    fn command(&self, call: &Call<'_>, equipment: &Equipment) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.surroundings.variables(equipment.users_configuration));
        command.envs(equipment.environment.iter().map(|(name, value)| (name, value)));
        command.envs(call.variables.iter().map(|(name, value)| (name, value)));
        command.args(&equipment.options);
        for setting in surroundings::SETTINGS {
            command.args(["-c", setting]);
        }
        for setting in &call.settings {
            command.args(["-c", setting]);
        }
        if let Some(repository) = call.repository {
            let mut option = OsString::from("--git-dir=");
            option.push(repository);
            command.arg(option);
        }
        command.arg(call.step.name()).args(&call.args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir("/").process_group(0);
        command
    }

    fn not_started(&self, error: io::Error) -> CallError {
        if error.kind() == io::ErrorKind::NotFound {
            CallError::Missing { program: self.program.display().to_string() }
        } else {
            CallError::System(error)
        }
    }
}

/// Feeds the child and drains it, until it has ended and its output is read to the end.
async fn attend(
    child: &mut Child,
    input: Input<'_>,
    take: &mut (dyn FnMut(&[u8]) + Send),
    said: &mut Vec<u8>,
) -> io::Result<ExitStatus> {
    let stdin = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let feeding = async {
        let Some(mut stdin) = stdin else { return };
        for part in input {
            // A child that ends early breaks the pipe; its exit status says why.
            if stdin.write_all(&part).await.is_err() {
                return;
            }
        }
    };
    let listening = drain(stderr, |bytes| keep_last(said, bytes));
    tokio::pin!(listening);
    let working = async {
        let (status, (), drained) = tokio::join!(child.wait(), feeding, drain(stdout, take));
        drained.and(status)
    };
    tokio::pin!(working);
    tokio::select! {
        status = &mut working => {
            let _ = timeout(AFTERWARDS, listening).await;
            status
        }
        heard = &mut listening => {
            heard?;
            working.await
        }
    }
}

async fn drain(
    from: Option<impl AsyncRead + Unpin>,
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let Some(mut from) = from else { return Ok(()) };
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer).await? {
            0 => return Ok(()),
            read => take(&buffer[..read]),
        }
    }
}

fn keep_last(said: &mut Vec<u8>, bytes: &[u8]) {
    said.extend_from_slice(bytes);
    if said.len() > 2 * LAST_WORDS {
        said.drain(..said.len() - LAST_WORDS);
    }
}

fn last_words(said: &[u8], secrets: &[SecretString]) -> String {
    let text = String::from_utf8_lossy(said);
    let secrets: Vec<&str> = secrets.iter().map(ExposeSecret::expose_secret).collect();
    redact(&text, &secrets)
}

/// The processes of one command: git and what it started. Dropped before they ended (a
/// cancelled caller), it kills them.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    /// The leader has been waited for: its number may belong to somebody else now.
    fn is_gone(&mut self) {
        self.0 = None;
    }

    /// Asks all to end, gives them time, then makes them.
    async fn end(&mut self, child: &mut Child, grace: Duration) {
        self.signal(Signal::TERM);
        let _ = timeout(grace, child.wait()).await;
        self.signal(Signal::KILL);
        let _ = child.wait().await;
        self.is_gone();
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.0 {
            // It may have ended by itself.
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

#[cfg(test)]
#[path = "command/tests.rs"]
mod tests;
