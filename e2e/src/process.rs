//! Processes that end with their owner.
//!
//! Every process leads a group of its own, and dropping the value kills the group: the children of
//! a CGI server too, and also when a case fails or the user presses Ctrl-C.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
pub(crate) use rustix::process::Signal;
use rustix::process::{Pid, kill_process_group};
use tokio::time::{Instant, sleep};

/// How often a process is looked at while something is awaited of it.
pub(crate) const GLANCE: Duration = Duration::from_millis(10);

/// A started process. Its output goes to two files.
pub(crate) struct Process {
    name: String,
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Process {
    /// Starts the command; what it prints goes to `NAME.out` and `NAME.err` in the folder.
    pub(crate) fn start(name: &str, command: &mut Command, folder: &Path) -> Result<Self> {
        let stdout = folder.join(format!("{name}.out"));
        let stderr = folder.join(format!("{name}.err"));
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&stdout).context("cannot make a file for output")?)
            .stderr(File::create(&stderr).context("cannot make a file for output")?)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        Ok(Self { name: name.to_owned(), child, stdout, stderr })
    }

    /// Waits until the question is answered with yes, as long as the process lives.
    pub(crate) async fn ready(
        &mut self,
        limit: Duration,
        mut question: impl AsyncFnMut() -> bool,
    ) -> Result<()> {
        let deadline = Instant::now() + limit;
        while !question().await {
            if let Some(status) = self.status()? {
                bail!("{} ended with {status}{}", self.name, self.said());
            }
            if Instant::now() >= deadline {
                bail!("{} is not ready after {limit:?}{}", self.name, self.said());
            }
            sleep(GLANCE).await;
        }
        Ok(())
    }

    /// Waits for the process to end by itself.
    pub(crate) async fn ended(&mut self, limit: Duration) -> Result<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.status()? {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                bail!("{} is still running after {limit:?}{}", self.name, self.said());
            }
            sleep(GLANCE).await;
        }
    }

    /// Both outputs, for the message about a failure.
    pub(crate) fn said(&self) -> String {
        let texts = [("stdout", contents(&self.stdout)), ("stderr", contents(&self.stderr))];
        let shown = texts.iter().filter(|(_, text)| !text.is_empty());
        shown.map(|(of, text)| ["\n--- ", of, " ---\n", text.trim_end()].concat()).collect()
    }

    /// Sends a signal to the process and its children.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        kill_process_group(Pid::from_child(&self.child), signal)
            .with_context(|| format!("cannot send a signal to {}", self.name))
    }

    /// Its number, for those who want to know more of it.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub(crate) fn status(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().with_context(|| format!("cannot ask how {} fares", self.name))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and the usual one is no failure: all are gone.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

fn contents(file: &Path) -> String {
    match std::fs::read(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => format!("(cannot read {}: {error})", file.display()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn shell(script: &str) -> (tempfile::TempDir, Process) {
        let folder = tempfile::tempdir().unwrap();
        let process =
            Process::start("sh", Command::new("sh").args(["-c", script]), folder.path()).unwrap();
        (folder, process)
    }

    #[tokio::test]
    async fn a_process_that_ends_early_is_said_with_its_words() {
        let (_folder, mut process) = shell("echo no port >&2; exit 3");
        let error = process.ready(Duration::from_mins(1), async || false).await.unwrap_err();
        let said = error.to_string();
        assert!(said.contains("exit status: 3") && said.contains("no port"), "{said}");
    }

    #[tokio::test]
    async fn what_hangs_is_not_waited_for_without_end() {
        let (_folder, mut process) = shell("exec sleep 60");
        assert!(process.ended(GLANCE).await.is_err());
        assert!(process.ready(GLANCE, async || false).await.is_err());
    }

    #[test]
    fn the_whole_group_ends_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let script = format!("sleep 60 > '{}' & wait", pipe.display());
        let mut shell = Command::new("sh");
        let process = Process::start("sh", shell.args(["-c", &script]), folder.path()).unwrap();
        let started = Instant::now();
        // Opens when the grandchild has opened the other end, and ends when nobody holds that.
        let mut held = File::open(&pipe).unwrap();
        drop(process);
        held.read_to_end(&mut Vec::new()).unwrap();
        assert!(started.elapsed() < Duration::from_secs(30), "the grandchild lived on");
    }
}
