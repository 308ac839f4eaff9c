//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! They need nothing but the toolchain and git, and depend on no crate of ours, so that they
//! build in seconds and judge a tree that does not compile. What a command does is in the module
//! of its name; this file only finds the command.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the terminal is the interface")]

mod bench;
mod cargo;
mod check;
mod ci;

use std::process::ExitCode;

use anyhow::{Result, bail};

/// The working folder of the program is the root of the repository.
const GENERATE: &[&str] =
    &["run", "--quiet", "--package", "argocd-image-updater", "--", "gen", "all"];

const HELP: &str = "\
usage: cargo xtask COMMAND

  ci              the gate: format, check, lint, build, test, documents, dependencies
  check           what no compiler checks: fences, file lengths, links, names, attributes, paths
  gen             write the files that are made from the code: definition, manifests, reference
  bench NAME      measure whole passes of the release build; an unknown NAME lists them
  e2e [OPTIONS]   build the program and run it against real peers; `e2e --help` lists the options";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        ["ci"] => ci::run(),
        ["check"] => check::run(),
        ["gen"] => cargo::run(GENERATE, &[]),
        ["e2e", options @ ..] => {
            cargo::run(&[&["run", "--quiet", "--package", "e2e", "--"], options].concat(), &[])
        }
        ["bench", words @ ..] => bench::run(words),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        _ => bail!("unknown command `{}`\n\n{HELP}", words.join(" ")),
    }
}
