//! `version`: what this binary is (spec 22 §7). Does nothing else, so it answers at once.

use std::fmt;

use super::session::own_platform;

/// What was built, and from what.
struct Built {
    short: bool,
}

/// Prints the version.
pub fn version(short: bool) -> String {
    Built { short }.to_string()
}

/// `v<version>+<first 7 of commit>`.
fn tag() -> String {
    let commit = env!("AIU_GIT_COMMIT");
    let seven = commit.get(..7).unwrap_or(commit);
    format!("v{}+{seven}", env!("CARGO_PKG_VERSION"))
}

/// The first line: program and version.
pub fn headline() -> String {
    format!("argocd-image-updater: {}", tag())
}

impl fmt::Display for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = env!("AIU_GIT_COMMIT");
        if self.short {
            return writeln!(f, "{}", tag());
        }
        writeln!(f, "{}", headline())?;
        writeln!(f, "  BuildDate: {}", env!("AIU_BUILD_DATE"))?;
        writeln!(f, "  GitCommit: {commit}")?;
        writeln!(f, "  RustVersion: {}", env!("AIU_RUSTC"))?;
        writeln!(f, "  Platform: {}", own_platform())
    }
}
