//! Why there are no credentials.

use std::time::Duration;

use aiu_core::outcome::Remedy;

use super::IdentityError;

/// Why a source gave no credentials. Messages hold the reference's sentences (spec 11 §6),
/// and never a part of what a source holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// The variable is unset or empty.
    #[error("could not fetch credentials: env '{0}' is not set; set it for this program")]
    EnvMissing(String),
    /// The variable's value is no pair.
    #[error("could not fetch credentials: value of {0} is malformed; it must be <user>:<password>")]
    EnvMalformed(String),
    /// The field of a Secret is no pair.
    #[error(
        "invalid credentials in secret '{name}' from namespace '{namespace}' (field '{field}'); the field must be <user>:<password>"
    )]
    SecretMalformed {
        /// The Secret's namespace.
        namespace: String,
        /// The Secret's name.
        name: String,
        /// The field.
        field: String,
    },
    /// The text is no Docker configuration.
    #[error("no Docker configuration: {0}")]
    DockerConfigUnreadable(String),
    /// It has no mapping `auths`.
    #[error("no credentials in image pull secret: there is no mapping 'auths'")]
    NoAuths,
    /// None of its entries is for the registry.
    #[error(
        "no valid auth entry for registry {registry} found in image pull secret, which has entries for {}; add one for this registry",
        list(known)
    )]
    NoEntry {
        /// The registry's API.
        registry: String,
        /// The keys that are there.
        known: Vec<String>,
    },
    /// The entry for the registry cannot be used.
    #[error("{problem} for registry entry {key}{hint}")]
    Entry {
        /// The entry's key.
        key: String,
        /// What is wrong, in the reference's words.
        problem: &'static str,
        /// More of it.
        hint: &'static str,
    },
    /// The path is relative.
    #[error("path to script must be absolute, but is '{0}'")]
    ScriptRelative(String),
    /// The file cannot be looked at.
    #[error("could not stat {path}: {cause}")]
    ScriptMissing {
        /// The script.
        path: String,
        /// Why.
        cause: String,
    },
    /// It could not be started, or ended badly.
    #[error("error executing {path}: {cause}")]
    ScriptFailed {
        /// The script.
        path: String,
        /// Why, with the last line of its standard error.
        cause: String,
    },
    /// It printed something else.
    #[error(
        "invalid script output, must be single line with syntax <username>:<password>, from {0}"
    )]
    ScriptOutput(String),
    /// A cloud gave none.
    #[error("could not fetch credentials: {0}")]
    Identity(#[from] IdentityError),
    /// The source is of a kind that cannot be read from here.
    #[error("could not fetch credentials: no Kubernetes client given for {0}")]
    NotHere(String),
}

impl CredentialError {
    /// Stable word for conditions, events and metrics (spec 00 §6, stage 2).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::EnvMissing(_) | Self::NotHere(_) => "CredentialSecretMissing",
            Self::EnvMalformed(_) | Self::SecretMalformed { .. } => "CredentialSourceInvalid",
            Self::DockerConfigUnreadable(_)
            | Self::NoAuths
            | Self::NoEntry { .. }
            | Self::Entry { .. } => "PullSecretNoEntry",
            Self::ScriptRelative(_)
            | Self::ScriptMissing { .. }
            | Self::ScriptFailed { .. }
            | Self::ScriptOutput(_) => "CredentialScriptFailed",
            Self::Identity(error) => error.reason(),
        }
    }

    /// What it asks for: a program may do better next time, anything else waits for an edit.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::ScriptFailed { .. } => Remedy::RetryAfter(Duration::from_secs(30)),
            Self::Identity(error) => error.remedy(),
            _ => Remedy::AwaitChange,
        }
    }
}

fn list(known: &[String]) -> String {
    if known.is_empty() { "nobody".to_owned() } else { known.join(", ") }
}
