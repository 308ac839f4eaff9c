//! Manifests and image configs: bytes in, the few facts we need out (spec 10 §8.1).

use std::collections::BTreeMap;

use aiu_core::image::{Digest, Platform};
use jiff::Timestamp;
use serde::Deserialize;
use sha2::{Digest as _, Sha256, Sha512};

pub(crate) const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
pub(crate) const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The types that are asked for, in the reference's order.
pub(crate) const ACCEPT: &[&str] = &[OCI_MANIFEST, DOCKER_MANIFEST, DOCKER_LIST, OCI_INDEX];

/// What a digest or a tag names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Manifest {
    /// One image.
    Image {
        /// The blob with its configuration.
        config: Digest,
    },
    /// Images for several platforms.
    Index(Vec<Child>),
}

/// An image in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Child {
    pub(crate) digest: Digest,
    pub(crate) platform: Platform,
}

/// The configuration of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) platform: Platform,
    /// When it was built; absent if it does not say, or not in a way that can be read.
    pub(crate) created: Option<Timestamp>,
    pub(crate) labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireManifest {
    media_type: Option<String>,
    config: Option<WireDescriptor>,
    layers: Option<Vec<serde::de::IgnoredAny>>,
    manifests: Option<Vec<WireDescriptor>>,
}

#[derive(Deserialize)]
struct WireDescriptor {
    digest: String,
    platform: Option<WirePlatform>,
    #[serde(default)]
    annotations: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize, Default)]
struct WirePlatform {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
    variant: Option<String>,
}

#[derive(Deserialize)]
struct WireConfig {
    #[serde(flatten)]
    platform: WirePlatform,
    created: Option<String>,
    config: Option<WireSettings>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct WireSettings {
    labels: Option<BTreeMap<String, String>>,
}

impl From<WirePlatform> for Platform {
    fn from(wire: WirePlatform) -> Self {
        let variant = wire.variant.filter(|variant| !variant.is_empty());
        Self { os: wire.os, architecture: wire.architecture, variant }
    }
}

impl Manifest {
    /// Reads a manifest of the type that the registry said. The error is a cause in words.
    pub(crate) fn read(content_type: Option<&str>, body: &[u8]) -> Result<Self, String> {
        let media_type = content_type.and_then(|text| text.split(';').next()).unwrap_or_default();
        let media_type = media_type.trim();
        let is_index = match media_type {
            OCI_MANIFEST | DOCKER_MANIFEST => false,
            OCI_INDEX | DOCKER_LIST => true,
            other => {
                return Err(format!(
                    "unsupported manifest media type and no default available: {other}"
                ));
            }
        };
        let wire: WireManifest =
            serde_json::from_slice(body).map_err(|error| format!("no manifest: {error}"))?;
        if wire.media_type.as_deref().is_some_and(|own| !own.is_empty() && own != media_type) {
            return Err(format!("a manifest that calls itself other than {media_type}"));
        }
        match (is_index, wire) {
            (true, WireManifest { config: None, layers: None, manifests: Some(children), .. }) => {
                index(children)
            }
            (false, WireManifest { config: Some(config), manifests: None, .. }) => {
                Ok(Self::Image { config: digest(&config.digest)? })
            }
            _ => Err(format!("not what {media_type} promises")),
        }
    }
}

fn index(children: Vec<WireDescriptor>) -> Result<Manifest, String> {
    if children.is_empty() {
        return Err("empty index not supported".to_owned());
    }
    let images = children.into_iter().filter(|child| !is_attestation(child));
    let children = images.map(|child| {
        let platform = child.platform.unwrap_or_default().into();
        Ok(Child { digest: digest(&child.digest)?, platform })
    });
    children.collect::<Result<_, String>>().map(Manifest::Index)
}

/// Statements about images stand in the index beside them, and are none.
fn is_attestation(child: &WireDescriptor) -> bool {
    let unknown = child
        .platform
        .as_ref()
        .is_some_and(|platform| platform.os == "unknown" && platform.architecture == "unknown");
    let annotated = child
        .annotations
        .as_ref()
        .is_some_and(|notes| notes.contains_key("vnd.docker.reference.type"));
    unknown || annotated
}

fn digest(text: &str) -> Result<Digest, String> {
    let digest = Digest::new(text);
    if digest.is_well_formed() { Ok(digest) } else { Err("a digest in it is malformed".to_owned()) }
}

impl Config {
    /// Reads the configuration of an image. The error is a cause in words.
    pub(crate) fn read(body: &[u8]) -> Result<Self, String> {
        let wire: WireConfig =
            serde_json::from_slice(body).map_err(|error| format!("no image config: {error}"))?;
        Ok(Self {
            platform: wire.platform.into(),
            created: wire.created.and_then(|text| text.parse().ok()),
            labels: wire.config.and_then(|config| config.labels).unwrap_or_default(),
        })
    }
}

/// The digest of raw bytes, as tags are pinned by.
pub(crate) fn digest_of(body: &[u8]) -> Digest {
    Digest::new(&format!("sha256:{}", hex(&Sha256::digest(body))))
}

/// Whether `body` is what `digest` names. An algorithm that is not known here proves nothing.
pub(crate) fn matches(digest: &Digest, body: &[u8]) -> bool {
    match digest.as_str().split_once(':') {
        Some(("sha256", expected)) => hex(&Sha256::digest(body)) == expected,
        Some(("sha512", expected)) => hex(&Sha512::digest(body)) == expected,
        _ => false,
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_of_the_field() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let config = format!(r#""config":{{"digest":"{digest}"}}"#);
        let child = |more: &str| format!(r#"{{"digest":"{digest}"{more}}}"#);
        let arm = child(r#","platform":{"os":"linux","architecture":"arm64","variant":"v8"}"#);
        let bare = child("");
        let unknown = child(r#","platform":{"os":"unknown","architecture":"unknown"}"#);
        let note = child(
            r#","platform":{"os":"linux","architecture":"amd64"},"annotations":{"vnd.docker.reference.type":"attestation-manifest"}"#,
        );
        #[rustfmt::skip]
        let rows = [
            // content type, body, platforms of an index or "image", else the error
            (OCI_MANIFEST, format!("{{{config},\"layers\":[]}}"), "image"),
            (DOCKER_MANIFEST, format!("{{\"mediaType\":\"{DOCKER_MANIFEST}\",{config}}}"), "image"),
            ("application/vnd.oci.image.manifest.v1+json; charset=utf-8", format!("{{{config}}}"), "image"),
            (OCI_INDEX, format!("{{\"manifests\":[{arm},{bare},{unknown},{note}]}}"), "linux/arm64/v8 /"),
            (DOCKER_LIST, format!("{{\"manifests\":[{arm}]}}"), "linux/arm64/v8"),
            (OCI_INDEX, r#"{"manifests":[]}"#.to_owned(), "empty index not supported"),
            (OCI_INDEX, format!("{{\"manifests\":[{arm}],{config}}}"), "not what application/vnd.oci.image.index.v1+json promises"),
            (OCI_MANIFEST, format!("{{\"manifests\":[{arm}],{config}}}"), "not what application/vnd.oci.image.manifest.v1+json promises"),
            (OCI_MANIFEST, "{}".to_owned(), "not what application/vnd.oci.image.manifest.v1+json promises"),
            (OCI_MANIFEST, format!("{{\"mediaType\":\"{OCI_INDEX}\",{config}}}"),
             "a manifest that calls itself other than application/vnd.oci.image.manifest.v1+json"),
            (OCI_MANIFEST, r#"{"config":{"digest":"sha256:beef"}}"#.to_owned(), "a digest in it is malformed"),
            ("application/vnd.docker.distribution.manifest.v1+prettyjws", "{}".to_owned(),
             "unsupported manifest media type and no default available: application/vnd.docker.distribution.manifest.v1+prettyjws"),
        ];
        for (content_type, body, expected) in rows {
            let told = match Manifest::read(Some(content_type), body.as_bytes()) {
                Ok(Manifest::Image { config }) => {
                    assert_eq!(config.as_str(), digest);
                    "image".to_owned()
                }
                Ok(Manifest::Index(children)) => {
                    let platforms = children.iter().map(|child| child.platform.to_string());
                    platforms.collect::<Vec<_>>().join(" ")
                }
                Err(cause) => cause,
            };
            assert_eq!(told, expected, "{content_type} {body}");
        }
    }

    #[test]
    fn configs_of_the_field() {
        #[rustfmt::skip]
        let rows = [
            // body, platform, created, labels
            (r#"{"os":"linux","architecture":"arm","variant":"v7","created":"2024-05-01T10:00:00.123456789Z","config":{"Labels":{"a":"b"}}}"#,
             "linux/arm/v7", Some("2024-05-01T10:00:00.123456789Z"), 1),
            (r#"{"os":"linux","architecture":"amd64","created":"2024-05-01T10:00:00+02:00","config":{"Labels":null}}"#,
             "linux/amd64", Some("2024-05-01T08:00:00Z"), 0),
            (r#"{"os":"linux","architecture":"amd64","created":"0001-01-01T00:00:00Z","config":null}"#,
             "linux/amd64", Some("0001-01-01T00:00:00Z"), 0),
            (r#"{"created":"invalid"}"#, "/", None, 0),
            ("{}", "/", None, 0),
        ];
        for (body, platform, created, labels) in rows {
            let config = Config::read(body.as_bytes()).unwrap();
            assert_eq!(config.platform.to_string(), platform, "{body}");
            assert_eq!(config.created.map(|at| at.to_string()).as_deref(), created, "{body}");
            assert_eq!(config.labels.len(), labels, "{body}");
        }
        assert!(Config::read(b"[]").is_err());
    }

    #[test]
    fn digests_are_those_of_the_bytes() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest_of(b"").as_str(), empty);
        assert!(matches(&Digest::new(empty), b""));
        assert!(!matches(&Digest::new(empty), b"x"));
        assert!(!matches(
            &Digest::new("sha384:38b060a751ac96384cd9327eb1b1e36a21fdb71114be0743"),
            b""
        ));
    }
}
