//! The file that `GOOGLE_APPLICATION_CREDENTIALS` names: a federated workload, a key, a person's
//! login, or an account that is reached from one of these.

use std::path::Path;

use aiu_http::header::{HeaderName, HeaderValue};
use aiu_http::{Call, Url};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::{Access, SCOPE, checked, granted, impersonate, missing};
use crate::credentials::cloud::{Desk, IdentityError, jwt, variables};

const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
/// What stands on another file's content is followed this far.
const MAX_DEPTH: usize = 3;

/// The file, if there is one: named, or left by `gcloud auth application-default login` on a
/// person's machine.
pub(super) async fn path(desk: &Desk) -> Option<String> {
    if let Some(path) = desk.variables.text("GOOGLE_APPLICATION_CREDENTIALS") {
        return Some(path);
    }
    let home = desk.variables.text("HOME")?;
    let path = format!("{home}/.config/gcloud/application_default_credentials.json");
    let is_there = tokio::fs::try_exists(Path::new(&path)).await.unwrap_or(false);
    (is_there && !desk.variables.in_kubernetes()).then_some(path)
}

/// A token by what the file says.
pub(super) async fn access(desk: &Desk, path: &str) -> Result<Access, IdentityError> {
    let text = variables::file(path).await.map_err(|cause| {
        missing(
            &format!("the file {path} cannot be read ({cause})"),
            "mount it, or correct GOOGLE_APPLICATION_CREDENTIALS",
        )
    })?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|_| missing(&format!("the file {path} is no JSON"), "make it anew"))?;
    by(desk, &Content { path, document: &document }, MAX_DEPTH).await
}

/// A part of the file that says how to get a token.
struct Content<'a> {
    path: &'a str,
    document: &'a Value,
}

impl<'a> Content<'a> {
    fn optional(&self, name: &str) -> Option<&'a str> {
        self.document[name].as_str().filter(|text| !text.is_empty())
    }

    fn text(&self, name: &str) -> Result<&'a str, IdentityError> {
        self.optional(name).ok_or_else(|| {
            missing(&format!("the file {} holds no '{name}'", self.path), "make it anew")
        })
    }
}

async fn by(desk: &Desk, content: &Content<'_>, depth: usize) -> Result<Access, IdentityError> {
    let kind = content.text("type")?;
    match kind {
        "external_account" => external(desk, content).await,
        "service_account" => key(desk, content).await,
        "authorized_user" => person(desk, content).await,
        "impersonated_service_account" if depth > 0 => {
            let document = &content.document["source_credentials"];
            let source = Content { path: content.path, document };
            let base = Box::pin(by(desk, &source, depth - 1)).await?;
            impersonate(desk, content.text("service_account_impersonation_url")?, base).await
        }
        _ => Err(missing(
            &format!("the file {} is of the type '{kind}', which is not supported", content.path),
            "use external_account (a workload identity pool) or service_account",
        )),
    }
}

/// Workload identity federation: a token of somebody else's is exchanged for one of Google's.
async fn external(desk: &Desk, content: &Content<'_>) -> Result<Access, IdentityError> {
    let audience = content.text("audience")?;
    let token = subject_token(desk, content).await?;
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("audience", audience),
        ("scope", SCOPE),
        ("subject_token_type", content.text("subject_token_type")?),
        ("subject_token", token.expose_secret()),
    ];
    let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let url = checked(content.text("token_url")?, "token_url")?;
    let answer = desk.send(&Call::post_form(url, form.into())).await?;
    let subject = jwt::subject(token.expose_secret());
    let fix = format!(
        "let the provider {audience} accept the issuer and the audience of this token, and map its subject '{subject}'"
    );
    let base = granted(&answer, &subject, &fix)?;
    match content.optional("service_account_impersonation_url") {
        Some(url) => impersonate(desk, url, base).await,
        None => Ok(base),
    }
}

/// The token that is exchanged, from a file or from a URL.
async fn subject_token(desk: &Desk, content: &Content<'_>) -> Result<SecretString, IdentityError> {
    let source = &content.document["credential_source"];
    let text = if let Some(path) = source["file"].as_str() {
        variables::file(path).await.map_err(|cause| {
            missing(
                &format!("the token file {path} cannot be read ({cause})"),
                "project the service account's token into the pod, and restart it",
            )
        })?
    } else if let Some(url) = source["url"].as_str() {
        fetched(desk, checked(url, "credential_source.url")?, &source["headers"]).await?
    } else {
        return Err(missing(
            &format!(
                "the file {} takes its token neither from a file nor from a URL",
                content.path
            ),
            "other sources are not supported: fetch the login with a script (ext:)",
        ));
    };
    let format = &source["format"];
    if format["type"].as_str() != Some("json") {
        return Ok(text.into());
    }
    let field = format["subject_token_field_name"].as_str().unwrap_or("access_token");
    let document: Value = serde_json::from_str(&text).unwrap_or_default();
    document[field].as_str().map(SecretString::from).ok_or_else(|| {
        missing(&format!("the token's source holds no '{field}'"), "correct its format")
    })
}

async fn fetched(desk: &Desk, url: Url, headers: &Value) -> Result<String, IdentityError> {
    let mut call = Call::get(url);
    for (name, value) in headers.as_object().into_iter().flatten() {
        let name = HeaderName::try_from(name);
        let value = value.as_str().and_then(|value| HeaderValue::try_from(value).ok());
        if let (Ok(name), Some(mut value)) = (name, value) {
            value.set_sensitive(true);
            call = call.header(name, value);
        }
    }
    let answer = desk.send(&call).await?;
    if !answer.status.is_success() {
        let fix = "correct credential_source in the file".to_owned();
        return Err(IdentityError::refusal(&answer, "this program".to_owned(), "", fix));
    }
    Ok(String::from_utf8_lossy(&answer.body).trim().to_owned())
}

/// A service account's own key: a signed assertion is exchanged for a token.
async fn key(desk: &Desk, content: &Content<'_>) -> Result<Access, IdentityError> {
    let email = content.text("client_email")?;
    let url = content.optional("token_uri").unwrap_or(TOKEN_URL);
    let now = Timestamp::now().as_second();
    let claims = json!({
        "iss": email, "scope": SCOPE, "aud": url, "iat": now, "exp": now + 3600,
    });
    let header = json!({ "alg": "RS256", "typ": "JWT", "kid": content.optional("private_key_id") });
    let part = |value: Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(header), part(claims));
    let signature = signature(content.text("private_key")?, text.as_bytes()).ok_or_else(|| {
        missing(&format!("the private_key in {} is none", content.path), "make the file anew")
    })?;
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer".to_owned()),
        ("assertion", format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))),
    ];
    let form = form.map(|(name, value)| (name.to_owned(), value));
    let answer = desk.send(&Call::post_form(checked(url, "token_uri")?, form.into())).await?;
    granted(&answer, email, "check that the account and this key of it are there and enabled")
}

fn signature(pem: &str, text: &[u8]) -> Option<Vec<u8>> {
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).map(str::trim).collect();
    let pair = RsaKeyPair::from_pkcs8(&BASE64_STANDARD.decode(body).ok()?).ok()?;
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text, &mut signature).ok()?;
    Some(signature)
}

/// A person's own login.
async fn person(desk: &Desk, content: &Content<'_>) -> Result<Access, IdentityError> {
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", content.text("client_id")?),
        ("client_secret", content.text("client_secret")?),
        ("refresh_token", content.text("refresh_token")?),
    ];
    let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let url = checked(content.optional("token_uri").unwrap_or(TOKEN_URL), "token_uri")?;
    let answer = desk.send(&Call::post_form(url, form.into())).await?;
    granted(&answer, "your own login", "sign in again: gcloud auth application-default login")
}
