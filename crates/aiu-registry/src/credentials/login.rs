//! A user with a password, in the spellings of the sources.

use aiu_core::registries::CredentialSource;
use secrecy::{ExposeSecret as _, SecretString};

use super::{CredentialError, Credentials, CredentialsId};

/// A user with a password. Printing it shows the user alone.
#[derive(Clone, Debug)]
pub struct Login {
    /// The user.
    pub user: String,
    /// The password.
    pub password: SecretString,
}

impl Login {
    /// Reads the field of a Secret: everything up to the first colon is the user. One line
    /// break at the end is none of the password (spec 11 §6.3, G16).
    pub fn from_secret_field(
        namespace: &str,
        name: &str,
        field: &str,
        value: &str,
    ) -> Result<Self, CredentialError> {
        Self::split(without_line_break(value)).ok_or_else(|| CredentialError::SecretMalformed {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            field: field.to_owned(),
        })
    }

    /// Reads the value of an environment variable: both user and password must be there (spec
    /// 11 §6.2).
    pub fn from_variable(name: &str, value: &str) -> Result<Self, CredentialError> {
        if value.is_empty() {
            return Err(CredentialError::EnvMissing(name.to_owned()));
        }
        let complete =
            |login: &Self| !login.user.is_empty() && !login.password.expose_secret().is_empty();
        Self::split(value)
            .filter(complete)
            .ok_or_else(|| CredentialError::EnvMalformed(name.to_owned()))
    }

    /// These credentials under the name of their source.
    pub fn named(self, source: &CredentialSource) -> Credentials {
        let source = CredentialsId::new(&source.to_string());
        Credentials::Basic { source, user: self.user, password: self.password, origin: None }
    }

    /// Cuts at the first colon; either side may be empty.
    pub(super) fn split(text: &str) -> Option<Self> {
        let (user, password) = text.split_once(':')?;
        Some(Self { user: user.to_owned(), password: password.into() })
    }
}

/// The text without one line break at its end.
pub(super) fn without_line_break(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}
