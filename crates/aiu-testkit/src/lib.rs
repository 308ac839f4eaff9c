//! Servers and tools for tests: the real protocols, in this process or on disk.
//!
//! Development only; nothing here ships.

pub mod cloud;
pub mod demo;
pub mod git;
pub mod registry;
pub mod scenario;
