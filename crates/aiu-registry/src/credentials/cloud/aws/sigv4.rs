//! Signature Version 4: the proof that a request comes from who has the secret key, without
//! sending it.

use std::fmt::Write as _;

use aiu_http::Url;
use aws_lc_rs::hmac;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};

use super::Keys;

/// What a signature is good for, beside its day.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) region: &'a str,
    pub(super) service: &'a str,
}

/// The headers that a `POST` needs beside its own, which are given with lower-case names.
pub(super) fn sign(
    url: &Url,
    headers: &[(&'static str, &str)],
    body: &[u8],
    keys: &Keys,
    scope: Scope<'_>,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = &time[..8];
    let mut added = vec![("x-amz-date", time.clone())];
    if let Some(token) = &keys.session {
        added.push(("x-amz-security-token", token.expose_secret().to_owned()));
    }
    let mut all: Vec<(&str, &str)> = headers.to_vec();
    all.extend(added.iter().map(|(name, value)| (*name, value.as_str())));
    let host = host(url);
    all.push(("host", &host));
    all.sort_unstable();
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");

    let mut request = format!("POST\n{}\n\n", url.path());
    for (name, value) in &all {
        let _ = writeln!(request, "{name}:{}", value.trim());
    }
    let _ = write!(request, "\n{names}\n{}", hex(&Sha256::digest(body)));

    let Scope { region, service } = scope;
    let place = format!("{day}/{region}/{service}/aws4_request");
    let digest = hex(&Sha256::digest(request));
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{place}\n{digest}");
    let secret = format!("AWS4{}", keys.secret.expose_secret());
    let key = [day, region, service, "aws4_request"]
        .into_iter()
        .fold(secret.into_bytes(), |key, part| mac(&key, part.as_bytes()));
    let signature = hex(&mac(&key, text.as_bytes()));
    let id = &keys.id;
    let proof = format!(
        "AWS4-HMAC-SHA256 Credential={id}/{place}, SignedHeaders={names}, Signature={signature}"
    );
    added.push(("authorization", proof));
    added
}

/// Host and, where it is not the scheme's own, port: as the header says it.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Amazon's own examples of the signing of a `POST`: the request, its time, the signature.
    #[test]
    fn requests_are_signed_as_in_the_published_examples() {
        let url: Url = "https://example.amazonaws.com/".parse().unwrap();
        let form = [("content-type", "application/x-www-form-urlencoded")];
        #[rustfmt::skip]
        let rows: [(&[(&str, &str)], &str, &str); 2] = [
            // post-vanilla
            (&[], "", "SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            // post-x-www-form-urlencoded
            (&form, "Param1=value1", "SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        ];
        for (headers, body, expected) in rows {
            let keys = Keys {
                id: "AKIDEXAMPLE".to_owned(),
                secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
                session: None,
                who: String::new(),
                good_for: Duration::MAX,
            };
            let now = "2015-08-30T12:36:00Z".parse().unwrap();
            let scope = Scope { region: "us-east-1", service: "service" };
            let signed = sign(&url, headers, body.as_bytes(), &keys, scope, now);
            let expected = format!(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, {expected}"
            );
            assert_eq!(signed.last(), Some(&("authorization", expected)));
        }
    }
}
