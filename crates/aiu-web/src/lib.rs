//! Everything that listens: probes and metrics.
//!
//! This crate knows nothing of passes and clusters: what it serves, and who may see it, is asked
//! of whoever starts it.

mod address;

pub use address::{Address, InvalidAddress};
