use std::sync::Arc;

use super::Digest;
use super::written::Written;

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
        let written = Written::read(image);
        let repository: Arc<str> = match written.repository() {
            Ok(repository) => repository.to_string().into(),
            Err(_) => written.name.into(),
        };
        let (name, new_name) = match old {
            Some(old) => (old.into(), (!repository.is_empty()).then_some(repository)),
            None => (repository, None),
        };
        Self { name, new_name, new_tag: written.tag.map(Arc::from), digest: written.digest }
    }

    /// Whether `entry` is the one that `query` would replace: the same old name if `query`
    /// has one, else the same repository, in an entry that renames nothing.
    ///
    /// A port is part of the repository; tag and digest are not (spec 10 F20).
    pub fn is_same_entry(entry: &str, query: &str) -> bool {
        match query.split_once('=') {
            Some((old, _)) => entry.split('=').next() == Some(old),
            None => !entry.contains('=') && Written::read(entry).name == Written::read(query).name,
        }
    }
}
