//! The program under test: built once, run as a user would run it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::process::Process;

const NAME: &str = "argocd-image-updater";

/// How long one run may take; a pass over a handful of images takes a second.
const LIMIT: Duration = Duration::from_mins(1);

/// The built binary.
pub(crate) struct Program {
    path: PathBuf,
}

impl Program {
    /// A binary that somebody else built, such as a release.
    pub(crate) fn at(path: &Path) -> Result<Self> {
        let path = path.canonicalize().with_context(|| format!("no program {}", path.display()))?;
        Ok(Self { path })
    }

    /// Builds the debug binary; the place of the result is cargo's word, not a guess.
    pub(crate) fn build() -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["build", "--quiet", "--package", NAME, "--bin", NAME])
            .args(["--message-format", "json-render-diagnostics"])
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start cargo")?;
        ensure!(output.status.success(), "building {NAME} ended with {}", output.status);
        let messages = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Message>();
        let mut executable = None;
        for message in messages {
            let message = message.context("cannot read what cargo printed")?;
            executable = message.executable.or(executable);
        }
        let path = executable.with_context(|| format!("cargo named no executable of {NAME}"))?;
        Ok(Self { path })
    }

    /// Where it was built.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs it in the folder, with nothing of this environment but the path. The name of the run
    /// is that of the files which its output goes to; an exit code other than 0 is no error here.
    pub(crate) async fn run(&self, run: &str, arguments: &[&str], folder: &Path) -> Result<Run> {
        self.run_in(run, arguments, folder, &[]).await
    }

    /// As [`Self::run`], with these variables.
    pub(crate) async fn run_in(
        &self,
        run: &str,
        arguments: &[&str],
        folder: &Path,
        variables: &[(&str, &str)],
    ) -> Result<Run> {
        let mut process = self.start_in(run, arguments, folder, variables)?;
        let status = process.ended(LIMIT).await?;
        Ok(Run { code: status.code(), said: process.said() })
    }

    /// As [`Self::run_in`], without waiting for its end.
    pub(crate) fn start_in(
        &self,
        run: &str,
        arguments: &[&str],
        folder: &Path,
        variables: &[(&str, &str)],
    ) -> Result<Process> {
        let mut command = Command::new(&self.path);
        command.args(arguments).current_dir(folder).env_clear().env("HOME", folder);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(variables.iter().copied());
        Process::start(run, &mut command, folder)
    }
}

/// How a run of the program ended.
pub(crate) struct Run {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Both outputs, for messages.
    pub(crate) said: String,
}

/// One line of cargo's JSON; most kinds name no executable.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}
