//! What a text of YAML says, as another parser reads it.

use serde_json::{Value, json};

/// A key or an index.
pub(crate) type Step = String;

/// The documents of a text; `None` if the other parser does not read it.
pub(crate) fn documents(text: &str) -> Option<Vec<Value>> {
    // Its own limit is 64 levels; keys of so many parts may be made below what is there.
    let budget = serde_saphyr::budget! { max_depth: 400 };
    serde_saphyr::from_multiple_with_options(text, serde_saphyr::options! { budget: budget }).ok()
}

/// The path of each place where the two differ; the first step is the document.
pub(crate) fn differences(before: &Value, after: &Value) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    compare(before, after, &mut Vec::new(), &mut found);
    found
}

fn compare(before: &Value, after: &Value, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    match (before, after) {
        // What is nothing can become a mapping or a list, and then holds what is in it.
        (Value::Null, Value::Object(_)) => compare(&json!({}), after, path, found),
        (Value::Null, Value::Array(_)) => compare(&json!([]), after, path, found),
        (Value::Object(left), Value::Object(right)) => {
            let added = right.keys().filter(|key| !left.contains_key(*key));
            for key in left.keys().chain(added) {
                step(key.clone(), left.get(key), right.get(key), path, found);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for at in 0..left.len().max(right.len()) {
                step(at.to_string(), left.get(at), right.get(at), path, found);
            }
        }
        _ if before == after => {}
        _ => found.push(path.clone()),
    }
}

/// A part that is missing counts as null.
fn step(
    step: Step,
    before: Option<&Value>,
    after: Option<&Value>,
    path: &mut Vec<Step>,
    found: &mut Vec<Vec<Step>>,
) {
    path.push(step);
    compare(before.unwrap_or(&Value::Null), after.unwrap_or(&Value::Null), path, found);
    path.pop();
}
