//! The programs that the peers are made of, and the Debian packages that bring them.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Package and the program that shows it is there.
const PACKAGES: [(&str, &str); 10] = [
    ("busybox", "busybox"),
    ("docker-registry", "docker-registry"),
    ("fcgiwrap", "fcgiwrap"),
    ("git", "git"),
    ("gnupg", "gpg"),
    ("nginx-light", "nginx"),
    ("openssh-client", "ssh-keygen"),
    ("openssh-server", "sshd"),
    ("openssl", "openssl"),
    ("python3", "python3"),
];

/// The same, for Argo CD alone.
pub(crate) const OF_ARGO_CD: [(&str, &str); 1] = [("redis-server", "redis-server")];

/// The stand-in for AWS.
const MOTO: &str = "moto[server]==5.2.1";

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

/// A Python with moto: the one on the path if it has it, else one in the cache that gets it from
/// the package index, once.
pub(crate) fn python() -> Result<PathBuf> {
    let has_moto = |python: &PathBuf| {
        let mut command = Command::new(python);
        let command = command.args(["-c", "import moto.server, flask, cryptography"]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let own = program("python3")?;
    if has_moto(&own) {
        return Ok(own);
    }
    let folder = crate::go::cache()?.join(MOTO);
    let python = folder.join("bin/python3");
    if !has_moto(&python) {
        println!("installing {MOTO} into {}", folder.display());
        let install = folder.join("bin/pip");
        for (program, arguments) in [
            (&own, vec!["-m".into(), "venv".into(), folder.into_os_string()]),
            (&install, vec!["install".into(), "--quiet".into(), MOTO.into()]),
        ] {
            let status = Command::new(program).args(arguments).status();
            let status = status.with_context(|| format!("cannot start {}", program.display()))?;
            ensure!(
                status.success(),
                "`{}` ended with {status}; on Debian, python3-venv makes environments",
                program.display()
            );
        }
    }
    Ok(python)
}

/// Installs what is missing of the packages of all peers but Argo CD.
pub(crate) fn install_missing() -> Result<()> {
    install(&PACKAGES)
}

/// Installs the packages whose programs are missing; asks the system for nothing if all are there.
pub(crate) fn install(packages: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<&str> = packages
        .iter()
        .filter(|(_, program)| find(program).is_none())
        .map(|(package, _)| *package)
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
