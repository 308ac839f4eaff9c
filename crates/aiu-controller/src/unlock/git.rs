//! Who pushes: the credentials for every repository that a plan writes to (spec 30 §3).
//!
//! Which Secret is meant is decided in `aiu-git`; here its Secrets are brought, each once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use aiu_api::plan::{GitTarget, Target, TrackedImage, WorkPlan};
use aiu_api::write_back::GitCredentials;
use aiu_core::outcome::{Failure, Stage};
use aiu_git::GitAccess;
use aiu_git::credentials::KnownHosts;
use aiu_git::credentials::secrets::{GitSecret, GitSources, SecretError, named_secret};

use crate::cluster;
use crate::cycle::World;

/// Files that the operator mounts (spec 30 §3.3).
#[derive(Clone, Debug, Default)]
pub struct GitFiles {
    /// Known SSH hosts, where no `ConfigMap` says which.
    pub known_hosts: Option<PathBuf>,
    /// Certificates, one file per host.
    pub certificates: Option<PathBuf>,
}

/// Credentials of one repository, as one Application asks for them.
type Asked = (Arc<str>, GitCredentials, Arc<str>, Arc<str>);

/// Credentials by who asks for which; everybody with the same question shares an answer.
#[derive(Debug, Default)]
pub(super) struct GitKeys(BTreeMap<Asked, Result<GitAccess, Failure>>);

impl GitKeys {
    /// The answer for one image's target.
    pub(super) fn of(
        &self,
        image: &TrackedImage,
        target: &GitTarget,
    ) -> Result<GitAccess, Failure> {
        let found = self.0.get(&asked(image, target)).cloned();
        found.unwrap_or_else(|| Err(failure("GitCredentialsMissing", "nobody asked".to_owned())))
    }
}

fn asked(image: &TrackedImage, target: &GitTarget) -> Asked {
    let GitTarget { branch, credentials, project, .. } = target;
    let namespace = &image.key.application.namespace;
    (Arc::clone(&branch.remote), credentials.clone(), Arc::clone(project), Arc::clone(namespace))
}

/// Looks up everything that the plan's targets ask for.
pub(super) async fn unlock(plan: &WorkPlan, world: &World) -> GitKeys {
    let mut keys = GitKeys::default();
    let mut sources = None;
    for image in &plan.images {
        let Target::File(target) = &image.target else { continue };
        let asked = asked(image, target);
        if keys.0.contains_key(&asked) {
            continue;
        }
        if sources.is_none() {
            sources = Some(sources_of(world).await);
        }
        let access = match (&sources, &target.credentials) {
            (Some(Ok(sources)), GitCredentials::RepoCreds) => repocreds(&asked, sources, world),
            (Some(Ok(sources)), GitCredentials::Secret(reference)) => {
                named(&asked, reference, sources, world).await
            }
            (Some(Err(error)), _) => Err(failure(error.reason, error.to_string())),
            (None, _) => continue,
        };
        keys.0.insert(asked, access);
    }
    keys
}

/// What Argo CD knows of git, and what is mounted where it says nothing.
async fn sources_of(world: &World) -> Result<GitSources, cluster::SecretError> {
    let mut sources = world.cluster.git_sources(&world.settings.namespace).await?;
    let files = &world.settings.git_files;
    if sources.known_hosts == KnownHosts::Users
        && let Some(file) = &files.known_hosts
    {
        sources.known_hosts = KnownHosts::File(file.clone());
    }
    sources.certificate_folder.clone_from(&files.certificates);
    Ok(sources)
}

/// Argo CD's; a folder of manifests that holds none is worked on as its owner does.
fn repocreds(asked: &Asked, sources: &GitSources, world: &World) -> Result<GitAccess, Failure> {
    let (repo, _, project, _) = asked;
    match sources.repocreds(repo, project) {
        Err(SecretError::NotConfigured(_)) if world.cluster.has_user() => Ok(GitAccess::Ambient),
        found => found.map_err(|error| refused(&error)),
    }
}

async fn named(
    asked: &Asked,
    reference: &str,
    sources: &GitSources,
    world: &World,
) -> Result<GitAccess, Failure> {
    let (repo, _, _, application_namespace) = asked;
    let (namespace, name) =
        named_secret(repo, reference, application_namespace).map_err(|error| refused(&error))?;
    let secret: GitSecret = world.cluster.git_secret(&namespace, &name).await.map_err(|error| {
        let reason = match error.reason {
            "CredentialSecretMissing" => "GitCredentialsMissing",
            other => other,
        };
        let repo = aiu_git::shown_url(repo);
        failure(reason, format!("could not get creds for repo '{repo}': {error}"))
    })?;
    sources.named(repo, reference, &secret).map_err(|error| refused(&error))
}

fn refused(error: &SecretError) -> Failure {
    failure(error.reason(), error.to_string())
}

fn failure(reason: &'static str, message: String) -> Failure {
    Failure { stage: Stage::Written, reason, message }
}
