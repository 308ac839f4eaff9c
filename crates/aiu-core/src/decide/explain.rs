//! Decisions in words and as data: one line per tag, in a stable order.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::{Candidate, Decision, HoldReason, NoCandidate, Rejection, Verdict};
use crate::image::{Tag, TagRef};
use crate::policy::{Merit, Reason};

/// Why a decision came out as it did.
///
/// Borrowed from the decision, so it costs a list of references. Candidates come first, best
/// first, then the rejected tags by name; every listed tag has one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation<'a> {
    decision: &'a Decision,
    current: Option<&'a TagRef>,
}

/// What became of one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The tag.
    pub tag: &'a Tag,
    /// What became of it.
    pub fate: Fate<'a>,
    /// What it was ordered by, if it could be chosen.
    pub merit: Option<&'a Merit>,
    /// Whether the image is at this tag now.
    pub is_current: bool,
}

/// The ends a tag can come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate<'a> {
    /// It will be written.
    Chosen,
    /// It is what is there, and stays.
    Kept,
    /// It is the best, but lower than what is there.
    Held(&'a HoldReason),
    /// It could have been chosen, were it not for this one.
    OutrankedBy(&'a Tag),
    /// It could not be chosen.
    Rejected(Reason),
    /// Nothing was chosen, since the list still lacked answers.
    Undecided,
}

/// Explains `decision` for an image that is at `current`.
pub fn explain<'a>(decision: &'a Decision, current: Option<&'a TagRef>) -> Explanation<'a> {
    Explanation { decision, current }
}

impl<'a> Explanation<'a> {
    /// One line per listed tag.
    pub fn lines(&self) -> impl Iterator<Item = Line<'a>> {
        let current = self.current.and_then(TagRef::name);
        let decision = self.decision;
        let candidates =
            decision.shortlist.candidates.iter().map(|Candidate { merit, tag }| {
                (tag, fate_of_candidate(decision, tag), Some(merit))
            });
        let rejected = decision.shortlist.rejected.iter();
        let rejected =
            rejected.map(|Rejection { tag, reason }| (tag, Fate::Rejected(*reason), None));
        candidates.chain(rejected).map(move |(tag, fate, merit)| Line {
            tag,
            fate,
            merit,
            is_current: Some(tag) == current,
        })
    }

    /// The verdict and how many tags were weighed, in one line: `update to 1.3.1; 2
    /// candidates, 3 rejected (1 NotSemver, 2 OutsideConstraint)`.
    pub fn summary(&self) -> String {
        let list = &self.decision.shortlist;
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for rejection in &list.rejected {
            *counts.entry(rejection.reason.word()).or_default() += 1;
        }
        let counts: Vec<_> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
        let rejected = if counts.is_empty() {
            String::new()
        } else {
            format!(", {} rejected ({})", list.rejected.len(), counts.join(", "))
        };
        let plural = if list.candidates.len() == 1 { "" } else { "s" };
        let verdict = &self.decision.verdict;
        format!("{verdict}; {} candidate{plural}{rejected}", list.candidates.len())
    }
}

fn fate_of_candidate<'a>(decision: &'a Decision, tag: &'a Tag) -> Fate<'a> {
    let Some(chosen) = &decision.chosen else { return Fate::Undecided };
    if chosen != tag {
        return Fate::OutrankedBy(chosen);
    }
    match &decision.verdict {
        Verdict::UpdateTo(_) => Fate::Chosen,
        Verdict::UpToDate => Fate::Kept,
        Verdict::Held(reason) => Fate::Held(reason),
        Verdict::NoCandidate(_) => Fate::Undecided,
    }
}

impl Fate<'_> {
    /// The stable word (spec 00 §6).
    pub fn word(&self) -> &'static str {
        match self {
            Self::Chosen => "Chosen",
            Self::Kept => "Kept",
            Self::Held(reason) => reason.reason(),
            Self::OutrankedBy(_) => "Outranked",
            Self::Rejected(reason) => reason.word(),
            Self::Undecided => NoCandidate::NotInspected.reason(),
        }
    }
}

impl fmt::Display for Fate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chosen => f.write_str("is chosen"),
            Self::Kept => f.write_str("is kept"),
            Self::Held(HoldReason::WouldDowngrade { .. }) => {
                f.write_str("is the best left, but lower than the current version")
            }
            Self::Held(HoldReason::Reverted { .. }) => {
                f.write_str("is the best, but was taken back by a person")
            }
            Self::OutrankedBy(winner) => write!(f, "is outranked by {winner}"),
            Self::Rejected(reason) => f.write_str(reason.sentence()),
            Self::Undecided => f.write_str("has not been looked at"),
        }
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_current { " (current)" } else { "" };
        let how = if self.is_of_push() { "pushed " } else { "" };
        let date = self.date().map(|date| format!(" [{how}{date}]")).unwrap_or_default();
        write!(f, "{}{mark}{date} {}", self.tag, self.fate)
    }
}

impl Line<'_> {
    /// Whether it was ordered by the date of its push.
    fn is_of_push(&self) -> bool {
        matches!(self.merit, Some(Merit::Pushed(_)))
    }

    /// The date it was ordered by, where that decided.
    fn date(&self) -> Option<Timestamp> {
        match self.merit {
            Some(Merit::Date(date) | Merit::Pushed(date)) => *date,
            _ => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UpdateTo(tag) => write!(f, "update to {}", tag.as_tag_value()),
            Self::UpToDate => f.write_str("up to date"),
            Self::NoCandidate(why) => write!(f, "no candidate: {why}"),
            Self::Held(reason) => write!(f, "held: {reason}"),
        }
    }
}

/// The summary, then the lines, then the current tag if it is none of the listed ones.
impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        self.lines().try_for_each(|line| write!(f, "\n  {line}"))?;
        match self.current.and_then(TagRef::name) {
            Some(tag) if !self.decision.shortlist.tags().any(|listed| listed == tag) => {
                write!(f, "\n  {tag} (current) is not listed")
            }
            _ => Ok(()),
        }
    }
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Data<'a> {
            tag: &'a str,
            verdict: &'static str,
            text: String,
            current: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            by: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            date: Option<String>,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            pushed: bool,
        }
        let by = match self.fate {
            Fate::OutrankedBy(winner) => Some(winner.as_str()),
            _ => None,
        };
        let data = Data {
            tag: self.tag.as_str(),
            verdict: self.fate.word(),
            text: self.fate.to_string(),
            current: self.is_current,
            by,
            date: self.date().map(|date| date.to_string()),
            pushed: self.is_of_push(),
        };
        data.serialize(serializer)
    }
}

impl Serialize for Explanation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Data<'a> {
            verdict: String,
            current: Option<String>,
            tags: Vec<Line<'a>>,
        }
        let data = Data {
            verdict: self.decision.verdict.to_string(),
            current: self.current.map(TagRef::as_tag_value),
            tags: self.lines().collect(),
        };
        data.serialize(serializer)
    }
}
