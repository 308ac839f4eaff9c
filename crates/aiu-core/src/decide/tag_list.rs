use std::collections::HashSet;
use std::sync::Arc;

use crate::image::Tag;

/// All tags of a repository, in the order in which the registry lists them, each once.
///
/// Complete by contract: a listing that broke off is an error of whoever listed, never a
/// shorter list. Clones share the tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagList(Arc<[Tag]>);

impl TagList {
    /// Takes a listing. Of a tag listed twice the first place counts.
    pub fn new(listed: impl IntoIterator<Item = Tag>) -> Self {
        let mut tags: Vec<Tag> = listed.into_iter().collect();
        let mut seen = HashSet::with_capacity(tags.len());
        tags.retain(|tag| seen.insert(tag.clone()));
        Self(tags.into())
    }

    /// The tags.
    pub fn as_slice(&self) -> &[Tag] {
        &self.0
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the repository has no tags.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Tag> for TagList {
    fn from_iter<I: IntoIterator<Item = Tag>>(listed: I) -> Self {
        Self::new(listed)
    }
}
