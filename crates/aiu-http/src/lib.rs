//! aiu-http
