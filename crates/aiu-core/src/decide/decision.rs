use std::fmt;
use std::sync::Arc;

use super::{Candidate, Needs, Shortlist};
use crate::image::{ConfiguredImage, ImageReference, Registry, Tag, TagRef};
use crate::policy::{Merit, Reason, UpdatePolicy, UpdateStrategy};
use crate::version::Version;

/// What an image is at now, as far as known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Current {
    /// The reference; `None` where nothing says (a forced image that does not run).
    pub reference: Option<ImageReference>,
    /// Where it was read.
    pub source: CurrentSource,
}

/// The places that can say what an image is at, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CurrentSource {
    /// The file or parameter that updates are written to.
    Target,
    /// The Application's own spec.
    Spec,
    /// The summary of what runs.
    Live,
    /// Nowhere: the image is updated because the user forces it.
    Forced,
}

/// What is to happen with one image, and the list from which that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The list; shared by all images that ask the same.
    pub shortlist: Arc<Shortlist>,
    /// The candidate that the verdict is about, if there is any.
    pub chosen: Option<Tag>,
    /// What is to happen.
    pub verdict: Verdict,
}

/// What is to happen with one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Write this.
    UpdateTo(TagRef),
    /// What is there is already the best.
    UpToDate,
    /// There is nothing to go to.
    NoCandidate(NoCandidate),
    /// There is something to go to, but going there must be asked for.
    Held(HoldReason),
}

/// Why there is nothing to go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoCandidate {
    /// The repository has no tags.
    NoTags,
    /// Every tag was rejected; this stopped those that came furthest.
    AllRejected(Reason),
    /// The list still needed answers when it was asked. A fault of the asker.
    NotInspected,
}

/// Why an update is not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldReason {
    /// The current version has vanished from the listing, and the best one left is lower
    /// (spec 40 B17).
    WouldDowngrade {
        /// The tag that is there now.
        current: Tag,
        /// The best one listed.
        best: Tag,
    },
    /// It was moved to this value before, and a person took it back (spec 40 B10).
    Reverted {
        /// What is there now.
        now: String,
        /// What it would go to again.
        wanted: String,
    },
}

/// What a decision depends on besides the image and its policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecideOptions {
    /// What a name without a registry means.
    pub default_registry: Registry,
    /// Whether the manifests call the image by a kustomize name, so that another repository
    /// alone is an update (spec 10 §7.2).
    pub kustomize_name: bool,
    /// Whether to go to a lower version without a word, as upstream (spec 40 B17).
    pub allow_downgrade: bool,
}

/// Holds a shortlist against what one image is at.
pub fn decide(
    shortlist: &Arc<Shortlist>,
    policy: &UpdatePolicy,
    image: &ConfiguredImage,
    current: Option<&Current>,
    options: &DecideOptions,
) -> Decision {
    let current = current.and_then(|current| current.reference.as_ref());
    let running = current.and_then(|current| current.tag.as_ref());
    let Some(chosen) = chosen(shortlist, running) else {
        let verdict = Verdict::NoCandidate(why_none(shortlist));
        return Decision { shortlist: Arc::clone(shortlist), chosen: None, verdict };
    };
    let moved = options.kustomize_name
        && current.is_some_and(|current| {
            !current.repository.same_as(&image.repository, &options.default_registry)
        });
    let verdict = match downgrade(policy, running, chosen) {
        Some(held) if !options.allow_downgrade => Verdict::Held(held),
        _ => {
            let wanted = chosen.tag_ref();
            if needs_update(&policy.strategy, running, &wanted, moved) {
                Verdict::UpdateTo(wanted)
            } else {
                Verdict::UpToDate
            }
        }
    };
    Decision { shortlist: Arc::clone(shortlist), chosen: Some(chosen.tag.clone()), verdict }
}

/// The best candidate, or the running one if that is the same version in other words.
fn chosen<'a>(shortlist: &'a Shortlist, running: Option<&TagRef>) -> Option<&'a Candidate> {
    if shortlist.needs != Needs::Nothing {
        return None;
    }
    let running = running.and_then(TagRef::name);
    shortlist
        .equals_of_best()
        .find(|candidate| Some(&candidate.tag) == running)
        .or_else(|| shortlist.candidates.first())
}

/// Whether `wanted` must be written (spec 10 §7.2, 21 §7.3): it is another image, or lives
/// elsewhere. A comparison for sameness, never for higher or lower.
pub fn needs_update(
    strategy: &UpdateStrategy,
    running: Option<&TagRef>,
    wanted: &TagRef,
    moved: bool,
) -> bool {
    let follows_digest = matches!(strategy, UpdateStrategy::Digest(_));
    running.is_none_or(|running| {
        moved || !running.same_as(wanted) || (follows_digest && running.pinned_digest().is_none())
    })
}

/// Going to `best` would lower a version that the policy itself admits. A version that is
/// still listed and admitted is a candidate, so this one has vanished.
fn downgrade(
    policy: &UpdatePolicy,
    running: Option<&TagRef>,
    best: &Candidate,
) -> Option<HoldReason> {
    let UpdateStrategy::Semver(range) = &policy.strategy else { return None };
    let Merit::Version(best_version) = &best.merit else { return None };
    let tag = running?.name()?;
    let version = Version::of(tag)?;
    policy.filter.judge(tag).ok()?;
    range.judge(&version).ok()?;
    (version > *best_version)
        .then(|| HoldReason::WouldDowngrade { current: tag.clone(), best: best.tag.clone() })
}

fn why_none(shortlist: &Shortlist) -> NoCandidate {
    if shortlist.needs != Needs::Nothing {
        return NoCandidate::NotInspected;
    }
    let furthest = shortlist.rejected.iter().map(|rejection| rejection.reason).max();
    furthest.map_or(NoCandidate::NoTags, NoCandidate::AllRejected)
}

impl NoCandidate {
    /// Whether this is a failure of the image, and not merely nothing to do. A constraint that
    /// cannot be read is one only if there are versions (spec 10 §5.5 steps 1 and 2).
    pub fn is_failure(self) -> bool {
        matches!(self, Self::AllRejected(Reason::ConstraintInvalid) | Self::NotInspected)
    }

    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoTags => "NoTags",
            Self::AllRejected(reason) => reason.word(),
            Self::NotInspected => "NotInspected",
        }
    }
}

impl fmt::Display for NoCandidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTags => "the repository has no tags",
            Self::AllRejected(reason) => match reason {
                Reason::NotAllowed => "allowTags matches no tag",
                Reason::Ignored => "ignoreTags leaves no tag",
                Reason::NotTheTag => "the followed tag is not listed",
                Reason::NotSemver => "no tag is a semantic version",
                Reason::OutsideConstraint => "no version is within the constraint",
                Reason::PreRelease => "only pre-releases are left, and the constraint names none",
                Reason::ConstraintInvalid => "the constraint cannot be read",
                Reason::WrongPlatform => "no image is built for a wanted platform",
                Reason::NoManifest => "no tag has an image manifest",
                Reason::NoBuildDate => "no image says when it was built",
            },
            Self::NotInspected => "the images behind the tags have not been looked at",
        })
    }
}

impl HoldReason {
    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::WouldDowngrade { .. } => "WouldDowngrade",
            Self::Reverted { .. } => "Reverted",
        }
    }
}

impl fmt::Display for HoldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WouldDowngrade { current, best } => write!(
                f,
                "{best} is lower than the current {current}, which the registry no longer lists"
            ),
            Self::Reverted { now, wanted } => {
                write!(f, "it was moved to {wanted} before, and somebody has put {now} back")
            }
        }
    }
}
