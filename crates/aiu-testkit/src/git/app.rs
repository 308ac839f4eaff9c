//! The part of a forge's API that hands out tokens to an installed App, and Google's that hands
//! them out to service accounts: both check a signed claim for real.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey,
};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A forge that knows one App, number 123, with one installation, number 456.
pub struct AppServer {
    port: u16,
    state: Arc<Known>,
    task: JoinHandle<()>,
}

struct Known {
    key: RsaKeyPair,
    given: AtomicU64,
}

impl AppServer {
    /// Makes a key and serves on a port of this machine, until dropped.
    pub async fn start() -> Self {
        let key = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key can be made");
        let state = Arc::new(Known { key, given: AtomicU64::new(0) });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let app = Router::new()
            .route("/api/v3/app/installations/{id}/access_tokens", post(installation))
            .route("/token", post(account))
            .with_state(Arc::clone(&state));
        let task = tokio::spawn(async move {
            axum::serve(listener, app).await.expect("the server runs until it is dropped");
        });
        Self { port, state, task }
    }

    /// The address of the API, as it stands in `githubAppEnterpriseBaseUrl`.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/api/v3", self.port)
    }

    /// The App's private key: `PRIVATE KEY`, or as GitHub hands it out, `RSA PRIVATE KEY`.
    pub fn key(&self, as_github_does: bool) -> String {
        let der: Pkcs8V1Der<'_> = self.state.key.as_der().expect("it was just made");
        let der = der.as_ref();
        // The newer form holds the older one, behind 26 bytes that say what it is.
        let (label, der) =
            if as_github_does { ("RSA PRIVATE KEY", &der[26..]) } else { ("PRIVATE KEY", der) };
        let lines = STANDARD.encode(der);
        let lines: Vec<&str> = lines
            .as_bytes()
            .chunks(64)
            .map(|it| std::str::from_utf8(it).expect("base64"))
            .collect();
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
    }

    /// The JSON key of a service account that is known here.
    pub fn google_key(&self) -> String {
        serde_json::json!({
            "client_email": "bot@project.test",
            "private_key": self.key(false),
            "token_uri": format!("http://127.0.0.1:{}/token", self.port),
        })
        .to_string()
    }

    /// How many tokens were given; they are `ghs_s3cret1`, `ghs_s3cret2` and so on.
    pub fn given(&self) -> u64 {
        self.state.given.load(Ordering::Relaxed)
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn installation(
    State(known): State<Arc<Known>>,
    Path(id): Path<u64>,
    headers: HeaderMap,
) -> (StatusCode, String) {
    let header = headers.get("authorization").and_then(|value| value.to_str().ok());
    let token = header.and_then(|header| header.strip_prefix("Bearer ")).unwrap_or_default();
    let Some(claims) = known.claims(token) else {
        let text = r#"{"message":"A JSON web token could not be decoded"}"#;
        return (StatusCode::UNAUTHORIZED, text.to_owned());
    };
    let lifetime = claims["exp"].as_u64().zip(claims["iat"].as_u64()).map(|(to, from)| to - from);
    if claims["iss"] != "123" || lifetime.is_none_or(|lifetime| lifetime > 600) {
        return (StatusCode::UNAUTHORIZED, r#"{"message":"bad claims"}"#.to_owned());
    }
    if id != 456 {
        return (StatusCode::NOT_FOUND, r#"{"message":"Not Found"}"#.to_owned());
    }
    let token = known.next();
    let answer = format!(r#"{{"token":"{token}","expires_at":"2099-01-01T00:00:00Z"}}"#);
    (StatusCode::CREATED, answer)
}

async fn account(State(known): State<Arc<Known>>, body: Bytes) -> (StatusCode, String) {
    let body = String::from_utf8_lossy(&body).into_owned();
    let proof = body.split('&').find_map(|pair| pair.strip_prefix("assertion="));
    match known.claims(proof.unwrap_or_default()) {
        Some(claims) if claims["iss"] == "bot@project.test" => {
            let token = known.next();
            (StatusCode::OK, format!(r#"{{"access_token":"{token}","expires_in":3600}}"#))
        }
        _ => (StatusCode::BAD_REQUEST, r#"{"error":"invalid_grant"}"#.to_owned()),
    }
}

impl Known {
    fn next(&self) -> String {
        format!("ghs_s3cret{}", self.given.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The claims of a token that our key signed.
    fn claims(&self, token: &str) -> Option<serde_json::Value> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let public = self.key.public_key().as_ref();
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public)
            .verify(signed.as_bytes(), &signature)
            .ok()?;
        let claims = URL_SAFE_NO_PAD.decode(signed.split_once('.')?.1).ok()?;
        serde_json::from_slice(&claims).ok()
    }
}
