//! The Go program of `e2e/oracle`: built, then asked.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, BufWriter, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::go::Module;
use crate::packages;

const MODULE: Module = Module {
    name: "oracle",
    folder: "oracle",
    programs: &["."],
    arguments: &[],
    environment: &[],
    takes: "half a minute",
};

/// The built program.
pub(crate) struct Oracle {
    path: PathBuf,
}

impl Oracle {
    /// Builds it, unless that was done before. `None` where there is no Go.
    pub(crate) async fn build() -> Result<Option<Self>> {
        if packages::find("go").is_none() {
            return Ok(None);
        }
        Ok(Some(Self { path: MODULE.build().await?.path("oracle") }))
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
