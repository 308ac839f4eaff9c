//! Clouds in this process, as far as signing in to their registries goes.
//!
//! Each stand-in speaks its cloud's protocol over a real socket, gives tokens to those it
//! trusts, refuses in the cloud's words, and writes down what it was asked.

mod aws;
mod azure;
mod google;
mod service;

pub use aws::Aws;
pub use azure::Azure;
pub use google::Google;
pub use service::Asked;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use serde_json::{Value, json};

/// A token like those that clusters give to pods, for this subject. Its signature is none.
pub fn pod_token(subject: &str) -> String {
    jwt(&json!({ "sub": subject, "iss": "https://cluster.test" }))
}

fn jwt(claims: &Value) -> String {
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.c2lnbmF0dXJl", part(&json!({ "alg": "RS256" })), part(claims))
}

/// A claim of a token: `sub` whom it speaks of, `iss` who made it.
fn claim(token: &str, name: &str) -> Option<String> {
    let payload = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    Some(claims[name].as_str()?.to_owned())
}

/// Whom a token speaks of.
fn subject(token: &str) -> Option<String> {
    claim(token, "sub")
}
