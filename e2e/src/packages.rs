//! The programs that the peers are made of, and the Debian packages that bring them.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Package and the program that shows it is there.
const PACKAGES: [(&str, &str); 6] = [
    ("busybox", "busybox"),
    ("docker-registry", "docker-registry"),
    ("fcgiwrap", "fcgiwrap"),
    ("git", "git"),
    ("nginx-light", "nginx"),
    ("python3", "python3"),
];

/// Where a program stands: on the path, or with the servers, which are not on everybody's path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/bin"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Like [`find`], for a program that [`install_missing`] has seen to.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    find(name).with_context(|| format!("`{name}` is on no path"))
}

/// Installs the packages whose programs are missing; asks the system for nothing if all are there.
pub(crate) fn install_missing() -> Result<()> {
    let missing: Vec<&str> = PACKAGES
        .into_iter()
        .filter(|(_, program)| find(program).is_none())
        .map(|(package, _)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(", "));
    apt_get(&["update", "-qq"])?;
    let install = ["install", "-qq", "--yes", "--no-install-recommends"];
    apt_get(&[&install[..], &missing].concat())
}

/// Runs apt-get; what it prints is shown only if it fails.
fn apt_get(arguments: &[&str]) -> Result<()> {
    let output = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output()
        .context("cannot start apt-get; on another system, install the peers by hand")?;
    ensure!(
        output.status.success(),
        "`apt-get {}` ended with {}; is this user root?\n{}{}",
        arguments.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
