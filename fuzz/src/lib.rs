//! What the fuzz targets share: how their input is taken apart, and the laws of edits.

mod content;
mod edits;

use aiu_core::image::Repository;

pub use edits::{Target, check_edit, check_edit_of};

/// Whether the first component of the path would be read as a host if no host stood before it.
/// Docker Hub's is not printed, so such a name is read back as another; but Docker Hub has no such
/// namespaces.
pub fn is_taken_for_a_host(repository: &Repository) -> bool {
    let first = repository.path().split_once('/').map(|(first, _)| first);
    first.is_some_and(|first| {
        first.contains(['.', ':']) || first == "localhost" || first != first.to_lowercase()
    })
}

/// The parts of an input, between NUL bytes. `None` if it is no text or has another number of
/// parts; the last part may contain NUL bytes.
pub fn parts<const COUNT: usize>(data: &[u8]) -> Option<[&str; COUNT]> {
    let parts: Vec<&str> = str::from_utf8(data).ok()?.splitn(COUNT, '\0').collect();
    parts.try_into().ok()
}
