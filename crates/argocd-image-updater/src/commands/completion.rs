//! `completion SHELL`: what a shell needs to complete commands and flags.

use anyhow::{Result, bail};
use clap_complete::{Shell, generate};

use super::Answer;
use crate::line::{self, Line};

/// Prints the script.
pub fn completion(line: &Line) -> Result<Answer> {
    let shell = match line.arguments.first().map(String::as_str) {
        Some("bash") => Shell::Bash,
        Some("zsh") => Shell::Zsh,
        Some("fish") => Shell::Fish,
        Some("powershell") => Shell::PowerShell,
        Some(other) => bail!("no completion for {other:?}; give bash, zsh, fish or powershell"),
        None => bail!("give a shell: bash, zsh, fish or powershell"),
    };
    let mut script = Vec::new();
    generate(shell, &mut line::command(), line::NAME, &mut script);
    Ok(Answer::done(String::from_utf8(script)?))
}
