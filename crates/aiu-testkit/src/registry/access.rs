//! Who may ask: open, basic or bearer, and the tokens given out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use parking_lot::Mutex;
use tokio::time::Instant;

/// What the registry asks of its clients.
#[derive(Clone, Debug, Default)]
pub enum Access {
    /// Nothing.
    #[default]
    Open,
    /// A user and a password with each request.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A token from the registry's own token endpoint.
    Bearer {
        /// User and password that the token endpoint wants; `None` gives tokens to anyone.
        login: Option<(String, String)>,
        /// How long a token is good, as the token endpoint says and as the registry checks.
        lifetime: Duration,
        /// Under `access_token` instead of `token`.
        oauth_key: bool,
        /// Offers basic as a second challenge.
        offer_basic: bool,
    },
    /// A token for one action alone, as accounts with narrow rights get: asked for another one,
    /// or for more, the token endpoint refuses.
    Narrow {
        /// The action, such as `metadata_read`.
        action: String,
    },
}

impl Access {
    /// Tokens for anyone, good for five minutes.
    pub fn bearer() -> Self {
        Self::Bearer {
            login: None,
            lifetime: Duration::from_mins(5),
            oauth_key: false,
            offer_basic: false,
        }
    }

    /// Tokens for this user, good for five minutes.
    pub fn bearer_for(user: &str, password: &str) -> Self {
        Self::Bearer {
            login: Some((user.to_owned(), password.to_owned())),
            lifetime: Duration::from_mins(5),
            oauth_key: false,
            offer_basic: false,
        }
    }

    /// This user with each request.
    pub fn basic(user: &str, password: &str) -> Self {
        Self::Basic { user: user.to_owned(), password: password.to_owned() }
    }

    /// The challenges of an unauthorised answer, one header line each.
    pub(super) fn challenges(&self, origin: &str, repository: Option<&str>) -> Vec<String> {
        let basic = "Basic realm=\"testkit\"".to_owned();
        match self {
            Self::Open => Vec::new(),
            Self::Basic { .. } => vec![basic],
            Self::Narrow { action } => {
                let name = repository.unwrap_or_default();
                vec![format!(
                    "Bearer realm=\"{origin}/token\",service=\"testkit\",scope=\"repository:{name}:{action}\""
                )]
            }
            Self::Bearer { offer_basic, .. } => {
                let scope = repository
                    .map(|name| format!(",scope=\"repository:{name}:pull\""))
                    .unwrap_or_default();
                let bearer = format!("Bearer realm=\"{origin}/token\",service=\"testkit\"{scope}");
                if *offer_basic { vec![basic, bearer] } else { vec![bearer] }
            }
        }
    }

    /// Whether a request with these headers may see `repository`.
    pub(super) fn admits(
        &self,
        headers: &HeaderMap,
        repository: Option<&str>,
        tokens: &Tokens,
    ) -> bool {
        match self {
            Self::Open => true,
            Self::Basic { user, password } => is_basic(headers, user, password),
            Self::Narrow { .. } => tokens.admits(bearer(headers), repository),
            Self::Bearer { login, offer_basic, .. } => {
                let by_basic = *offer_basic
                    && login.as_ref().is_some_and(|(user, pass)| is_basic(headers, user, pass));
                by_basic || tokens.admits(bearer(headers), repository)
            }
        }
    }

    /// Whether the token endpoint serves a request with these headers.
    pub(super) fn gives_token(&self, headers: &HeaderMap, scope: &str) -> bool {
        match self {
            Self::Narrow { action } => scope.rsplit(':').next() == Some(action),
            Self::Open | Self::Basic { .. } => false,
            Self::Bearer { login: None, .. } => true,
            Self::Bearer { login: Some((user, password)), .. } => is_basic(headers, user, password),
        }
    }
}

/// The tokens given out: each good for one repository, for a while.
#[derive(Default)]
pub(super) struct Tokens {
    given: AtomicUsize,
    good: Mutex<HashMap<String, (Option<String>, Instant)>>,
}

impl Tokens {
    pub(super) fn give(&self, repository: Option<String>, lifetime: Duration) -> String {
        let token = format!("token-{}", self.given.fetch_add(1, Ordering::Relaxed));
        self.good.lock().insert(token.clone(), (repository, Instant::now() + lifetime));
        token
    }

    pub(super) fn revoke(&self) {
        self.good.lock().clear();
    }

    fn admits(&self, token: Option<&str>, repository: Option<&str>) -> bool {
        let good = self.good.lock();
        let Some((scope, until)) = token.and_then(|token| good.get(token)) else { return false };
        *until > Instant::now() && (repository.is_none() || scope.as_deref() == repository)
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

fn is_basic(headers: &HeaderMap, user: &str, password: &str) -> bool {
    let sent = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    sent == Some(&format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
}
