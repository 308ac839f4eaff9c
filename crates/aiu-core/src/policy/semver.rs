//! Tags by semantic version, the highest in a range first (spec 10 §4, §5.5).

use std::fmt;
use std::sync::Arc;

use super::{Merit, Reason};
use crate::image::Tag;
use crate::version::{InvalidConstraint, Version, VersionConstraint};

/// The versions a user wants. Two ranges are equal when their texts are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SemverRange {
    /// A constraint; `*` where none was written.
    Within(VersionConstraint),
    /// A text that cannot be read as one. It admits nothing, and is an error only once there
    /// are versions it could have been asked about (spec 10 §5.5 steps 1 and 2, SEL-017).
    Broken(Arc<str>),
}

impl SemverRange {
    /// Reads a constraint; absent or empty means every version that is no pre-release.
    pub fn new(constraint: Option<&str>) -> Self {
        match constraint {
            None | Some("") => Self::Within(VersionConstraint::any()),
            Some(text) => {
                text.parse().map_or_else(|_| Self::Broken(text.into()), SemverRange::Within)
            }
        }
    }

    /// The constraint as written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Within(constraint) => constraint.as_str(),
            Self::Broken(text) => text,
        }
    }

    /// What is wrong with a broken range.
    pub fn fault(&self) -> Option<InvalidConstraint> {
        match self {
            Self::Within(_) => None,
            Self::Broken(text) => text.parse::<VersionConstraint>().err(),
        }
    }

    /// Whether the range takes in `version`, and if not, why.
    pub fn judge(&self, version: &Version) -> Result<(), Reason> {
        match self {
            Self::Broken(_) => Err(Reason::ConstraintInvalid),
            Self::Within(constraint) if constraint.admits(version) => Ok(()),
            Self::Within(constraint)
                if version.pre_release().is_some() && constraint.admits(&version.release()) =>
            {
                Err(Reason::PreRelease)
            }
            Self::Within(_) => Err(Reason::OutsideConstraint),
        }
    }
}

impl fmt::Display for SemverRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Versions in the range take part.
pub(super) fn judge(range: &SemverRange, tag: &Tag) -> Result<Merit, Reason> {
    let version = Version::of(tag).ok_or(Reason::NotSemver)?;
    range.judge(&version)?;
    Ok(Merit::Version(version))
}
