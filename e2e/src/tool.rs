//! Programs that are started, end by themselves, and must succeed.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_mins(1);

/// Runs a program in a folder, with these variables besides the present ones; its standard output.
pub(crate) async fn output(
    program: impl AsRef<OsStr>,
    arguments: &[&str],
    folder: &Path,
    variables: &[(&str, &str)],
) -> Result<String> {
    let shown = format!("`{} {}`", program.as_ref().display(), arguments.join(" "));
    let mut command = Command::new(&program);
    command.args(arguments).current_dir(folder).envs(variables.iter().copied());
    let output = timeout(LIMIT, command.kill_on_drop(true).output())
        .await
        .with_context(|| format!("{shown} did not end in {LIMIT:?}"))?
        .with_context(|| format!("cannot start {shown}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown} ended with {}: {}", output.status, said.trim());
    String::from_utf8(output.stdout).with_context(|| format!("{shown} prints no text"))
}
