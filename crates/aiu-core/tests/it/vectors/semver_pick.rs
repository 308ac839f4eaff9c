//! Which tag the semver strategy picks.

use aiu_core::version::Version;
use serde_json::{Value, json};

use super::{Answers, Case, Handler};

pub(super) const ANSWERS: Answers =
    Answers { kinds: &[("order", Handler::new(order))], deviations: &[] };

/// Works on texts: some of these could not be tags.
fn order(case: &Case) -> Value {
    let mut versions: Vec<_> = case
        .texts("tags")
        .into_iter()
        .filter_map(|text| Some((Version::parse(text)?, text)))
        .collect();
    versions.sort();
    versions.dedup();
    json!({ "ascending": versions.iter().map(|(_, text)| text).collect::<Vec<_>>() })
}
