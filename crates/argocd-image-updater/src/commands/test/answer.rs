//! What `test` prints on standard output, where `--output` asks for it.

use std::fmt::Write as _;

use aiu_core::decide::{Verdict, explain};
use serde_json::{Value, json};

use super::asked::Test;
use super::lines::{displayed, winner};
use super::{Fatal, Found, Question};
use crate::commands::{Answer, End};
use crate::settings::Output;

/// The answer of a choice that was made.
pub(super) fn answer(asked: &Test, question: &Question, found: &Found) -> Answer {
    let differs = matches!(found.decision.verdict, Verdict::UpdateTo(_));
    let end = if asked.check && differs { End::UpdateAvailable } else { End::Done };
    let text = match asked.output {
        None => String::new(),
        Some(Output::Text) => text(question, found),
        Some(Output::Json) => document(&choice(asked, question, found)),
    };
    Answer { text, end }
}

/// The answer where no choice could be made.
pub(super) fn failure(asked: &Test, fatal: &Fatal) -> String {
    match asked.output {
        None | Some(Output::Text) => String::new(),
        Some(Output::Json) => document(&json!({
            "image": asked.image.first(),
            "reason": fatal.reason,
            "message": fatal.message,
        })),
    }
}

fn text(question: &Question, found: &Found) -> String {
    let mut text = String::new();
    let explanation = explain(&found.decision, question.running.as_ref());
    let _ = writeln!(text, "{}", displayed(&question.image, winner(&found.decision)));
    for line in explanation.to_string().lines() {
        let _ = writeln!(text, "  {line}");
    }
    text
}

fn choice(asked: &Test, question: &Question, found: &Found) -> Value {
    let Question { image, running, policy, request, .. } = question;
    let decision = &found.decision;
    let winner = winner(decision);
    let differs = matches!(decision.verdict, Verdict::UpdateTo(_));
    json!({
        "image": displayed(image, None),
        "repository": &*request.path,
        "registry": &*request.endpoint.prefix,
        "strategy": policy.strategy.name(),
        "constraint": image.constraint.as_deref(),
        "current": running.as_ref().map(aiu_core::image::TagRef::as_tag_value),
        "latest": winner.as_ref().map(aiu_core::image::TagRef::as_tag_value),
        "latestImage": winner.map(|tag| displayed(image, Some(tag))),
        "updateAvailable": asked.check.then_some(differs),
        "verdict": decision.verdict.to_string(),
        "findings": found.findings,
        "tags": explain(decision, running.as_ref()).lines().collect::<Vec<_>>(),
    })
}

fn document(value: &Value) -> String {
    format!("{value:#}\n")
}
