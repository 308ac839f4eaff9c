//! Peers for tests: what the product talks to, run in the same process or on disk.

pub mod git;
