use std::sync::Arc;

use super::TagList;
use crate::image::{Tag, TagRef};
use crate::policy::{Merit, Reason, UpdatePolicy};

/// The tags of one repository as one policy sees them.
///
/// It knows nothing of current tags, so all images that ask the same share it. Every listed
/// tag is either a candidate or rejected, and stands in it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortlist {
    /// Admitted tags, best first; in no telling order while something is still needed.
    pub candidates: Vec<Candidate>,
    /// All other tags, by the bytes of their names.
    pub rejected: Vec<Rejection>,
    /// What must be known before the candidates can be told apart.
    pub needs: Needs,
}

/// A tag that could be chosen. Ordered by merit, then by the bytes of the tag: the greatest
/// is the best (spec 10 §4.2, §5.5).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// What it is ordered by.
    pub merit: Merit,
    /// The tag.
    pub tag: Tag,
}

/// A tag that cannot be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The tag.
    pub tag: Tag,
    /// Why not.
    pub reason: Reason,
}

/// What a strategy must still be told. It never fetches; it says what it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: the order stands.
    Nothing,
    /// The dates of all these tags' images.
    Dates(Arc<[Tag]>),
    /// What this tag points to.
    Digest(Tag),
}

/// Holds a listing against a policy.
pub fn shortlist(policy: &UpdatePolicy, tags: &TagList) -> Shortlist {
    let tags = tags.as_slice();
    let mut candidates = Vec::with_capacity(tags.len());
    let mut rejected = Vec::new();
    for (place, tag) in tags.iter().enumerate() {
        let judged =
            policy.filter.judge(tag).and_then(|()| policy.strategy.judge(tag, place, tags.len()));
        match judged {
            Ok(merit) => candidates.push(Candidate { merit, tag: tag.clone() }),
            Err(reason) => rejected.push(Rejection { tag: tag.clone(), reason }),
        }
    }
    Shortlist::ordered(candidates, rejected)
}

impl Shortlist {
    /// Puts both lists in order, and reads from the candidates what is still needed.
    pub(super) fn ordered(mut candidates: Vec<Candidate>, mut rejected: Vec<Rejection>) -> Self {
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        rejected.sort_unstable_by(|a, b| a.tag.cmp(&b.tag));
        let needs = match candidates.last() {
            Some(Candidate { merit: Merit::Digest(None), tag }) => Needs::Digest(tag.clone()),
            Some(Candidate { merit: Merit::Date(None) | Merit::Pushed(None), .. }) => {
                Needs::Dates(candidates.iter().map(|candidate| candidate.tag.clone()).collect())
            }
            _ => Needs::Nothing,
        };
        Self { candidates, rejected, needs }
    }

    /// All listed tags: candidates, then the rest.
    pub fn tags(&self) -> impl Iterator<Item = &Tag> + Clone {
        let candidates = self.candidates.iter().map(|candidate| &candidate.tag);
        candidates.chain(self.rejected.iter().map(|rejection| &rejection.tag))
    }

    /// How many tags passed the filters and were for the strategy to judge: the second number
    /// of the log line "found … from … tags eligible for consideration" (spec 10 §5.5).
    pub fn considered(&self) -> usize {
        let rejected = self.rejected.iter();
        let by_strategy = rejected.filter(|rejection| rejection.reason.is_of_strategy());
        self.candidates.len() + by_strategy.count()
    }

    /// How many tags were listed.
    pub fn len(&self) -> usize {
        self.candidates.len() + self.rejected.len()
    }

    /// Whether no tag was listed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The candidates that are worth as much as the best one: other spellings of its version.
    pub(super) fn equals_of_best(&self) -> impl Iterator<Item = &Candidate> {
        let best = self.candidates.first();
        self.candidates.iter().take_while(move |candidate| {
            best.is_some_and(|best| {
                matches!(best.merit, Merit::Version(_)) && candidate.merit == best.merit
            })
        })
    }
}

impl Candidate {
    /// How the candidate is written: with its digest where the strategy follows that.
    pub fn tag_ref(&self) -> TagRef {
        match &self.merit {
            Merit::Digest(Some(digest)) => TagRef::pinned(self.tag.clone(), digest.clone()),
            _ => TagRef::tag(self.tag.clone()),
        }
    }
}
