//! From the values that a target holds to the image they name.

use super::{HelmKeys, PluginKeys};
use crate::image::{Digest, ImageReference, Repository, TagRef};

/// The image under the keys of a Helm image, whose values `read` looks up.
pub(super) fn helm<'t>(
    keys: &HelmKeys,
    configured: &Repository,
    mut read: impl FnMut(&str) -> Option<&'t str>,
) -> Option<ImageReference> {
    match keys {
        HelmKeys::Spec(spec) => whole(read(spec.trim()), configured),
        HelmKeys::NameAndTag { name, tag } => {
            let name = name.as_deref().and_then(&mut read);
            let tag = tag.as_deref().and_then(&mut read);
            name_and_tag(name, tag, configured)
        }
    }
}

/// The image under the variables of a plugin.
pub(super) fn plugin<'t>(
    keys: &PluginKeys,
    configured: &Repository,
    mut read: impl FnMut(&str) -> Option<&'t str>,
) -> Option<ImageReference> {
    match keys {
        PluginKeys::Spec(spec) => whole(read(spec.trim()), configured),
        PluginKeys::NameAndTag { name, tag } => {
            let name = name.as_deref().and_then(&mut read);
            let tag = tag.as_deref().and_then(&mut read);
            name_and_tag(name, tag, configured)
        }
    }
}

/// A value that is to hold a whole reference. An empty one names the configured image without
/// a tag; one that is no reference names nothing that we know.
fn whole(value: Option<&str>, configured: &Repository) -> Option<ImageReference> {
    let value = value?.trim();
    if value.is_empty() {
        return Some(ImageReference { repository: configured.clone(), tag: None });
    }
    let found: ImageReference = value.parse().ok()?;
    Some(ImageReference { repository: place(found.repository, configured)?, tag: found.tag })
}

/// Two values, of which either may be missing. A tag that is empty or no tag counts as unknown.
pub(super) fn name_and_tag(
    name: Option<&str>,
    tag: Option<&str>,
    configured: &Repository,
) -> Option<ImageReference> {
    name.or(tag)?;
    let repository = match name.map(str::trim) {
        None | Some("") => configured.clone(),
        Some(name) => place(name.parse().ok()?, configured)?,
    };
    Some(ImageReference { repository, tag: tag.and_then(|tag| tag.trim().parse().ok()) })
}

/// Where a name leads; `None` for a text that no registry could hold, such as a template. A name
/// without a registry that has the configured path means the configured place: values files
/// often keep the registry under a key of its own (spec 30 §4.5).
fn place(found: Repository, configured: &Repository) -> Option<Repository> {
    if found.registry().is_none() && found.path() == configured.path() {
        return Some(configured.clone());
    }
    found.irregularity().is_none().then_some(found)
}

/// Tag and digest of a kustomize image entry.
pub(super) fn tag_and_digest(tag: Option<&str>, digest: Option<&str>) -> Option<TagRef> {
    let tag = tag.and_then(|tag| tag.trim().parse().ok());
    let digest = digest.map(str::trim).filter(|digest| !digest.is_empty()).map(Digest::new);
    match (tag, digest) {
        (Some(tag), Some(digest)) => Some(TagRef::pinned(tag, digest)),
        (Some(tag), None) => Some(TagRef::tag(tag)),
        (None, Some(digest)) => Some(TagRef::digest(digest)),
        (None, None) => None,
    }
}
