//! `cargo xtask bench NAME`: whole passes of the program against servers of this machine, measured.
//!
//! The program is built for release, and the harness, which is also the server, without
//! optimising. With `--debug` the program is not optimised either: then only what can be counted
//! is held against its limit. With `--program PATH` nothing of it is built.

use anyhow::{Result, bail};

use crate::cargo;

const USAGE: &str = "usage: cargo xtask bench NAME [--debug | --program PATH]";

pub(crate) fn run(words: &[&str]) -> Result<()> {
    let release = "target/release/argocd-image-updater";
    let build = ["build", "--quiet", "--package", "argocd-image-updater"];
    match words {
        [name] => {
            cargo::run(&[&build[..], &["--release"]].concat(), &[])?;
            measure(name, release, &[])
        }
        [name, "--debug"] => {
            cargo::run(&build, &[])?;
            measure(name, "target/debug/argocd-image-updater", &["--debug"])
        }
        [name, "--program", path] => measure(name, path, &[]),
        _ => bail!("{USAGE}"),
    }
}

fn measure(name: &str, program: &str, more: &[&str]) -> Result<()> {
    let harness = ["run", "--quiet", "--package", "benches", "--bin", "work", "--"];
    cargo::run(&[&harness[..], &[name, program], more].concat(), &[])
}
