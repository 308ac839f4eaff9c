//! The whole way to real remotes and back, with the real `git`.

mod reads;
mod support;
mod writes;
