//! Which tags a user wants, and which of them most: the strategies and the filters before
//! them (spec 10 §5).
//!
//! A policy judges one tag at a time and never fetches. Joining its judgements to a choice,
//! with what a strategy must still be told, is the business of [`decide`](crate::decide).

mod alphabetical;
mod digest;
mod filter;
mod newest_build;
mod reason;
mod semver;
mod strategy;
#[cfg(test)]
mod tests;

pub use filter::{AllowFault, AllowTags, IgnorePattern, TagFilter};
pub use newest_build::{DateSource, ListOrder};
pub use reason::Reason;
pub use semver::SemverRange;
pub use strategy::{Merit, PolicyError, StrategyNote, UpdateStrategy};

use crate::image::Platform;

/// Everything that decides which tag of a repository is wanted.
///
/// It compares and hashes without saying where its parts were set, so that images which ask
/// the same share one shortlist. Origins are kept beside it by whoever resolved them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UpdatePolicy {
    /// How tags are ordered.
    pub strategy: UpdateStrategy,
    /// Which tags take part at all.
    pub filter: TagFilter,
    /// The platforms an image must be built for, where the strategy looks at images
    /// (spec 10 §8.3). Empty for any.
    pub platforms: Vec<Platform>,
}

impl UpdatePolicy {
    /// Puts a policy together. The platforms are put in order, so that the same ones in
    /// another order make the same policy.
    pub fn new(strategy: UpdateStrategy, filter: TagFilter, mut platforms: Vec<Platform>) -> Self {
        platforms.sort_unstable();
        platforms.dedup();
        Self { strategy, filter, platforms }
    }
}
