//! The whole way to real remotes and back, with the real `git`.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which clippy does not take for tests")]

mod branches;
mod commits;
mod disk;
mod faults;
mod full;
mod http;
mod kill;
mod queue;
mod races;
mod reads;
mod scale;
mod support;
mod writes;
