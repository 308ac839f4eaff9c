//! `explain [NS/APP] --manifests DIR`: every tag with the reason why it won or lost.

use std::collections::BTreeSet;

use aiu_controller::report::CycleReport;
use anyhow::{Result, bail};

use super::Answer;
use super::session::{Opened, open};
use crate::line::Line;
use crate::output;
use crate::settings::{Environment, Output};

/// Decides everything afresh, writes nothing, and prints the grounds.
pub fn explain(line: &Line, env: &Environment) -> Result<Answer> {
    let Opened { runtime, session, manifests, problems, settings } = open(line, env, true)?;
    let mut report = runtime.block_on(session.pass(manifests));
    if let Some(wanted) = line.arguments.first() {
        keep(&mut report, wanted)?;
    }
    let failed = report.failed() || problems.iter().any(|problem| problem.fails);
    let text = match settings.output {
        Output::Text => output::with_problems(&problems, &output::explanations(&report)),
        Output::Json => output::json(&report, &problems, true),
    };
    Ok(Answer::new(text, failed))
}

/// Leaves only one Application in the report: `NAMESPACE/NAME`, or `NAME` in any namespace.
pub(super) fn keep(report: &mut CycleReport, wanted: &str) -> Result<()> {
    let is_wanted =
        |app: &aiu_core::batch::AppName| *wanted == *app.name || wanted == app.to_string();
    report.images.retain(|image| is_wanted(&image.key.application));
    report.dropped.retain(|dropped| is_wanted(&dropped.application));
    report.findings.retain(|(app, _)| is_wanted(app));
    report.writes.retain(|write| is_wanted(&write.application));
    let writes: BTreeSet<&str> = report.writes.iter().map(|write| &*write.file).collect();
    report.files.retain(|change| writes.contains(&*change.file));
    if report.images.is_empty() && report.dropped.is_empty() && report.findings.is_empty() {
        bail!(
            "no Application '{wanted}' with images to update; give NAMESPACE/NAME as in its manifest"
        );
    }
    Ok(())
}
