//! `run`: the controller, or with `--once --manifests DIR` one pass over a folder.

use std::collections::BTreeMap;

use aiu_controller::cluster::files::Problem;
use aiu_controller::report::CycleReport;
use anyhow::Result;

use super::Answer;
use super::session::{Opened, open};
use crate::line::Line;
use crate::output;
use crate::settings::{Environment, Output, Settings};

/// Runs the controller; over a folder, makes one pass and prints what came of it.
pub fn run(line: &Line, env: &Environment) -> Result<Answer> {
    let settings = Settings::read(line, env, &BTreeMap::new())?;
    if settings.manifests.is_none() {
        return super::cluster::run(line, env, settings);
    }
    let Opened { runtime, session, manifests, problems, settings } = open(line, env, false)?;
    let report = runtime.block_on(session.pass(manifests));
    let failed = report.failed() || problems.iter().any(|problem| problem.fails);
    Ok(Answer::new(printed(&report, &problems, &settings), failed))
}

/// What one look at everything came to, for standard output.
pub(super) fn printed(report: &CycleReport, problems: &[Problem], settings: &Settings) -> String {
    match settings.output {
        Output::Text if settings.dry_run => output::planned(report, problems),
        Output::Text => output::with_problems(problems, &output::results(report, false)),
        Output::Json => output::json(report, problems, settings.dry_run),
    }
}
