//! Git as the cases use it: to seed repositories, and to look at what was pushed.

use std::path::Path;

use anyhow::Result;

use crate::tool;

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
    let text = tool::output("git", arguments, folder, &ENVIRONMENT).await?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}
