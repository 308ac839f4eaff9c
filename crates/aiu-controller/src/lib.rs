//! The running service: where the cluster's objects come from, the pass over them, and what
//! is said about it.
//!
//! [`cycle::cycle`] is the place to start: it reads like the table of ARCHITECTURE.md.

pub mod cluster;
pub mod controller;
pub mod crash;
pub mod cycle;
pub mod events;
pub mod leader;
pub mod metrics;
pub mod passes;
pub mod phrases;
pub mod registries;
pub mod report;
pub mod steps;
pub mod unlock;
