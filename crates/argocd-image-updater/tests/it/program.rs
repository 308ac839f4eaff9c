//! The built program, started as a user would.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where it was built.
pub(crate) fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_argocd-image-updater"))
}

/// What a run came to.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A command with an environment of its own: settings of whoever runs the tests do not count.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(path());
    command.args(arguments).env_clear().env("HOME", "/nonexistent");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// One pass over a folder, with a cache and a registries file beside it.
pub(crate) fn pass(folder: &Path) -> Command {
    let mut command = command(&["run", "--once", "--manifests", "manifests"]);
    command.args(["--registries-conf-path", "registries.conf", "--cache-dir", "cache"]);
    command.current_dir(folder);
    command
}

pub(crate) fn run(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("the program was built");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: status.code(), out: text(stdout), err: text(stderr) }
}
