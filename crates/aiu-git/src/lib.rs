//! aiu-git
