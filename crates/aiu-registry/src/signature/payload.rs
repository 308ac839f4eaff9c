//! What was signed: bytes, a signature over them, and the image that they speak of (spec 10
//! §10.3).

use aiu_core::image::Digest;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use serde_json::Value;

use super::CosignKey;

/// Statements that say "this image is signed", and nothing else about it (spec 10 F12).
const SIGNED: &str = "https://sigstore.dev/cosign/sign/v1";
/// How the types of statements begin.
const STATEMENT: &str = "https://in-toto.io/Statement";

/// A signature that speaks of the image in question; by whom, is to be seen.
#[derive(Debug)]
pub(super) struct Candidate {
    /// In base64.
    signature: String,
    /// What it is over.
    message: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    dsse_envelope: Option<Envelope>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    #[serde(default)]
    payload: String,
    #[serde(default)]
    payload_type: String,
    #[serde(default)]
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Deserialize)]
struct EnvelopeSignature {
    #[serde(default)]
    sig: String,
}

impl Candidate {
    /// Whether the key made it. The error is a cause in words.
    pub(super) fn check(&self, key: &CosignKey) -> Result<bool, String> {
        let signature = BASE64_STANDARD.decode(self.signature.trim());
        let signature =
            signature.map_err(|cause| format!("failed to decode signature: {cause}"))?;
        Ok(key.made(&signature, &self.message))
    }
}

/// The candidates in a Sigstore bundle. Errors are causes in words; `tag` is for them.
pub(super) fn of_bundle(
    blob: &[u8],
    tag: &str,
    subject: &Digest,
) -> Result<Vec<Candidate>, String> {
    let bundle: Bundle = serde_json::from_slice(blob).map_err(|cause| {
        format!("failed to parse sigstore bundle for image tag \"{tag}\": {cause}")
    })?;
    let envelope = bundle
        .dsse_envelope
        .ok_or_else(|| format!("sigstore bundle for image tag \"{tag}\" has no dsseEnvelope"))?;
    if envelope.signatures.is_empty() {
        return Err(format!(
            "sigstore bundle for image tag \"{tag}\" has no signatures in dsseEnvelope"
        ));
    }
    let payload = BASE64_STANDARD.decode(&envelope.payload).map_err(|cause| {
        format!("failed to decode dsseEnvelope payload for image tag \"{tag}\": {cause}")
    })?;
    speaks_of(&payload, "DSSE", tag, subject)?;
    let kind = &envelope.payload_type;
    let mut message = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    message.extend_from_slice(&payload);
    let candidates = envelope.signatures.into_iter();
    Ok(candidates
        .map(|signature| Candidate { signature: signature.sig, message: message.clone() })
        .collect())
}

/// The candidate of a simple signature: the payload's bytes, and the layer's annotation.
pub(super) fn of_simple_signing(
    blob: &[u8],
    signature: &str,
    tag: &str,
    subject: &Digest,
) -> Result<Candidate, String> {
    speaks_of(blob, "simple-signing", tag, subject)?;
    Ok(Candidate { signature: signature.to_owned(), message: blob.to_owned() })
}

/// Whether the payload is about this image: else a signature of another one would do.
fn speaks_of(payload: &[u8], format: &str, tag: &str, subject: &Digest) -> Result<(), String> {
    let nothing = || {
        format!(
            "{format} payload for image tag \"{tag}\" has no embedded manifest digest (docker-manifest-digest or in-toto subject digest)"
        )
    };
    let payload: Value = serde_json::from_slice(payload).map_err(|_| nothing())?;
    let of_statement = payload["_type"].as_str().is_some_and(|kind| kind.starts_with(STATEMENT));
    let named: Vec<String> = if of_statement {
        let predicate = payload["predicateType"].as_str().unwrap_or_default();
        if predicate != SIGNED {
            return Err(format!(
                "{format} payload for image tag \"{tag}\" is a statement of type \"{predicate}\", not a signature"
            ));
        }
        let (algorithm, _) = subject.as_str().split_once(':').ok_or_else(nothing)?;
        let subjects = payload["subject"].as_array().into_iter().flatten();
        let digests = subjects.filter_map(|subject| subject["digest"][algorithm].as_str());
        digests.map(|hex| format!("{algorithm}:{hex}")).collect()
    } else {
        let image = &payload["critical"]["image"]["docker-manifest-digest"];
        image.as_str().filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect()
    };
    match named.first() {
        None => Err(nothing()),
        Some(_) if named.iter().any(|digest| *digest == subject.as_str()) => Ok(()),
        Some(other) => Err(format!(
            "payload manifest digest \"{other}\" does not match image manifest digest \"{subject}\" for image tag \"{tag}\""
        )),
    }
}
