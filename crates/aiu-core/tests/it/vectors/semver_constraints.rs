//! Constraints: accepted or not, and what they admit.

use aiu_core::version::{Version, VersionConstraint};
use serde_json::{Value, json};

use super::{Answers, Case, Handler};

const CONSTRAINT: Handler = Handler::new(constraint).agreeing(agrees_with_class_of_error);

pub(super) const ANSWERS: Answers =
    Answers { kinds: &[("accept", CONSTRAINT), ("reject", CONSTRAINT)], deviations: &[] };

fn constraint(case: &Case) -> Value {
    let constraint: VersionConstraint = match case.text("constraint").parse() {
        Ok(constraint) => constraint,
        Err(error) => return json!({ "ok": false, "error": error.to_string() }),
    };
    let set = case.shared["version_sets"][case.text("set")].as_array().expect("a known set");
    let admitted = set.iter().filter(|text| {
        let version = text.as_str().and_then(Version::parse).expect("a set holds versions");
        constraint.admits(&version)
    });
    json!({ "ok": true, "matches": admitted.collect::<Vec<_>>() })
}

/// The specification quotes the beginnings of the two error texts (spec 10, CON-044, CON-045).
fn agrees_with_class_of_error(expected: &Value, answer: &Value) -> bool {
    let class = |value: &Value| -> Option<String> {
        value["error"].as_str()?.split(':').next().map(str::to_owned)
    };
    class(expected) == class(answer) && super::same_but_for_error_texts(expected, answer)
}
