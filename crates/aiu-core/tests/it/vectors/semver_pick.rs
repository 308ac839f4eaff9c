//! Which tag the semver strategy picks.

use aiu_core::version::Version;
use serde_json::{Value, json};

use super::selection::{equal_but_for_impossible_tags, select};
use super::{Answers, Case, Handler};

const SELECT: Handler = Handler::new(select).agreeing(equal_but_for_impossible_tags);

pub(super) const ANSWERS: Answers = Answers {
    kinds: &[
        ("order", Handler::new(order)),
        ("filter", SELECT),
        ("invalid_constraint", SELECT),
        ("list_bitnami", SELECT),
        ("list_calver", SELECT),
        ("list_commits", SELECT),
        ("list_empty", SELECT),
        ("list_huge", SELECT),
        ("list_java", SELECT),
        ("list_k3s", SELECT),
        ("list_k8s", SELECT),
        ("list_mixed_v", SELECT),
        ("list_nginx", SELECT),
        ("list_odd", SELECT),
        ("list_onlypre", SELECT),
        ("list_plain", SELECT),
        ("list_postgres", SELECT),
        ("list_pre", SELECT),
        ("list_suffix", SELECT),
        ("list_words", SELECT),
        ("list_zero", SELECT),
        ("random", SELECT),
    ],
    deviations: &[(
        "semver_pick/27746cec7056",
        "the winner holds a '+', which no registry can list",
    )],
};

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
