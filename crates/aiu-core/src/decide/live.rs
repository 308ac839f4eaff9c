//! Which of the running images a configured one means (spec 10 §3).

use crate::image::{ConfiguredImage, Digest, ImageReference, Registry, Repository, Tag, TagRef};

/// The place of the configured image among the running ones (spec 10 §3.1).
///
/// Under a kustomize name, what runs under that name comes first: the manifests call the
/// image so, whatever it is replaced by.
pub fn find_live(
    image: &ConfiguredImage,
    kustomize_name: Option<&Repository>,
    live: &[ImageReference],
    default: &Registry,
) -> Option<usize> {
    let place = |wanted: &Repository| {
        live.iter().position(|running| running.repository.same_as(wanted, default))
    };
    kustomize_name.and_then(place).or_else(|| place(&image.repository))
}

/// Under the digest strategy, the place of the running image that decides, once the digest
/// that the followed tag has now is known (spec 10 §3.3). `None` keeps the earlier match.
///
/// The live list is de-duplicated and tells no containers apart, so several images of the
/// repository may run: one that is behind counts before one that is not.
pub fn reselect_live(
    image: &ConfiguredImage,
    live: &[ImageReference],
    newest: &Digest,
    default: &Registry,
) -> Option<usize> {
    let followed = image.constraint.as_deref();
    let mut first_followed = None;
    let mut first_stale = None;
    for (place, running) in live.iter().enumerate() {
        if !running.repository.same_as(&image.repository, default) {
            continue;
        }
        let tag = running.tag.as_ref();
        let is_stale = tag.and_then(TagRef::pinned_digest).is_some_and(|digest| digest != newest);
        let name = tag.and_then(TagRef::name).map(Tag::as_str);
        match (name.is_some() && name == followed, is_stale) {
            (true, true) => return Some(place),
            (true, false) => first_followed = first_followed.or(Some(place)),
            (false, true) => first_stale = first_stale.or(Some(place)),
            (false, false) => {}
        }
    }
    first_followed.or(first_stale)
}
