//! Docker's configuration: which of its entries is for a registry (spec 11 §6.4, G6, G7).

use std::collections::BTreeMap;

use aiu_core::registries::Endpoint;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;

use super::{CredentialError, Login};

/// Hosts that are Docker Hub, as keys of entries.
pub(super) const DOCKER_HUB: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/// The entries of a Docker configuration: the content of a pull secret, or of the file that
/// `docker login` writes.
#[derive(Clone)]
pub struct DockerConfig {
    /// Ordered, so that equal configurations give equal choices.
    auths: BTreeMap<String, Value>,
}

impl DockerConfig {
    /// Reads the JSON text.
    pub fn parse(text: &str) -> Result<Self, CredentialError> {
        Self::of(&document(text)?)
    }

    /// Takes the entries of a configuration that was read.
    pub(super) fn of(document: &BTreeMap<String, Value>) -> Result<Self, CredentialError> {
        match document.get("auths") {
            Some(Value::Object(auths)) => Ok(Self { auths: auths.clone().into_iter().collect() }),
            _ => Err(CredentialError::NoAuths),
        }
    }

    /// The login for a repository, by the most specific entry: one for the repository's path
    /// comes before one for the host alone. Hosts and ports are compared whole.
    pub fn login(&self, endpoint: &Endpoint, repository: &str) -> Result<Login, CredentialError> {
        let hosts = hosts(endpoint);
        let matches = self.auths.iter().filter_map(|(key, entry)| {
            let (host, path) = split_key(key);
            let rank = hosts.contains(&host).then(|| rank(path, repository))?;
            Some((rank, key, entry))
        });
        // Of equal ranks the first in order.
        let best = matches.rev().max_by_key(|(rank, ..)| *rank);
        let Some((_, key, entry)) = best else {
            let known = self.auths.keys().cloned().collect();
            let registry = endpoint.api_url.to_string();
            return Err(CredentialError::NoEntry { registry, known });
        };
        login_of(key, entry)
    }
}

/// Reads a configuration.
pub(super) fn document(text: &str) -> Result<BTreeMap<String, Value>, CredentialError> {
    serde_json::from_str(text).map_err(|error| {
        // The place alone: the parser's words may repeat what stands there.
        let place = format!("line {}, column {}", error.line(), error.column());
        CredentialError::DockerConfigUnreadable(place)
    })
}

/// The names under which a registry may be entered.
pub(super) fn hosts(endpoint: &Endpoint) -> Vec<&str> {
    let mut hosts = vec![split_key(&endpoint.api_url).0, split_key(&endpoint.prefix).0];
    if hosts.iter().any(|host| DOCKER_HUB.contains(host)) {
        hosts.extend(DOCKER_HUB);
    }
    hosts
}

/// Host and path of a key, whatever scheme stands in front.
fn split_key(key: &str) -> (&str, &str) {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    (host, path.trim_end_matches('/'))
}

/// How well an entry's path fits a repository: the longer the better, then the host alone,
/// then the path of another one (which the reference takes, too).
fn rank(path: &str, repository: &str) -> usize {
    let is_api = matches!(path, "" | "v1" | "v2");
    let rest = repository.strip_prefix(path);
    match rest {
        _ if is_api => 1,
        Some(rest) if rest.is_empty() || rest.starts_with('/') => 1 + path.len(),
        _ => 0,
    }
}

fn login_of(key: &str, entry: &Value) -> Result<Login, CredentialError> {
    let fail = |problem, hint| CredentialError::Entry { key: key.to_owned(), problem, hint };
    let Value::Object(entry) = entry else {
        return Err(fail("invalid auth entry", " ('auths' entry should be map)"));
    };
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let Some(auth) = text("auth") else {
        return match (text("username"), text("password")) {
            (Some(user), Some(password)) => {
                Ok(Login { user: user.to_owned(), password: password.into() })
            }
            _ => Err(fail("invalid auth token", " ('auth' should be string')")),
        };
    };
    let decoded = BASE64_STANDARD.decode(auth);
    let decoded = decoded.map_err(|_| fail("could not base64-decode auth data", ""))?;
    std::str::from_utf8(&decoded)
        .ok()
        .and_then(Login::split)
        .ok_or_else(|| fail("invalid data after base64 decoding auth entry", ""))
}

#[cfg(test)]
mod tests {
    use aiu_core::registries::Registries;
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn the_most_specific_entry_of_the_very_host() {
        #[rustfmt::skip]
        let rows = [
            // image, keys, the one that is taken
            ("r.test/team/app", "r.test r.test/team r.test/team/app", "r.test/team/app"),
            ("r.test/team/app", "r.test r.test/team/ap r.test/team", "r.test/team"),
            ("r.test/other/app", "r.test/team https://r.test/v1/", "https://r.test/v1/"),
            ("r.test/other/app", "r.test/team", "r.test/team"),
            ("r.test/app", "a.r.test r.test.evil.test r.test:5000 R.TEST", "none"),
            ("r.test:5000/app", "r.test http://r.test:5000/", "http://r.test:5000/"),
            ("nginx", "https://index.docker.io/v1/", "https://index.docker.io/v1/"),
            ("docker.io/org/app", "registry-1.docker.io docker.io/org", "docker.io/org"),
            ("nginx", "hub.docker.com", "none"),
        ];
        for (image, keys, expected) in rows {
            let entries = keys.split(' ').map(|key| {
                (key.to_owned(), serde_json::json!({ "username": key, "password": "x" }))
            });
            let config = DockerConfig { auths: entries.collect() };
            let repository = image.parse().unwrap();
            let endpoint = Registries::builtin().endpoint_for(&repository);
            let login = config.login(&endpoint, &endpoint.wire_path(&repository));
            let taken = login.map_or_else(|_| "none".to_owned(), |login| login.user);
            assert_eq!(taken, expected, "{image} among {keys}");
        }
    }

    #[test]
    fn a_pair_in_plain_is_taken_where_there_is_no_auth() {
        let text = r#"{"auths":{"r.test":{"username":"u","password":"p:q"}}}"#;
        let endpoint = Registries::builtin().endpoint_for(&"r.test/app".parse().unwrap());
        let login = DockerConfig::parse(text).unwrap().login(&endpoint, "app").unwrap();
        assert_eq!((login.user.as_str(), login.password.expose_secret()), ("u", "p:q"));
    }

    #[test]
    fn errors_show_no_secret() {
        let endpoint = Registries::builtin().endpoint_for(&"r.test/app".parse().unwrap());
        for text in [
            "S3CRET",
            r#"{"auths": S3CRET}"#,
            r#"{"auths":{"r.test":"S3CRET"}}"#,
            r#"{"auths":{"r.test":{"auth":"S3CRET!"}}}"#,
            r#"{"auths":{"r.test":{"auth":"UzNDUkVU"}}}"#,
            r#"{"auths":{"other.test":{"auth":"S3CRET"}}}"#,
        ] {
            let error = match DockerConfig::parse(text) {
                Ok(config) => config.login(&endpoint, "app").unwrap_err(),
                Err(error) => error,
            };
            assert!(!error.to_string().contains("S3CRET"), "{error}");
            assert_eq!(error.reason(), "PullSecretNoEntry");
        }
    }
}
