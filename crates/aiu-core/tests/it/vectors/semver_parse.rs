//! Tags and the versions they name.

use aiu_core::version::Version;
use serde_json::{Value, json};

use super::{Answers, Case, Handler};

const PARSE: Handler = Handler::new(parse).agreeing(tolerant_parser_agrees);

pub(super) const ANSWERS: Answers =
    Answers { kinds: &[("accept", PARSE), ("reject", PARSE)], deviations: &[] };

fn parse(case: &Case) -> Value {
    match Version::parse(case.text("text")) {
        None => json!({ "ok": false, "error": true }),
        Some(version) => json!({
            "ok": true,
            "major": version.major(),
            "minor": version.minor(),
            "patch": version.patch(),
            "pre": version.pre_release().unwrap_or_default(),
            "meta": version.metadata().unwrap_or_default(),
            "canonical": version.to_string(),
        }),
    }
}

/// `out.strict` is the answer of a parser that the product does not use.
fn tolerant_parser_agrees(expected: &Value, answer: &Value) -> bool {
    super::same_but_for_error_texts(&expected["new"], answer)
}
