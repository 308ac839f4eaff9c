//! Looking into tokens that others signed and will check. Nothing here is trusted: it is for
//! messages and for lifetimes.

use std::time::Duration;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use serde_json::Value;

/// The claims of a token.
pub(super) fn claims(token: &str) -> Option<Value> {
    let payload = token.split('.').nth(1)?;
    let payload = BASE64_URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&payload).ok()
}

/// Whom it speaks of, for messages.
pub(super) fn subject(token: &str) -> String {
    let subject = claims(token).and_then(|claims| claims["sub"].as_str().map(str::to_owned));
    subject.unwrap_or_else(|| "an unknown subject".to_owned())
}

/// For how long it was made.
pub(super) fn lifetime(token: &str) -> Option<Duration> {
    let claims = claims(token)?;
    let time = |name: &str| claims[name].as_u64();
    let length = time("exp")?.checked_sub(time("iat").or_else(|| time("nbf"))?)?;
    Some(Duration::from_secs(length))
}
