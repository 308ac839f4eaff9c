//! `azure`: from an identity in Entra to a refresh token of an Azure Container Registry, which
//! is the password of a user without a name (spec 11 CLD-004).

use std::time::Duration;

use aiu_core::registries::{Cloud, Endpoint};
use aiu_http::header::{HeaderName, HeaderValue};
use aiu_http::{Answer, Call, TlsProfile, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::variables::file;
use super::{Desk, IdentityError, Login, Pass, jwt, lifetime};

/// The user whose password is a refresh token.
const USER: &str = "00000000-0000-0000-0000-000000000000";
/// What Entra's token is for: registries, in every one of Azure's clouds.
const AUDIENCE: &str = "https://containerregistry.azure.net";
const AUTHORITY: &str = "https://login.microsoftonline.com/";
const INSTANCE: &str = "http://169.254.169.254";
/// The metadata service is next door: who does not answer soon is not there.
const DEADLINE: Duration = Duration::from_secs(5);
/// A refresh token lives three hours; taken for one that does not say so.
const REFRESH_TOKEN: Duration = Duration::from_hours(3);

/// A token of Entra's, and whose it is.
struct Entra {
    token: SecretString,
    tenant: Option<String>,
    who: String,
}

/// The login for the registry that is known as `name`, as the client, or as the one that this
/// pod is set up for.
pub(super) async fn login(
    desk: &Desk,
    endpoint: &Endpoint,
    name: &str,
    tls: TlsProfile,
    client: Option<&str>,
) -> Result<Pass, IdentityError> {
    let entra = entra(desk, client).await?;
    let mut url: Url = endpoint.api_url.parse().map_err(|_| IdentityError::BadAnswer {
        host: name.to_owned(),
        cause: "its api_url is no URL".to_owned(),
    })?;
    url.set_path("/oauth2/exchange");
    let mut form = vec![
        ("grant_type".to_owned(), "access_token".to_owned()),
        ("service".to_owned(), name.to_owned()),
        ("access_token".to_owned(), entra.token.expose_secret().to_owned()),
    ];
    form.extend(entra.tenant.map(|tenant| ("tenant".to_owned(), tenant)));
    let answer = desk.send(&Call::post_form(url, form).tls(tls)).await?;
    let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if !answer.status.is_success() {
        let error = &value["errors"][0];
        let part = |name: &str| error[name].as_str().unwrap_or_default();
        let said = format!("{} {}", part("code"), part("message"));
        let fix = format!("assign the role AcrPull on the registry {name} to it");
        return Err(IdentityError::refusal(&answer, entra.who, &said, fix));
    }
    let token = value["refresh_token"].as_str().filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| IdentityError::without(&answer, "refresh_token"))?;
    let good_for = jwt::lifetime(token).unwrap_or(REFRESH_TOKEN);
    let login = Login { user: USER.to_owned(), password: token.into() };
    Ok(Pass { login, life: lifetime::usable(good_for) })
}

async fn entra(desk: &Desk, client: Option<&str>) -> Result<Entra, IdentityError> {
    let variables = &desk.variables;
    let client = client.map(str::to_owned).or_else(|| variables.text("AZURE_CLIENT_ID"));
    let tenant = variables.text("AZURE_TENANT_ID");
    if let Some(path) = variables.text("AZURE_FEDERATED_TOKEN_FILE") {
        let Some(client) = client else {
            return Err(missing(
                "AZURE_FEDERATED_TOKEN_FILE is set, and AZURE_CLIENT_ID is not",
                "annotate the service account with azure.workload.identity/client-id and restart the pod, or write azure:<client id>",
            ));
        };
        let tenant = tenant.ok_or_else(|| {
            missing(
                "AZURE_FEDERATED_TOKEN_FILE is set, and AZURE_TENANT_ID is not",
                "the workload identity webhook sets both: restart the pod",
            )
        })?;
        let token = file(&path).await.map_err(|cause| {
            missing(
                &format!("the token file {path} cannot be read ({cause})"),
                "the workload identity webhook mounts it when the pod starts: restart the pod",
            )
        })?;
        return federated(desk, &client, &tenant, &token).await;
    }
    if let (Some(secret), Some(client), Some(tenant)) =
        (variables.text("AZURE_CLIENT_SECRET"), &client, &tenant)
    {
        let proof = vec![("client_secret".to_owned(), secret)];
        let fix = "renew AZURE_CLIENT_SECRET";
        return ask_entra(desk, client, tenant, proof, format!("client {client}"), fix).await;
    }
    // Which identities a machine has is not the pod's to use, unless one is asked for by name
    // (spec 11 CLD-007).
    if variables.in_kubernetes() && client.is_none() {
        return Err(missing(
            "AZURE_FEDERATED_TOKEN_FILE and AZURE_CLIENT_ID are not set, and the identity of the node is not this pod's",
            "label the pod with azure.workload.identity/use: \"true\", annotate its service account with azure.workload.identity/client-id, and restart the pod",
        ));
    }
    managed(desk, client.as_deref(), tenant).await
}

/// A token for the one of this pod's service account (workload identity).
async fn federated(
    desk: &Desk,
    client: &str,
    tenant: &str,
    token: &str,
) -> Result<Entra, IdentityError> {
    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    let proof = vec![
        ("client_assertion_type".to_owned(), kind.to_owned()),
        ("client_assertion".to_owned(), token.to_owned()),
    ];
    let subject = jwt::subject(token);
    let fix = format!(
        "give the identity a federated credential for the subject '{subject}' and the issuer of this cluster"
    );
    let who = format!("client {client} to {subject}");
    ask_entra(desk, client, tenant, proof, who, &fix).await
}

async fn ask_entra(
    desk: &Desk,
    client: &str,
    tenant: &str,
    proof: Vec<(String, String)>,
    who: String,
    fix: &str,
) -> Result<Entra, IdentityError> {
    let authority = desk.variables.text("AZURE_AUTHORITY_HOST");
    let authority = authority.as_deref().unwrap_or(AUTHORITY).trim_end_matches('/');
    let url = format!("{authority}/{tenant}/oauth2/v2.0/token").parse().map_err(|_| {
        missing(
            "AZURE_AUTHORITY_HOST is no URL",
            "it is https://login.microsoftonline.com/ in the public cloud",
        )
    })?;
    let mut form = vec![
        ("grant_type".to_owned(), "client_credentials".to_owned()),
        ("client_id".to_owned(), client.to_owned()),
        ("scope".to_owned(), format!("{AUDIENCE}/.default")),
    ];
    form.extend(proof);
    let answer = desk.send(&Call::post_form(url, form)).await?;
    let token = access_token(&answer, &who, fix)?;
    Ok(Entra { token, tenant: Some(tenant.to_owned()), who: format!("client {client}") })
}

/// A token from the machine, or from the App Service, that this program runs on.
async fn managed(
    desk: &Desk,
    client: Option<&str>,
    tenant: Option<String>,
) -> Result<Entra, IdentityError> {
    let variables = &desk.variables;
    let service = variables.text("IDENTITY_ENDPOINT").zip(variables.text("IDENTITY_HEADER"));
    let (base, version, header) = if let Some((base, secret)) = service {
        (base, "2019-08-01", ("x-identity-header", secret))
    } else {
        let named = variables.text("AZURE_POD_IDENTITY_AUTHORITY_HOST");
        let base = named.unwrap_or_else(|| INSTANCE.to_owned());
        let base = format!("{}/metadata/identity/oauth2/token", base.trim_end_matches('/'));
        (base, "2018-02-01", ("metadata", "true".to_owned()))
    };
    let mut url: Url = base
        .parse()
        .map_err(|_| missing("the URL of the managed identity is none", "correct it"))?;
    url.query_pairs_mut().append_pair("api-version", version).append_pair("resource", AUDIENCE);
    if let Some(client) = client {
        url.query_pairs_mut().append_pair("client_id", client);
    }
    let mut value = HeaderValue::try_from(header.1).unwrap_or(HeaderValue::from_static(""));
    value.set_sensitive(true);
    let call = Call::get(url).header(HeaderName::from_static(header.0), value).direct();
    let who = match client {
        Some(client) => format!("the managed identity {client}"),
        None => "the managed identity of this machine".to_owned(),
    };
    let answer = desk.http.send(&call.deadline(DEADLINE)).await.map_err(|error| {
        let found = format!(
            "AZURE_FEDERATED_TOKEN_FILE is not set, and this machine's metadata service gives none ({error})"
        );
        missing(&found, "set up workload identity, or run on a machine with a managed identity")
    })?;
    let token = access_token(&answer, &who, "assign this identity to the machine")?;
    Ok(Entra { token, tenant, who })
}

/// The token in an answer of Entra's, or what it says against it.
fn access_token(answer: &Answer, who: &str, fix: &str) -> Result<SecretString, IdentityError> {
    let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if !answer.status.is_success() {
        let part = |name: &str| value[name].as_str().unwrap_or_default();
        let said = format!("{} {}", part("error"), part("error_description"));
        let fix = if said.contains("AADSTS90002") {
            "correct AZURE_TENANT_ID, or AZURE_AUTHORITY_HOST for another of Azure's clouds"
        } else {
            fix
        };
        return Err(IdentityError::refusal(answer, who.to_owned(), &said, fix.to_owned()));
    }
    let token = value["access_token"].as_str().filter(|token| !token.is_empty());
    token.map(SecretString::from).ok_or_else(|| IdentityError::without(answer, "access_token"))
}

fn missing(found: &str, fix: &str) -> IdentityError {
    IdentityError::Missing { cloud: Cloud::Azure, found: found.to_owned(), fix: fix.to_owned() }
}
