//! `argocd-image-updater`: keeps container images of Argo CD Applications up to date.
//!
//! The program's own code, as a library so that whole-system tests can make several passes in
//! one process. [`start`] parses the command line and picks the command; nothing else starts
//! before the command is known, so that `version` answers at once.

pub mod args;
pub mod commands;
pub mod logging;
pub mod output;
pub mod settings;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use settings::Environment;

/// Runs the program with the process's arguments and environment.
pub fn start() -> ExitCode {
    let arguments = match Arguments::try_parse_from(args::command_first(std::env::args_os())) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help goes to standard output and is no failure; wrong usage is 1, as in the
            // reference (spec 22 §1).
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    let env = Environment::of_process();
    let answer = match arguments.command {
        Command::Version(version) => {
            Ok(commands::Answer::done(commands::version::version(version.short)))
        }
        Command::Run(run) => commands::run::run(&run, &env),
        Command::Explain(explain) => commands::explain::explain(&explain, &env),
        Command::Test(test) => commands::test::test(&test),
    };
    match answer {
        Ok(answer) => finish(&answer),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the answer. A reader that went away (`… | head`) is no failure.
fn finish(answer: &commands::Answer) -> ExitCode {
    let _ = std::io::stdout().lock().write_all(answer.text.as_bytes());
    ExitCode::from(answer.end.code())
}
