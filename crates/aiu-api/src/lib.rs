//! aiu-api
