//! Pushes a small image to a registry, in plain HTTP: two blobs and a manifest.
//!
//! An independent view of the protocol: nothing here is shared with the client under test.

use anyhow::{Context, Result, ensure};
use reqwest::{Client, StatusCode, Url, header};
use serde_json::json;
use sha2::{Digest, Sha256};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

/// A tar archive without entries: two empty blocks.
const EMPTY_TAR: [u8; 1024] = [0; 1024];

/// An image. Those of different tags, dates or platforms differ in their digest.
#[derive(Clone, Copy)]
pub(crate) struct Image<'a> {
    pub(crate) tag: &'a str,
    /// When it was built.
    pub(crate) created: &'a str,
    /// What it runs on, besides Linux.
    pub(crate) architecture: &'a str,
}

impl<'a> Image<'a> {
    /// One for `linux/amd64` that was built some day.
    pub(crate) fn new(tag: &'a str) -> Self {
        Self { tag, created: "2026-01-01T12:00:00Z", architecture: "amd64" }
    }
}

/// Pushes an image; returns its digest.
pub(crate) async fn push(
    client: &Client,
    registry: &str,
    repository: &str,
    image: Image<'_>,
) -> Result<String> {
    let Image { tag, created, architecture } = image;
    let base = format!("{registry}/v2/{repository}");
    let layer = put_blob(client, &base, EMPTY_TAR.to_vec()).await?;
    let config = serde_json::to_vec(&json!({
        "created": created,
        "architecture": architecture,
        "os": "linux",
        "config": { "Labels": { "org.opencontainers.image.version": tag } },
        "rootfs": { "type": "layers", "diff_ids": [layer.digest] },
        "history": [{ "created": created, "created_by": "e2e" }],
    }))?;
    let config = put_blob(client, &base, config).await?;
    let manifest = serde_json::to_vec(&json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": { "mediaType": CONFIG, "digest": config.digest, "size": config.size },
        "layers": [{ "mediaType": LAYER, "digest": layer.digest, "size": layer.size }],
    }))?;
    let digest = digest(&manifest);
    let answer = client
        .put(format!("{base}/manifests/{tag}"))
        .header(header::CONTENT_TYPE, MANIFEST)
        .body(manifest)
        .send()
        .await
        .with_context(|| format!("cannot put the manifest of {repository}:{tag}"))?;
    expect(&answer, StatusCode::CREATED)?;
    Ok(digest)
}

struct Blob {
    digest: String,
    size: usize,
}

/// Uploads the bytes in one piece: an upload is opened, then closed with all of it.
async fn put_blob(client: &Client, base: &str, bytes: Vec<u8>) -> Result<Blob> {
    let blob = Blob { digest: digest(&bytes), size: bytes.len() };
    let start = Url::parse(&format!("{base}/blobs/uploads/")).context("not an address")?;
    let opened = client.post(start).send().await.context("cannot open an upload")?;
    expect(&opened, StatusCode::ACCEPTED)?;
    let location = opened.headers().get(header::LOCATION).context("an upload has no location")?;
    let mut upload = opened.url().join(location.to_str()?).context("not an address")?;
    upload.query_pairs_mut().append_pair("digest", &blob.digest);
    let closed = client
        .put(upload)
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .body(bytes)
        .send()
        .await
        .context("cannot close an upload")?;
    expect(&closed, StatusCode::CREATED)?;
    Ok(blob)
}

fn expect(answer: &reqwest::Response, wanted: StatusCode) -> Result<()> {
    let status = answer.status();
    ensure!(status == wanted, "{} answered {status}, not {wanted}", answer.url());
    Ok(())
}

/// `sha256:` and 64 hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let digits: Vec<String> = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", digits.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_spelt_as_registries_spell_it() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(b""), empty);
    }
}
