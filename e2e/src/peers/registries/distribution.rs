//! The distribution project's registry of today, which gives tags in pages; Debian's does not.

use std::path::PathBuf;

use anyhow::Result;

use crate::go::Module;

const MODULE: Module = Module {
    name: "distribution",
    folder: "peers/distribution",
    programs: &["github.com/distribution/distribution/v3/cmd/registry"],
    arguments: &["-ldflags", "-s -w"],
    environment: &[("CGO_ENABLED", "0")],
    takes: "about four minutes",
};

/// The program, built.
pub(crate) async fn distribution() -> Result<PathBuf> {
    Ok(MODULE.build().await?.path("registry"))
}
