//! What commands that look at Applications have in common: folder, registries, git, runtime.

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_controller::cluster::files::{Manifests, Problem};
use aiu_controller::cycle::PassSettings;
use aiu_controller::passes::Session;
use aiu_core::image::Platform;
use anyhow::{Context, Result};
use tokio::runtime::Runtime;

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
    let registries = settings::registries(shared, manifests.settings())?;
    let commits = commits(manifests.settings())?;
    rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let session = {
        let _in_runtime = runtime.enter();
        Session::open(registries, &settings, &commits, dry_run)
    };
    Ok(Opened { runtime, session, manifests, problems })
}
