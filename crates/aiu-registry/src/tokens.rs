//! Bearer tokens: fetched once for all who need the same, kept until they expire.

use std::sync::Arc;
use std::time::Duration;

use aiu_http::{Answer, Call, Url, header};
use secrecy::SecretString;
use serde::Deserialize;
use tokio::time::Instant;

use crate::client::Remote;
use crate::credentials::{Credentials, CredentialsId};
use crate::error::{ScanError, ScanProblem};
use crate::flights::{Flights, Landed};
use crate::{api_error, auth};

/// Whatever is said, a token is good for so long (spec 11 §2.3).
const SHORTEST_LIFE: Duration = Duration::from_mins(1);
/// A token is not used any more this long before it expires.
const MARGIN: Duration = Duration::from_secs(1);
/// Tokens kept: one for each repository and source of credentials.
const CAPACITY: usize = 20_000;

/// What a token is good for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct TokenKey {
    endpoint: Arc<str>,
    repository: Arc<str>,
    credentials: CredentialsId,
    /// Which fetch brought the credentials: a question that is in the air with refused ones is
    /// not for who has newer ones.
    fetch: Option<u64>,
}

/// A token that was given out, and for how long.
pub(crate) struct Token {
    pub(crate) text: SecretString,
    lifetime: Duration,
}

type Given = Result<Arc<Token>, ScanError>;

/// Where tokens are given, by a registry's challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Realm {
    pub(crate) url: String,
    pub(crate) service: Option<String>,
    /// What the refused request would have needed, in the registry's words.
    pub(crate) scope: Option<String>,
}

pub(crate) struct Tokens {
    flights: Flights<TokenKey, Given>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<u64>,
}

impl Tokens {
    pub(crate) fn new() -> Self {
        Self { flights: Flights::new(CAPACITY) }
    }

    /// A token that lets `remote`'s credentials see its repository, and is not the `refused`
    /// one. However many ask, one request is made at a time.
    pub(crate) async fn get(
        &self,
        http: &aiu_http::Http,
        remote: &Remote<'_>,
        credentials: &Credentials,
        realm: &Realm,
        refused: Option<&Arc<Token>>,
    ) -> Given {
        let key = TokenKey {
            endpoint: Arc::clone(&remote.request.endpoint.prefix),
            repository: Arc::clone(&remote.request.path),
            credentials: credentials.id(),
            fetch: credentials.kept_fetch(),
        };
        let usable = |landed: &Landed<Given>| {
            landed.value.as_ref().is_ok_and(|token| {
                refused.is_none_or(|refused| !Arc::ptr_eq(refused, token))
                    && Instant::now() + MARGIN <= landed.started + token.lifetime
            })
        };
        self.flights
            .get(&key, |_| true, usable, async |_| fetch(http, remote, credentials, realm).await)
            .await
    }
}

async fn fetch(
    http: &aiu_http::Http,
    remote: &Remote<'_>,
    credentials: &Credentials,
    realm: &Realm,
) -> Given {
    let scope = scope(remote);
    let answer = request(http, remote, credentials, realm, &scope).await?;
    let is_refused = |answer: &Answer| matches!(answer.status.as_u16(), 400 | 401 | 403);
    // Some tokens may do less than what is usually asked for, and are refused whole: then it is
    // asked for what the registry itself named, if that is about this repository.
    let narrower = realm.scope.as_deref().filter(|named| {
        let own = scope.rsplit_once(':').map_or(&*scope, |(own, _)| own);
        **named != *scope && named.strip_prefix(own).is_some_and(|rest| rest.starts_with(':'))
    });
    let answer = match narrower {
        Some(narrower) if is_refused(&answer) => {
            request(http, remote, credentials, realm, narrower).await?
        }
        _ => answer,
    };
    if is_refused(&answer) {
        return Err(remote.unauthorized(api_error::said(&answer)));
    }
    given(remote, &answer)
}

/// Asks for a token once.
async fn request(
    http: &aiu_http::Http,
    remote: &Remote<'_>,
    credentials: &Credentials,
    realm: &Realm,
    scope: &str,
) -> Result<Answer, ScanError> {
    let url = token_url(credentials, realm, scope).map_err(|cause| remote.bad_answer(cause))?;
    let mut call = Call::get(url.clone()).tls(remote.tls.clone());
    if url.origin() == remote.api.origin() {
        call = call.rate(remote.rate);
    }
    if let Some((user, password)) = credentials.pair() {
        call = call.header(header::AUTHORIZATION, auth::basic(user, password));
    }
    http.send(&call).await.map_err(|error| remote.error(ScanProblem::of(error)))
}

/// The token in an answer.
fn given(remote: &Remote<'_>, answer: &Answer) -> Given {
    if !answer.status.is_success() {
        return Err(remote.failing(answer));
    }
    let given: TokenAnswer = serde_json::from_slice(&answer.body).map_err(|_| {
        remote.bad_answer("the authorization server's answer is no JSON object".to_owned())
    })?;
    let text = [given.access_token, given.token].into_iter().flatten().find(|t| !t.is_empty());
    let Some(text) = text else {
        let cause = "authorization server did not include a token in the response";
        return Err(remote.bad_answer(cause.to_owned()));
    };
    let lifetime = Duration::from_secs(given.expires_in.unwrap_or_default()).max(SHORTEST_LIFE);
    Ok(Arc::new(Token { text: text.into(), lifetime }))
}

/// `realm?service=…&scope=…`, beside parameters that the realm has already.
fn token_url(credentials: &Credentials, realm: &Realm, scope: &str) -> Result<Url, String> {
    if realm.url.is_empty() {
        return Err("no realm specified for token auth challenge".to_owned());
    }
    let parsed = realm.url.parse::<Url>();
    let mut url = parsed.map_err(|_| "the realm of its challenge is no URL".to_owned())?;
    let mut query = url.query_pairs_mut();
    if let Some(service) = &realm.service {
        query.append_pair("service", service);
    }
    query.append_pair("scope", scope);
    if let Some((user, _)) = credentials.pair() {
        query.append_pair("account", user);
    }
    drop(query);
    Ok(url)
}

/// What a token is good for, of which repository.
fn scope(remote: &Remote<'_>) -> String {
    let actions = actions(&remote.request.endpoint.api_url);
    format!("repository:{}:{actions}", remote.request.path)
}

/// What a token is asked to allow (spec 11 HTT-020, HTT-021).
fn actions(api_url: &str) -> &'static str {
    if api_url.contains(".azurecr.io") { "pull,metadata_read,content_read" } else { "pull" }
}

#[cfg(test)]
mod tests {
    use super::actions;

    #[test]
    fn azure_wants_to_know_more() {
        let azure = "pull,metadata_read,content_read";
        let rows = [
            ("https://x.azurecr.io", azure),
            ("https://dev.azurecr.io/v2", azure),
            ("https://registry-1.docker.io", "pull"),
            ("https://ghcr.io", "pull"),
        ];
        for (api_url, expected) in rows {
            assert_eq!(actions(api_url), expected, "{api_url}");
        }
    }
}
