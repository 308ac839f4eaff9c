//! The work that is measured, and how a figure is told; see the two programs.

pub mod edits;
pub mod figure;
pub mod tags;
