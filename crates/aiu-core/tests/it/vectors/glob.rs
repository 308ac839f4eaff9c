//! Shell patterns, and how specific a reference is.

use aiu_core::glob::{Glob, specificity};
use serde_json::{Value, json};

use super::{Answers, Case, Handler};

const MATCH: Handler = Handler::new(matches);

pub(super) const ANSWERS: Answers = Answers {
    kinds: &[
        ("valid", MATCH),
        ("malformed", MATCH),
        ("specificity", Handler::new(specificity_of_reference)),
    ],
    deviations: &[],
};

fn matches(case: &Case) -> Value {
    let glob = Glob::new(case.text("pattern"));
    let result = |name: &&str| match &glob {
        Err(_) => "bad",
        Ok(glob) if glob.matches(name) => "match",
        Ok(_) => "no",
    };
    let results: Vec<_> = case.texts("names").iter().map(result).collect();
    json!({ "prevalidation": if glob.is_ok() { "ok" } else { "bad" }, "results": results })
}

fn specificity_of_reference(case: &Case) -> Value {
    let selectors = &case.input["labelSelectors"];
    let requirements = (!selectors.is_null()).then(|| {
        let labels = selectors["matchLabels"].as_object().map_or(0, serde_json::Map::len);
        let expressions = selectors["matchExpressions"].as_array().map_or(0, Vec::len);
        (labels, expressions)
    });
    json!({ "score": specificity(case.text("namePattern"), requirements) })
}
