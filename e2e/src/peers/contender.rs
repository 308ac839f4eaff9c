//! A replica of the original, as far as leadership goes: client-go's own election on the same lease.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::go::Module;
use crate::process::Process;

const MODULE: Module = Module {
    name: "contender",
    folder: "peers/contender",
    programs: &["./contender"],
    arguments: &["-ldflags", "-s -w"],
    environment: &[("CGO_ENABLED", "0")],
    takes: "about two minutes",
};

/// Starts it; it says `leading` and `lost` on its standard output.
pub(crate) async fn start(
    kubeconfig: &Path,
    namespace: &str,
    lease: &str,
    identity: &str,
    folder: &Path,
) -> Result<Process> {
    let programs = MODULE.build().await?;
    let mut command = Command::new(programs.path("contender"));
    command.arg(kubeconfig).args([namespace, lease, identity]);
    Process::start(identity, &mut command, folder)
}
