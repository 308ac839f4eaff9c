//! The built program, started as a user would, in a folder as users have it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use aiu_testkit::registry::Registry;
use tempfile::TempDir;

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

/// A registry with two versions of one image, the newer to be found.
pub(crate) async fn registry() -> Registry {
    let registry = Registry::start().await;
    registry.repository("acme/web").tags(["1.0.0", "1.1.0"]);
    registry
}

/// A folder with `manifests/`, and a `registries.conf` that calls a registry `registry.test`.
pub(crate) struct Place(TempDir);

impl Place {
    /// `conf` ends the registry's entry.
    pub(crate) fn new(registry: &Registry, conf: &str) -> Self {
        let place = Self(tempfile::tempdir().expect("temporary folders can be made"));
        fs::create_dir(place.path().join("manifests")).expect("it is new");
        let url = registry.url();
        let conf =
            format!("registries:\n- {{name: t, prefix: registry.test, api_url: '{url}'{conf}}}\n");
        fs::write(place.path().join("registries.conf"), conf).expect("the folder is ours");
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file of manifests.
    pub(crate) fn manifest(&self, name: &str, text: &str) {
        fs::write(self.path().join("manifests").join(name), text).expect("the folder is ours");
    }
}

/// The image of an Application whose image this is.
pub(crate) const IMAGE: (&str, &str) = ("image-list", "web=registry.test/acme/web");

/// The document of an Application with annotations of ours, whose spec is this flow mapping.
pub(crate) fn application(name: &str, annotations: &[(&str, &str)], spec: &str) -> String {
    let annotations = annotations.iter().fold(String::new(), |text, (key, value)| {
        format!("{text}    argocd-image-updater.argoproj.io/{key}: {value}\n")
    });
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}
  annotations:
{annotations}spec: {spec}
---
"
    )
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
