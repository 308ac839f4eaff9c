//! The credentials that a plan names, each looked up once.
//!
//! A source that cannot be read fails the images that name it, and only those; nobody is ever
//! served without the credentials that were meant for them. Where no source is named, a folder
//! of manifests is worked on with the logins of the user whose folder it is.

mod git;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aiu_api::plan::{KeyPlace, Target, TrackedImage, WorkPlan};
use aiu_core::outcome::{Failure, ImageKey, Stage};
use aiu_core::registries::CredentialSource;
use aiu_git::GitAccess;
use aiu_registry::{
    Ambient, CosignKey, CredentialError, Credentials, Freshness, Kept, Keyring, Scanner,
};
use secrecy::ExposeSecret as _;
use tokio::time::Instant;

use crate::cycle::World;

pub use git::GitFiles;

/// What outlives a pass: what was fetched, and the user's own logins.
pub struct Keys {
    keyring: Keyring,
    /// `None` where no person stands behind the process.
    ambient: Option<Result<Ambient, Arc<CredentialError>>>,
}

impl Keys {
    /// The keys of the present user. A broken Docker configuration matters to those images
    /// alone that would be asked for with it.
    pub fn of_user() -> Self {
        Self { keyring: Keyring::new(), ambient: Some(Ambient::of_user().map_err(Arc::new)) }
    }

    /// No logins of any user: in a cluster, what nobody names is asked for anonymously.
    pub fn of_nobody() -> Self {
        Self { keyring: Keyring::new(), ambient: None }
    }

    /// The same, signing in to clouds over the connections of the scanner.
    #[must_use]
    pub fn beside(self, scanner: &Scanner) -> Self {
        Self { keyring: Keyring::beside(scanner), ..self }
    }

    /// No logins of any user, for tests.
    pub fn without_user(folder: &std::path::Path) -> Self {
        let ambient = Ambient::read(&folder.join("no-docker-configuration.json"));
        Self { keyring: Keyring::new(), ambient: Some(ambient.map_err(Arc::new)) }
    }
}

/// What the images of a plan may use.
#[derive(Debug, Default)]
pub struct Access {
    registries: BTreeMap<ImageKey, Result<Credentials, Failure>>,
    keys: BTreeMap<KeyPlace, Result<CosignKey, Failure>>,
    git: git::GitKeys,
}

impl Access {
    /// Who asks for the tags of an image, or why nobody can.
    pub fn registry(&self, key: &ImageKey) -> Result<Credentials, Failure> {
        self.registries.get(key).cloned().unwrap_or(Ok(Credentials::Anonymous))
    }

    /// The key that an image must be signed with, if it must be, or why there is none.
    pub fn key(&self, image: &TrackedImage) -> Option<Result<CosignKey, Failure>> {
        self.keys.get(image.verification.as_ref()?).cloned()
    }

    /// How git signs in where an image is written, or why it cannot; `None` if it is not
    /// written to git.
    pub fn git(&self, image: &TrackedImage) -> Option<Result<GitAccess, Failure>> {
        match &image.target {
            Target::File(target) => Some(self.git.of(image, target)),
            Target::Spec { .. } => None,
        }
    }
}

/// Looks at every source of credentials that the plan names, and at every key.
pub async fn unlock(plan: &WorkPlan, started: Instant, world: &World) -> Access {
    let git = git::unlock(plan, world).await;
    let mut access = Access { git, keys: keys(plan, world).await, ..Access::default() };
    for image in &plan.images {
        let credentials = match access.git(image) {
            Some(Err(failure)) => Err(failure),
            _ => credentials(image, started, world).await,
        };
        access.registries.insert(image.key.clone(), credentials);
    }
    access
}

/// The public keys that images must be signed with; each is read and checked once, so that a
/// broken one is told as that, not as a missing signature (spec 10 F15).
async fn keys(plan: &WorkPlan, world: &World) -> BTreeMap<KeyPlace, Result<CosignKey, Failure>> {
    let places: BTreeSet<&KeyPlace> =
        plan.images.iter().filter_map(|image| image.verification.as_ref()).collect();
    let mut keys = BTreeMap::new();
    for place in places {
        keys.insert(place.clone(), key(place, world).await);
    }
    keys
}

async fn key(place: &KeyPlace, world: &World) -> Result<CosignKey, Failure> {
    let KeyPlace { namespace, name, field } = place;
    let value = world.cluster.secret_field(namespace, name, field).await;
    let unusable = |reason, message| Failure { stage: Stage::Selected, reason, message };
    let value = value.map_err(|error| {
        unusable(error.reason, format!("failed to fetch public key secret field: {error}"))
    })?;
    CosignKey::from_pem(value.expose_secret()).map_err(|error| {
        unusable("Unverified", format!("field '{field}' of Secret '{namespace}/{name}': {error}"))
    })
}

async fn credentials(
    image: &TrackedImage,
    started: Instant,
    world: &World,
) -> Result<Credentials, Failure> {
    let endpoint = &image.endpoint;
    let (text, kept) = match (&image.pull_secret, &endpoint.credentials) {
        (Some(own), _) => (own, Kept::OnePass),
        (None, Some(registry)) => {
            (registry, endpoint.credentials_expire.map_or(Kept::UntilRefused, Kept::For))
        }
        (None, None) => return ambient(image, started, world).await,
    };
    let source: CredentialSource =
        text.parse().map_err(|error: aiu_core::registries::InvalidSource| {
            failure(error.reason(), format!("credentials for {}: {error}", endpoint.name))
        })?;
    if image.pull_secret.is_some() {
        allowed(image, &source, world)?;
    }
    if let Some(field) = source.secret() {
        return in_secret(image, &source, field, world).await;
    }
    let freshness = Freshness { kept, pass_started: started };
    let found = world.keys.keyring.credentials(&source, endpoint, freshness).await;
    found.map_err(|error| failure(error.reason(), error.to_string()))
}

/// Who may set an annotation may not thereby run programs, read the environment, or use
/// another namespace's Secrets (spec 11 G11, G13).
fn allowed(image: &TrackedImage, source: &CredentialSource, world: &World) -> Result<(), Failure> {
    let namespace = &*image.key.application.namespace;
    let operators = source.operators();
    if let Some(kind) = operators.filter(|kind| !world.settings.image_sources.contains(kind)) {
        return Err(failure(
            "CredentialSourceForbidden",
            format!(
                "credentials from '{source}' may be named in registries.conf only; move them there, or have the operator start with --allow-image-credential-sources={}",
                kind.word()
            ),
        ));
    }
    if !source.is_within(namespace) {
        return Err(failure(
            "CredentialSourceForbidden",
            format!(
                "the Secret of '{source}' is in another namespace than the application ({namespace}); use one of its own"
            ),
        ));
    }
    Ok(())
}

async fn ambient(
    image: &TrackedImage,
    started: Instant,
    world: &World,
) -> Result<Credentials, Failure> {
    let found = match &world.keys.ambient {
        None => return Ok(Credentials::Anonymous),
        Some(Ok(ambient)) => ambient.credentials(&image.endpoint, &image.wire_path, started).await,
        Some(Err(error)) => Err(Arc::clone(error)),
    };
    found.map_err(|error| failure(error.reason(), format!("your own Docker logins: {error}")))
}

/// A Secret of the cluster or folder.
async fn in_secret(
    image: &TrackedImage,
    source: &CredentialSource,
    (namespace, name, field): (&str, &str, &str),
    world: &World,
) -> Result<Credentials, Failure> {
    let value = world.cluster.secret_field(namespace, name, field).await;
    let value = value
        .map_err(|error| failure(error.reason, format!("credentials from '{source}': {error}")))?;
    let value = value.expose_secret();
    aiu_registry::from_secret(source, value, &image.endpoint, &image.wire_path)
        .map_err(|error| failure(error.reason(), error.to_string()))
}

fn failure(reason: &'static str, message: String) -> Failure {
    Failure { stage: Stage::Scanned, reason, message }
}
