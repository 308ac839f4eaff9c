//! What commands that look at Applications have in common: folder, registries, git, runtime.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use aiu_controller::cluster::files::{Manifests, Problem};
use aiu_controller::cycle::PassSettings;
use aiu_controller::passes::Session;
use aiu_controller::unlock::Keys;
use aiu_core::image::Platform;
use aiu_core::registries::Registries;
use aiu_git::{GitSettings, Identity, Mirrors, Signature, Writers};
use aiu_registry::{Scanner, ScannerSettings};
use anyhow::{Context, Result};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::args::Shared;
use crate::logging;
use crate::settings::{self, Commits, Environment, Settings};

/// Everything that a pass needs, opened.
pub struct Opened {
    pub runtime: Runtime,
    pub session: Session,
    pub manifests: Manifests,
    /// What in the folder cannot be used.
    pub problems: Vec<Problem>,
}

/// Reads settings and folder, and sets up a session over them.
pub fn open(
    shared: &Shared,
    env: &Environment,
    commits: impl FnOnce(&BTreeMap<String, String>) -> Result<Commits>,
    dry_run: bool,
) -> Result<Opened> {
    let how = settings::logging(shared, env)?;
    logging::init(how.level, how.format);
    let settings = Settings::read(shared, env)?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let manifests = Manifests::load(&settings.manifests, &settings.namespace)?;
    let problems = manifests.problems().to_vec();
    for problem in &problems {
        tracing::warn!(reason = problem.reason, "{problem}");
    }
    let registries =
        settings::registries(shared.registries_conf_path.as_deref(), manifests.settings())?;
    let commits = commits(manifests.settings())?;
    rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    for notice in registries.notices() {
        tracing::warn!("{notice}");
    }
    let Services { session, .. } =
        services(registries, &settings, &commits, Keys::of_user(), dry_run)?;
    Ok(Opened { runtime, session, manifests, problems })
}

/// A session, and the mirrors that count what git did for it.
pub struct Services {
    pub session: Session,
    pub mirrors: Arc<Mirrors>,
}

/// The services of a session; none of them talks before it is asked.
pub fn services(
    registries: Arc<Registries>,
    settings: &Settings,
    commits: &Commits,
    keys: Keys,
    dry_run: bool,
) -> Result<Services> {
    let mut git = GitSettings::new(settings.cache_dir.join("git"));
    // A folder of manifests is worked on by its owner: repositories on this disk are theirs.
    git.local_remotes = true;
    let mirrors = Arc::new(Mirrors::new(git));
    let writers = Writers::new(Arc::clone(&mirrors), CancellationToken::new());
    let identity = Identity::new(&commits.user, &commits.email)
        .context("git-commit-user and git-commit-email must both be given")?;
    let pass = PassSettings {
        namespace: settings.namespace.clone(),
        platform: own_platform(),
        allow_downgrade: settings.allow_downgrade,
        require_live: settings.require_live,
        annotation_mode: settings.annotation_mode,
        dry_run,
        concurrency: settings.concurrency,
        message: Arc::clone(&commits.message),
        signature: Signature {
            author: identity.clone(),
            committer: identity,
            date: SystemTime::now(),
            sign_off: false,
        },
    };
    let scanner = Scanner::new(ScannerSettings::default());
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
