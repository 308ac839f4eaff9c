use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The mutable name of an image inside a repository, such as `1.27.3` or `latest`.
///
/// A `Tag` that exists is valid: the length and alphabet of the distribution spec
/// (`[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}`) are checked once, on the way in. Clones are cheap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(Arc<str>);

/// Why a text is not a tag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTag {
    /// Empty, or longer than the distribution spec allows.
    #[error("a tag must have 1 to 128 characters, this one has {0}")]
    Length(usize),
    /// A character outside the distribution spec's alphabet, and its byte position.
    #[error("a tag cannot contain {found:?} at position {at}")]
    Character {
        /// The offending character.
        found: char,
        /// Its byte position.
        at: usize,
    },
}

impl FromStr for Tag {
    type Err = InvalidTag;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() || text.len() > 128 {
            return Err(InvalidTag::Length(text.len()));
        }
        let allowed = |at: usize, c: char| {
            c.is_ascii_alphanumeric() || c == '_' || (at > 0 && matches!(c, '.' | '-'))
        };
        match text.char_indices().find(|&(at, c)| !allowed(at, c)) {
            Some((at, found)) => Err(InvalidTag::Character { found, at }),
            None => Ok(Self(text.into())),
        }
    }
}

impl Tag {
    /// The tag's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
