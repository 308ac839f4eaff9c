/// Why a tag did not make it to the candidates.
///
/// One word, copied; its details are in the policy. Ordered by how far a tag came: a later
/// reason means that it passed all earlier questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// `allowTags` does not match it (or is broken, and matches nothing).
    NotAllowed,
    /// A pattern of `ignoreTags` matches it.
    Ignored,
    /// The digest strategy follows another tag.
    NotTheTag,
    /// It is not a semantic version.
    NotSemver,
    /// It is a version outside of the range.
    OutsideConstraint,
    /// It is a pre-release of a version in the range, and the range names no pre-release.
    PreRelease,
    /// It is a version, and the range cannot be read.
    ConstraintInvalid,
    /// It is not built for a wanted platform.
    WrongPlatform,
    /// The registry lists it but has no manifest for it that is an image.
    NoManifest,
    /// Its image does not say when it was built.
    NoBuildDate,
}

impl Reason {
    /// The stable word for findings, labels and output (spec 00 §6). Two reasons may share one.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotAllowed => "NotAllowed",
            Self::Ignored => "Ignored",
            Self::NotSemver => "NotSemver",
            Self::NotTheTag | Self::OutsideConstraint | Self::PreRelease => "OutsideConstraint",
            Self::ConstraintInvalid => "ConstraintInvalid",
            Self::WrongPlatform => "WrongPlatform",
            Self::NoManifest => "NoManifest",
            Self::NoBuildDate => "NoBuildDate",
        }
    }

    /// Whether the tag passed the filters and its image was usable, so that the strategy itself
    /// turned it down.
    pub fn is_of_strategy(self) -> bool {
        match self {
            Self::NotSemver
            | Self::OutsideConstraint
            | Self::PreRelease
            | Self::ConstraintInvalid => true,
            Self::NotAllowed
            | Self::Ignored
            | Self::NotTheTag
            | Self::WrongPlatform
            | Self::NoManifest
            | Self::NoBuildDate => false,
        }
    }

    /// The predicate of a sentence whose subject is the tag.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NotAllowed => "is not matched by allowTags",
            Self::Ignored => "is matched by ignoreTags",
            Self::NotTheTag => "is not the tag that the digest strategy follows",
            Self::NotSemver => "is not a semantic version",
            Self::OutsideConstraint => "is outside the constraint",
            Self::PreRelease => "is a pre-release, and the constraint names none",
            Self::ConstraintInvalid => "is a version, but the constraint cannot be read",
            Self::WrongPlatform => "is not built for a wanted platform",
            Self::NoManifest => "has no image manifest in the registry",
            Self::NoBuildDate => "does not say when it was built",
        }
    }
}
