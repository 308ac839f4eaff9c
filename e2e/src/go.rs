//! Programs built from Go modules of this repository: built once per content, kept in the user's
//! cache, never in git.
//!
//! A module is a folder with a `go.mod` and its `go.sum`, both committed, so that a build asks for
//! exactly these versions. It may hold programs of its own (a folder with a `main.go` each), or
//! name the program of another module under `tool (…)` in its `go.mod` and hold no source at all.
//! One module a server: what one asks for must not decide versions for another.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use tokio::time::sleep;

use crate::packages;
use crate::process::Process;

/// How often a long build says that it is still at work.
const WORD: Duration = Duration::from_mins(1);

/// A module, and what of it is built.
pub(crate) struct Module {
    /// Its name, for people and for the cache.
    pub(crate) name: &'static str,
    /// Its folder below `e2e/`.
    pub(crate) folder: &'static str,
    /// The programs, as import paths; each bears the last element of its path as its name.
    pub(crate) programs: &'static [&'static str],
    /// Arguments of `go build`, such as `-tags` and `-ldflags`.
    pub(crate) arguments: &'static [&'static str],
    /// Variables of the build.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// What a build from nothing takes on a small machine.
    pub(crate) takes: &'static str,
}

/// The programs of a module, built.
pub(crate) struct Programs {
    folder: PathBuf,
}

impl Programs {
    pub(crate) fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }
}

impl Module {
    /// Builds it, unless it stands in the cache already. Of two runs at once, one builds and the
    /// other waits.
    pub(crate) async fn build(&self) -> Result<Programs> {
        let go = packages::program("go")
            .with_context(|| format!("{} is built by Go: install its toolchain", self.name))?;
        let cache = cache()?;
        let folder = cache.join(format!("{}-{}", self.name, self.key(&go)?));
        if !folder.is_dir() {
            std::fs::create_dir_all(&cache)
                .with_context(|| format!("cannot make {}", cache.display()))?;
            let _ours = self.lock(&cache).await?;
            if !folder.is_dir() {
                self.build_to(&go, &cache, &folder).await?;
            }
        }
        Ok(Programs { folder })
    }

    /// Builds into a folder beside the final one, which appears whole or not at all.
    async fn build_to(&self, go: &Path, cache: &Path, folder: &Path) -> Result<()> {
        println!("building {} from its Go modules, once, which takes {}", self.name, self.takes);
        let started = Instant::now();
        let fresh = tempfile::tempdir_in(cache).context("cannot make a folder in the cache")?;
        let log = tempfile::tempdir().context("cannot make a temporary folder")?;
        let mut command = Command::new("nice");
        command.arg(go).args(["build", "-trimpath"]).args(self.arguments).arg("-o");
        command.arg(fresh.path().join("")).args(self.programs);
        command.envs(self.environment.iter().copied()).current_dir(self.source());
        let mut build = Process::start("go", &mut command, log.path())?;
        let status = self.patiently(&mut build, started).await?;
        ensure!(status.success(), "building {} ended with {status}{}", self.name, build.said());
        std::fs::rename(fresh.path(), folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        println!("built {} in {} s", self.name, started.elapsed().as_secs());
        Ok(())
    }

    async fn patiently(&self, build: &mut Process, started: Instant) -> Result<ExitStatus> {
        let mut word = WORD;
        loop {
            if let Some(status) = build.status()? {
                return Ok(status);
            }
            if started.elapsed() >= word {
                println!("still building {}: {} s", self.name, word.as_secs());
                word += WORD;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Held by the run that builds.
    async fn lock(&self, cache: &Path) -> Result<File> {
        let path = cache.join(format!("{}.lock", self.name));
        let file =
            File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let mut told = false;
        while file.try_lock().is_err() {
            if !told {
                println!("waiting for another run, which builds {}", self.name);
                told = true;
            }
            sleep(Duration::from_millis(200)).await;
        }
        Ok(file)
    }

    /// The folder of a module that this one asks for, with all that it holds besides programs.
    pub(crate) fn module_folder(&self, module: &str) -> Result<PathBuf> {
        let go = packages::program("go")?;
        let mut folder = Vec::new();
        let arguments = ["list", "-m", "-f", "{{.Dir}}", module];
        // Says nothing of a module that is not there yet, which is so when only its programs were
        // kept.
        for arguments in [&["mod", "download", module][..], &arguments] {
            let output = Command::new(&go).args(arguments).current_dir(self.source()).output();
            let output = output.context("cannot start go")?;
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "`go {}` failed: {said}", arguments.join(" "));
            folder = output.stdout;
        }
        let folder = String::from_utf8(folder).context("a path is text")?;
        Ok(PathBuf::from(folder.trim_end()))
    }

    fn source(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(self.folder)
    }

    /// Tells content, toolchain and way of building from others.
    fn key(&self, go: &Path) -> Result<String> {
        let mut hash = Sha256::new();
        let version = Command::new(go).arg("version").current_dir(self.source()).output();
        hash.update(version.context("cannot start go")?.stdout);
        hash.update(format!("{:?}", (self.programs, self.arguments, self.environment)));
        for file in sources(&self.source())? {
            let text =
                std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
        let hash: [u8; 32] = hash.finalize().into();
        Ok(hash[..8].iter().fold(String::new(), |key, byte| format!("{key}{byte:02x}")))
    }
}

/// Every file that decides the result, in an order that is always the same.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(sources(&path)?);
        } else if path.extension().is_some_and(|is| is == "go" || is == "mod" || is == "sum") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Where the results of builds outlive a run.
pub(crate) fn cache() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let root = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    Ok(root.context("HOME is not set")?.join("argocd-image-updater/e2e"))
}
