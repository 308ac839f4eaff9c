//! What Argo CD keeps in its namespace for git: labelled Secrets and two `ConfigMap`s.

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_core::batch::AppName;
use aiu_git::credentials::KnownHosts;
use aiu_git::credentials::secrets::{
    CERTIFICATES, GitSecret, GitSources, KNOWN_HOSTS, LABEL, REPOSITORY, TEMPLATE,
};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::ListParams;

use super::{Api, ApiError, view, within_deadline};
use crate::cluster::SecretError;

impl Api {
    /// One list and two gets for a pass. A `ConfigMap` that may not be read is as good as
    /// absent: what is mounted of it holds then.
    pub(super) async fn git_sources(&self, namespace: &str) -> Result<GitSources, SecretError> {
        let secrets: kube::Api<Secret> = kube::Api::namespaced(self.client.clone(), namespace);
        let wanted =
            ListParams::default().labels(&format!("{LABEL} in ({REPOSITORY}, {TEMPLATE})"));
        let subject = AppName { namespace: namespace.into(), name: "".into() };
        let listed = within_deadline(secrets.list(&wanted), "list", "secrets", &subject).await;
        let listed = listed.map_err(|error| SecretError {
            reason: error.reason(),
            message: format!("the git credentials of Argo CD cannot be read: {error}"),
        })?;
        let known_hosts = self.map(namespace, KNOWN_HOSTS.0).await.remove(KNOWN_HOSTS.1);
        let certificates = self.map(namespace, CERTIFICATES).await.into_iter();
        Ok(GitSources {
            secrets: listed.items.into_iter().map(|secret| git_secret(namespace, secret)).collect(),
            known_hosts: known_hosts
                .map_or(KnownHosts::Users, |text| KnownHosts::Text(text.into())),
            certificates: certificates.map(|(host, text)| (host, text.into())).collect(),
            certificate_folder: None,
        })
    }

    /// The texts of a `ConfigMap`; none if there is none.
    async fn map(&self, namespace: &str, name: &str) -> BTreeMap<String, String> {
        let maps: kube::Api<ConfigMap> = kube::Api::namespaced(self.client.clone(), namespace);
        let subject = AppName { namespace: namespace.into(), name: name.into() };
        match within_deadline(maps.get(name), "get", "configmaps", &subject).await {
            Ok(map) => map.data.unwrap_or_default(),
            Err(ApiError::Gone(_)) => BTreeMap::new(),
            Err(error) => {
                tracing::debug!("ConfigMap {namespace}/{name} is not used: {error}");
                BTreeMap::new()
            }
        }
    }
}

fn git_secret(namespace: &str, secret: Secret) -> GitSecret {
    let labels = secret.metadata.labels.unwrap_or_default();
    let data = secret.data.unwrap_or_default();
    GitSecret {
        namespace: Arc::from(namespace),
        name: secret.metadata.name.unwrap_or_default().into(),
        secret_type: labels.get(LABEL).cloned().unwrap_or_default(),
        fields: view::fields(data.into_iter().map(|(key, bytes)| (key, bytes.0)).collect()),
    }
}
