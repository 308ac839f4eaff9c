//! Where signatures are: among the referrers of an image, else under tags made of its digest
//! (spec 10 §10.2).

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_core::image::{Digest, Tag};
use aiu_http::header::CONTENT_TYPE;
use aiu_http::{Answer, Method, StatusCode};
use serde::Deserialize;

use super::SignatureError;
use super::payload::{Candidate, of_bundle, of_simple_signing};
use crate::client::{Ask, Client, Remote};
use crate::error::ScanError;
use crate::manifest;

const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const SIMPLE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// The annotation that holds a simple signature.
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";

/// Largest manifest, index or payload.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// So many manifests and layers of them are looked at, however many there are.
const MAX_LOOKS: usize = 64;

/// A search for what may be signatures of one image.
pub(super) struct Search<'a> {
    client: &'a Client,
    remote: &'a Remote<'a>,
    tag: &'a Tag,
    subject: &'a Digest,
    found: Vec<Candidate>,
    skipped: Vec<String>,
    looks: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Index {
    #[serde(default)]
    manifests: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    digest: String,
    #[serde(default)]
    artifact_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SignatureManifest {
    #[serde(default)]
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    media_type: String,
    digest: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// What stands in the way of one artifact: the registry, or the artifact itself.
enum Trouble {
    Scan(ScanError),
    Artifact(String),
}

impl From<String> for Trouble {
    fn from(cause: String) -> Self {
        Self::Artifact(cause)
    }
}

impl From<ScanError> for Trouble {
    fn from(error: ScanError) -> Self {
        Self::Scan(error)
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(
        client: &'a Client,
        remote: &'a Remote<'a>,
        tag: &'a Tag,
        subject: &'a Digest,
    ) -> Self {
        let (found, skipped, looks) = (Vec::new(), Vec::new(), 0);
        Self { client, remote, tag, subject, found, skipped, looks }
    }

    /// Everything that may be a signature of the image; never nothing.
    pub(super) async fn run(mut self) -> Result<Vec<Candidate>, SignatureError> {
        let referrers = self.referrers().await;
        for entry in referrers.as_deref().unwrap_or_default() {
            if entry.artifact_type == BUNDLE {
                self.look_at(&entry.digest).await?;
            }
        }
        let fallback = self.subject.as_str().replace(':', "-");
        for tag in [fallback.clone(), format!("{fallback}.sig")] {
            if self.found.is_empty() {
                self.look_at_tag(&tag).await?;
            }
        }
        if !self.found.is_empty() {
            return Ok(self.found);
        }
        let digest = self.subject.clone();
        Err(match referrers {
            Err(cause) => SignatureError::Referrers { digest, cause },
            Ok(_) => {
                SignatureError::Missing { tag: self.tag.clone(), digest, skipped: self.skipped }
            }
        })
    }

    /// What refers to the image. Registries without that part of the API say 404. A failure is
    /// not the end: signatures may stand under tags.
    async fn referrers(&self) -> Result<Vec<Entry>, String> {
        let path = format!("{}/referrers/{}", self.remote.request.path, self.subject);
        let answer = self.ask(&path, &[manifest::OCI_INDEX]).await;
        let answer = answer.map_err(|error| format!("error fetching referrers: {error}"))?;
        match answer.status {
            StatusCode::OK => serde_json::from_slice::<Index>(&answer.body)
                .map(|index| index.manifests)
                .map_err(|cause| format!("error decoding referrers response: {cause}")),
            StatusCode::NOT_FOUND => Ok(Vec::new()),
            status => Err(format!(
                "referrers API returned HTTP {} for digest {}",
                status.as_u16(),
                self.subject
            )),
        }
    }

    /// One artifact, by its digest.
    async fn look_at(&mut self, digest: &str) -> Result<(), SignatureError> {
        let outcome = self.artifact(digest).await;
        self.heed(digest, outcome)
    }

    async fn artifact(&mut self, digest: &str) -> Result<(), Trouble> {
        if !self.may_look() {
            return Ok(());
        }
        let Some(answer) = self.manifest(digest).await? else {
            return Err(format!(
                "error fetching cosign signature manifest {digest}: it is missing"
            )
            .into());
        };
        if !manifest::matches(&Digest::new(digest), &answer.body) {
            return Err(format!("what is sent for {digest} has another digest").into());
        }
        self.layers(digest, &answer).await
    }

    /// A tag made of the digest: an index over signatures, or one of them.
    async fn look_at_tag(&mut self, tag: &str) -> Result<(), SignatureError> {
        let answer = match self.manifest(tag).await {
            Ok(Some(answer)) => answer,
            Ok(None) => return Ok(()),
            Err(error) => return self.heed(tag, Err(error.into())),
        };
        if media_type(&answer) != manifest::OCI_INDEX {
            let outcome = self.layers(tag, &answer).await;
            return self.heed(tag, outcome);
        }
        match serde_json::from_slice::<Index>(&answer.body) {
            Ok(index) => {
                for entry in index.manifests {
                    self.look_at(&entry.digest).await?;
                }
            }
            Err(cause) => self.skipped.push(format!("{tag} is no index: {cause}")),
        }
        Ok(())
    }

    /// The layers of a signature manifest, each a signature of its own (spec 10 F11).
    async fn layers(&mut self, name: &str, answer: &Answer) -> Result<(), Trouble> {
        let (kind, tag) = (media_type(answer), self.tag);
        if kind != manifest::OCI_MANIFEST {
            return Err(format!(
                "signature manifest \"{name}\" is not an OCI image manifest (got {kind})"
            )
            .into());
        }
        let manifest: SignatureManifest = serde_json::from_slice(&answer.body)
            .map_err(|cause| format!("signature manifest \"{name}\" cannot be read: {cause}"))?;
        if manifest.layers.is_empty() {
            return Err(format!(
                "no layers in signature manifest \"{name}\" for image tag \"{tag}\""
            )
            .into());
        }
        for layer in &manifest.layers {
            match self.layer(layer).await {
                Ok(candidates) => self.found.extend(candidates),
                Err(Trouble::Artifact(cause)) => self.skipped.push(cause),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn layer(&mut self, layer: &Layer) -> Result<Vec<Candidate>, Trouble> {
        if !self.may_look() {
            return Ok(Vec::new());
        }
        let (tag, subject) = (self.tag.as_str(), self.subject);
        match &*layer.media_type {
            BUNDLE => {
                let blob = self.blob(&layer.digest, "sigstore bundle blob").await?;
                Ok(of_bundle(&blob.body, tag, subject)?)
            }
            SIMPLE => {
                let Some(signature) = layer.annotations.get(SIGNATURE) else {
                    return Err(format!(
                        "simple-signing layer for image tag \"{tag}\" has no \"{SIGNATURE}\" annotation"
                    )
                    .into());
                };
                let blob = self.blob(&layer.digest, "simple-signing payload blob").await?;
                Ok(vec![of_simple_signing(&blob.body, signature, tag, subject)?])
            }
            other => Err(format!("unsupported cosign layer media type {other}").into()),
        }
    }

    async fn blob(&self, digest: &str, what: &str) -> Result<Answer, Trouble> {
        let failed =
            |cause| format!("failed to fetch {what} for image tag \"{}\": {cause}", self.tag);
        let digest = Digest::new(digest);
        if !digest.is_well_formed() {
            return Err(failed("its digest is malformed").into());
        }
        let path = format!("{}/blobs/{digest}", self.remote.request.path);
        let answer = self.ask(&path, &[]).await?;
        match answer.status {
            StatusCode::OK if manifest::matches(&digest, &answer.body) => Ok(answer),
            StatusCode::OK => Err(failed("what is sent has another digest").into()),
            StatusCode::NOT_FOUND => Err(failed("it is missing").into()),
            _ => Err(self.client.understand(self.remote, &answer).await.into()),
        }
    }

    /// A manifest by tag or digest, if there is one.
    async fn manifest(&self, reference: &str) -> Result<Option<Answer>, ScanError> {
        let path = format!("{}/manifests/{reference}", self.remote.request.path);
        let answer = self.ask(&path, &[manifest::OCI_MANIFEST, manifest::OCI_INDEX]).await?;
        match answer.status {
            StatusCode::OK => Ok(Some(answer)),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(self.client.understand(self.remote, &answer).await),
        }
    }

    async fn ask(&self, path: &str, accept: &[&'static str]) -> Result<Answer, ScanError> {
        let (method, url) = (Method::GET, self.remote.url(path));
        let ask = Ask { method, url, accept, known_etag: None, max_body: MAX_BODY };
        self.client.ask(self.remote, &ask).await
    }

    fn may_look(&mut self) -> bool {
        self.looks += 1;
        self.looks <= MAX_LOOKS
    }

    /// An artifact that is of no use is passed over. A registry that does not answer is not: the
    /// signature may be just there.
    fn heed(&mut self, name: &str, outcome: Result<(), Trouble>) -> Result<(), SignatureError> {
        match outcome {
            Ok(()) => Ok(()),
            Err(Trouble::Artifact(cause)) => {
                self.skipped.push(format!("{name}: {cause}"));
                Ok(())
            }
            Err(Trouble::Scan(error)) => Err(SignatureError::Scan(Arc::new(error))),
        }
    }
}

fn media_type(answer: &Answer) -> &str {
    let text = answer.header(CONTENT_TYPE).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim()
}
