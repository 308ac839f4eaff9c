//! The inputs of the vectors, which random questions start from.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/aiu-core/tests/vectors");

/// Every text that the cases of a file have under one of the fields of their input, once.
pub(super) fn inputs(file: &str, fields: &[&str]) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<Case>,
    }
    #[derive(Deserialize)]
    struct Case {
        #[serde(rename = "in")]
        input: Value,
    }
    let path = Path::new(FOLDER).join(file);
    let text = std::fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let file: File =
        serde_json::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
    let mut inputs = BTreeSet::new();
    for case in &file.cases {
        for &field in fields {
            match &case.input[field] {
                Value::String(text) => inputs.extend([text.as_str()]),
                Value::Array(texts) => inputs.extend(texts.iter().filter_map(Value::as_str)),
                _ => {}
            }
        }
    }
    // The long ones are there to show limits, and would take all the time.
    Ok(inputs.into_iter().filter(|text| text.len() < 256).map(str::to_owned).collect())
}
