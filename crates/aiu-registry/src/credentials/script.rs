//! `ext:/path`: a program of the operator that prints `user:password` (spec 11 §6.5).

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::login::without_line_break;
use super::{CredentialError, Login};

/// A script has so long.
const DEADLINE: Duration = Duration::from_secs(10);
/// What a script prints beyond this is not read.
const MAX_OUTPUT: u64 = 64 * 1024;
/// A line of its standard error is shown up to this length.
const MAX_SHOWN: usize = 300;

/// Runs the script and reads what it prints. Its output is never logged.
pub(super) async fn fetch(path: &str) -> Result<Login, CredentialError> {
    if !path.starts_with('/') {
        return Err(CredentialError::ScriptRelative(path.to_owned()));
    }
    if let Err(error) = tokio::fs::metadata(path).await {
        let cause = in_words(&error);
        return Err(CredentialError::ScriptMissing { path: path.to_owned(), cause });
    }
    let output = run(Path::new(path))
        .await
        .map_err(|cause| CredentialError::ScriptFailed { path: path.to_owned(), cause })?;
    let malformed = || CredentialError::ScriptOutput(path.to_owned());
    let text = String::from_utf8(output).map_err(|_| malformed())?;
    let line = without_line_break(&text);
    // A second line would silently become a part of the password (spec 11 G16).
    if line.contains(['\n', '\r']) {
        return Err(malformed());
    }
    Login::split(line).ok_or_else(malformed)
}

/// Standard output of a program that ended well. The error is a cause in words.
async fn run(path: &Path) -> Result<Vec<u8>, String> {
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that what it starts can be ended with it (spec 11 G15).
    command.process_group(0).kill_on_drop(true);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_ours_alone) {
            command.env_remove(name);
        }
    }
    let mut child = command.spawn().map_err(|error| in_words(&error))?;
    let group = Group::of(&child);
    let ended = timeout(DEADLINE, read_to_end(&mut child)).await;
    drop(group);
    let shown = path.display();
    match ended {
        Err(_elapsed) => {
            // Killed with its group; waiting for it leaves no zombie.
            let _ = child.wait().await;
            Err(format!("`{shown}` failed timeout after {}s", DEADLINE.as_secs()))
        }
        Ok(Err(error)) => Err(in_words(&error)),
        Ok(Ok((status, output, _))) if status.success() => Ok(output),
        Ok(Ok((status, _, complaint))) => {
            let how = match status.code() {
                Some(code) => format!("exit status {code}"),
                None => "by a signal".to_owned(),
            };
            Err(format!("`{shown}` failed {how}: {}", last_line(&complaint)))
        }
    }
}

type Ended = (std::process::ExitStatus, Vec<u8>, Vec<u8>);

/// Reads both outputs, within bounds, until the program ends.
async fn read_to_end(child: &mut Child) -> std::io::Result<Ended> {
    let (mut output, mut complaint) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let read_output = async {
        match stdout {
            Some(pipe) => pipe.take(MAX_OUTPUT).read_to_end(&mut output).await,
            None => Ok(0),
        }
    };
    let read_complaint = async {
        match stderr {
            Some(pipe) => pipe.take(MAX_OUTPUT).read_to_end(&mut complaint).await,
            None => Ok(0),
        }
    };
    tokio::try_join!(read_output, read_complaint)?;
    let status = child.wait().await?;
    Ok((status, output, complaint))
}

/// The process group of a script; ended with everything in it when dropped.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?)))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // An error means that nobody is left in the group.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Variables that are this program's own and no script's business.
fn is_ours_alone(name: &str) -> bool {
    name.ends_with("_WEBHOOK_SECRET") || name.starts_with("GIT_COMMIT_SIGNING_")
}

fn last_line(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let line = text.trim().lines().next_back().unwrap_or("nothing on its standard error");
    line.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect()
}

fn in_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        kind => kind.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_this_program_are_not_handed_on() {
        let kept = ["AZURE_CLIENT_ID", "AWS_REGION", "HTTPS_PROXY", "PATH", "MY_SECRET"];
        assert!(kept.into_iter().all(|name| !is_ours_alone(name)));
        for name in ["DOCKER_WEBHOOK_SECRET", "GIT_COMMIT_SIGNING_KEY"] {
            assert!(is_ours_alone(name), "{name}");
        }
    }
}
