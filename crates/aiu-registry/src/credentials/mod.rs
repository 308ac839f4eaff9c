//! Who asks: nobody in particular, or a user with a password, and where that came from.
//!
//! What a source means is the core's knowledge ([`aiu_core::registries::CredentialSource`]).
//! Variables and programs are read here; Secrets are read by whoever knows Kubernetes, and
//! understood here.

mod ambient;
mod docker_config;
mod error;
mod keyring;
mod login;
mod program;
mod script;

use std::fmt;
use std::sync::Arc;

use aiu_core::registries::{CredentialPlace, CredentialSource, Endpoint};
use secrecy::SecretString;

pub use ambient::Ambient;
pub use docker_config::DockerConfig;
pub use error::CredentialError;
pub use keyring::{Freshness, Kept, Keyring};
pub use login::Login;

/// The name of credentials: where they came from, never what they are.
///
/// Answers are shared among askers with equal names only, so two sources never answer for
/// each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CredentialsId(Arc<str>);

/// What is shown to a registry that asks who is asking.
#[derive(Clone, Debug, Default)]
pub enum Credentials {
    /// Nothing.
    #[default]
    Anonymous,
    /// A user with a password, which may be a token under a conventional user's name.
    Basic {
        /// Where they came from, such as `secret:ns/name#field`.
        source: CredentialsId,
        /// The user.
        user: String,
        /// The password.
        password: SecretString,
    },
}

/// The credentials in a Secret: `value` is that of the field which `source` names
/// ([`CredentialSource::secret`]).
pub fn from_secret(
    source: &CredentialSource,
    value: &str,
    endpoint: &Endpoint,
    repository: &str,
) -> Result<Credentials, CredentialError> {
    let login = match &source.place {
        CredentialPlace::Secret { namespace, name, field } => {
            Login::from_secret_field(namespace, name, field, value)?
        }
        CredentialPlace::PullSecret { .. } => {
            DockerConfig::parse(value)?.login(endpoint, repository)?
        }
        _ => return Err(CredentialError::NotHere(source.to_string())),
    };
    Ok(login.named(source))
}

impl CredentialsId {
    /// The name of no credentials.
    pub fn anonymous() -> Self {
        Self("anonymous".into())
    }

    /// Takes the text of a credential source.
    pub fn new(source: &str) -> Self {
        Self(source.into())
    }

    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CredentialsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Credentials {
    /// Their name.
    pub fn id(&self) -> CredentialsId {
        match self {
            Self::Anonymous => CredentialsId::anonymous(),
            Self::Basic { source, .. } => source.clone(),
        }
    }

    /// User and password, if there are both; half of a pair is none (spec 11 §2.3).
    pub(crate) fn pair(&self) -> Option<(&str, &SecretString)> {
        use secrecy::ExposeSecret as _;
        match self {
            Self::Basic { user, password, .. }
                if !user.is_empty() && !password.expose_secret().is_empty() =>
            {
                Some((user, password))
            }
            Self::Anonymous | Self::Basic { .. } => None,
        }
    }
}
