//! Signatures: those that cosign made (`tests/cosign`), and every way in which they can be
//! found, be missing, or be of no use (spec 10 §10, SIG-001 to SIG-026).

use aiu_registry::{CosignKey, ScanRequest, Scanner, SignatureError, Signed};
use aiu_testkit::registry::{Fault, Image, Kind, Registry, Repository};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};

use crate::{about, scanner};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const SIMPLE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const SIGN: &str = "https://sigstore.dev/cosign/sign/v1";

/// A pair of keys of the test's own.
struct Pair(EcdsaKeyPair);

impl Pair {
    fn new() -> Self {
        Self(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).expect("a random source"))
    }

    fn public(&self) -> CosignKey {
        // What `openssl` puts before the point of every key on P-256.
        let head = "3059301306072a8648ce3d020106082a8648ce3d030107034200";
        let head = (0..head.len()).step_by(2).map(|at| u8::from_str_radix(&head[at..at + 2], 16));
        let mut der: Vec<u8> = head.map(|byte| byte.expect("hexadecimal")).collect();
        der.extend_from_slice(self.0.public_key().as_ref());
        let packed = BASE64_STANDARD.encode(der);
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{packed}\n-----END PUBLIC KEY-----\n");
        CosignKey::from_pem(&pem).expect("a good key")
    }

    /// In base64.
    fn sign(&self, message: &[u8]) -> String {
        let signature = self.0.sign(&SystemRandom::new(), message).expect("a random source");
        BASE64_STANDARD.encode(signature)
    }

    fn envelope(&self, payload: &Value) -> Value {
        let (kind, payload) = ("application/vnd.in-toto+json", payload.to_string());
        let message = format!("DSSEv1 {} {kind} {} {payload}", kind.len(), payload.len());
        let sig = self.sign(message.as_bytes());
        json!({
            "payload": BASE64_STANDARD.encode(&payload),
            "payloadType": kind,
            "signatures": [{ "sig": sig }],
        })
    }
}

/// `sha256:…` as `critical.image` of a payload.
fn critical(digest: &str) -> Value {
    json!({ "critical": { "image": { "docker-manifest-digest": digest } } })
}

fn statement(predicate: &str, digests: &[&str]) -> Value {
    let hex =
        |digest: &&str| json!({ "digest": { "sha256": digest.trim_start_matches("sha256:") } });
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "predicateType": predicate,
        "subject": digests.iter().map(hex).collect::<Vec<_>>(),
    })
}

/// A manifest over these layers: media type, content, signature for the annotation.
fn manifest(web: &Repository, subject: &str, layers: &[(&str, &str, Option<&str>)]) -> String {
    let layers: Vec<Value> = layers
        .iter()
        .map(|(kind, content, signature)| {
            let digest = web.push_blob(content.as_bytes());
            let mut layer = json!({ "mediaType": kind, "digest": digest, "size": content.len() });
            if let Some(signature) = signature {
                layer["annotations"] = json!({ "dev.cosignproject.cosign/signature": signature });
            }
            layer
        })
        .collect();
    json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": BUNDLE,
        "config": { "mediaType": "application/vnd.oci.empty.v1+json", "digest": web.push_blob(b"{}"), "size": 2 },
        "layers": layers,
        "subject": { "mediaType": MANIFEST, "digest": subject, "size": 1 },
    })
    .to_string()
}

struct World {
    registry: Registry,
    web: Repository,
    digest: String,
}

impl World {
    async fn new() -> Self {
        let registry = Registry::start().await;
        let web = registry.repository("acme/web");
        let digest = web.push("1.1.0", &Image::new());
        Self { registry, web, digest }
    }

    fn fallback(&self) -> String {
        self.digest.replace(':', "-")
    }

    fn request(&self) -> ScanRequest {
        about(&self.registry, "acme/web")
    }
}

async fn check(
    scanner: &Scanner,
    request: &ScanRequest,
    key: &CosignKey,
) -> Result<String, SignatureError> {
    let tag = "1.1.0".parse().expect("a good tag");
    let signed = Signed { image: "acme/web:1.1.0", tag: &tag, digest: None, key };
    scanner.check_signature(request, signed).await.map(|digest| digest.to_string())
}

/// `ok`, or reason and sentence.
async fn told(world: &World, key: &CosignKey) -> String {
    match check(&scanner(), &world.request(), key).await {
        Ok(digest) => {
            assert_eq!(digest, world.digest);
            "ok".to_owned()
        }
        Err(error) => format!("{}: {error}", error.reason()),
    }
}

fn cosign_key(text: &str) -> CosignKey {
    CosignKey::from_pem(text).expect("cosign's own key")
}

/// What `cosign sign --key` pushed: one manifest, a layer for each of two signers.
#[tokio::test]
async fn what_cosign_signed_is_signed() {
    let world = World::new().await;
    let digest = world.web.push_raw("1.1.0", MANIFEST, include_str!("../cosign/image.json"));
    world.web.push_blob(include_bytes!("../cosign/payload.json"));
    let tag = format!("{}.sig", digest.replace(':', "-"));
    world.web.push_raw(&tag, MANIFEST, include_str!("../cosign/signatures.json"));
    let (request, scanner) = (world.request(), scanner());
    for key in [include_str!("../cosign/cosign.pub"), include_str!("../cosign/other.pub")] {
        let found = check(&scanner, &request, &cosign_key(key)).await;
        assert_eq!(found.expect("signed"), digest);
    }
    let stranger = check(&scanner, &request, &Pair::new().public()).await.unwrap_err();
    let expected = "signature verification failed for image acme/web:1.1.0: no matching signature found among 2 candidate(s)";
    assert_eq!((stranger.reason(), stranger.to_string().as_str()), ("Unverified", expected));

    world.registry.reset_counts();
    let key = cosign_key(include_str!("../cosign/cosign.pub"));
    assert!(check(&scanner, &request, &key).await.is_ok());
    let counts = world.registry.counts();
    assert_eq!(
        (counts.all, counts.manifest_heads),
        (2, 2),
        "a good one is remembered, the tag is not"
    );
}

/// What `cosign attest --key` pushed says something about the image, not that it is signed.
#[tokio::test]
async fn an_attestation_by_the_same_key_is_no_signature() {
    let world = World::new().await;
    let digest = world.web.push_raw("1.1.0", MANIFEST, include_str!("../cosign/image.json"));
    world.web.push_blob(include_bytes!("../cosign/attestation-bundle.json"));
    world.web.push_untagged(MANIFEST, include_str!("../cosign/attestation.json"));
    let index = include_str!("../cosign/attestations.json");
    world.web.push_raw(&digest.replace(':', "-"), INDEX, index);
    let key = cosign_key(include_str!("../cosign/cosign.pub"));
    let error = check(&scanner(), &world.request(), &key).await.unwrap_err().to_string();
    assert!(error.contains("https://cosign.sigstore.dev/attestation/v1"), "{error}");
    world.registry.offer_referrers();
    let error = check(&scanner(), &world.request(), &key).await.unwrap_err().to_string();
    assert!(error.contains("\", not a signature"), "{error}");
}

/// Puts signatures in place: the world, the pair that is asked about, another one.
type Make = fn(&World, &Pair, &Pair);

fn bundle(world: &World, pair: &Pair) -> String {
    let payload = statement(SIGN, &[&world.digest]);
    json!({ "dsseEnvelope": pair.envelope(&payload) }).to_string()
}

fn refer(world: &World, content: &str) {
    let text = manifest(&world.web, &world.digest, &[(BUNDLE, content, None)]);
    world.web.push_untagged(MANIFEST, &text);
    world.registry.offer_referrers();
}

fn tagged(world: &World, tag: &str, layers: &[(&str, &str, Option<&str>)]) {
    world.web.push_raw(tag, MANIFEST, &manifest(&world.web, &world.digest, layers));
}

fn simple(world: &World, pair: &Pair) -> (String, String) {
    let payload = critical(&world.digest).to_string();
    let signature = pair.sign(payload.as_bytes());
    (payload, signature)
}

/// SIG-001 to SIG-006, SIG-009, SIG-011, SIG-012, SIG-016: the places and forms of good ones.
#[tokio::test]
async fn a_signature_is_found_wherever_it_is() {
    let (pair, stranger) = (Pair::new(), Pair::new());
    let rows: [(&str, Make); 11] = [
        ("SIG-001 referrer", |w, p, _| refer(w, &bundle(w, p))),
        ("SIG-002 tag without suffix", |w, p, _| {
            tagged(w, &w.fallback(), &[(BUNDLE, &bundle(w, p), None)]);
        }),
        ("SIG-003 bundle under .sig", |w, p, _| {
            tagged(w, &format!("{}.sig", w.fallback()), &[(BUNDLE, &bundle(w, p), None)]);
        }),
        ("SIG-004 simple signing", |w, p, _| {
            let (payload, signature) = simple(w, p);
            tagged(w, &format!("{}.sig", w.fallback()), &[(SIMPLE, &payload, Some(&signature))]);
        }),
        ("SIG-005 index of bundles", |w, p, _| {
            let text = manifest(&w.web, "sha256:none", &[(BUNDLE, &bundle(w, p), None)]);
            let digest = w.web.push_untagged(MANIFEST, &text);
            let index = json!({ "manifests": [{ "digest": digest }] }).to_string();
            w.web.push_raw(&format!("{}.sig", w.fallback()), INDEX, &index);
        }),
        ("SIG-006 referrers fail, tag is good", |w, p, _| {
            w.registry.inject(Fault::status(500).on(Kind::Referrers));
            let (payload, signature) = simple(w, p);
            tagged(w, &format!("{}.sig", w.fallback()), &[(SIMPLE, &payload, Some(&signature))]);
        }),
        ("SIG-009 one referrer is unreadable", |w, p, _| {
            refer(w, "{");
            refer(w, "[]");
            refer(w, &bundle(w, p));
        }),
        ("SIG-011 two signers", |w, p, s| {
            refer(w, &bundle(w, s));
            refer(w, &bundle(w, p));
        }),
        ("SIG-012 two signatures in one envelope", |w, p, s| {
            let payload = statement(SIGN, &[&w.digest]);
            let mut envelope = s.envelope(&payload);
            let second = p.envelope(&payload)["signatures"][0].clone();
            envelope["signatures"].as_array_mut().unwrap().push(second);
            refer(w, &json!({ "dsseEnvelope": envelope }).to_string());
        }),
        ("SIG-016 the second subject of a statement", |w, p, _| {
            let other = format!("sha256:{}", "0".repeat(64));
            let payload = statement(SIGN, &[&other, &w.digest]);
            refer(w, &json!({ "dsseEnvelope": p.envelope(&payload) }).to_string());
        }),
        ("F11 the second layer", |w, p, s| {
            let ((payload, ours), (_, theirs)) = (simple(w, p), simple(w, s));
            tagged(
                w,
                &format!("{}.sig", w.fallback()),
                &[(SIMPLE, &payload, Some(&theirs)), (SIMPLE, &payload, Some(&ours))],
            );
        }),
    ];
    for (row, make) in rows {
        let world = World::new().await;
        make(&world, &pair, &stranger);
        assert_eq!(told(&world, &pair.public()).await, "ok", "{row}");
        let other = told(&world, &Pair::new().public()).await;
        assert!(other.starts_with("Unverified: signature verification failed"), "{row}: {other}");
    }
}

/// SIG-007, SIG-008, SIG-010, SIG-013 to SIG-015, SIG-019, SIG-020, SIG-023, SIG-024.
#[tokio::test]
async fn what_is_no_signature_says_why() {
    let pair = Pair::new();
    let none = "Unverified: no cosign signature found in OCI referrers or tag-based fallback for image tag \"1.1.0\" (digest sha256:";
    let other = format!("sha256:{}", "0".repeat(64));
    let envelope = |payload: &Value| json!({ "dsseEnvelope": pair.envelope(payload) }).to_string();
    let simple = critical(&other).to_string();
    let stranger = Pair::new();
    #[rustfmt::skip]
    let rows: Vec<(&str, Option<(&str, String, Option<String>)>, &str)> = vec![
        // row, the only layer under `.sig`, what comes of it
        ("SIG-008", None, none),
        ("SIG-010", Some(("text/plain", "x".to_owned(), None)), "unsupported cosign layer media type text/plain"),
        ("SIG-014", Some((SIMPLE, simple.clone(), Some(pair.sign(simple.as_bytes())))), "does not match image manifest digest"),
        ("SIG-014", Some((BUNDLE, envelope(&statement(SIGN, &[&other])), None)), "does not match image manifest digest"),
        ("SIG-015", Some((SIMPLE, "{}".to_owned(), Some(pair.sign(b"{}")))), "simple-signing payload for image tag \"1.1.0\" has no embedded manifest digest"),
        ("SIG-015", Some((BUNDLE, envelope(&json!({})), None)), "has no embedded manifest digest (docker-manifest-digest or in-toto subject digest)"),
        ("F12",     Some((BUNDLE, envelope(&statement("https://spdx.dev/Document", &["DIGEST"])), None)), "is a statement of type \"https://spdx.dev/Document\", not a signature"),
        ("SIG-023", Some((BUNDLE, "{".to_owned(), None)), "failed to parse sigstore bundle for image tag \"1.1.0\""),
        ("SIG-023", Some((BUNDLE, "{}".to_owned(), None)), "sigstore bundle for image tag \"1.1.0\" has no dsseEnvelope"),
        ("SIG-023", Some((BUNDLE, r#"{"dsseEnvelope":{"payload":"e30="}}"#.to_owned(), None)), "has no signatures in dsseEnvelope"),
        ("SIG-023", Some((BUNDLE, r#"{"dsseEnvelope":{"payload":"!","signatures":[{"sig":""}]}}"#.to_owned(), None)), "failed to decode dsseEnvelope payload for image tag \"1.1.0\""),
        ("SIG-024", Some((SIMPLE, "DIGEST".to_owned(), None)), "simple-signing layer for image tag \"1.1.0\" has no \"dev.cosignproject.cosign/signature\" annotation"),
        ("SIG-013", Some((SIMPLE, "SIGNED".to_owned(), Some("STRANGER".to_owned()))), "Unverified: signature verification failed for image acme/web:1.1.0: signature does not match public key"),
        ("SIG-019", Some((SIMPLE, "SIGNED".to_owned(), Some("!".to_owned()))), "failed to decode signature"),
    ];
    for (row, layer, expected) in rows {
        let world = World::new().await;
        if let Some((kind, content, signature)) = layer {
            let content = content.replace("SIGNED", &critical(&world.digest).to_string());
            let signature =
                signature.map(|s| s.replace("STRANGER", &stranger.sign(content.as_bytes())));
            let layers = [(kind, content.as_str(), signature.as_deref())];
            let text = manifest(&world.web, &world.digest, &layers);
            world.web.push_raw(&format!("{}.sig", world.fallback()), MANIFEST, &text);
        }
        let told = told(&world, &pair.public()).await;
        assert!(told.contains(expected), "{row}: {told}");
        assert!(told.starts_with("Unverified: "), "{row}: {told}");
    }
}

/// SIG-007 and SIG-010, where the registry or the manifest itself stands in the way.
#[tokio::test]
async fn what_could_not_be_looked_at_is_told() {
    let key = Pair::new().public();
    let sig = |world: &World| format!("{}.sig", world.fallback());

    let world = World::new().await;
    world.registry.inject(Fault::status(400).on(Kind::Referrers));
    let text = told(&world, &key).await;
    assert!(text.contains("failed to fetch OCI referrers for digest sha256:"), "SIG-007: {text}");
    assert!(text.contains("referrers API returned HTTP 400"), "SIG-007: {text}");
    world.registry.heal();
    world.registry.inject(Fault::answer(200, INDEX, "{").on(Kind::Referrers));
    assert!(told(&world, &key).await.contains("error decoding referrers response"));

    let world = World::new().await;
    world.web.push_raw(&sig(&world), MANIFEST, "{\"layers\": []}");
    assert!(told(&world, &key).await.contains("no layers in signature manifest \"sha256-"));
    world.web.push_raw(&sig(&world), "application/vnd.docker.distribution.manifest.v2+json", "{}");
    assert!(
        told(&world, &key)
            .await
            .contains("is not an OCI image manifest (got application/vnd.docker")
    );
    let missing = json!({ "layers": [{ "mediaType": SIMPLE, "digest": format!("sha256:{}", "1".repeat(64)),
        "annotations": { "dev.cosignproject.cosign/signature": "x" } }] });
    world.web.push_raw(&sig(&world), MANIFEST, &missing.to_string());
    let text = told(&world, &key).await;
    assert!(
        text.contains("failed to fetch simple-signing payload blob for image tag \"1.1.0\""),
        "{text}"
    );

    // A registry that fails is not a missing signature.
    world.registry.inject(Fault::status(500).on(Kind::Blob));
    let text = told(&world, &key).await;
    assert!(text.starts_with("RegistryUnreachable: "), "{text}");

    let world = World::new().await;
    world.web.remove("1.1.0");
    let text = told(&world, &key).await;
    assert!(text.contains("error fetching image manifest for tag \"1.1.0\""), "SIG-020: {text}");
}

/// Spec 10 F10: what was checked is what the tag means when it is written.
#[tokio::test]
async fn a_tag_that_moves_while_it_is_checked_is_not_confirmed() {
    let world = World::new().await;
    let pair = Pair::new();
    let payload = critical(&world.digest).to_string();
    let signature = pair.sign(payload.as_bytes());
    let text = manifest(&world.web, &world.digest, &[(SIMPLE, &payload, Some(&signature))]);
    world.web.push_raw(&format!("{}.sig", world.fallback()), MANIFEST, &text);
    let (key, scanner, request) = (pair.public(), scanner(), world.request());
    let tag = "1.1.0".parse().unwrap();

    // The payload is fetched last; the tag moves while that lasts.
    let moved = Fault::delay(std::time::Duration::from_millis(50)).on(Kind::Blob).times(1);
    world.registry.inject(moved);
    let checking = check(&scanner, &request, &key);
    let moving = async {
        while world.registry.counts().blobs == 0 {
            tokio::task::yield_now().await;
        }
        world.web.push("1.1.0", &Image::new().label("pushed", "again"));
    };
    let (checked, ()) = tokio::join!(checking, moving);
    let error = checked.unwrap_err();
    assert_eq!(error.reason(), "Unverified");
    assert!(error.to_string().contains(" when its signature was checked, and means "), "{error}");

    // Who writes the digest with the tag writes what was checked.
    let pinned = aiu_core::image::Digest::new(&world.digest);
    let signed = Signed { image: "x", tag: &tag, digest: Some(&pinned), key: &key };
    let digest = scanner.check_signature(&request, signed).await.unwrap();
    assert_eq!(digest.as_str(), world.digest);
    let signed = Signed { digest: Some(&aiu_core::image::Digest::new("sha256:x")), ..signed };
    let error = scanner.check_signature(&request, signed).await.unwrap_err();
    assert!(error.to_string().contains("invalid manifest digest"), "SIG-021: {error}");
}

/// However many artifacts there are, so many are looked at and no more.
#[tokio::test]
async fn a_flood_of_artifacts_is_bounded() {
    let world = World::new().await;
    world.registry.offer_referrers();
    for number in 0..500 {
        let text =
            manifest(&world.web, &world.digest, &[("text/plain", &number.to_string(), None)]);
        world.web.push_untagged(MANIFEST, &text);
    }
    assert!(told(&world, &Pair::new().public()).await.contains("and of no use"));
    assert!(world.registry.counts().all < 80, "{:?}", world.registry.counts());
}
