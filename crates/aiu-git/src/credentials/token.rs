//! Access tokens that are fetched before they are used: of a GitHub App's installation, of a
//! Google service account, of the pod's identity in Azure. One call per hour and account; whoever asks meanwhile waits for it.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aiu_http::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use aiu_http::{Answer, Call, Http, HttpSettings, Method, Proxies, TlsProfile, Url};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::{AppKey, AzureIdentity, GitLogin, Roots, SignIn};

/// Where GitHub's own API answers.
const GITHUB: &str = "https://api.github.com";
/// What Google's tokens are for (spec 30 §3.3).
const GOOGLE_SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// Where Azure's public cloud gives tokens.
const AZURE: &str = "https://login.microsoftonline.com";
/// What Azure's tokens are for: Azure DevOps, by the id that it has everywhere.
const AZURE_SCOPE: &str = "499b84ac-1321-427f-aa17-267ca6975798/.default";
/// A token is not used any more so long before it ends.
const MARGIN: Duration = Duration::from_mins(5);

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoToken {
    /// What went wrong, for people.
    pub(crate) words: String,
    /// Whether it may pass by itself.
    pub(crate) passing: bool,
}

fn wrong(words: impl Into<String>) -> NoToken {
    NoToken { words: words.into(), passing: false }
}

/// Tokens that were fetched, by what they were fetched with.
pub(crate) struct Tokens {
    /// `ARGOCD_GITHUB_APP_CREDS_EXPIRATION_DURATION` (spec 30 F21).
    app_lifetime: Duration,
    azure: Option<AzureIdentity>,
    kept: Mutex<HashMap<u64, Arc<tokio::sync::Mutex<Option<Kept>>>>>,
    fingerprints: RandomState,
}

#[derive(Clone)]
struct Kept {
    user: String,
    token: SecretString,
    until: SystemTime,
}

impl Tokens {
    pub(crate) fn new(app_lifetime: Duration, azure: Option<AzureIdentity>) -> Self {
        Self { app_lifetime, azure, kept: Mutex::default(), fingerprints: RandomState::new() }
    }

    /// A token of the App's installation.
    pub(crate) async fn of_app(&self, login: &GitLogin) -> Result<SecretString, NoToken> {
        let SignIn::GitHubApp(app) = &login.sign_in else { return Err(wrong("no App")) };
        let (_, token) = self.kept(login, async || self.fetch_app(login, app).await).await?;
        Ok(token)
    }

    /// The account's name and a token of it.
    pub(crate) async fn of_google(
        &self,
        login: &GitLogin,
    ) -> Result<(String, SecretString), NoToken> {
        let SignIn::Google(key) = &login.sign_in else { return Err(wrong("no account")) };
        self.kept(login, async || fetch_google(login, key).await).await
    }

    /// A token of the identity that this pod has in Azure.
    pub(crate) async fn of_azure(&self, login: &GitLogin) -> Result<SecretString, NoToken> {
        let identity = self.azure.as_ref().ok_or_else(|| {
            wrong("the Secret asks for Azure workload identity, and AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_FEDERATED_TOKEN_FILE are not all set; label the pod with azure.workload.identity/use: \"true\", annotate its service account with azure.workload.identity/client-id, and restart the pod")
        })?;
        let (_, token) = self.kept(login, async || fetch_azure(login, identity).await).await?;
        Ok(token)
    }

    /// Forgets a token that was refused, so that the next command fetches a new one.
    pub(crate) fn forget(&self, login: &GitLogin) {
        self.kept.lock().remove(&self.fingerprints.hash_one(login));
    }

    async fn kept(
        &self,
        login: &GitLogin,
        fetch: impl AsyncFnOnce() -> Result<Kept, NoToken>,
    ) -> Result<(String, SecretString), NoToken> {
        let key = self.fingerprints.hash_one(login);
        let place = Arc::clone(self.kept.lock().entry(key).or_default());
        let mut kept = place.lock().await;
        if let Some(Kept { user, token, until }) = &*kept
            && SystemTime::now() < *until
        {
            return Ok((user.clone(), token.clone()));
        }
        let fresh = fetch().await?;
        *kept = Some(fresh.clone());
        Ok((fresh.user, fresh.token))
    }

    async fn fetch_app(&self, login: &GitLogin, app: &AppKey) -> Result<Kept, NoToken> {
        #[derive(Deserialize)]
        struct Granted {
            token: SecretString,
            expires_at: Option<String>,
        }
        let now = SystemTime::now();
        // A minute back: the forge's clock may be behind ours. It takes ten minutes at most.
        let (issued, expires) = (seconds(now).saturating_sub(60), seconds(now) + 480);
        let claims = serde_json::json!({"iat": issued, "exp": expires, "iss": app.app.to_string()});
        let proof = signed(&claims, app.key.expose_secret())?;
        let base = app.base_url.as_deref().unwrap_or(GITHUB).trim_end_matches('/');
        let url = format!("{base}/app/installations/{}/access_tokens", app.installation);
        let url = Url::parse(&url).map_err(|error| {
            wrong(format!("githubAppEnterpriseBaseUrl '{base}' is no URL: {error}"))
        })?;
        let call = Call::new(Method::POST, url)
            .header(AUTHORIZATION, secret_header(&format!("Bearer {proof}"))?)
            .header(ACCEPT, HeaderValue::from_static("application/vnd.github+json"))
            .tls(profile(login)?);
        let answer = send(login, &call).await?;
        let granted: Granted = decoded(&answer)?;
        let ends = granted.expires_at.and_then(|text| text.parse::<jiff::Timestamp>().ok());
        let ends = ends.and_then(|ends| u64::try_from(ends.as_second()).ok());
        let hour = now + Duration::from_hours(1);
        let ends = ends.map_or(hour, |seconds| UNIX_EPOCH + Duration::from_secs(seconds));
        let until = (ends - MARGIN).min(now + self.app_lifetime);
        Ok(Kept { user: "x-access-token".to_owned(), token: granted.token, until })
    }
}

async fn fetch_google(login: &GitLogin, key: &SecretString) -> Result<Kept, NoToken> {
    #[derive(Deserialize)]
    struct Account {
        client_email: String,
        private_key: SecretString,
        #[serde(default = "google_tokens")]
        token_uri: String,
    }
    #[derive(Deserialize)]
    struct Granted {
        access_token: SecretString,
        expires_in: Option<u64>,
    }
    let invalid = |cause: &str| {
        wrong(format!("credentials for Google Cloud Source repositories are invalid: {cause}"))
    };
    let account: Account = serde_json::from_str(key.expose_secret())
        .map_err(|_| invalid("gcpServiceAccountKey is not the JSON key of a service account"))?;
    let now = SystemTime::now();
    let claims = serde_json::json!({
        "iss": account.client_email, "scope": GOOGLE_SCOPE, "aud": account.token_uri,
        "iat": seconds(now), "exp": seconds(now) + 3600,
    });
    let proof = signed(&claims, account.private_key.expose_secret())?;
    let url = Url::parse(&account.token_uri).map_err(|_| invalid("token_uri is no URL"))?;
    let form = vec![
        ("grant_type".to_owned(), "urn:ietf:params:oauth:grant-type:jwt-bearer".to_owned()),
        ("assertion".to_owned(), proof),
    ];
    let answer = send(login, &Call::post_form(url, form).tls(profile(login)?)).await?;
    let granted: Granted = decoded(&answer)?;
    let lifetime = Duration::from_secs(granted.expires_in.unwrap_or(3600));
    let until = now + lifetime.saturating_sub(MARGIN);
    Ok(Kept { user: account.client_email, token: granted.access_token, until })
}

async fn fetch_azure(login: &GitLogin, identity: &AzureIdentity) -> Result<Kept, NoToken> {
    #[derive(Deserialize)]
    struct Granted {
        access_token: SecretString,
        expires_in: Option<u64>,
    }
    let AzureIdentity { client, tenant, token_file, authority } = identity;
    let proof = std::fs::read_to_string(token_file).map_err(|error| {
        wrong(format!("the token file {} cannot be read: {error}", token_file.display()))
    })?;
    let authority = authority.as_deref().unwrap_or(AZURE).trim_end_matches('/');
    let url = Url::parse(&format!("{authority}/{tenant}/oauth2/v2.0/token"))
        .map_err(|error| wrong(format!("AZURE_AUTHORITY_HOST '{authority}' is no URL: {error}")))?;
    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", client),
        ("scope", AZURE_SCOPE),
        ("client_assertion_type", kind),
        ("client_assertion", proof.trim()),
    ];
    let form = form.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    // The Secret's certificates are the repository's, not the authority's.
    let answer = send(login, &Call::post_form(url, form)).await?;
    let granted: Granted = decoded(&answer)?;
    let lifetime = Duration::from_secs(granted.expires_in.unwrap_or(3600));
    let until = SystemTime::now() + lifetime.saturating_sub(MARGIN);
    Ok(Kept { user: String::new(), token: granted.access_token, until })
}

fn google_tokens() -> String {
    "https://oauth2.googleapis.com/token".to_owned()
}

async fn send(login: &GitLogin, call: &Call) -> Result<Answer, NoToken> {
    let proxies = match &login.proxy {
        Some(proxy) => Proxies::Through(proxy.expose_secret().into()),
        None => Proxies::Environment,
    };
    // One call an hour needs no kept connections.
    let http = Http::new(HttpSettings { proxies, ..HttpSettings::default() });
    let sent = http.send(call).await;
    sent.map_err(|error| NoToken { words: error.to_string(), passing: true })
}

fn decoded<T: for<'a> Deserialize<'a>>(answer: &Answer) -> Result<T, NoToken> {
    let (host, status) = (answer.url.host_str().unwrap_or_default(), answer.status);
    if !status.is_success() {
        let said = String::from_utf8_lossy(&answer.body);
        let message = serde_json::from_str::<serde_json::Value>(&said).ok();
        let text = |it: &serde_json::Value, name: &str| it[name].as_str().map(str::to_owned);
        let message =
            message.and_then(|it| text(&it, "message").or_else(|| text(&it, "error_description")));
        let message = message.map(|it| format!(" ({it})")).unwrap_or_default();
        let words = format!("{host} gives no token: {status}{message}");
        return Err(NoToken { words, passing: status.is_server_error() });
    }
    // The body holds a token, or should: it is not repeated.
    serde_json::from_slice(&answer.body)
        .map_err(|_| wrong(format!("the answer of {host} holds no token")))
}

fn profile(login: &GitLogin) -> Result<TlsProfile, NoToken> {
    let roots = match &login.tls.roots {
        _ if login.tls.insecure => return Ok(TlsProfile::Unverified),
        Roots::None => return Ok(TlsProfile::System),
        Roots::Text(text) => text.as_bytes().to_vec(),
        Roots::File(path) => std::fs::read(path)
            .map_err(|error| wrong(format!("{} cannot be read: {error}", path.display())))?,
    };
    TlsProfile::with_roots(&roots).map_err(|error| wrong(error.to_string()))
}

fn secret_header(value: &str) -> Result<HeaderValue, NoToken> {
    let mut header =
        HeaderValue::from_str(value).map_err(|_| wrong("the token is no header's value"))?;
    header.set_sensitive(true);
    Ok(header)
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A JSON web token, signed with an RSA key in PEM.
fn signed(claims: &serde_json::Value, pem: &str) -> Result<String, NoToken> {
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","typ":"JWT"}"#);
    let text = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    let key = rsa_key(pem).ok_or_else(|| {
        wrong(
            "its private key cannot be read; give the PEM text of an RSA key, as it was downloaded",
        )
    })?;
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
        .map_err(|_| wrong("its private key signs nothing"))?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// `RSA PRIVATE KEY` or `PRIVATE KEY`.
fn rsa_key(pem: &str) -> Option<RsaKeyPair> {
    let begin = pem.find("-----BEGIN ")?;
    let (label, rest) = pem[begin + 11..].split_once("-----")?;
    let body: String = rest.split_once("-----END ")?.0.split_whitespace().collect();
    let der = STANDARD.decode(body).ok()?;
    match label {
        "RSA PRIVATE KEY" => RsaKeyPair::from_der(&der).ok(),
        "PRIVATE KEY" => RsaKeyPair::from_pkcs8(&der).ok(),
        _ => None,
    }
}
