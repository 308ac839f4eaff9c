//! Starts cargo, in the folder of the workspace.
//!
//! The only place of this crate that starts cargo: it settles which cargo (the one that runs us)
//! and where. `CARGO_TARGET_DIR` and the like reach the child with the environment.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The folder of the workspace.
///
/// Asked of the environment that `cargo run` sets, not baked in at compile time: a target folder
/// that two clones share must not make one clone judge the other.
pub(crate) fn workspace() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("CARGO_MANIFEST_DIR is not set; start this program as `cargo xtask`")?;
    let package = PathBuf::from(package);
    let root = package.parent().context("the folder of xtask has no parent")?;
    Ok(root.to_owned())
}

fn command(arguments: &[&str]) -> Result<Command> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(workspace()?);
    Ok(command)
}

/// Runs cargo with its output going straight to the terminal; an exit code other than 0 is an error.
pub(crate) fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let status = command(arguments)?
        .envs(environment.iter().copied())
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "`cargo {}` ended with {status}", arguments.join(" "));
    Ok(())
}

/// What cargo prints on standard output.
pub(crate) fn output(arguments: &[&str]) -> Result<Vec<u8>> {
    let output =
        command(arguments)?.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(
        output.status.success(),
        "`cargo {}` ended with {}",
        arguments.join(" "),
        output.status
    );
    Ok(output.stdout)
}

/// Whether a cargo subcommand, such as `deny`, is installed.
pub(crate) fn has(subcommand: &str) -> Result<bool> {
    let status = command(&[subcommand, "--version"])?
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("cannot start cargo")?;
    Ok(status.success())
}
