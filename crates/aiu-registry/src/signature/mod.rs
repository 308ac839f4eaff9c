//! Signatures of images, as cosign makes them with a pair of keys (spec 10 §10).
//!
//! The check is ours: a public key, the bytes that were signed, and which image they speak of.
//! What is written must be what was checked, so the digest behind a tag is asked for afresh,
//! and asked for again when the check is done.

mod error;
mod key;
mod payload;
mod search;

use std::collections::HashSet;
use std::sync::Arc;

use aiu_core::image::{Digest, Tag};
use parking_lot::Mutex;
use tokio::time::Instant;

pub use error::SignatureError;
pub use key::{CosignKey, InvalidKey};

use crate::client::{Client, Remote};
use crate::images::{Detail, Images, Wanted};
use search::Search;

/// Checks that went well and are remembered; more are forgotten all at once.
const CAPACITY: usize = 20_000;

/// Which image is checked, and against what.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// The image as it would be written, for messages.
    pub image: &'a str,
    /// Its tag.
    pub tag: &'a Tag,
    /// The digest that will be written with it, if any.
    pub digest: Option<&'a Digest>,
    /// Whose signature it must carry.
    pub key: &'a CosignKey,
}

/// Images whose signatures were found good. Content by digest never changes and a key is a
/// key, so a good one stays good; a bad one may get a further signature.
#[derive(Default)]
pub(crate) struct Checked(Mutex<HashSet<(Arc<str>, Arc<str>, Digest, [u8; 32])>>);

impl Checked {
    /// Checks one image and tells which digest is signed.
    pub(crate) async fn check(
        &self,
        client: &Client,
        images: &Images,
        remote: &Remote<'_>,
        signed: Signed<'_>,
    ) -> Result<Digest, SignatureError> {
        let digest = match signed.digest {
            Some(digest) => digest.clone(),
            None => resolve(client, images, remote, signed).await?,
        };
        if !digest.is_well_formed() {
            return Err(SignatureError::Digest { digest });
        }
        let request = remote.request;
        let known = (
            Arc::clone(&request.endpoint.prefix),
            Arc::clone(&request.path),
            digest.clone(),
            signed.key.fingerprint(),
        );
        if !self.0.lock().contains(&known) {
            search(client, remote, signed, &digest).await?;
            let mut checked = self.0.lock();
            if checked.len() >= CAPACITY {
                checked.clear();
            }
            checked.insert(known);
        }
        if signed.digest.is_none() {
            // Only the tag will be written: it must still mean what was checked (spec 10 F10).
            let now = resolve(client, images, remote, signed).await?;
            if now != digest {
                let tag = signed.tag.clone();
                return Err(SignatureError::Moved { tag, checked: digest, now });
            }
        }
        Ok(digest)
    }
}

/// What the tag means now, whatever was known before.
async fn resolve(
    client: &Client,
    images: &Images,
    remote: &Remote<'_>,
    signed: Signed<'_>,
) -> Result<Digest, SignatureError> {
    let wanted = Wanted {
        tag: signed.tag,
        detail: Detail::Digest,
        platforms: &[],
        not_before: Instant::now(),
    };
    let found = images.resolve(client, remote, wanted).await.map_err(SignatureError::Scan)?;
    found.ok_or_else(|| SignatureError::NoManifest { tag: signed.tag.clone() })
}

/// Looks for a signature of `digest` that the key made.
async fn search(
    client: &Client,
    remote: &Remote<'_>,
    signed: Signed<'_>,
    digest: &Digest,
) -> Result<(), SignatureError> {
    let found = Search::new(client, remote, signed.tag, digest).run().await?;
    let mut problem = None;
    for candidate in &found {
        match candidate.check(signed.key) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(cause) => problem = Some(cause),
        }
    }
    let image = signed.image.to_owned();
    Err(match (problem, found.len()) {
        (Some(cause), 1) => SignatureError::Unreadable { image, cause },
        (_, candidates) => SignatureError::NoMatch { image, candidates },
    })
}
