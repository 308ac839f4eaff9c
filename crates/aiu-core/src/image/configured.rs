use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::written::{Written, split_tag};
use super::{Digest, InvalidRepository, Repository};

/// The short name a user gives to an image, the part before `=` (spec 10 §1.1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alias(Arc<str>);

/// An image as users configure it: `[alias=]repository[:constraint]`.
///
/// The part after the colon is no tag but a constraint, whose meaning the update strategy
/// knows: a version range for semver, a tag to follow for digest. It is split off before
/// the repository is read, so ports and `library/` are understood whatever follows
/// (spec 10 faults F1–F3). Repository and digest keep what they cannot validate: an image of
/// such a name is never found among the running ones, and is reported as that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfiguredImage {
    /// The image's short name, if it has one.
    pub alias: Option<Alias>,
    /// Where the image lives.
    pub repository: Repository,
    /// The text after the colon, as written; never empty.
    pub constraint: Option<Arc<str>>,
    /// A digest after `@`. It constrains nothing (spec 10 §5.2).
    pub digest: Option<Digest>,
}

/// Why a text is not a configured image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConfiguredImage {
    /// The repository part.
    #[error(transparent)]
    Repository(#[from] InvalidRepository),
    /// Two entries on two lines with no comma between them (spec 21 §5.2).
    #[error("'{0}' spans two lines: a comma is missing between two images")]
    LineBreak(String),
    /// What stood behind the comma of a range: the list of images was cut there (spec 10 §6.2).
    #[error(
        "'{0}' is no image but the rest of a range: a comma ends an image, so part the bounds of a range by a blank, as in '>=1.0 <2'"
    )]
    RangeTail(String),
}

impl Alias {
    /// Takes a name; `None` if it is empty.
    pub fn new(name: &str) -> Option<Self> {
        (!name.is_empty()).then(|| Self(name.into()))
    }

    /// The alias as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The spellings under which annotation keys may name this alias, to be tried in turn: as
    /// written, and with `_` for the `/` that a key cannot hold (spec 10 F18).
    pub fn key_spellings(&self) -> impl Iterator<Item = Arc<str>> {
        let escaped = self.0.contains('/').then(|| self.0.replace('/', "_").into());
        std::iter::once(Arc::clone(&self.0)).chain(escaped)
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ConfiguredImage {
    type Err = InvalidConfiguredImage;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains(['\n', '\r']) {
            return Err(InvalidConfiguredImage::LineBreak(text.to_owned()));
        }
        if text.starts_with(['<', '>', '!', '~', '^']) {
            return Err(InvalidConfiguredImage::RangeTail(text.to_owned()));
        }
        let (alias, rest) = Self::split_alias(text);
        let written = Written::read(rest);
        Ok(Self {
            alias: alias.and_then(Alias::new),
            repository: written.repository()?,
            constraint: written.tag.map(Arc::from),
            digest: written.digest,
        })
    }
}

impl ConfiguredImage {
    /// Splits the text of an image into its alias, as written, and the rest: at the first `=`,
    /// unless it stands behind a tag's colon and so belongs to a constraint such as `>=1.0`
    /// (spec 10 F1).
    pub fn split_alias(text: &str) -> (Option<&str>, &str) {
        match text.split_once('=') {
            Some((alias, rest)) if split_tag(alias).1.is_none() => (Some(alias), rest),
            _ => (None, text),
        }
    }
}

impl fmt::Display for ConfiguredImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(alias) = &self.alias {
            write!(f, "{alias}=")?;
        }
        write!(f, "{}", self.repository)?;
        if let Some(constraint) = &self.constraint {
            write!(f, ":{constraint}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}
