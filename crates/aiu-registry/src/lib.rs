//! aiu-registry
