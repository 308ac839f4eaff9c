//! `argocd-image-updater`: keeps container images of Argo CD Applications up to date.
//!
//! The program's own code, as a library so that whole-system tests can make several passes in
//! one process. [`start`] parses the command line and picks the command; nothing else starts
//! before the command is known, so that `version` answers at once.

pub mod commands;
pub mod line;
pub mod logging;
pub mod output;
pub mod settings;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Result, bail};

use aiu_git::askpass;
use commands::Answer;
use line::{Line, Unusable, Verb};
use settings::Environment;

/// Runs the program with the process's arguments and environment.
pub fn start() -> ExitCode {
    if std::env::var("ARGOCD_BINARY_NAME").is_ok_and(|name| name == askpass::PERSONALITY) {
        return answer_git();
    }
    let line = match Line::parse(std::env::args_os().skip(1)) {
        Ok(line) => line,
        Err(Unusable::Help(text)) => return finish(&Answer::done(text)),
        // Wrong usage is 1, as in the reference (spec 22 §1).
        Err(Unusable::Usage { problem, usage }) => {
            return failed(format_args!("{problem}\n{usage}"));
        }
    };
    match answer(&line, &Environment::of_process()) {
        Ok(answer) => finish(&answer),
        Err(error) => failed(format_args!("{error:#}")),
    }
}

fn answer(line: &Line, env: &Environment) -> Result<Answer> {
    match line.verb {
        Verb::Run => commands::run::run(line, env),
        Verb::Explain => commands::explain::explain(line, env),
        Verb::Template => commands::template::template(line),
        Verb::Version => Ok(Answer::done(commands::version::version(line.is_given("short")))),
        Verb::Completion => commands::completion::completion(line),
        Verb::Crd => Ok(Answer::done(aiu_api::crd::definition())),
        Verb::Gen => commands::generate::generate(line.arguments.first().map(String::as_str)),
        Verb::Test => commands::test::test(line, env),
        Verb::Plan => commands::plan::plan(line, env),
        Verb::Webhook => {
            bail!("this version has no command '{}' yet", line.verb.row().name)
        }
    }
}

/// Under its second name the program tells git a user or a password (spec 22 §1).
fn answer_git() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned());
    match askpass::ask(&arguments.collect::<Vec<_>>(), |name| std::env::var(name).ok()) {
        Ok(answer) => finish(&Answer::done(answer + "\n")),
        Err(cause) => failed(format_args!("{cause}")),
    }
}

/// Prints the answer. A reader that went away (`… | head`) is no failure.
fn finish(answer: &Answer) -> ExitCode {
    let _ = std::io::stdout().lock().write_all(answer.text.as_bytes());
    ExitCode::from(answer.end.code())
}

fn failed(what: std::fmt::Arguments<'_>) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "Error: {what}");
    ExitCode::FAILURE
}
