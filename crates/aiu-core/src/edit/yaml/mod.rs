//! The byte-range engine: changes some values of a YAML text and no other byte.
//!
//! A [`Tree`] is the text as nodes with byte spans. A [`Plan`] collects what shall differ, cuts
//! and inserts exactly those bytes, and then parses the result: whatever differs beyond the
//! plan makes it refuse (spec 32, rules 1 and 7). No text is ever printed from a parsed tree.
//!
//! The module knows YAML, not what the files are for; which keys are meant is decided by the
//! modules beside it.

mod build;
mod guard;
mod insert;
mod layout;
mod plan;
mod print;
mod rearrange;
mod remove;
mod render;
mod scalar;
mod splice;
mod tree;

#[cfg(test)]
mod tests;

#[cfg(test)]
thread_local! {
    /// How many texts this thread has parsed.
    pub(super) static PARSED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    /// How many bytes those were.
    pub(super) static PARSED_BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub(super) use plan::{Plan, Slot};
pub(super) use print::{Value, document};
pub(super) use tree::{Kind, NodeId, Tree};
