//! Edits of Helm values files.

use aiu_core::edit::Edited;
use aiu_core::edit::helm_values::{Assignment, Role, set};
use serde_json::{Value, json};

use super::content::{documents, same_content};
use super::{Answers, Case, Handler};

const EDIT: Handler = Handler::new(edit).agreeing(same_content).obeying(follows_the_alias);

pub(super) const ANSWERS: Answers = Answers {
    kinds: &[
        ("columns", EDIT),
        ("document", EDIT),
        ("old_value", EDIT),
        ("path", EDIT),
        ("same_line", EDIT),
        ("several", EDIT),
        ("value", EDIT),
    ],
    deviations: &[
        ("helm_values_edit/25996147eb70", NOT_TEXT_EVERYWHERE),
        ("helm_values_edit/78e8b2324160", NOT_TEXT_EVERYWHERE),
        ("helm_values_edit/64db3d6f76d4", NOT_TEXT_EVERYWHERE),
        ("helm_values_edit/027d03f52efb", NOT_TEXT_EVERYWHERE),
        ("helm_values_edit/f3ceb2725d8c", TEMPLATE),
        ("helm_values_edit/cde51bcfbdf2", TEMPLATE),
        ("helm_values_edit/b1dae5b0d2b6", ONE_PLACE),
    ],
};

const NOT_TEXT_EVERYWHERE: &str =
    "32 rule 3: quoted, since not all readers take a plain <<, = or 1e400 for a string";
const TEMPLATE: &str = "40 B3: refused as a template, which the message says";

const ONE_PLACE: &str = "32 rule 7: two values for one place are refused, so that neither is lost";

fn edit(case: &Case) -> Value {
    let writes = case.input["writes"].as_array().expect("a list of writes");
    let assignments: Vec<_> = writes
        .iter()
        .map(|write| Assignment {
            role: if write["kind"] == "version" { Role::Version } else { Role::Name },
            path: write["path"].as_str().unwrap(),
            value: write["value"].as_str().unwrap(),
        })
        .collect();
    answer(case.text("yaml"), set(case.text("yaml"), &assignments).map_err(|e| e.to_string()))
}

/// The outcome of an edit in the shape of the files.
pub(super) fn answer(before: &str, edited: Result<Edited, String>) -> Value {
    match edited {
        Ok(Edited::Changed(text)) => json!({ "changed": true, "yaml": text }),
        Ok(Edited::Unchanged) => json!({ "changed": false, "yaml": before }),
        Err(error) => json!({ "error": error }),
    }
}

/// `32:unlisted alias element`: the anchored element changes, and nothing else.
fn follows_the_alias(case: &Case, answer: &Value) -> bool {
    let value = &case.input["writes"][0]["value"];
    let Some(text) = answer["yaml"].as_str() else { return false };
    documents(text) == Some(vec![json!({ "images": [{ "tag": value }, { "tag": value }] })])
}
