//! The built program against real peers: Debian's registry, git behind nginx, kubectl.
//!
//! A program and not a test, so that `cargo test` needs no peers. It installs the Debian packages
//! that are missing, builds the program, starts the peers on loopback in a temporary folder, runs
//! every case, and ends all that it started, whatever happens. Cases are in [`cases`], one file per
//! subject; peers in [`peers`], one file per server.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the terminal is the interface")]

mod authority;
mod cases;
mod files;
mod git;
mod go;
mod packages;
mod peers;
mod process;
mod program;
mod push;
mod render;
mod tool;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use tokio::signal::unix::{SignalKind, signal};

use cases::{Oracle, Tally, World};
use peers::Peers;
use program::Program;

const HELP: &str = "\
usage: cargo xtask e2e [OPTIONS]

  --peers-only    start the peers and check them alone, without the program
  --argocd        run the cases with Argo CD alone, which is built once, in about ten minutes
  --oracle-only   compare ours with the Go libraries alone, without peers and program
  --only WORDS    run the cases alone whose name contains these words
  --program FILE  test this binary, such as a release, instead of building one
  --bench NAME    measure m1, m5 or m6 against the API server instead; limits of time and memory hold
                  for a release build, which --program names
  --keep          leave the temporary folder in place, and say where it is

environment:
  AIU_ORACLE_CASES   how many questions the Go libraries are asked per subject (100000)
  AIU_ORACLE_SEED    which ones; a run says its seed";

/// What is run.
#[derive(Default, PartialEq, Eq)]
enum What {
    /// Everything but Argo CD.
    #[default]
    Cases,
    Peers,
    Oracle,
    ArgoCd,
}

#[derive(Default)]
struct Options {
    what: What,
    only: Option<String>,
    program: Option<PathBuf>,
    bench: Option<String>,
    keep: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--peers-only" => options.what = What::Peers,
            "--oracle-only" => options.what = What::Oracle,
            "--argocd" => options.what = What::ArgoCd,
            "--only" => {
                options.only = Some(arguments.next().context("--only wants words of a name")?);
            }
            "--program" => {
                let file = arguments.next().context("--program wants a file")?;
                options.program = Some(file.into());
            }
            "--bench" => {
                options.bench = Some(arguments.next().context("--bench wants a name")?);
            }
            "--keep" => options.keep = true,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => bail!("unknown option `{argument}`\n\n{HELP}"),
        }
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    if options.what == What::Oracle {
        return runtime.block_on(until_interrupted(async {
            let oracle = Oracle::build().await?.context("there is no Go toolchain on the path")?;
            judge(&cases::run_oracle(&oracle, options.only).await)
        }));
    }
    packages::install_missing()?;
    if options.what == What::ArgoCd {
        packages::install(&packages::OF_ARGO_CD)?;
    }
    let program = match &options.program {
        _ if options.what == What::Peers => None,
        Some(file) => Some(Program::at(file)?),
        None => Some(Program::build()?),
    };
    runtime.block_on(until_interrupted(run_cases(options, program)))
}

async fn until_interrupted(work: impl Future<Output = Result<()>>) -> Result<()> {
    tokio::select! {
        outcome = work => outcome,
        outcome = interruption() => outcome,
    }
}

/// Starts the peers and runs every case. Dropped half-way, it still ends what it started: each
/// process is owned by a value inside this future.
async fn run_cases(options: Options, program: Option<Program>) -> Result<()> {
    let mut folder = tempfile::Builder::new()
        .prefix("aiu-e2e-")
        .tempdir()
        .context("cannot make a temporary folder")?;
    if options.keep {
        folder.disable_cleanup(true);
        println!("working in {}", folder.path().display());
    }
    let peers = Peers::start(folder.path()).await?;
    let oracle = if options.what == What::ArgoCd { None } else { Oracle::build().await? };
    let world = World { folder: folder.path().to_owned(), peers, program, oracle };
    if options.what == What::ArgoCd {
        return judge(&cases::run_argo_cd(&world).await?);
    }
    if let Some(name) = &options.bench {
        return cases::bench::run(&world, name, options.program.is_some()).await;
    }
    judge(&cases::run_all(&world, options.only).await)
}

fn judge(tally: &Tally) -> Result<()> {
    println!("{} passed, {} failed", tally.passed, tally.failed);
    ensure!(tally.passed + tally.failed > 0, "no case has such a name");
    ensure!(tally.failed == 0, "{} case(s) failed, said above", tally.failed);
    Ok(())
}

/// Ends with an error when the user or the system asks the program to stop.
async fn interruption() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    tokio::select! {
        outcome = tokio::signal::ctrl_c() => outcome.context("cannot wait for SIGINT")?,
        _ = terminate.recv() => {}
    }
    bail!("interrupted; the peers are stopped")
}
