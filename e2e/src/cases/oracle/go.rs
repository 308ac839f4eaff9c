//! The Go program of `e2e/oracle`: built once per source and toolchain, then asked.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, BufWriter, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::packages;

const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/oracle");
const SOURCES: [&str; 4] = ["go.mod", "go.sum", "main.go", "argocd/templates.go"];

/// The built program.
pub(crate) struct Oracle {
    path: PathBuf,
}

impl Oracle {
    /// Builds it, unless it stands in the user's cache already. `None` where there is no Go.
    pub(crate) async fn build() -> Result<Option<Self>> {
        let Some(go) = packages::find("go") else { return Ok(None) };
        let path = cache()?.join(format!("oracle-{}", key(&go).await?));
        if !path.is_file() {
            let folder = path.parent().context("a file of the cache stands in a folder")?;
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            // Moved into place, so that two builds at once do not meet half a file.
            let fresh = path.with_extension(std::process::id().to_string());
            let build = [Path::new("build"), Path::new("-o"), &fresh, Path::new(".")];
            said(Command::new(&go).args(build).current_dir(MODULE)).await?;
            std::fs::rename(&fresh, &path)
                .with_context(|| format!("cannot make {}", path.display()))?;
        }
        Ok(Some(Self { path }))
    }

    /// Starts it for one subject.
    pub(super) fn talk(&self, subject: &str) -> Result<(Conversation, Questions)> {
        let mut process = Command::new(&self.path)
            .arg(subject)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", self.path.display()))?;
        let stdin = process.stdin.take().context("a piped input is there to be taken")?;
        let stdout = process.stdout.take().context("a piped output is there to be taken")?;
        let answers = BufReader::new(stdout).lines();
        Ok((Conversation { _process: process, answers }, Questions(BufWriter::new(stdin))))
    }
}

/// Where answers come from, in the order of the questions.
pub(super) struct Conversation {
    /// Ends with this value.
    _process: Child,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Conversation {
    pub(super) async fn answer<Answer: DeserializeOwned>(&mut self) -> Result<Answer> {
        let line = self.answers.next_line().await.context("cannot read from the oracle")?;
        let line = line.context("the oracle ended before it had answered everything")?;
        serde_json::from_str(&line).with_context(|| format!("the oracle answered '{line}'"))
    }
}

/// Where questions go.
pub(super) struct Questions(BufWriter<ChildStdin>);

impl Questions {
    pub(super) async fn put(&mut self, question: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(question)?;
        line.push(b'\n');
        self.0.write_all(&line).await.context("cannot write to the oracle")
    }

    /// Says that no more will come.
    pub(super) async fn end(mut self) -> Result<()> {
        self.0.shutdown().await.context("cannot write to the oracle")
    }
}

/// Where the results of builds outlive a run.
fn cache() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let root = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    Ok(root.context("HOME is not set")?.join("argocd-image-updater/e2e"))
}

/// Tells the sources and the toolchain, whose libraries are asked, from others.
async fn key(go: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(said(Command::new(go).arg("version").current_dir(MODULE)).await?);
    for file in SOURCES {
        let file = Path::new(MODULE).join(file);
        hash.update(
            std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?,
        );
    }
    let hash: [u8; 32] = hash.finalize().into();
    Ok(hash[..8].iter().fold(String::new(), |key, byte| format!("{key}{byte:02x}")))
}

/// Runs a command to its end; what it printed.
async fn said(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.kill_on_drop(true).output().await.context("cannot start go")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "go ended with {}: {}", output.status, errors.trim_end());
    Ok(output.stdout)
}
