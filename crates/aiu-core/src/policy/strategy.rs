use std::fmt;

use jiff::Timestamp;

use super::{DateSource, Reason, SemverRange, alphabetical, digest, newest_build, semver};
use crate::image::{ConfiguredImage, Digest, InvalidTag, Tag};
use crate::version::Version;

/// How the tags of a repository are ordered. Each strategy holds what it needs to judge a tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UpdateStrategy {
    /// The highest version in a range.
    Semver(SemverRange),
    /// The youngest image.
    NewestBuild(DateSource),
    /// The last name.
    Alphabetical,
    /// This tag, by the digest it has now.
    Digest(Tag),
}

/// What a tag is ordered by; all candidates of one shortlist have the same kind. A higher
/// merit wins, and equal ones are ordered by the bytes of their tags (spec 10 §4.2, §5.5).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Merit {
    /// Its version.
    Version(Version),
    /// When it was built; `None` until it is known.
    Date(Option<Timestamp>),
    /// When it was pushed; `None` until it is known.
    Pushed(Option<Timestamp>),
    /// Its place in a listing sorted by age, higher for younger images.
    Place(usize),
    /// Nothing but its name.
    Name,
    /// What it points to; `None` until it is known.
    Digest(Option<Digest>),
}

/// Why no strategy could be made of the words a user wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The digest strategy was asked for without a tag to follow (spec 10 §5.4).
    #[error(
        "cannot use update strategy 'digest' for image '{image}' without a version constraint; \
         write the tag to follow behind the name, such as ':latest'"
    )]
    NoTagToFollow {
        /// The image as configured.
        image: String,
    },
    /// The digest strategy was given something that no registry can hold as a tag.
    #[error(
        "cannot use update strategy 'digest' for image '{image}': {cause}; \
         write the one tag to follow, not a range"
    )]
    NotATag {
        /// The image as configured.
        image: String,
        /// What is wrong with the tag.
        cause: InvalidTag,
    },
}

/// Something to say about a strategy's name, in the words of the original (spec 21 §4.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StrategyNote {
    /// An old name, as the user wrote it, and the present one.
    Renamed {
        /// The old name.
        old: &'static str,
        /// The present name.
        new: &'static str,
    },
    /// No strategy has this name; semver is used.
    Unknown(String),
}

impl PolicyError {
    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        "ConstraintInvalid"
    }
}

impl fmt::Display for StrategyNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Renamed { old, new } => write!(
                f,
                "\"{old}\" strategy has been renamed to \"{new}\". Please switch to the new \
                 convention as support for the old naming convention will be removed in future \
                 versions."
            ),
            Self::Unknown(word) => write!(f, "Unknown sort option {word} -- using semver"),
        }
    }
}

impl UpdateStrategy {
    /// Makes a strategy of its name and the constraint of an image.
    ///
    /// Names are trimmed (spec 10 F22) and case does not count; no name, or one that no
    /// strategy has, means semver. `dates` is what the image's registry offers, and is looked
    /// at for newest-build alone. A constraint that semver cannot read is no error here: see
    /// [`SemverRange::Broken`].
    pub fn from_parts(
        image: &ConfiguredImage,
        name: Option<&str>,
        dates: DateSource,
    ) -> Result<(Self, Option<StrategyNote>), PolicyError> {
        let constraint = image.constraint.as_deref();
        let renamed = |old, new| Some(StrategyNote::Renamed { old, new });
        let name = name.unwrap_or_default().trim();
        Ok(match name.to_ascii_lowercase().as_str() {
            "" | "semver" => (Self::Semver(SemverRange::new(constraint)), None),
            "newest-build" => (Self::NewestBuild(dates), None),
            "latest" => (Self::NewestBuild(dates), renamed("latest", "newest-build")),
            "alphabetical" => (Self::Alphabetical, None),
            "name" => (Self::Alphabetical, renamed("name", "alphabetical")),
            "digest" => (Self::Digest(tag_to_follow(image)?), None),
            _ => {
                let note = StrategyNote::Unknown(name.to_owned());
                (Self::Semver(SemverRange::new(constraint)), Some(note))
            }
        })
    }

    /// The strategy's name, as users write it and as logs print it (spec 10 §5.1).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Semver(_) => "semver",
            Self::NewestBuild(_) => "newest-build",
            Self::Alphabetical => "alphabetical",
            Self::Digest(_) => "digest",
        }
    }

    /// Whether a registry's listing is wanted. The digest strategy knows its only tag.
    pub fn lists_tags(&self) -> bool {
        !matches!(self, Self::Digest(_))
    }

    /// What a tag that passed the filters is worth, given its `place` among `count` listed ones.
    pub(crate) fn judge(&self, tag: &Tag, place: usize, count: usize) -> Result<Merit, Reason> {
        match self {
            Self::Semver(range) => semver::judge(range, tag),
            Self::NewestBuild(dates) => Ok(newest_build::judge(*dates, place, count)),
            Self::Alphabetical => Ok(alphabetical::judge()),
            Self::Digest(followed) => digest::judge(followed, tag),
        }
    }
}

fn tag_to_follow(image: &ConfiguredImage) -> Result<Tag, PolicyError> {
    let image_name = || image.to_string();
    match image.constraint.as_deref() {
        None => Err(PolicyError::NoTagToFollow { image: image_name() }),
        Some(text) => {
            text.parse().map_err(|cause| PolicyError::NotATag { image: image_name(), cause })
        }
    }
}
