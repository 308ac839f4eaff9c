//! What commands that look at Applications have in common: folder, registries, git, runtime.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aiu_controller::cluster::files::{Manifests, Problem};
use aiu_controller::cycle::PassSettings;
use aiu_controller::passes::Session;
use aiu_controller::registries::RegistriesFile;
use aiu_controller::unlock::Keys;
use aiu_core::image::Platform;
use aiu_git::{GitSettings, Identity, Mirrors, Signature, Writers};
use aiu_registry::{Scanner, ScannerSettings};
use anyhow::{Context, Result};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::line::{Line, Verb};
use crate::logging;
use crate::settings::{self, Commits, Environment, Interval, Logging, Note, Reader, Settings};

/// Everything that a pass needs, opened.
pub struct Opened {
    pub runtime: Runtime,
    pub session: Session,
    pub manifests: Manifests,
    /// What in the folder cannot be used.
    pub problems: Vec<Problem>,
    pub settings: Settings,
}

/// Reads settings and folder, and sets up a session over them. `dry_run` whatever the flag says.
pub fn open(line: &Line, env: &Environment, dry_run: bool) -> Result<Opened> {
    let (manifests, settings) = folder(line, env)?;
    let Logging { level, format } = settings.logging;
    if line.verb == Verb::Run {
        logging::init(level, format);
    } else {
        logging::init_for_command(level, format);
    }
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let problems = manifests.problems().to_vec();
    for problem in &problems {
        tracing::warn!(reason = problem.reason, "{problem}");
    }
    let mut reader = Reader::new(line, env, manifests.settings());
    let (registries, note) = settings::registries(&mut reader)?;
    note.iter().for_each(tell);
    let commits = if line.verb == Verb::Explain {
        Commits::with_default_message(&settings)
    } else {
        let (commits, note) = Commits::read(&settings, &mut reader)?;
        note.iter().for_each(tell);
        commits
    };
    install_tls()?;
    let runtime = runtime()?;
    for notice in registries.notices() {
        tracing::warn!("{notice}");
    }
    let registries = match settings::registries_path(&mut reader)? {
        Some(path) => RegistriesFile::at(&path, registries),
        None => RegistriesFile::from(registries),
    };
    let dry_run = dry_run || settings.dry_run;
    let Services { session, .. } =
        services(registries, &settings, &commits, Keys::of_user(), dry_run)?;
    Ok(Opened { runtime, session, manifests, problems, settings })
}

/// The one TLS there is, for every client and server of the process.
pub(super) fn install_tls() -> Result<()> {
    rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))
}

pub(super) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

/// The folder, and the settings that it has a part in.
fn folder(line: &Line, env: &Environment) -> Result<(Manifests, Settings)> {
    let first = Settings::read(line, env, &BTreeMap::new())?;
    let path = (first.manifests.as_ref())
        .context("this version works on a folder of manifests: give --manifests DIR")?;
    anyhow::ensure!(
        first.interval != Interval::Never || line.verb != Verb::Run,
        "an interval below 0 makes no passes over a folder: give one above, or --once"
    );
    let manifests = Manifests::load(path, first.folder_namespace())?;
    let settings = Settings::read(line, env, manifests.settings())?;
    if settings.folder_namespace() == first.folder_namespace() {
        return Ok((manifests, settings));
    }
    // The folder says itself what its objects without a namespace belong to.
    Ok((Manifests::load(path, settings.folder_namespace())?, settings))
}

/// A folder seldom has the files of a Deployment, so that they are missing is no news.
fn tell(note: &Note) {
    let path = note.path.as_ref().map(|path| path.display().to_string());
    tracing::debug!(path, "{}", note.text);
}

/// A session, and the mirrors that count what git did for it.
pub struct Services {
    pub session: Session,
    pub mirrors: Arc<Mirrors>,
}

/// The services of a session; none of them talks before it is asked.
pub fn services(
    registries: RegistriesFile,
    settings: &Settings,
    commits: &Commits,
    keys: Keys,
    dry_run: bool,
) -> Result<Services> {
    let mut git = GitSettings::new(settings.cache_dir.join("git"));
    // A folder of manifests is worked on by its owner: repositories on this disk are theirs.
    git.local_remotes = settings.manifests.is_some();
    settings.git.apply(&mut git);
    git.signing = commits.settings.signing();
    let mirrors = Arc::new(Mirrors::new(git));
    let writers = Writers::new(Arc::clone(&mirrors), CancellationToken::new());
    let identity = Identity::new(&commits.settings.user, &commits.settings.email)
        .context("git-commit-user and git-commit-email must both be given")?;
    let pass = PassSettings {
        namespace: settings.folder_namespace().to_owned(),
        platform: own_platform(),
        allow_downgrade: settings.allow_downgrade,
        image_sources: settings.image_sources.clone(),
        require_live: settings.require_live,
        annotation_mode: settings.annotation_mode,
        dry_run,
        accepted_age: Duration::ZERO,
        concurrency: settings.concurrency,
        message: Arc::clone(&commits.message),
        git_files: settings.git.files.clone(),
        hold_reverted: settings.hold_reverted,
        one_commit_per_branch: commits.settings.one_per_branch,
        signature: Signature {
            author: identity.clone(),
            committer: identity,
            date: SystemTime::now(),
            sign_off: commits.settings.sign_off,
        },
    };
    let scanner = Scanner::new(ScannerSettings::default());
    let keys = keys.beside(&scanner);
    let session = Session::new(registries, scanner, keys, Arc::clone(&mirrors), writers, pass);
    Ok(Services { session, mirrors })
}

/// The platform that this program runs on, in the words of container images.
pub fn own_platform() -> Platform {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    Platform {
        os: std::env::consts::OS.to_owned(),
        architecture: architecture.to_owned(),
        variant: None,
    }
}
