//! What the registry says about the images behind tags, taken into a shortlist.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Candidate, Needs, NoCandidate, Rejection, Shortlist};
use crate::image::{Digest, Tag};
use crate::policy::{Merit, Reason};

/// What is known of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageMeta {
    /// When it was built, or pushed where the policy asks for that.
    pub created: Option<Timestamp>,
    /// The digest of the manifest or index that the tag names, not of a platform's child
    /// (spec 10 §9).
    pub digest: Option<Digest>,
    /// The labels of its configuration.
    pub labels: BTreeMap<String, String>,
}

/// A registry's final word about one tag. Passing failures (transport, 429, 5xx) are none:
/// they leave the tag unanswered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inspection {
    /// An image for a wanted platform.
    Image(ImageMeta),
    /// An image, for other platforms only.
    WrongPlatform,
    /// Listed, yet there is no manifest, or it is not an image's.
    NoManifest,
}

/// Answers by tag.
pub type Metadata = BTreeMap<Tag, Inspection>;

/// The registry has not answered about a tag that could be the one to choose, so nothing is
/// chosen: the next best would be a guess (spec 10 F6).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no answer about tag '{tag}', without which nothing can be chosen; wait for the next try")]
pub struct Unanswered {
    /// The first such tag.
    pub tag: Tag,
}

impl Unanswered {
    /// Stable word for conditions, events and metrics. Why there was no answer is the word of
    /// the scan's own error.
    pub fn reason(&self) -> &'static str {
        NoCandidate::NotInspected.reason()
    }
}

impl Shortlist {
    /// This list with what it needed. Tags without a usable image become rejections; a single
    /// missing answer fails the list as a whole (spec 10 F6, F21).
    pub fn inspected(self, metadata: &Metadata) -> Result<Self, Unanswered> {
        if self.needs == Needs::Nothing {
            return Ok(self);
        }
        let mut candidates = Vec::with_capacity(self.candidates.len());
        let mut rejected = self.rejected;
        for Candidate { merit, tag } in self.candidates {
            let Some(inspection) = metadata.get(&tag) else { return Err(Unanswered { tag }) };
            match merit_of(&merit, inspection) {
                Ok(merit) => candidates.push(Candidate { merit, tag }),
                Err(reason) => rejected.push(Rejection { tag, reason }),
            }
        }
        Ok(Self::ordered(candidates, rejected))
    }
}

/// The merit of the kind of `unknown`, read from an answer.
fn merit_of(unknown: &Merit, inspection: &Inspection) -> Result<Merit, Reason> {
    let image = match inspection {
        Inspection::Image(image) => image,
        Inspection::WrongPlatform => return Err(Reason::WrongPlatform),
        Inspection::NoManifest => return Err(Reason::NoManifest),
    };
    match unknown {
        Merit::Date(_) | Merit::Pushed(_) if image.created.is_none() => Err(Reason::NoBuildDate),
        Merit::Date(_) => Ok(Merit::Date(image.created)),
        Merit::Pushed(_) => Ok(Merit::Pushed(image.created)),
        Merit::Digest(_) if image.digest.is_none() => Err(Reason::NoManifest),
        Merit::Digest(_) => Ok(Merit::Digest(image.digest.clone())),
        known => Ok(known.clone()),
    }
}
