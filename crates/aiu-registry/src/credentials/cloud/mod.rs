//! The sign-in of clouds: from the identity that this program has where it runs to a login of
//! the cloud's registry (spec 11 §6.7).
//!
//! Each cloud is a few requests of its own protocol, made through the one HTTP client, so that
//! limits, deadlines, proxies and redaction hold for them as for all others (record 0008). What
//! is known of the surroundings comes from [`Variables`], which tests give. Nothing is tried
//! behind the operator's back: the identity of the machine below is not that of this pod.

pub(crate) mod aws;
mod azure;
mod error;
mod gcp;
mod jwt;
mod lifetime;
mod variables;

use std::sync::Arc;
use std::time::Duration;

use aiu_core::registries::{Cloud, CredentialPlace, CredentialSource, EcrHost, Endpoint};
use aiu_http::{Answer, Call, Http, HttpSettings, TlsProfile};

pub use error::IdentityError;
pub use variables::Variables;

use super::{CredentialError, CredentialsId, Login};
use crate::tls::CaFiles;

/// A login that was given out.
pub(crate) struct Pass {
    pub(crate) login: Login,
    /// For how long it may be used: until shortly before it expires.
    pub(crate) life: Duration,
}

/// Signs in to clouds.
pub(crate) struct Clouds {
    desk: Desk,
    aws: aws::Aws,
    ca_files: Arc<CaFiles>,
}

/// What every sign-in needs: a way to ask, and to learn where it is.
pub(crate) struct Desk {
    pub(crate) http: Http,
    pub(crate) variables: Variables,
}

impl Desk {
    /// Makes a call whose answer may be any.
    pub(crate) async fn send(&self, call: &Call) -> Result<Answer, IdentityError> {
        self.http.send(call).await.map_err(IdentityError::Http)
    }
}

impl Default for Clouds {
    /// In the surroundings of the process.
    fn default() -> Self {
        Self::new(
            Http::new(HttpSettings::default()),
            Variables::of_process(),
            Arc::new(CaFiles::new(None)),
        )
    }
}

impl Clouds {
    pub(crate) fn new(http: Http, variables: Variables, ca_files: Arc<CaFiles>) -> Self {
        Self { desk: Desk { http, variables }, aws: aws::Aws::new(), ca_files }
    }

    /// When the images of a repository were pushed, as ECR tells whoever the registry's entry
    /// signs in as. Nobody else is told with that identity (spec 40 B13).
    pub(crate) async fn pushed(
        &self,
        endpoint: &Endpoint,
        asker: &CredentialsId,
        repository: &str,
    ) -> Result<aws::Pushed, IdentityError> {
        let source = endpoint.credentials.as_deref().unwrap_or_default();
        let source = source.parse::<CredentialSource>().ok();
        let own = source.filter(|source| *asker == CredentialsId::new(&source.to_string()));
        let Some(CredentialPlace::Cloud { cloud: Cloud::Aws, identity }) = own.map(|own| own.place)
        else {
            return Err(IdentityError::Missing {
                cloud: Cloud::Aws,
                found: format!("push dates are told to the entry's own sign-in, not to '{asker}'"),
                fix: "leave the image without credentials of its own, or the entry without 'dates: pushed'".to_owned(),
            });
        };
        match place(Cloud::Aws, endpoint)? {
            Place::Ecr(host) => {
                self.aws.pushed(&self.desk, &host, identity.as_deref(), repository).await
            }
            Place::Acr(host) => Err(IdentityError::Host { cloud: Cloud::Aws, host }),
            Place::Google => {
                let host = endpoint.hosts()[0].to_owned();
                Err(IdentityError::Host { cloud: Cloud::Aws, host })
            }
        }
    }

    /// A fresh login for the registry of `endpoint`.
    pub(super) async fn sign_in(
        &self,
        cloud: Cloud,
        identity: Option<&str>,
        endpoint: &Endpoint,
    ) -> Result<Pass, IdentityError> {
        match place(cloud, endpoint)? {
            Place::Ecr(host) => self.aws.login(&self.desk, &host, identity).await,
            Place::Acr(host) => {
                let name = endpoint.hosts()[0];
                let profile = self.ca_files.profile(endpoint, name).await;
                let tls: TlsProfile = profile.map_err(|cause| IdentityError::BadAnswer {
                    host: name.to_owned(),
                    cause: format!("its certificates cannot be checked: {cause}"),
                })?;
                azure::login(&self.desk, endpoint, &host, tls, identity).await
            }
            Place::Google => gcp::login(&self.desk, identity).await,
        }
    }
}

/// Where a cloud is signed in to for a registry. Equal places get one login: a token of ECR is
/// good for all registries of a region, one of Google for all of its hosts. For other sources
/// it is nowhere.
pub(super) fn place_of(
    source: &CredentialPlace,
    endpoint: &Endpoint,
) -> Result<String, CredentialError> {
    match source {
        CredentialPlace::Cloud { cloud, .. } => Ok(place(*cloud, endpoint)?.to_string()),
        _ => Ok(String::new()),
    }
}

/// What is signed in to.
enum Place {
    Ecr(EcrHost),
    /// By the name of its host.
    Acr(String),
    Google,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ecr(host) => f.write_str(&host.api_host()),
            Self::Acr(host) => f.write_str(host),
            Self::Google => Ok(()),
        }
    }
}

/// What a registry is, by its hosts. Nothing of a cloud's is shown to a host of somebody else.
fn place(cloud: Cloud, endpoint: &Endpoint) -> Result<Place, IdentityError> {
    let hosts = endpoint.hosts();
    let found = hosts.into_iter().find_map(|host| place_at(cloud, host));
    found.ok_or_else(|| IdentityError::Host { cloud, host: hosts[0].to_owned() })
}

fn place_at(cloud: Cloud, host: &str) -> Option<Place> {
    let host = host.to_ascii_lowercase();
    match cloud {
        Cloud::Aws => EcrHost::of(&host).map(Place::Ecr),
        Cloud::Azure => host.contains(".azurecr.").then_some(Place::Acr(host)),
        Cloud::Gcp => is_google(&host).then_some(Place::Google),
    }
}

/// The cloud that the registry at a host belongs to.
pub(crate) fn cloud_of(host: &str) -> Option<Cloud> {
    [Cloud::Aws, Cloud::Azure, Cloud::Gcp].into_iter().find(|c| place_at(*c, host).is_some())
}

fn is_google(host: &str) -> bool {
    host == "gcr.io" || host.ends_with(".gcr.io") || host.contains("docker.pkg.")
}

#[cfg(test)]
mod tests {
    use aiu_core::registries::Registries;

    use super::*;

    #[test]
    fn a_sign_in_is_for_the_hosts_of_its_cloud() {
        #[rustfmt::skip]
        let rows = [
            (Cloud::Aws,   "https://000011112222.dkr.ecr.eu-north-1.amazonaws.com", "any", "api.ecr.eu-north-1.amazonaws.com"),
            (Cloud::Aws,   "http://127.0.0.1:5000", "000011112222.dkr.ecr.eu-north-1.amazonaws.com/team", "api.ecr.eu-north-1.amazonaws.com"),
            (Cloud::Aws,   "https://public.ecr.aws", "any", "api.ecr-public.us-east-1.amazonaws.com"),
            (Cloud::Aws,   "https://acme.azurecr.io", "any", "CredentialSourceInvalid"),
            (Cloud::Aws,   "https://api.ecr.eu-north-1.amazonaws.com", "any", "RegistryApiUrlWrong"),
            (Cloud::Azure, "https://Acme.azurecr.io", "any", "acme.azurecr.io"),
            (Cloud::Azure, "https://acme.azurecr.us", "any", "acme.azurecr.us"),
            (Cloud::Azure, "https://ghcr.io", "any", "CredentialSourceInvalid"),
            (Cloud::Gcp,   "https://europe-docker.pkg.dev", "any", ""),
            (Cloud::Gcp,   "https://gcr.io", "any", ""),
            (Cloud::Gcp,   "https://eu.gcr.io", "any", ""),
            (Cloud::Gcp,   "https://notgcr.io", "any", "CredentialSourceInvalid"),
        ];
        for (cloud, api_url, prefix, expected) in rows {
            let file =
                format!("registries: [{{ name: test, prefix: '{prefix}', api_url: '{api_url}' }}]");
            let registries = Registries::parse(&file).unwrap();
            let endpoint =
                registries.endpoints().iter().find(|endpoint| *endpoint.prefix == *prefix).unwrap();
            let told = match place(cloud, endpoint) {
                Ok(place) => place.to_string(),
                Err(error) => error.reason().to_owned(),
            };
            assert_eq!(told, expected, "{cloud:?} at {api_url}, {prefix}");
        }
    }
}
