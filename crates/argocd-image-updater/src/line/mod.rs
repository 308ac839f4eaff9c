//! The command line: one table of commands, one of flags, and what is made of them.

pub mod duration;
pub mod flags;
pub mod reference;
pub mod retired;
pub mod value;
mod verbs;
mod words;

pub use verbs::{VERBS, Verb};
pub use words::{Line, NAME, Unusable, command, help};
