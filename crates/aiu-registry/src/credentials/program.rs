//! Programs that give credentials: started without shell, bounded in time and output, ended
//! with everything they started.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A program has so long.
const DEADLINE: Duration = Duration::from_secs(10);
/// What it prints beyond this is not read.
const MAX_OUTPUT: u64 = 64 * 1024;
/// A line of its standard error is shown up to this length.
const MAX_SHOWN: usize = 300;

/// Standard output of a program that ended well, after it was told `input`. The error is a
/// cause in words; standard output is never a part of it.
pub(super) async fn run(program: &str, arguments: &[&str], input: &str) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that what it starts can be ended with it (spec 11 G15).
    command.process_group(0).kill_on_drop(true);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_ours_alone) {
            command.env_remove(name);
        }
    }
    let mut child = command.spawn().map_err(|error| in_words(&error))?;
    let group = Group::of(&child);
    let ended = timeout(DEADLINE, converse(&mut child, input)).await;
    drop(group);
    match ended {
        Err(_elapsed) => {
            // Killed with its group; waiting for it leaves no zombie.
            let _ = child.wait().await;
            Err(format!("`{program}` failed timeout after {}s", DEADLINE.as_secs()))
        }
        Ok(Err(error)) => Err(in_words(&error)),
        Ok(Ok((status, output, _))) if status.success() => Ok(output),
        Ok(Ok((status, _, complaint))) => {
            let how = match status.code() {
                Some(code) => format!("exit status {code}"),
                None => "by a signal".to_owned(),
            };
            Err(format!("`{program}` failed {how}: {}", last_line(&complaint)))
        }
    }
}

type Ended = (ExitStatus, Vec<u8>, Vec<u8>);

/// Writes the input and reads both outputs, within bounds, until the program ends.
async fn converse(child: &mut Child, input: &str) -> std::io::Result<Ended> {
    if let Some(mut pipe) = child.stdin.take() {
        // Who does not read its input may have closed it.
        let _ = pipe.write_all(input.as_bytes()).await;
    }
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

/// The process group of a program; ended with everything in it when dropped.
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

/// Variables that are ours alone and no other program's business (spec 11 §6.5).
fn is_ours_alone(name: &str) -> bool {
    name.ends_with("_WEBHOOK_SECRET") || name.starts_with("GIT_COMMIT_SIGNING_")
}

fn last_line(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let line = text.trim().lines().next_back().unwrap_or("nothing on its standard error");
    line.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect()
}

pub(super) fn in_words(error: &std::io::Error) -> String {
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
