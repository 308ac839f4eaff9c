//! aiu-controller
