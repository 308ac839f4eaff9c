//! What to update and why.
//!
//! This crate computes; it never talks. Text comes in as `&str` and leaves as `String`,
//! time arrives as an argument. Its `clippy.toml` bans clocks, files, sockets, processes
//! and the environment, and `cargo xtask check` keeps its manifest free of crates that do I/O.
//!
//! Start with [`decide`] for the choice of a tag, with [`edit`] for what is written where.

#![warn(missing_docs)]

pub mod batch;
pub mod decide;
pub mod edit;
pub mod glob;
pub mod image;
pub mod outcome;
pub mod policy;
pub mod regexp;
pub mod registries;
pub mod report;
pub mod template;
pub mod version;
