//! Entra, the metadata service of machines, and a registry's exchange, behind one address.

use std::collections::HashMap;

use serde_json::json;

use super::service::{Answers, Asked, Reply, Service};
use super::{jwt, subject};

/// What tokens for registries are for.
const AUDIENCE: &str = "https://containerregistry.azure.net";
/// What tokens for Azure DevOps are for.
const DEV_OPS: &str = "499b84ac-1321-427f-aa17-267ca6975798";

/// Microsoft's services; stopped when dropped.
pub struct Azure {
    service: Service<State>,
}

#[derive(Default)]
struct State {
    tenant: String,
    /// The subject that may be a client, by client.
    federated: HashMap<String, String>,
    /// Clients with a secret.
    secrets: HashMap<String, String>,
    /// Clients of the machine; the empty one is its own.
    managed: Vec<String>,
    /// Clients that may pull.
    pullers: Vec<String>,
    /// Entra's tokens, and whose they are.
    tokens: HashMap<String, String>,
    given: usize,
}

impl Azure {
    /// Starts the services of a tenant that trusts nobody.
    pub async fn start(tenant: &str) -> Self {
        let state = State { tenant: tenant.to_owned(), ..State::default() };
        Self { service: Service::start(state).await }
    }

    /// Its base: authority, metadata service and registry.
    pub fn url(&self) -> String {
        self.service.url()
    }

    /// Lets tokens of this subject be exchanged for the client's.
    pub fn federate(&self, client: &str, subject: &str) {
        self.service.state().federated.insert(client.to_owned(), subject.to_owned());
    }

    /// Gives the client a secret.
    pub fn secret(&self, client: &str, secret: &str) {
        self.service.state().secrets.insert(client.to_owned(), secret.to_owned());
    }

    /// Gives the machine this identity; the empty one is its own.
    pub fn manage(&self, client: &str) {
        self.service.state().managed.push(client.to_owned());
    }

    /// Lets a client pull.
    pub fn allow(&self, client: &str) {
        self.service.state().pullers.push(client.to_owned());
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Asked> {
        self.service.asked()
    }

    /// Paths of all requests so far.
    pub fn asked(&self) -> Vec<String> {
        self.requests().iter().map(|asked| format!("{} {}", asked.method, asked.path)).collect()
    }
}

impl Answers for State {
    fn answer(&mut self, asked: &Asked) -> Reply {
        let form = asked.form();
        let text = |name: &str| form.get(name).map_or("", String::as_str);
        match &*asked.path {
            "/oauth2/exchange" => self.exchange(text("access_token"), text("service")),
            "/metadata/identity/oauth2/token" => self.machine(asked),
            path => {
                if path != format!("/{}/oauth2/v2.0/token", self.tenant) {
                    return entra_error("invalid_request", "AADSTS90002: Tenant not found.");
                }
                let resource = text("scope").strip_suffix("/.default");
                if !resource.is_some_and(|it| [AUDIENCE, DEV_OPS].contains(&it)) {
                    return entra_error("invalid_scope", "AADSTS70011: not a scope.");
                }
                let client = text("client_id");
                let by_secret =
                    self.secrets.get(client).is_some_and(|s| s == text("client_secret"));
                let who = subject(text("client_assertion"));
                let by_subject = who.is_some() && self.federated.get(client) == who.as_ref();
                if !by_secret && !by_subject {
                    let said = format!(
                        "AADSTS700213: No matching federated identity record found for presented assertion subject '{}'.",
                        who.unwrap_or_default()
                    );
                    return entra_error("invalid_client", &said);
                }
                self.give(client)
            }
        }
    }
}

impl State {
    fn give(&mut self, client: &str) -> Reply {
        self.given += 1;
        let token = format!("SECRET-entra-{}", self.given);
        self.tokens.insert(token.clone(), client.to_owned());
        let body = json!({ "token_type": "Bearer", "expires_in": 3599, "access_token": token });
        Reply::json(200, &body)
    }

    fn machine(&mut self, asked: &Asked) -> Reply {
        let wanted = asked.query.get("client_id").cloned().unwrap_or_default();
        let resource = asked.query.get("resource").map_or("", String::as_str);
        if asked.header("metadata") != "true" || resource != AUDIENCE {
            return entra_error("invalid_request", "Required metadata header not specified");
        }
        if self.managed.contains(&wanted) {
            return self.give(&wanted);
        }
        entra_error("invalid_request", "Identity not found")
    }

    fn exchange(&mut self, token: &str, service: &str) -> Reply {
        let client = self.tokens.get(token);
        if !client.is_some_and(|client| self.pullers.contains(client)) || service.is_empty() {
            let error = json!({ "code": "UNAUTHORIZED", "message": "authentication required" });
            return Reply::json(401, &json!({ "errors": [error] }));
        }
        self.given += 1;
        let claims =
            json!({ "jti": format!("SECRET-{}", self.given), "iat": 1000, "exp": 1000 + 3 * 3600 });
        Reply::json(200, &json!({ "refresh_token": jwt(&claims) }))
    }
}

fn entra_error(error: &str, description: &str) -> Reply {
    Reply::json(400, &json!({ "error": error, "error_description": description }))
}
