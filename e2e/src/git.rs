//! Git as the cases use it: to seed repositories, and to look at what was pushed.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_mins(1);

/// Keeps the user's own configuration out, and prompts away.
pub(crate) const ENVIRONMENT: [(&str, &str); 7] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.com"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.com"),
];

/// Runs git in the folder; its standard output without the last line break.
pub(crate) async fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).envs(ENVIRONMENT).kill_on_drop(true);
    let line = || format!("`git {}`", arguments.join(" "));
    let output = timeout(LIMIT, command.output())
        .await
        .with_context(|| format!("{} did not end in {LIMIT:?}", line()))?
        .context("cannot start git")?;
    ensure!(
        output.status.success(),
        "{} ended with {}: {}",
        line(),
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let text =
        String::from_utf8(output.stdout).with_context(|| format!("{} prints no text", line()))?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}
