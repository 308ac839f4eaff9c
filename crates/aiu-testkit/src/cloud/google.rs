//! The metadata server, the token exchange, and the making of tokens for service accounts,
//! behind one address.

use std::collections::HashMap;

use serde_json::json;

use super::service::{Answers, Asked, Reply, Service};
use super::{claim, subject};

const METADATA: &str = "/computeMetadata/v1/instance/service-accounts/default/";

/// Google's services; stopped when dropped.
pub struct Google {
    service: Service<State>,
}

#[derive(Default)]
struct State {
    /// Whom the metadata server speaks for, and what it calls itself.
    account: Option<(String, &'static str)>,
    /// Subjects whose tokens are exchanged.
    federated: Vec<String>,
    /// Who may have tokens of an account.
    impersonators: HashMap<String, Vec<String>>,
    /// Tokens, and whose they are.
    tokens: HashMap<String, String>,
    given: usize,
}

impl Google {
    /// Starts services that trust nobody.
    pub async fn start() -> Self {
        Self { service: Service::start(State::default()).await }
    }

    /// Its base.
    pub fn url(&self) -> String {
        self.service.url()
    }

    /// Its address, for `GCE_METADATA_HOST`.
    pub fn host(&self) -> String {
        self.service.host()
    }

    /// The metadata server speaks for this account, as that of a pod or as that of a machine.
    pub fn run_as(&self, account: &str, pod: bool) {
        let name = if pod { "GKE Metadata Server" } else { "Metadata Server for VM" };
        self.service.state().account = Some((account.to_owned(), name));
    }

    /// Lets tokens of this subject be exchanged.
    pub fn federate(&self, subject: &str) {
        self.service.state().federated.push(subject.to_owned());
    }

    /// Lets `whom` have tokens of `account`.
    pub fn impersonate(&self, account: &str, whom: &str) {
        let mut state = self.service.state();
        state.impersonators.entry(account.to_owned()).or_default().push(whom.to_owned());
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Asked> {
        self.service.asked()
    }

    /// Paths of all requests so far.
    pub fn asked(&self) -> Vec<String> {
        let last = |asked: &Asked| asked.path.rsplit('/').next().unwrap_or_default().to_owned();
        self.requests().iter().map(last).collect()
    }
}

impl Answers for State {
    fn answer(&mut self, asked: &Asked) -> Reply {
        if let Some(what) = asked.path.strip_prefix(METADATA) {
            return self.metadata(asked, what);
        }
        if asked.path == "/token" {
            return self.exchange(asked);
        }
        let account = asked.path.strip_prefix("/v1/projects/-/serviceAccounts/");
        match account.and_then(|rest| rest.strip_suffix(":generateAccessToken")) {
            Some(account) => self.impersonated(asked, account),
            None => Reply::text(404, "not here"),
        }
    }
}

impl State {
    fn give(&mut self, whom: &str) -> String {
        self.given += 1;
        let token = format!("SECRET-google-{}", self.given);
        self.tokens.insert(token.clone(), whom.to_owned());
        token
    }

    fn metadata(&mut self, asked: &Asked, what: &str) -> Reply {
        let Some((account, name)) = self.account.clone() else { return Reply::text(404, "") };
        if asked.header("metadata-flavor") != "Google" {
            return Reply::text(403, "missing Metadata-Flavor");
        }
        let reply = match what {
            "email" => Reply::text(200, account),
            "token" => {
                let token = self.give(&account);
                Reply::json(200, &json!({ "access_token": token, "expires_in": 3599 }))
            }
            _ => Reply::text(404, ""),
        };
        Reply { headers: vec![("server", name.to_owned())], ..reply }
    }

    fn exchange(&mut self, asked: &Asked) -> Reply {
        let form = asked.form();
        let text = |name: &str| form.get(name).map_or("", String::as_str);
        let whom = match text("grant_type") {
            "urn:ietf:params:oauth:grant-type:token-exchange" => subject(text("subject_token")),
            "urn:ietf:params:oauth:grant-type:jwt-bearer" => claim(text("assertion"), "iss"),
            _ => None,
        };
        match whom.filter(|whom| self.federated.contains(whom)) {
            Some(whom) => {
                let token = self.give(&whom);
                Reply::json(200, &json!({ "access_token": token, "expires_in": 3600 }))
            }
            None => Reply::json(
                400,
                &json!({
                    "error": "invalid_grant", "error_description": "The credential is not accepted.",
                }),
            ),
        }
    }

    fn impersonated(&mut self, asked: &Asked, account: &str) -> Reply {
        let token = asked.header("authorization").strip_prefix("Bearer ").unwrap_or_default();
        let whom = self.tokens.get(token);
        let allowed = self.impersonators.get(account).zip(whom);
        if !allowed.is_some_and(|(allowed, whom)| allowed.contains(whom)) {
            let message = "Permission 'iam.serviceAccounts.getAccessToken' denied";
            return Reply::json(403, &json!({ "error": { "code": 403, "message": message } }));
        }
        let token = self.give(account);
        Reply::json(200, &json!({ "accessToken": token, "expireTime": "2015-01-01T00:00:00Z" }))
    }
}
