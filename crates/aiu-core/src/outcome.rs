//! What came of one image, and how far it got.
//!
//! The four counters of the established log line and metrics are sums over [`Outcome`]s, by
//! the table of ARCHITECTURE.md ("Every image ends in one Outcome").

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::batch::{AppName, ImageChange};

/// Identity of one tracked image: the Application and the image's alias or repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageKey {
    /// The Application.
    pub application: AppName,
    /// The alias; the repository where there is none.
    pub image: Arc<str>,
}

impl fmt::Display for ImageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.application, self.image)
    }
}

/// The five stages of spec 00 §0.1. The fifth, "applied", is Argo CD's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// A reference matches, the type is supported, the image is in use.
    Selected,
    /// The registry answered.
    Scanned,
    /// There is a winner, or the current tag is it.
    Chosen,
    /// The change reached the Application or git.
    Written,
}

impl Stage {
    /// The stage's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::Scanned => "scanned",
            Self::Chosen => "chosen",
            Self::Written => "written",
        }
    }
}

/// What a failure asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// It may pass by itself: try again, no sooner than this.
    RetryAfter(Duration),
    /// Trying again at once is no use: the next interval, or an edit of the resource, will.
    AwaitChange,
}

/// A step that failed for one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which stage it did not reach.
    pub stage: Stage,
    /// Stable word (spec 00 §6).
    pub reason: &'static str,
    /// One sentence: what, why, and what to do.
    pub message: String,
}

/// What came of one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its configuration cannot be used; it counts nowhere (spec 21 §4.5).
    Dropped(Failure),
    /// The Application does not use it.
    NotLive,
    /// No tag is eligible.
    NoCandidate,
    /// The current tag is the winner.
    UpToDate,
    /// The target holds the winner already; its deployment is pending.
    AlreadySo,
    /// Nothing is written although another tag would win.
    Held,
    /// The change was written; in a dry run, it would have been.
    Updated(ImageChange),
    /// A step failed.
    Failed(Failure),
}

/// The counters of the established summary line (spec 21 §7.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Images looked at.
    pub considered: usize,
    /// Images without anything to go to.
    pub skipped: usize,
    /// Images written.
    pub updated: usize,
    /// Failures; a failed write is one for its whole Application.
    pub errors: usize,
}

impl Counters {
    /// Counts the outcomes of one pass.
    pub fn of<'a>(outcomes: impl IntoIterator<Item = (&'a ImageKey, &'a Outcome)>) -> Self {
        let mut counters = Self::default();
        let mut failed_writes = std::collections::BTreeSet::new();
        for (key, outcome) in outcomes {
            match outcome {
                Outcome::Dropped(_) => {}
                Outcome::NotLive => counters.skipped += 1,
                Outcome::NoCandidate => {
                    counters.considered += 1;
                    counters.skipped += 1;
                }
                Outcome::UpToDate | Outcome::AlreadySo | Outcome::Held => counters.considered += 1,
                Outcome::Updated(_) => {
                    counters.considered += 1;
                    counters.updated += 1;
                }
                Outcome::Failed(failure) => {
                    counters.considered += 1;
                    let first =
                        failure.stage != Stage::Written || failed_writes.insert(&key.application);
                    counters.errors += usize::from(first);
                }
            }
        }
        counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(stage: Stage) -> Outcome {
        Outcome::Failed(Failure { stage, reason: "X", message: String::new() })
    }

    #[test]
    fn the_counters_are_sums_over_outcomes() {
        let key = |app: &str, image: &str| ImageKey {
            application: AppName { namespace: "argocd".into(), name: app.into() },
            image: image.into(),
        };
        let outcomes = [
            (key("a", "1"), Outcome::NotLive),
            (key("a", "2"), Outcome::NoCandidate),
            (key("a", "3"), Outcome::UpToDate),
            (key("b", "1"), failed(Stage::Written)),
            (key("b", "2"), failed(Stage::Written)),
            (key("c", "1"), failed(Stage::Scanned)),
            (key("c", "2"), failed(Stage::Scanned)),
            (
                key("d", "1"),
                Outcome::Dropped(Failure {
                    stage: Stage::Selected,
                    reason: "X",
                    message: String::new(),
                }),
            ),
        ];
        let counted = Counters::of(outcomes.iter().map(|(key, outcome)| (key, outcome)));
        assert_eq!(counted, Counters { considered: 6, skipped: 2, updated: 0, errors: 3 });
    }
}
