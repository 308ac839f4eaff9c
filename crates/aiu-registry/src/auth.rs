//! Signing in: what a registry asks for, what it is shown, and what was learned for next time.

use std::collections::HashMap;
use std::sync::Arc;

use aiu_http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use aiu_http::{Answer, Call, Http};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::OnceCell;

use crate::challenge::{self, Challenge};
use crate::client::Remote;
use crate::credentials::{Credentials, CredentialsId};
use crate::error::ScanError;
use crate::tokens::{Realm, Token, Tokens};

/// How a registry wants to be signed in to, as one of its challenges says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// A token from this place.
    Bearer(Realm),
    /// User and password with each request.
    Basic,
    /// It has asked for nothing so far, not even when its root was visited.
    Open,
}

/// What is shown with a request.
#[derive(Clone)]
pub(crate) enum Shown {
    Token(Arc<Token>),
    Basic(Credentials),
}

/// What was learned about registries, by registry and name of credentials.
pub(crate) struct Auth {
    schemes: Mutex<HashMap<Asker, Scheme>>,
    /// Who asked a registry for the first time, and whether they have their answer.
    firsts: Mutex<HashMap<Asker, Arc<OnceCell<()>>>>,
    tokens: Tokens,
}

/// A registry, and the name of the credentials that it is asked with.
type Asker = (Arc<str>, CredentialsId);

impl Auth {
    pub(crate) fn new() -> Self {
        Self { schemes: Mutex::default(), firsts: Mutex::default(), tokens: Tokens::new() }
    }

    /// How this registry wanted to be signed in to the last time.
    pub(crate) fn known(&self, remote: &Remote<'_>) -> Option<Scheme> {
        self.schemes.lock().get(&key(remote)).cloned()
    }

    pub(crate) fn learn(&self, remote: &Remote<'_>, scheme: Scheme) {
        self.schemes.lock().insert(key(remote), scheme);
    }

    /// Full once somebody has asked this registry and got an answer.
    pub(crate) fn first(&self, remote: &Remote<'_>) -> Arc<OnceCell<()>> {
        Arc::clone(self.firsts.lock().entry(key(remote)).or_default())
    }

    /// Gets what `scheme` wants to see, other than the `refused`.
    pub(crate) async fn obtain(
        &self,
        http: &Http,
        remote: &Remote<'_>,
        credentials: &Credentials,
        scheme: &Scheme,
        refused: Option<&Shown>,
    ) -> Result<Option<Shown>, ScanError> {
        match (scheme, refused) {
            (Scheme::Open, _) | (Scheme::Basic, Some(Shown::Basic(_))) => Ok(None),
            (Scheme::Basic, _) => Ok(Some(Shown::Basic(credentials.clone()))),
            (Scheme::Bearer(realm), refused) => {
                let refused = match refused {
                    Some(Shown::Token(token)) => Some(token),
                    Some(Shown::Basic(_)) | None => None,
                };
                let token = self.tokens.get(http, remote, credentials, realm, refused).await?;
                Ok(Some(Shown::Token(token)))
            }
        }
    }
}

fn key(remote: &Remote<'_>) -> (Arc<str>, CredentialsId) {
    (Arc::clone(&remote.request.endpoint.prefix), remote.request.credentials.id())
}

/// The first challenge that can be met, bearer before basic (spec 11 G10).
pub(crate) fn scheme_of(refusal: &Answer, credentials: &Credentials) -> Option<Scheme> {
    let challenges = challenges_of(refusal);
    let bearer = challenges.iter().find(|challenge| challenge.scheme == "bearer");
    if let Some(bearer) = bearer {
        return Some(Scheme::Bearer(Realm {
            url: bearer.parameters.get("realm").cloned().unwrap_or_default(),
            service: bearer.parameters.get("service").cloned(),
            scope: bearer.parameters.get("scope").cloned(),
        }));
    }
    credentials.pair()?;
    // A registry that refuses without a challenge is shown what there is.
    let basic = challenges.is_empty() || challenges.iter().any(|c| c.scheme == "basic");
    basic.then_some(Scheme::Basic)
}

/// Whether all that was missing is a user with a password.
pub(crate) fn wants_password(refusal: &Answer, credentials: &Credentials) -> bool {
    let challenges = challenges_of(refusal);
    credentials.pair().is_none()
        && !challenges.is_empty()
        && challenges.iter().all(|challenge| challenge.scheme == "basic")
}

fn challenges_of(refusal: &Answer) -> Vec<Challenge> {
    let lines = refusal.headers.get_all(WWW_AUTHENTICATE);
    lines.iter().filter_map(|line| line.to_str().ok()).flat_map(challenge::parse).collect()
}

impl Shown {
    /// Adds itself to a call.
    pub(crate) fn on(&self, call: Call) -> Call {
        let value = match self {
            Self::Token(token) => sensitive(format!("Bearer {}", token.text.expose_secret())),
            Self::Basic(credentials) => match credentials.pair() {
                Some((user, password)) => basic(user, password),
                None => return call,
            },
        };
        call.header(AUTHORIZATION, value)
    }
}

/// The header value of basic authentication.
pub(crate) fn basic(user: &str, password: &SecretString) -> HeaderValue {
    let pair = format!("{user}:{}", password.expose_secret());
    sensitive(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

/// A value that the HTTP stack neither prints nor compresses. A token with characters that no
/// header can carry is sent as nothing, and so refused by the registry.
fn sensitive(text: String) -> HeaderValue {
    let mut value = HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""));
    value.set_sensitive(true);
    value
}
