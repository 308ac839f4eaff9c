//! Who may see what: a bearer token, about which the cluster is asked (spec 22 §3,
//! `--metrics-secure`).
//!
//! Answers are remembered for a short while under a hash of the token, so that a scrape every
//! few seconds costs the cluster one question a minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use secrecy::SecretString;
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, timeout};
use tracing::warn;

/// What the cluster says about a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    Granted,
    /// It does not know the token.
    Unauthenticated,
    /// It knows whose it is, and says no.
    Denied {
        /// Whose it is.
        user: String,
    },
}

/// Asks the cluster: whose token it is, and whether they may get `/metrics`. `Err` where it
/// cannot be asked, with one sentence for the log.
pub type Ask =
    Arc<dyn Fn(SecretString) -> BoxFuture<'static, Result<Access, String>> + Send + Sync>;

/// How long an answer holds.
const GRANTED_HOLDS: Duration = Duration::from_mins(1);
/// Roles may be on their way: a refusal is soon asked again.
const REFUSED_HOLDS: Duration = Duration::from_secs(10);
/// The cluster's time to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many tokens are remembered. Who sends more forgets the oldest.
const REMEMBERED: usize = 256;
/// Longest token that is looked at, in bytes.
const MAX_TOKEN: usize = 8 * 1024;

/// Lets requests pass with a token that the cluster grants access.
#[derive(Clone)]
pub struct Guard {
    ask: Ask,
    known: Arc<Mutex<Known>>,
}

/// What was answered, by the token's hash.
#[derive(Default)]
struct Known {
    answers: HashMap<[u8; 32], Answer>,
    /// How many answers there ever were.
    count: u64,
}

struct Answer {
    access: Access,
    until: Instant,
    /// Its place among all answers: those of one instant have an order too.
    number: u64,
}

impl Guard {
    /// A guard that asks like this.
    pub fn new(ask: Ask) -> Self {
        Self { ask, known: Arc::default() }
    }

    pub(crate) async fn pass(&self, request: Request, next: Next) -> Response {
        let Some(token) = token(&request) else { return unauthorized() };
        match self.access(token).await {
            Ok(Access::Granted) => next.run(request).await,
            Ok(Access::Unauthenticated) => unauthorized(),
            Ok(Access::Denied { user }) => {
                let told = format!("Authorization denied for user {user}\n");
                (StatusCode::FORBIDDEN, told).into_response()
            }
            Err(sentence) => {
                warn!("cannot find out who asks for metrics: {sentence}");
                (StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed\n").into_response()
            }
        }
    }

    async fn access(&self, token: String) -> Result<Access, String> {
        let key: [u8; 32] = Sha256::digest(&token).into();
        if let Some(access) = self.remembered(&key) {
            return Ok(access);
        }
        let asked = timeout(PATIENCE, (self.ask)(SecretString::from(token))).await;
        let access = asked.map_err(|_| "the cluster does not answer".to_owned())??;
        self.remember(key, access.clone());
        Ok(access)
    }

    fn remembered(&self, key: &[u8; 32]) -> Option<Access> {
        let known = self.known.lock();
        let answer = known.answers.get(key)?;
        (Instant::now() < answer.until).then(|| answer.access.clone())
    }

    fn remember(&self, key: [u8; 32], access: Access) {
        let now = Instant::now();
        let holds = if access == Access::Granted { GRANTED_HOLDS } else { REFUSED_HOLDS };
        let mut known = self.known.lock();
        let Known { answers, count } = &mut *known;
        if answers.len() >= REMEMBERED {
            answers.retain(|_, answer| answer.until > now);
        }
        if answers.len() >= REMEMBERED
            && let Some((soonest, _)) =
                answers.iter().min_by_key(|(_, answer)| (answer.until, answer.number))
        {
            let soonest = *soonest;
            answers.remove(&soonest);
        }
        *count += 1;
        answers.insert(key, Answer { access, until: now + holds, number: *count });
    }
}

/// The token of `Authorization: Bearer …`.
fn token(request: &Request) -> Option<String> {
    let value = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    let token = token.trim();
    let is_token =
        scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && token.len() <= MAX_TOKEN;
    is_token.then(|| token.to_owned())
}

fn unauthorized() -> Response {
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], "Unauthorized\n").into_response()
}
