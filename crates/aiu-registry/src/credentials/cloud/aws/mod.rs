//! `aws`: from an identity in AWS to a login of ECR, private and public (spec 11 CLD-003).

mod images;
mod keys;
mod metadata;
mod profile;
mod sigv4;
mod sts;
mod xml;

use std::sync::Arc;
use std::time::Duration;

use aiu_core::registries::{Cloud, EcrHost};
use aiu_http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use aiu_http::{Answer, Call, Url};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use jiff::Timestamp;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::error::host;
use super::{Desk, IdentityError, Login, Pass, lifetime};
use crate::flights::{Flights, Landed};
pub(crate) use images::Pushed;
use sigv4::Scope;

/// Identities remembered.
const CAPACITY: usize = 1000;
/// Keys that say no end are looked at again after this.
const UNENDING: Duration = Duration::from_mins(15);

/// Keys with which requests are signed, and what is known of whose they are.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    id: String,
    secret: SecretString,
    session: Option<SecretString>,
    /// For messages.
    who: String,
    good_for: Duration,
}

type Given = Result<Arc<Keys>, Arc<IdentityError>>;

/// Whose keys: a role or this program's own identity, and which service gave them.
#[derive(Clone, PartialEq, Eq, Hash)]
struct KeysOf {
    role: Option<String>,
    sts: String,
}

/// Signs in to ECR, and remembers the keys of identities until shortly before they expire.
pub(crate) struct Aws {
    keys: Flights<KeysOf, Given>,
}

impl Aws {
    pub(super) fn new() -> Self {
        Self { keys: Flights::new(CAPACITY) }
    }

    /// The login for all registries of the host's region.
    pub(super) async fn login(
        &self,
        desk: &Desk,
        host: &EcrHost,
        role: Option<&str>,
    ) -> Result<Pass, IdentityError> {
        let permission = match host {
            EcrHost::Private { .. } => "ecr:GetAuthorizationToken",
            EcrHost::Public => "ecr-public:GetAuthorizationToken and sts:GetServiceBearerToken",
        };
        let ask = Ask { action: "GetAuthorizationToken", body: &json!({}), permission };
        let (answer, value) = self.ask(desk, host, role, &ask).await?;
        // The private service gives a list of one, the public one that one.
        let data = &value["authorizationData"];
        let data = data.get(0).unwrap_or(data);
        let token = data["authorizationToken"].as_str().and_then(decoded);
        let login = token.as_deref().and_then(Login::split);
        let login = login.ok_or_else(|| IdentityError::without(&answer, "authorizationToken"))?;
        #[expect(clippy::cast_possible_truncation, reason = "whole seconds are enough")]
        let end = data["expiresAt"].as_f64().map(|seconds| seconds as i64);
        let end = end.and_then(|seconds| Timestamp::from_second(seconds).ok());
        Ok(Pass { login, life: lifetime::usable(lifetime::until(end, &answer)) })
    }

    /// Asks the API of ECR. Keys that ended early are renewed once.
    async fn ask(
        &self,
        desk: &Desk,
        host: &EcrHost,
        role: Option<&str>,
        ask: &Ask<'_>,
    ) -> Result<(Answer, Value), IdentityError> {
        let asked = Instant::now();
        let keys = self.keys(desk, host, role, None).await?;
        match post(desk, host, &keys, ask).await {
            Err(Refused { expired: true, .. }) => {
                let keys = self.keys(desk, host, role, Some(asked)).await?;
                post(desk, host, &keys, ask).await.map_err(|refused| refused.error)
            }
            Err(refused) => Err(refused.error),
            Ok(told) => Ok(told),
        }
    }

    /// The keys of a role, or of this program itself.
    async fn keys(
        &self,
        desk: &Desk,
        host: &EcrHost,
        role: Option<&str>,
        not_before: Option<Instant>,
    ) -> Result<Arc<Keys>, IdentityError> {
        let sts = sts::Sts::beside(desk, host);
        let key = KeysOf { role: role.map(str::to_owned), sts: sts.name() };
        let fresh = |started| not_before.is_none_or(|floor| started >= floor);
        let accepts = |landed: &Landed<Given>| {
            fresh(landed.started)
                && landed.value.as_ref().is_ok_and(|keys| {
                    Instant::now() < landed.started + lifetime::usable(keys.good_for)
                })
        };
        let fetch = async |_| keys::find(desk, &sts, role).await.map(Arc::new).map_err(Arc::new);
        let found = self.keys.get(&key, fresh, accepts, fetch).await;
        found.map_err(Arc::unwrap_or_clone)
    }
}

/// One question to the API of ECR.
struct Ask<'a> {
    action: &'static str,
    body: &'a Value,
    /// What must be granted for it.
    permission: &'static str,
}

/// Why it has not been answered, and whether other keys may help.
struct Refused {
    expired: bool,
    error: IdentityError,
}

impl From<IdentityError> for Refused {
    fn from(error: IdentityError) -> Self {
        Self { expired: false, error }
    }
}

async fn post(
    desk: &Desk,
    host: &EcrHost,
    keys: &Keys,
    ask: &Ask<'_>,
) -> Result<(Answer, Value), Refused> {
    let (service, target) = match host {
        EcrHost::Private { .. } => ("ecr", "AmazonEC2ContainerRegistry_V20150921"),
        EcrHost::Public => ("ecr-public", "SpencerFrontendService"),
    };
    let url = service_url(desk, service, &format!("https://{}/", host.api_host()))?;
    let body = ask.body.to_string();
    let target = format!("{target}.{}", ask.action);
    let headers = [("content-type", "application/x-amz-json-1.1"), ("x-amz-target", &target)];
    let scope = Scope { region: host.region(), service };
    let call = signed(url, &headers, body, keys, scope);
    let answer = desk.send(&call).await?;
    let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if answer.status.is_success() {
        return Ok((answer, value));
    }
    // `Code`, or `namespace#Code`.
    let code = value["__type"].as_str().unwrap_or_default();
    let code = code.rsplit('#').next().unwrap_or_default();
    let message = value["message"].as_str().or(value["Message"].as_str()).unwrap_or_default();
    let fix = fix(code, ask.permission);
    let said = format!("{code}: {message}");
    let said = said.trim_matches([':', ' ']);
    let error = IdentityError::refusal(&answer, keys.who.clone(), said, fix);
    let expired = matches!(code, "ExpiredTokenException" | "UnrecognizedClientException");
    Err(Refused { expired, error })
}

/// What to do about a code of AWS.
fn fix(code: &str, permission: &str) -> String {
    match code {
        "InvalidSignatureException" | "RequestTimeTooSkewed" => {
            "check the clock of this machine, and the secret access key".to_owned()
        }
        "UnrecognizedClientException" | "ExpiredTokenException" | "InvalidClientTokenId" => {
            "its keys are not, or no longer, good: renew them".to_owned()
        }
        "RepositoryNotFoundException" => {
            "check the repository's name, and account and region in the host".to_owned()
        }
        _ => format!("allow {permission} in its policy"),
    }
}

/// Where a service is: its own URL, unless the standard variables name another.
fn service_url(desk: &Desk, service: &str, usual: &str) -> Result<Url, IdentityError> {
    let own = format!("AWS_ENDPOINT_URL_{}", service.to_ascii_uppercase().replace('-', "_"));
    let named = [&*own, "AWS_ENDPOINT_URL"]
        .into_iter()
        .find_map(|name| Some((name, desk.variables.text(name)?)));
    let Some((name, text)) = named else {
        return usual.parse().map_err(|_| IdentityError::BadAnswer {
            host: usual.to_owned(),
            cause: "that is no URL".to_owned(),
        });
    };
    text.parse().map_err(|_| IdentityError::Missing {
        cloud: Cloud::Aws,
        found: format!("{name} is no URL"),
        fix: "correct it".to_owned(),
    })
}

/// A signed `POST`.
fn signed(
    url: Url,
    headers: &[(&'static str, &str)],
    body: String,
    keys: &Keys,
    scope: Scope<'_>,
) -> Call {
    let proof = sigv4::sign(&url, headers, body.as_bytes(), keys, scope, Timestamp::now());
    let mut call = Call::post(url, body);
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned()));
    for (name, value) in headers.chain(proof) {
        // What no header can carry is sent as nothing, and so refused.
        let mut value = HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(name != CONTENT_TYPE.as_str());
        call = call.header(HeaderName::from_static(name), value);
    }
    call
}

fn decoded(text: &str) -> Option<String> {
    String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok()
}

/// The keys in a JSON object, as the services on an instance or in a pod give them.
fn keys_in(answer: &Answer, who: &str) -> Result<Keys, IdentityError> {
    let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let text = |name: &'static str| {
        let text = value[name].as_str().filter(|text| !text.is_empty());
        text.ok_or_else(|| IdentityError::without(answer, name))
    };
    let end = value["Expiration"].as_str().and_then(|text| text.parse().ok());
    Ok(Keys {
        id: text("AccessKeyId")?.to_owned(),
        secret: text("SecretAccessKey")?.into(),
        session: Some(text("Token")?.into()),
        who: format!("{who} of {}", host(answer)),
        good_for: lifetime::until(end, answer),
    })
}
