//! What a cycle did, as data.

use serde::Serialize;

/// How much a finding matters (spec 00 §0.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing, nothing is wrong.
    Note,
    /// It works, though hardly as intended.
    Warning,
    /// It cannot work.
    Error,
}

/// Something a person should know about the set-up, with what to do about it (spec 00 §0.2).
///
/// It has no subject: whoever collects findings knows which object they are about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// One stable word of spec 00 §6.
    pub reason: &'static str,
    /// What was seen, with the value; never a secret.
    pub found: String,
    /// What to do, ready to paste where that is possible.
    pub fix: String,
}
