use std::sync::Arc;

use super::reference::split_tag;
use super::{Digest, Repository};

/// `name`, `name:tag`, `name@digest` or `old=new[…]`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KustomizeImage {
    /// What the manifests call the image: the text before `=`, else the repository.
    pub name: Arc<str>,
    /// The repository that takes its place, where there is a `=`.
    pub new_name: Option<Arc<str>>,
    /// The tag, as written.
    pub new_tag: Option<Arc<str>>,
    /// The digest, as written.
    pub digest: Option<Digest>,
}

impl KustomizeImage {
    /// Takes an entry apart. Every text is one; what is empty is absent.
    pub fn read(entry: &str) -> Self {
        let (old, image) = match entry.split_once('=') {
            Some((old, image)) => (Some(old), image),
            None => (None, entry),
        };
        let (image, digest) = match image.split_once('@') {
            Some((image, digest)) => (image, Digest::written(digest)),
            None => (image, None),
        };
        let (repository, tag) = split_tag(image);
        let repository = as_printed(repository);
        let (name, new_name) = match old {
            Some(old) => (old.into(), (!repository.is_empty()).then_some(repository)),
            None => (repository, None),
        };
        let new_tag = tag.filter(|tag| !tag.is_empty()).map(Arc::from);
        Self { name, new_name, new_tag, digest }
    }

    /// Whether `entry` is the one that `query` would replace: the same old name if `query`
    /// has one, else the same repository, in an entry that renames nothing.
    ///
    /// A port is part of the repository; tag and digest are not (spec 10 F20).
    pub fn is_same_entry(entry: &str, query: &str) -> bool {
        match query.split_once('=') {
            Some((old, _)) => entry.split('=').next() == Some(old),
            None => !entry.contains('=') && written_name(entry) == written_name(query),
        }
    }
}

/// The repository of a reference, as written.
fn written_name(reference: &str) -> &str {
    split_tag(reference.split('@').next().unwrap_or_default()).0
}

/// A repository as it is printed elsewhere, or the text itself if it is none.
fn as_printed(repository: &str) -> Arc<str> {
    match repository.parse::<Repository>() {
        Ok(repository) => repository.to_string().into(),
        Err(_) => repository.into(),
    }
}
