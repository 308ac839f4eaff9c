//! `gcp`: an access token of Google's, which is the password of a user that is the same for
//! everyone.
//!
//! It comes from the file that `GOOGLE_APPLICATION_CREDENTIALS` names, else from the metadata
//! server, where a pod on GKE finds its own identity.

mod file;
mod metadata;

use std::time::Duration;

use aiu_core::registries::Cloud;
use aiu_http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use aiu_http::{Answer, Call, Url};
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::{Desk, IdentityError, Login, Pass, lifetime};

const USER: &str = "oauth2accesstoken";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// An access token, and whose it is.
pub(super) struct Access {
    token: SecretString,
    good_for: Duration,
    who: String,
}

/// The login for all of Google's registries, as the service account, or as what this program
/// is.
pub(super) async fn login(desk: &Desk, account: Option<&str>) -> Result<Pass, IdentityError> {
    let access = match file::path(desk).await {
        Some(path) => file::access(desk, &path).await?,
        None => metadata::access(desk, account).await?,
    };
    let access = match account {
        Some(account) if access.who != account => {
            let url = desk
                .variables
                .text("CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS")
                .unwrap_or_else(|| "https://iamcredentials.googleapis.com".to_owned());
            let url = format!("{url}/v1/projects/-/serviceAccounts/{account}:generateAccessToken");
            impersonate(desk, &url, access).await?
        }
        _ => access,
    };
    let login = Login { user: USER.to_owned(), password: access.token };
    Ok(Pass { login, life: lifetime::usable(access.good_for) })
}

/// A token of the account whose URL it is, for who may make such tokens.
async fn impersonate(desk: &Desk, url: &str, base: Access) -> Result<Access, IdentityError> {
    let account = account_in(url);
    let url = checked(url, "service_account_impersonation_url")?;
    let body = json!({ "scope": [SCOPE] }).to_string();
    let bearer = format!("Bearer {}", base.token.expose_secret());
    let mut bearer = HeaderValue::try_from(bearer).unwrap_or(HeaderValue::from_static(""));
    bearer.set_sensitive(true);
    let call = Call::post(url, body)
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .header(AUTHORIZATION, bearer);
    let answer = desk.send(&call).await?;
    let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let who = &base.who;
    if !answer.status.is_success() {
        let said = value["error"]["message"].as_str().unwrap_or_default();
        let fix = format!(
            "grant {who} the role roles/iam.serviceAccountTokenCreator (with workload identity: roles/iam.workloadIdentityUser) on {account}"
        );
        let asked = format!("a token of {account} to {who}");
        return Err(IdentityError::refusal(&answer, asked, said, fix));
    }
    let token = text(&answer, &value, "accessToken")?;
    let end: Option<Timestamp> = value["expireTime"].as_str().and_then(|end| end.parse().ok());
    Ok(Access { token, good_for: lifetime::until(end, &answer), who: account })
}

/// The account that a URL of impersonation names.
fn account_in(url: &str) -> String {
    let account = url.rsplit('/').next().unwrap_or_default();
    account.split(':').next().unwrap_or_default().to_owned()
}

/// The access token in an OAuth answer.
fn granted(answer: &Answer, who: &str, fix: &str) -> Result<Access, IdentityError> {
    let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if !answer.status.is_success() {
        let part = |name: &str| value[name].as_str().unwrap_or_default();
        let said = format!("{} {}", part("error"), part("error_description"));
        return Err(IdentityError::refusal(answer, who.to_owned(), &said, fix.to_owned()));
    }
    let token = text(answer, &value, "access_token")?;
    let good_for = lifetime::seconds(&value["expires_in"]);
    Ok(Access { token, good_for, who: who.to_owned() })
}

fn text(answer: &Answer, value: &Value, name: &str) -> Result<SecretString, IdentityError> {
    let text = value[name].as_str().filter(|text| !text.is_empty());
    text.map(SecretString::from).ok_or_else(|| IdentityError::without(answer, name))
}

fn checked(url: &str, name: &str) -> Result<Url, IdentityError> {
    url.parse().map_err(|_| missing(&format!("its {name} is no URL"), "make the file anew"))
}

fn missing(found: &str, fix: &str) -> IdentityError {
    IdentityError::Missing { cloud: Cloud::Gcp, found: found.to_owned(), fix: fix.to_owned() }
}
