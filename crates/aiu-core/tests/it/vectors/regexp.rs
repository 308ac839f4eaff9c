//! Regular expressions: whether they compile, and what they find.

use aiu_core::policy::AllowTags;
use aiu_core::regexp::GoRegexp;
use serde_json::{Value, json};

use super::{Answers, Case, Handler};

const SEARCH: Handler = Handler::new(search);

pub(super) const ANSWERS: Answers = Answers {
    kinds: &[("accept", SEARCH), ("reject", SEARCH), ("allow_value", Handler::new(allow_value))],
    deviations: &[],
};

fn search(case: &Case) -> Value {
    match GoRegexp::new(case.text("expr")) {
        Err(error) => json!({ "compiles": false, "error": error.to_string() }),
        Ok(expression) => {
            let matches = case.texts("tags").into_iter().filter(|tag| expression.is_match(tag));
            json!({ "compiles": true, "matches": matches.collect::<Vec<_>>() })
        }
    }
}

/// A whole value of `allowTags`, prefix included.
fn allow_value(case: &Case) -> Value {
    let allow = AllowTags::new(Some(case.text("value")));
    let allowed = case.texts("tags").into_iter().filter(|tag| allow.allows(tag));
    json!({ "allowed": allowed.collect::<Vec<_>>() })
}
