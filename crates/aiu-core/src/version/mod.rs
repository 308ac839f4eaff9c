//! The field's lenient semantic versions and their ranges (spec 10 §4).
//!
//! Tags such as `v1`, `1.27` or `2024.01.15` are versions here, and a range may be written
//! `~1.2 || >=2.0 <3`. Which tag wins among several is the policy's business, as is the
//! rule that equal versions are ordered by the text of their tags (spec 10 §4.2).

mod constraint;
mod parse;
mod precedence;
mod scan;
mod term;
#[cfg(test)]
mod tests;
#[expect(clippy::module_inception, reason = "a file is named after its type, like its siblings")]
mod version;

pub use constraint::{InvalidConstraint, VersionConstraint};
pub use version::Version;
