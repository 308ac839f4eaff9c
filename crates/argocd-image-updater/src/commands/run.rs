//! `run`: the controller, or with `--manifests DIR` passes over a folder, with `--once` a single one.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::Duration;

use aiu_controller::cluster::files::{Manifests, Problem};
use aiu_controller::report::CycleReport;
use anyhow::{Context as _, Result};
use tokio_util::sync::CancellationToken;
use tracing::error;

use super::Answer;
use super::session::{Opened, open};
use super::signals::Signals;
use crate::line::Line;
use crate::output;
use crate::settings::{Environment, Interval, Output, Settings};

/// Runs the controller; over a folder, makes passes and prints what came of each.
pub fn run(line: &Line, env: &Environment) -> Result<Answer> {
    let settings = Settings::read(line, env, &BTreeMap::new())?;
    if settings.manifests.is_none() {
        return super::cluster::run(line, env, settings);
    }
    let opened = open(line, env, false)?;
    if let Interval::Every(rest) = opened.settings.interval {
        return repeat(opened, rest);
    }
    let Opened { runtime, session, manifests, problems, settings } = opened;
    let report = runtime.block_on(session.pass(manifests));
    let failed = report.failed() || problems.iter().any(|problem| problem.fails);
    Ok(Answer::new(printed(&report, &problems, &settings), failed))
}

/// Passes with a rest after each, over the folder as it is then, until a signal asks for an end.
/// A pass that has begun is finished.
fn repeat(opened: Opened, rest: Duration) -> Result<Answer> {
    let Opened { runtime, session, manifests, problems, settings } = opened;
    let path = settings.manifests.clone().context("passes over a folder have one")?;
    runtime.block_on(async {
        let stop = CancellationToken::new();
        tokio::spawn(Signals::catch()?.stop(stop.clone()));
        let mut folder = Some((manifests, problems));
        loop {
            if let Some((manifests, problems)) = folder {
                let report = session.pass(manifests).await;
                let text = printed(&report, &problems, &settings);
                // A reader that went away is no reason to stop.
                let _ = std::io::stdout().lock().write_all(text.as_bytes());
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(Answer::done(String::new())),
                () = tokio::time::sleep(rest) => {}
            }
            folder = match Manifests::load(&path, settings.folder_namespace()) {
                Ok(manifests) => {
                    let problems = manifests.problems().to_vec();
                    Some((manifests, problems))
                }
                Err(problem) => {
                    error!("{problem:#}");
                    None
                }
            };
        }
    })
}

/// What one look at everything came to, for standard output.
pub(super) fn printed(report: &CycleReport, problems: &[Problem], settings: &Settings) -> String {
    match settings.output {
        Output::Text if settings.dry_run => output::planned(report, problems),
        Output::Text => output::with_problems(problems, &output::results(report, false)),
        Output::Json => output::json(report, problems, settings.dry_run),
    }
}
