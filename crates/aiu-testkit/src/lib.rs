//! aiu-testkit
