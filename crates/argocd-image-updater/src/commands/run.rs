//! `run --once --manifests DIR`: one pass over a folder.

use anyhow::{Result, bail};

use super::Answer;
use super::session::{Opened, open};
use crate::args::{Output, Run};
use crate::output;
use crate::settings::{self, Environment};

/// Makes one pass and prints what came of it.
pub fn run(run: &Run, env: &Environment) -> Result<Answer> {
    if !run.once {
        bail!("this version makes single passes: add --once");
    }
    let opened =
        open(&run.shared, env, |config_map| settings::commits(run, env, config_map), run.dry_run)?;
    let Opened { runtime, session, manifests, problems } = opened;
    let report = runtime.block_on(session.pass(manifests));
    let failed = report.failed() || problems.iter().any(|problem| problem.fails);
    let text = match run.shared.output {
        Output::Text => output::with_problems(&problems, &output::results(&report, run.dry_run)),
        Output::Json => output::json(&report, &problems, run.dry_run),
    };
    let text = if run.dry_run && run.shared.output == Output::Text {
        format!("{text}\n{}", output::diff(&report.writes))
    } else {
        text
    };
    Ok(Answer::new(text, failed))
}
