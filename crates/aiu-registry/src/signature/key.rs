//! A public key, as cosign writes it beside the private one: PEM around PKIX (spec 10 §10.4).

use std::fmt;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P521_SHA256_ASN1, ParsedPublicKey,
    VerificationAlgorithm,
};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};

/// Keys on elliptic curves, `1.2.840.10045.2.1`.
const EC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// The curves that are checked, all with SHA-256, as the reference does: P-256, P-384, P-521.
const CURVES: [(&[u8], &dyn VerificationAlgorithm); 3] = [
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], &ECDSA_P256_SHA256_ASN1),
    (&[0x2b, 0x81, 0x04, 0x00, 0x22], &ECDSA_P384_SHA256_ASN1),
    (&[0x2b, 0x81, 0x04, 0x00, 0x23], &ECDSA_P521_SHA256_ASN1),
];

/// A key that signatures are checked with.
#[derive(Clone)]
pub struct CosignKey {
    key: ParsedPublicKey,
    fingerprint: [u8; 32],
}

/// Why a text is no key that signatures can be checked with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// There is no PEM block.
    #[error(
        "unable to PEM decode public key; paste all of cosign.pub, with its first and last line"
    )]
    NotPem,
    /// The block is no public key.
    #[error(
        "failed to parse public key: {0}; paste cosign.pub, not the private key or a certificate"
    )]
    NotPublic(&'static str),
    /// A key of another kind.
    #[error("public key is not an ECDSA key; keys of `cosign generate-key-pair` are")]
    NotEcdsa,
    /// A curve that is not checked.
    #[error("failed to parse public key: its curve is none of P-256, P-384 and P-521")]
    Curve,
}

impl CosignKey {
    /// Reads the first PEM block of `text`.
    pub fn from_pem(text: &str) -> Result<Self, InvalidKey> {
        let der = pem(text).ok_or(InvalidKey::NotPem)?;
        let malformed = || InvalidKey::NotPublic("it is no PKIX structure");
        let (whole, _) = element(&der, SEQUENCE).ok_or_else(malformed)?;
        let (kind, point) = element(whole, SEQUENCE).ok_or_else(malformed)?;
        let (algorithm, parameters) = element(kind, OBJECT).ok_or_else(malformed)?;
        let (point, _) = element(point, BITS).ok_or_else(malformed)?;
        if algorithm != EC_KEY {
            return Err(InvalidKey::NotEcdsa);
        }
        let (curve, _) = element(parameters, OBJECT).ok_or(InvalidKey::Curve)?;
        let known = CURVES.into_iter().find(|(object, _)| *object == curve);
        let (_, algorithm) = known.ok_or(InvalidKey::Curve)?;
        // The first byte of a bit string says how many bits of the last one do not count.
        let point = point.strip_prefix(&[0]).ok_or_else(malformed)?;
        let key = ParsedPublicKey::new(algorithm, point)
            .map_err(|_| InvalidKey::NotPublic("its point is not on its curve"))?;
        Ok(Self { key, fingerprint: Sha256::digest(&der).into() })
    }

    /// Whether `signature`, in ASN.1, was made over `message` with the private half.
    pub(super) fn made(&self, signature: &[u8], message: &[u8]) -> bool {
        self.key.verify_sig(message, signature).is_ok()
    }

    /// Tells keys apart.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }
}

impl fmt::Debug for CosignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CosignKey").finish_non_exhaustive()
    }
}

impl PartialEq for CosignKey {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Eq for CosignKey {}

impl std::hash::Hash for CosignKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}

/// The bytes of the first block, whatever it says it is.
fn pem(text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (_, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once("-----END ")?;
    let packed: String = body.split_whitespace().collect();
    BASE64_STANDARD.decode(packed).ok().filter(|bytes| !bytes.is_empty())
}

const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
const BITS: u8 = 0x03;

/// The content of the element of this type at the front, and what follows it.
fn element(der: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // Lengths of one or two bytes; no key needs more.
        0x81 => (usize::from(*rest.first()?), rest.get(1..)?),
        0x82 => {
            let [high, low] = *rest.first_chunk::<2>()?;
            (usize::from(u16::from_be_bytes([high, low])), rest.get(2..)?)
        }
        _ => return None,
    };
    (found == kind).then_some(())?;
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of `openssl`, shortened to what matters: PEM around DER.
    fn block(label: &str, der: &[u8]) -> String {
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", BASE64_STANDARD.encode(der))
    }

    fn spki(algorithm: &[u8], parameters: &[u8], point: &[u8]) -> Vec<u8> {
        let wrap = |kind: u8, content: &[u8]| {
            let length = u8::try_from(content.len()).expect("short enough for a test");
            [&[kind, length], content].concat()
        };
        let kind = [wrap(OBJECT, algorithm), parameters.to_vec()].concat();
        wrap(SEQUENCE, &[wrap(SEQUENCE, &kind), wrap(BITS, point)].concat())
    }

    #[test]
    fn keys_of_the_field() {
        let real = include_str!("../../tests/cosign/cosign.pub");
        let rsa = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
        let p256 = [&[OBJECT, 8], CURVES[0].0].concat();
        let k1 = [OBJECT, 5, 0x2b, 0x81, 0x04, 0x00, 0x0a];
        #[rustfmt::skip]
        let rows = [
            ("cosign's", real.to_owned(), "good"),
            ("with words around", format!("# ours\n{real}# more\n"), "good"),
            ("with line ends of another system", real.replace('\n', "\r\n"), "good"),
            ("nothing", String::new(), "unable to PEM decode public key"),
            ("no PEM", "MFkwEwYHKoZIzj0".to_owned(), "unable to PEM decode public key"),
            ("cut", real[..100].to_owned(), "unable to PEM decode public key"),
            ("no base64", real.replace('M', "!"), "unable to PEM decode public key"),
            ("a private key", block("ENCRYPTED SIGSTORE PRIVATE KEY", b"{\"kdf\":1}"), "failed to parse public key: it is no PKIX structure"),
            ("RSA", block("PUBLIC KEY", &spki(&rsa, &[5, 0], &[0, 1])), "public key is not an ECDSA key"),
            ("another curve", block("PUBLIC KEY", &spki(EC_KEY, &k1, &[0, 4])), "failed to parse public key: its curve is none of"),
            ("no point", block("PUBLIC KEY", &spki(EC_KEY, &p256, &[0, 4, 1, 2])), "failed to parse public key: its point is not on its curve"),
            ("longer than it is", block("PUBLIC KEY", &[SEQUENCE, 0x82, 0xff, 0xff, 1]), "failed to parse public key: it is no PKIX structure"),
        ];
        for (what, text, expected) in rows {
            let told = match CosignKey::from_pem(&text) {
                Ok(_) => "good".to_owned(),
                Err(error) => error.to_string(),
            };
            assert!(told.starts_with(expected), "{what}: {told}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_to_their_end(bytes: Vec<u8>) {
            let _ = CosignKey::from_pem(&block("PUBLIC KEY", &bytes));
        }
    }
}
