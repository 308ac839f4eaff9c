//! `run`: the controller, or with `--once --manifests DIR` one pass over a folder.

use std::collections::BTreeMap;

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
    let dry_run = settings.dry_run;
    let report = runtime.block_on(session.pass(manifests));
    let failed = report.failed() || problems.iter().any(|problem| problem.fails);
    let text = match settings.output {
        Output::Text if dry_run => output::planned(&report, &problems),
        Output::Text => output::with_problems(&problems, &output::results(&report, false)),
        Output::Json => output::json(&report, &problems, dry_run),
    };
    Ok(Answer::new(text, failed))
}
