//! The Kubernetes API as the cluster: stores filled by watches, and the calls that passes make.
//!
//! Nothing is listed after the start (what git needs, from the first pass that writes to it), the
//! Secrets of registries are asked for by name, and an Application is
//! changed by a guarded JSON Patch alone: a PUT would drop the fields that we do not decode.

pub mod error;
mod git;
pub mod objects;
pub mod store;
mod view;
mod watch;
pub mod wire;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aiu_core::batch::AppName;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Patch, PatchParams};
use secrecy::SecretString;
use serde_json::Value;

pub use error::ApiError;
use objects::{Seen as _, SeenApplication, SeenUpdater};
use store::Store;
pub use view::View;
pub use watch::{Watched, watch};
use wire::{Applications, Wire, resource};

use crate::cluster::SecretError;
use crate::leader::Leadership;

/// No call to the API server takes longer.
const DEADLINE: Duration = Duration::from_secs(30);

/// The fields of a Secret that are texts.
pub type SecretFields = BTreeMap<String, SecretString>;

/// Which namespaces are seen (spec 21 §1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every one.
    All,
    /// These, in order, each once.
    Namespaces(Vec<Arc<str>>),
}

impl Scope {
    /// One entry per watch; `None` watches everything.
    fn watches(&self) -> Vec<Option<Arc<str>>> {
        match self {
            Self::All => vec![None],
            Self::Namespaces(namespaces) => namespaces.iter().cloned().map(Some).collect(),
        }
    }
}

/// The API server, and what is known of its objects.
pub struct Api {
    /// The connection.
    pub client: Client,
    /// The Applications of the scope.
    pub applications: Store<SeenApplication>,
    /// The resources of the scope.
    pub updaters: Store<SeenUpdater>,
    git: git::GitWatch,
    leadership: Leadership,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

impl Api {
    /// The API server behind a client; nothing is known of it yet.
    pub fn new(client: Client, scope: &Scope, leadership: Leadership) -> Self {
        let applications = Store::new(scope.watches());
        let updaters = Store::new(scope.watches());
        let git = git::GitWatch::default();
        Self { client, applications, updaters, git, leadership }
    }

    /// The `Application`s of a namespace, for calls.
    fn applications_in(&self, namespace: &str) -> kube::Api<Wire<Applications>> {
        kube::Api::namespaced(self.client.clone(), namespace)
    }

    /// Whether this process may still write; asked right before each write.
    pub(crate) fn may_write(&self) -> Result<(), ApiError> {
        if self.leadership.is_leader() { Ok(()) } else { Err(ApiError::NotLeader) }
    }

    async fn patch_application(&self, app: &AppName, operations: Value) -> Result<(), ApiError> {
        self.may_write()?;
        let patch = serde_json::from_value(operations)
            .map(Patch::Json::<()>)
            .map_err(|error| ApiError::Refused(error.to_string()))?;
        let applications = self.applications_in(&app.namespace);
        let parameters = PatchParams::default();
        let answer = applications.patch(&app.name, &parameters, &patch);
        let wire = within_deadline(answer, "patch", &resource::<Applications>(), app).await?;
        self.applications.put(app, SeenApplication::of(wire));
        Ok(())
    }

    async fn read_application(&self, app: &AppName) -> Result<SeenApplication, ApiError> {
        let applications = self.applications_in(&app.namespace);
        let answer = applications.get(&app.name);
        let wire = within_deadline(answer, "get", &resource::<Applications>(), app).await?;
        Ok(SeenApplication::of(wire))
    }
}

/// A field of a Secret, asked for with a client of which nothing else is wanted.
pub async fn secret_field(
    client: &Client,
    namespace: &str,
    name: &str,
    field: &str,
) -> Result<SecretString, SecretError> {
    field_of(&*read_secret(client, namespace, name).await?, namespace, name, field)
}

fn field_of(
    fields: &SecretFields,
    namespace: &str,
    name: &str,
    field: &str,
) -> Result<SecretString, SecretError> {
    fields.get(field).cloned().ok_or_else(|| {
        let known: Vec<&str> = fields.keys().map(String::as_str).collect();
        SecretError::missing(format!(
            "the Secret '{name}' in namespace '{namespace}' has no field '{field}', only {}",
            known.join(", ")
        ))
    })
}

async fn read_secret(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<Arc<SecretFields>, SecretError> {
    let secrets: kube::Api<Secret> = kube::Api::namespaced(client.clone(), namespace);
    let subject = AppName { namespace: namespace.into(), name: name.into() };
    match within_deadline(secrets.get(name), "get", "secrets", &subject).await {
        Ok(secret) => {
            let data = secret.data.unwrap_or_default();
            let data = data.into_iter().map(|(key, bytes)| (key, bytes.0)).collect();
            Ok(Arc::new(view::fields(data)))
        }
        Err(ApiError::Gone(_)) => Err(SecretError::missing(format!(
            "there is no Secret '{name}' in namespace '{namespace}'"
        ))),
        Err(error) => Err(SecretError { reason: error.reason(), message: error.to_string() }),
    }
}

/// Waits for an answer, but not for ever.
pub(crate) async fn within_deadline<T>(
    answer: impl Future<Output = Result<T, kube::Error>>,
    verb: &'static str,
    resource: &str,
    object: &AppName,
) -> Result<T, ApiError> {
    match tokio::time::timeout(DEADLINE, answer).await {
        Ok(answer) => {
            answer.map_err(|error| ApiError::of(&error, verb, resource, &object.to_string()))
        }
        Err(_) => Err(ApiError::Unreachable(format!(
            "no answer to '{verb}' on {resource} within {} s",
            DEADLINE.as_secs()
        ))),
    }
}
