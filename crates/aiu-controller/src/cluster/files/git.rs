//! What a folder of manifests says about git: Argo CD's Secrets and `ConfigMap`s in it.

use std::collections::BTreeMap;

use aiu_git::credentials::KnownHosts;
use aiu_git::credentials::secrets::{CERTIFICATES, GitSecret, GitSources, KNOWN_HOSTS, LABEL};
use secrecy::SecretString;

use super::Manifests;

/// The `ConfigMap`s that are kept.
pub(super) const MAPS: [&str; 2] = [KNOWN_HOSTS.0, CERTIFICATES];

impl Manifests {
    /// The labelled Secrets, known hosts and certificates of Argo CD's namespace.
    pub(in crate::cluster) fn git_sources(&self, namespace: &str) -> GitSources {
        let map = |name: &str| self.git_maps.get(&(namespace.to_owned(), name.to_owned()));
        let labelled = self.secrets.iter().filter(|((of, _), secret)| {
            of == namespace && secret.metadata.labels.contains_key(LABEL)
        });
        let known_hosts = map(KNOWN_HOSTS.0).and_then(|map| map.get(KNOWN_HOSTS.1));
        let certificates = map(CERTIFICATES).into_iter().flatten();
        GitSources {
            secrets: labelled.map(|((_, name), _)| self.fields(namespace, name)).collect(),
            known_hosts: known_hosts
                .map_or(KnownHosts::Users, |text| KnownHosts::Text(text.as_str().into())),
            certificates: certificates
                .map(|(host, text)| (host.clone(), text.as_str().into()))
                .collect(),
            certificate_folder: None,
        }
    }

    /// One Secret.
    pub(in crate::cluster) fn git_secret(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<GitSecret, String> {
        if self.secrets.contains_key(&(namespace.to_owned(), name.to_owned())) {
            return Ok(self.fields(namespace, name));
        }
        Err(format!("the folder has no Secret '{name}' in namespace '{namespace}'"))
    }

    /// The fields that can be decoded; one that cannot is as good as missing.
    fn fields(&self, namespace: &str, name: &str) -> GitSecret {
        let secret = self.secrets.get(&(namespace.to_owned(), name.to_owned()));
        let names = secret.into_iter().flat_map(|it| it.data.keys().chain(it.string_data.keys()));
        let decoded = names.filter_map(|field| {
            let value = self.secret_field(namespace, name, field).ok()?;
            Some((field.clone(), SecretString::from(value)))
        });
        let fields: BTreeMap<String, SecretString> = decoded.collect();
        let secret_type = secret.and_then(|it| it.metadata.labels.get(LABEL)).cloned();
        GitSecret {
            namespace: namespace.into(),
            name: name.into(),
            secret_type: secret_type.unwrap_or_default(),
            fields,
        }
    }
}
