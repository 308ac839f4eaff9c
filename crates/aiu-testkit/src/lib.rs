//! Servers and tools for tests: the real protocols, in this process.
//!
//! Development only; nothing here ships.

pub mod git;
pub mod registry;
