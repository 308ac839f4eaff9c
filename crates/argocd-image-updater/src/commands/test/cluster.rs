//! Secrets of a cluster. A client is made only when a source of credentials names a Secret, and
//! only where a cluster is at hand.

use std::path::{Path, PathBuf};

use aiu_controller::cluster::api;
use kube::Client;
use secrecy::SecretString;

use super::asked::Test;
use crate::commands::cluster::client_config;
use crate::settings::Environment;

/// A field of a Secret, or a stable word and why there is none.
pub(super) async fn secret_field(
    asked: &Test,
    env: &Environment,
    [namespace, name, field]: [&str; 3],
) -> Result<SecretString, (&'static str, String)> {
    let kubeconfig = Some(Path::new(&asked.kubeconfig)).filter(|path| !path.as_os_str().is_empty());
    if kubeconfig.is_none() && !is_at_hand(env) {
        let why = "could not fetch credentials: no Kubernetes client given; give --kubeconfig, or --manifests with the folder that holds the Secret";
        return Err(("CredentialSecretMissing", why.to_owned()));
    }
    let config = client_config(kubeconfig, env).await;
    let config = config.map_err(|error| ("ApiUnreachable", format!("{error:#}")))?;
    let client = Client::try_from(config)
        .map_err(|error| ("ApiUnreachable", format!("could not create K8s client: {error}")))?;
    let value = api::secret_field(&client, namespace, name, field).await;
    value.map_err(|error| (error.reason, error.to_string()))
}

/// Whether the usual places name a cluster: `KUBECONFIG`, a pod's environment, the user's file.
fn is_at_hand(env: &Environment) -> bool {
    let users = || env.text("HOME").map(|home| PathBuf::from(home).join(".kube/config"));
    ["KUBECONFIG", "KUBERNETES_SERVICE_HOST"].iter().any(|name| env.text(name).is_some())
        || users().is_some_and(|file| file.is_file())
}
