//! `template [PATH]`: a template of commit messages, rendered with sample changes (spec 22 §6).

use std::collections::BTreeMap;

use aiu_core::template::{CommitData, CommitImage, Template};
use anyhow::{Context as _, Result, anyhow};

use super::Answer;
use crate::line::Line;

/// Renders the file, or the default.
pub fn template(line: &Line) -> Result<Answer> {
    let template = match line.arguments.first() {
        None => Template::default_commit_message(),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| anyhow!("open {path}: {}", plain(&error)))?;
            Template::parse(&text).context("could not parse commit message template")?
        }
    };
    let labels = BTreeMap::new();
    let change = |image, old_tag, new_tag| CommitImage { image, old_tag, new_tag, labels: &labels };
    let changes = vec![
        change("example/example", "1.0.0", "1.0.1"),
        change(
            "example/updater",
            "sha256:01d09d19c2139a46aebfb577780d123d7396e97201bc7ead210a2ebff8239dee",
            "sha256:7aa7a5359173d05b63cfd682e3c38487f3cb4f7f1d60659fe59fab1505977d4c",
        ),
    ];
    let message = template.commit_message(&CommitData { app_name: "example-app", changes });
    match message.failure {
        Some(failure) => Err(anyhow!("could not render commit message template: {failure}")),
        None => Ok(Answer::done(format!("{}\n", message.text))),
    }
}

/// The system's words as the original writes them: no number behind, no capital in front.
fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        _ => error.to_string(),
    }
}
