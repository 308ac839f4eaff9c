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

use std::collections::HashSet;
use std::sync::Arc;

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

/// Makes equal policies one, so that what a filter compiles to is made once for all images that
/// ask the same, and is held once.
#[derive(Debug, Default)]
pub struct Policies(HashSet<Arc<UpdatePolicy>>);

impl Policies {
    /// Puts in place of `policy` the first one that was equal to it.
    pub fn share(&mut self, policy: &mut Arc<UpdatePolicy>) {
        match self.0.get(policy) {
            Some(first) => *policy = Arc::clone(first),
            None => drop(self.0.insert(Arc::clone(policy))),
        }
    }
}
