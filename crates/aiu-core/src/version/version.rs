use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::parse;
use super::precedence;
use crate::image::Tag;

/// A semantic version, read leniently: a leading `v`, missing segments and leading zeros
/// are accepted (spec 10 §4.1).
///
/// Two versions are equal when neither precedes the other, so build metadata does not
/// count: `1.0.0+a == 1.0.0+b`, and both hash alike. That is the only notion under which
/// `Eq`, `Ord` and `Hash` agree with semantic-version precedence (spec 10 §4.2).
///
/// A version without pre-release and metadata owns no heap memory; clones are cheap.
#[derive(Clone, Debug)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    pre_release: Option<Arc<str>>,
    metadata: Option<Arc<str>>,
}

impl Version {
    /// Reads a whole text as a version; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let raw = parse::version(text)?;
        let [major, minor, patch] = raw.numbers;
        Some(Self {
            major,
            minor,
            patch,
            pre_release: raw.pre_release.map(Arc::from),
            metadata: raw.metadata.map(Arc::from),
        })
    }

    /// The version that a tag names; `None` for `latest` and its kind.
    pub fn of(tag: &Tag) -> Option<Self> {
        Self::parse(tag.as_str())
    }

    /// The first segment.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second segment, 0 where none was written.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The third segment, 0 where none was written.
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// What stands between `-` and `+`, as written; a version that has one precedes its release.
    pub fn pre_release(&self) -> Option<&str> {
        self.pre_release.as_deref()
    }

    /// The version that this one is a pre-release of; itself if it is none.
    #[must_use]
    pub fn release(&self) -> Self {
        Self { pre_release: None, ..self.clone() }
    }

    /// What stands behind `+`. It takes no part in any comparison.
    pub fn metadata(&self) -> Option<&str> {
        self.metadata.as_deref()
    }

    /// The three segments, as they are compared.
    pub(super) fn numbers(&self) -> [u64; 3] {
        [self.major, self.minor, self.patch]
    }

    pub(super) fn new(numbers: [u64; 3], pre_release: Option<&str>) -> Self {
        let [major, minor, patch] = numbers;
        Self { major, minor, patch, pre_release: pre_release.map(Arc::from), metadata: None }
    }
}

impl Ord for Version {
    /// Semantic-version precedence.
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers()
            .cmp(&other.numbers())
            .then_with(|| precedence::of_pre_releases(self.pre_release(), other.pre_release()))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal pre-releases are equal texts, since leading zeros are refused.
        self.numbers().hash(state);
        self.pre_release.hash(state);
    }
}

impl fmt::Display for Version {
    /// The canonical form: three segments, no `v`, no leading zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if let Some(pre_release) = &self.pre_release {
            write!(f, "-{pre_release}")?;
        }
        if let Some(metadata) = &self.metadata {
            write!(f, "+{metadata}")?;
        }
        Ok(())
    }
}
