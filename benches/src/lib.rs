//! The work that is measured, and how a figure is told; see the programs.

pub mod bed;
pub mod edits;
pub mod figure;
pub mod program;
pub mod proxy;
pub mod tags;
pub mod tree;
pub mod work;
