//! What the registry holds: repositories, tags, manifests, configs.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::server::State;

const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";

/// An image for one platform, to be filled in before it is pushed.
#[derive(Clone, Debug)]
pub struct Image {
    created: Option<String>,
    platform: (String, String, Option<String>),
    labels: BTreeMap<String, String>,
    docker: bool,
}

impl Default for Image {
    fn default() -> Self {
        Self::new()
    }
}

impl Image {
    /// An OCI image for `linux/amd64` built on the first day of 2024, without labels.
    pub fn new() -> Self {
        Self {
            created: Some("2024-01-01T00:00:00Z".to_owned()),
            platform: ("linux".to_owned(), "amd64".to_owned(), None),
            labels: BTreeMap::new(),
            docker: false,
        }
    }

    /// Built at this time; any text is taken.
    #[must_use]
    pub fn created(mut self, created: &str) -> Self {
        self.created = Some(created.to_owned());
        self
    }

    /// Says nothing about when it was built.
    #[must_use]
    pub fn undated(mut self) -> Self {
        self.created = None;
        self
    }

    /// For this platform: `os/arch` or `os/arch/variant`.
    #[must_use]
    pub fn platform(mut self, platform: &str) -> Self {
        let mut parts = platform.splitn(3, '/').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        self.platform = (next(), next(), Some(next()).filter(|variant| !variant.is_empty()));
        self
    }

    /// With this label.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.labels.insert(key.to_owned(), value.to_owned());
        self
    }

    /// In Docker's format (schema 2) instead of OCI's.
    #[must_use]
    pub fn docker(mut self) -> Self {
        self.docker = true;
        self
    }

    fn platform_json(&self) -> Value {
        let (os, architecture, variant) = &self.platform;
        let mut platform = json!({ "os": os, "architecture": architecture });
        if let Some(variant) = variant {
            platform["variant"] = json!(variant);
        }
        platform
    }

    fn config_json(&self) -> Value {
        let mut config = self.platform_json();
        if let Some(created) = &self.created {
            config["created"] = json!(created);
        }
        if !self.labels.is_empty() {
            config["config"] = json!({ "Labels": self.labels });
        }
        config["rootfs"] = json!({ "type": "layers", "diff_ids": [] });
        config
    }
}

/// A body with the media type it is served under.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) media_type: String,
    pub(super) body: String,
}

/// One repository's content.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// Tag and manifest digest, in the order in which they are listed.
    pub(super) tags: Vec<(String, String)>,
    /// Manifests by digest.
    pub(super) manifests: HashMap<String, Stored>,
    /// Blobs by digest.
    pub(super) blobs: HashMap<String, Vec<u8>>,
}

impl Shelf {
    pub(super) fn manifest(&self, reference: &str) -> Option<(&str, &Stored)> {
        let digest = match self.tags.iter().find(|(tag, _)| tag == reference) {
            Some((_, digest)) => digest,
            None => reference,
        };
        self.manifests.get_key_value(digest).map(|(digest, stored)| (digest.as_str(), stored))
    }

    /// Descriptors of the manifests whose subject this is, by digest.
    pub(super) fn referrers(&self, subject: &str) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        for (digest, stored) in &self.manifests {
            let Ok(manifest) = serde_json::from_str::<Value>(&stored.body) else { continue };
            if manifest["subject"]["digest"] == subject {
                found.push(json!({
                    "mediaType": stored.media_type,
                    "digest": digest,
                    "size": stored.body.len(),
                    "artifactType": manifest["artifactType"],
                }));
            }
        }
        found.sort_by_key(|descriptor| text_of(&descriptor["digest"]));
        found
    }

    fn point(&mut self, tag: &str, digest: String) {
        match self.tags.iter_mut().find(|(name, _)| name == tag) {
            Some((_, target)) => *target = digest,
            None => self.tags.push((tag.to_owned(), digest)),
        }
    }

    /// Stores an image and returns its descriptor. `note` makes equal images differ.
    fn store_image(&mut self, image: &Image, note: &str) -> Value {
        let config = image.config_json().to_string();
        let config_digest = self.store_blob(config.as_bytes());
        let (media_type, config_type) = if image.docker {
            (DOCKER_MANIFEST, "application/vnd.docker.container.image.v1+json")
        } else {
            (OCI_MANIFEST, "application/vnd.oci.image.config.v1+json")
        };
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": media_type,
            "config": { "mediaType": config_type, "digest": config_digest, "size": config.len() },
            "layers": [],
            "annotations": { "testkit.note": note },
        });
        let (digest, size) = self.store_manifest(media_type, &manifest.to_string());
        json!({
            "mediaType": media_type,
            "digest": digest,
            "size": size,
            "platform": image.platform_json(),
        })
    }

    fn store_blob(&mut self, bytes: &[u8]) -> String {
        let digest = sha256(bytes);
        self.blobs.insert(digest.clone(), bytes.to_owned());
        digest
    }

    fn store_manifest(&mut self, media_type: &str, body: &str) -> (String, usize) {
        let digest = sha256(body.as_bytes());
        let stored = Stored { media_type: media_type.to_owned(), body: body.to_owned() };
        self.manifests.insert(digest.clone(), stored);
        (digest, body.len())
    }
}

/// One repository of a running registry, to be filled and changed at any time.
pub struct Repository {
    name: String,
    state: Arc<State>,
}

impl Repository {
    pub(super) fn new(name: &str, state: Arc<State>) -> Self {
        Self { name: name.to_owned(), state }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Shelf) -> T) -> T {
        change(self.state.content.lock().entry(self.name.clone()).or_default())
    }

    /// Pushes a plain image under each of these tags. Any text is taken for a tag.
    pub fn tags<T: AsRef<str>>(&self, tags: impl IntoIterator<Item = T>) -> &Self {
        self.with(|shelf| {
            for tag in tags {
                let tag = tag.as_ref();
                let image = shelf.store_image(&Image::new(), tag);
                // Not `point`: thousands of tags at once must not search one another.
                shelf.tags.push((tag.to_owned(), text_of(&image["digest"])));
            }
        });
        self
    }

    /// Lists these tags, behind which there is nothing: for lists so long that images would
    /// fill the memory.
    pub fn names(&self, tags: impl IntoIterator<Item = String>) -> &Self {
        self.with(|shelf| shelf.tags.extend(tags.into_iter().map(|tag| (tag, String::new()))));
        self
    }

    /// Pushes `image` under `tag`, moving the tag if it exists. Returns the digest.
    pub fn push(&self, tag: &str, image: &Image) -> String {
        self.with(|shelf| {
            let digest = text_of(&shelf.store_image(image, tag)["digest"]);
            shelf.point(tag, digest.clone());
            digest
        })
    }

    /// Pushes an index over `images` under `tag`. Returns the digest of the index.
    pub fn push_index(&self, tag: &str, images: &[Image]) -> String {
        let docker = images.iter().any(|image| image.docker);
        let media_type = if docker { DOCKER_LIST } else { OCI_INDEX };
        self.with(|shelf| {
            let children: Vec<Value> =
                images.iter().map(|image| shelf.store_image(image, tag)).collect();
            let index =
                json!({ "schemaVersion": 2, "mediaType": media_type, "manifests": children });
            let (digest, _) = shelf.store_manifest(media_type, &index.to_string());
            shelf.point(tag, digest.clone());
            digest
        })
    }

    /// Serves exactly this manifest under `tag`. Returns its digest.
    pub fn push_raw(&self, tag: &str, media_type: &str, manifest: &str) -> String {
        self.with(|shelf| {
            let (digest, _) = shelf.store_manifest(media_type, manifest);
            shelf.point(tag, digest.clone());
            digest
        })
    }

    /// Serves exactly this manifest by its digest alone. Returns the digest.
    pub fn push_untagged(&self, media_type: &str, manifest: &str) -> String {
        self.with(|shelf| shelf.store_manifest(media_type, manifest).0)
    }

    /// Serves these bytes as a blob. Returns their digest.
    pub fn push_blob(&self, bytes: &[u8]) -> String {
        self.with(|shelf| shelf.store_blob(bytes))
    }

    /// Takes the tag away; the manifest stays.
    pub fn remove(&self, tag: &str) -> &Self {
        self.with(|shelf| shelf.tags.retain(|(name, _)| name != tag));
        self
    }

    /// The digest that `tag` names now.
    pub fn digest_of(&self, tag: &str) -> Option<String> {
        self.with(|shelf| shelf.manifest(tag).map(|(digest, _)| digest.to_owned()))
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
