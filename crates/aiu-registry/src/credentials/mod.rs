//! Who asks: nobody in particular, or a user with a password, and where that came from.
//!
//! What a source means is the core's knowledge ([`aiu_core::registries::CredentialSource`]).
//! Variables and programs are read here, and clouds are signed in to; Secrets are read by whoever knows Kubernetes, and
//! understood here.

mod ambient;
pub(crate) mod cloud;
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
pub use cloud::{IdentityError, Variables};
pub use docker_config::DockerConfig;
pub use error::CredentialError;
pub use keyring::{Freshness, Kept, Keyring, Origin};
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
        /// Where newer ones can be had, if a keyring gave them.
        origin: Option<Origin>,
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

    /// The newest of their kind: what was fetched since these were, else these.
    pub(crate) fn newest(&self) -> Self {
        let newer = self.origin().and_then(Origin::newer);
        newer.unwrap_or_else(|| self.clone())
    }

    /// Newer ones in place of these, which a registry refused; none if there is no way to get
    /// some, or these are fresh (spec 11 §5.3, G21).
    pub(crate) async fn renewed(&self) -> Result<Option<Self>, Arc<CredentialError>> {
        match self.origin() {
            Some(origin) => origin.renewed().await,
            None => Ok(None),
        }
    }

    /// Which fetch brought them, if they are kept for longer than a pass.
    pub(crate) fn kept_fetch(&self) -> Option<u64> {
        self.origin().and_then(Origin::kept)
    }

    fn with_origin(self, new: Origin) -> Self {
        match self {
            Self::Basic { source, user, password, .. } => {
                Self::Basic { source, user, password, origin: Some(new) }
            }
            Self::Anonymous => Self::Anonymous,
        }
    }

    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Basic { origin, .. } => origin.as_ref(),
            Self::Anonymous => None,
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
