use std::fmt;
use std::str::FromStr;

use super::written::Written;
use super::{Digest, InvalidRepository, InvalidTag, Repository, Tag};

/// What stands after an image's name: a tag, a digest or both, never nothing.
///
/// Sameness is [`TagRef::same_as`], not `Eq`: digests win over names when either side has
/// one, and that is not transitive (spec 10 §2). `Eq` compares what is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TagRef {
    tag: Option<Tag>,
    digest: Option<Digest>,
}

/// One image as it runs or is written: a repository and, mostly, a tag or digest.
///
/// Without a tag nothing is known of what runs, so any winner is an update (spec 10 §7.2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageReference {
    /// Where the image lives.
    pub repository: Repository,
    /// Which of its images.
    pub tag: Option<TagRef>,
}

/// Why a text is not an image reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidReference {
    /// The part before the tag.
    #[error(transparent)]
    Repository(#[from] InvalidRepository),
    /// The part after the colon.
    #[error("in '{text}': {cause}")]
    Tag {
        /// The whole text.
        text: String,
        /// What is wrong with its tag.
        cause: InvalidTag,
    },
}

impl TagRef {
    /// A tag alone.
    pub fn tag(tag: Tag) -> Self {
        Self { tag: Some(tag), digest: None }
    }

    /// A digest alone.
    pub fn digest(digest: Digest) -> Self {
        Self { tag: None, digest: Some(digest) }
    }

    /// A tag pinned by the digest it had.
    pub fn pinned(tag: Tag, digest: Digest) -> Self {
        Self { tag: Some(tag), digest: Some(digest) }
    }

    /// The tag's name, if there is one.
    pub fn name(&self) -> Option<&Tag> {
        self.tag.as_ref()
    }

    /// The digest, if there is one.
    pub fn pinned_digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// Whether both mean the same image: digests decide if either side has one (spec 10 §2).
    pub fn same_as(&self, other: &Self) -> bool {
        if self.digest.is_some() || other.digest.is_some() {
            self.digest == other.digest
        } else {
            self.tag == other.tag
        }
    }

    /// What messages show: the digest if there is one, else the tag (spec 21 §7.1).
    pub fn short(&self) -> &str {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.as_str(),
            (None, Some(tag)) => tag.as_str(),
            (None, None) => "",
        }
    }

    /// As a tag value of a manifest: `tag`, `tag@digest`, or `latest@digest` where only the
    /// digest is known (spec 10 §1.4 "tag with digest").
    pub fn as_tag_value(&self) -> String {
        match (&self.tag, &self.digest) {
            (Some(tag), Some(digest)) => format!("{tag}@{digest}"),
            (Some(tag), None) => tag.to_string(),
            (None, Some(digest)) => format!("latest@{digest}"),
            (None, None) => String::new(),
        }
    }
}

impl fmt::Display for TagRef {
    /// As it is appended to a repository: `:tag`, `@digest` or `:tag@digest`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl FromStr for TagRef {
    type Err = InvalidTag;

    /// Reads `tag`, `tag@digest`, `@digest` or a bare `sha256:…` digest.
    ///
    /// Digests are kept as they are, short ones too; a tag must be valid.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('@') {
            Some(("", digest)) if !digest.is_empty() => Ok(Self::digest(Digest::new(digest))),
            Some((tag, "")) => Ok(Self::tag(tag.parse()?)),
            Some((tag, digest)) => Ok(Self::pinned(tag.parse()?, Digest::new(digest))),
            None if Digest::is_named_in(text) => Ok(Self::digest(Digest::new(text))),
            None => Ok(Self::tag(text.parse()?)),
        }
    }
}

impl ImageReference {
    /// This reference with another tag.
    #[must_use]
    pub fn with_tag(&self, tag: TagRef) -> Self {
        Self { repository: self.repository.clone(), tag: Some(tag) }
    }
}

impl fmt::Display for ImageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.repository)?;
        match &self.tag {
            Some(tag) => write!(f, "{tag}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ImageReference {
    type Err = InvalidReference;

    /// Reads what runs or is written, and loses as little of it as possible: upper-case paths
    /// and unusual digests are kept and printed as written (spec 10 §1.3), a colon or `@` with
    /// nothing behind it counts as not written. Refused are an empty name, a URL, and a tag
    /// that no registry can hold, since a runtime cannot have pulled that.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let written = Written::read(text);
        let repository = written.repository()?;
        let tag = written.tag.map(str::parse::<Tag>).transpose();
        let tag = tag.map_err(|cause| InvalidReference::Tag { text: text.to_owned(), cause })?;
        let digest = written.digest;
        let tag = (tag.is_some() || digest.is_some()).then_some(TagRef { tag, digest });
        Ok(Self { repository, tag })
    }
}
