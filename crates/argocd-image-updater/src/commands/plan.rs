//! `plan [NS/APP] --manifests DIR`: what a pass would write, as a table and as a diff
//! (spec 40 B6).

use anyhow::Result;

use super::explain::keep;
use super::session::{Opened, open};
use super::{Answer, End};
use crate::line::Line;
use crate::output;
use crate::settings::{Environment, Output};

/// Makes a pass that writes nothing, and prints what it would have written.
pub fn plan(line: &Line, env: &Environment) -> Result<Answer> {
    let Opened { runtime, session, mut manifests, problems, settings } = open(line, env, true)?;
    if let Some(wanted) = line.arguments.first() {
        // Left out before the pass: on one file their changes would stand in this one's way.
        manifests.leave_only(wanted);
    }
    let mut report = runtime.block_on(session.pass(manifests));
    if let Some(wanted) = line.arguments.first() {
        keep(&mut report, wanted)?;
    }
    let failed = report.failed() || problems.iter().any(|problem| problem.fails);
    let text = match settings.output {
        Output::Text => output::planned(&report, &problems),
        Output::Json => output::json(&report, &problems, true),
    };
    let end = match (failed, report.writes.is_empty()) {
        (true, _) => End::Failed,
        (false, true) => End::Done,
        (false, false) => End::UpdateAvailable,
    };
    Ok(Answer { text, end })
}
