//! The real `cosign`, which Debian has from its 13th version on: its package is unpacked into the
//! cache and not installed, so that an older Debian can run it too.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;
use tokio::time::timeout;

use crate::files::{read, write};
use crate::go::cache;

const SUITE: &str = "trixie";

/// How long one run may take.
const LIMIT: Duration = Duration::from_mins(2);

/// The program.
pub(crate) struct Cosign {
    path: PathBuf,
}

impl Cosign {
    /// The one in the cache, which is fetched if it is not there.
    pub(crate) async fn get() -> Result<Self> {
        let cache = cache()?;
        let folder = cache.join(format!("cosign-{SUITE}"));
        let path = folder.join("usr/bin/cosign");
        if !path.is_file() {
            println!("unpacking cosign of Debian {SUITE} into {}", folder.display());
            std::fs::create_dir_all(&cache).context("cannot make the cache")?;
            let fresh =
                tempfile::tempdir_in(&cache).context("cannot make a folder in the cache")?;
            fetch(fresh.path()).await?;
            // Another run may have been faster; what it made is the same.
            if std::fs::rename(fresh.path().join("root"), &folder).is_err() {
                ensure!(path.is_file(), "cannot make {}", folder.display());
            }
        }
        Ok(Self { path })
    }

    /// Runs it in the folder, with an empty password for keys.
    pub(crate) async fn run(&self, arguments: &[&str], folder: &Path) -> Result<String> {
        let mut command = Command::new(&self.path);
        command.args(arguments).env_clear().env("HOME", folder).env("COSIGN_PASSWORD", "");
        output(&mut command, folder).await
    }
}

/// Gets the package with lists of its own, so that the system's know nothing of it, and unpacks
/// it into `root`.
async fn fetch(folder: &Path) -> Result<()> {
    let sources = read(Path::new("/etc/apt/sources.list.d"), "debian.sources");
    let sources = sources.context("where Debian's packages are is not known")?;
    let mirror = sources.lines().find(|line| line.starts_with("URIs:"));
    let mirror = mirror.context("debian.sources names no mirror")?;
    write(
        folder,
        "sources/later.sources",
        &format!(
            "Types: deb\n{mirror}\nSuites: {SUITE}\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
        ),
    )?;
    std::fs::create_dir_all(folder.join("lists/partial")).context("cannot make a folder")?;
    std::fs::create_dir_all(folder.join("cache/archives/partial"))
        .context("cannot make a folder")?;
    let set = |name: &str, folder: &Path| format!("-o{name}={}", folder.display());
    let options = [
        set("Dir::Etc::sourcelist", Path::new("/dev/null")),
        set("Dir::Etc::sourceparts", &folder.join("sources")),
        set("Dir::State::Lists", &folder.join("lists")),
        set("Dir::Cache", &folder.join("cache")),
        "-qq".to_owned(),
    ];
    output(Command::new("apt-get").args(&options).arg("update"), folder).await?;
    output(Command::new("apt-get").args(&options).args(["download", "cosign"]), folder).await?;
    let entries = std::fs::read_dir(folder).context("cannot read a folder")?;
    let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let package = files.find(|file| file.extension().is_some_and(|is| is == "deb"));
    let package = package.context("apt-get brought no package")?;
    let mut unpack = Command::new("dpkg-deb");
    output(unpack.arg("--extract").arg(package).arg("root"), folder).await?;
    Ok(())
}

/// Runs a command in the folder to its end; what it printed.
async fn output(command: &mut Command, folder: &Path) -> Result<String> {
    let shown = format!("{:?}", command.as_std());
    let running = command.current_dir(folder).stdin(std::process::Stdio::null()).kill_on_drop(true);
    let output = timeout(LIMIT, running.output()).await;
    let output = output.with_context(|| format!("{shown} does not end"))?;
    let output = output.with_context(|| format!("cannot start {shown}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown} ended with {}: {said}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned() + &said)
}
