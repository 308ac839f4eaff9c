//! The two laws of edits, and the proof by another parser, on generated texts.

use aiu_core::edit::Edited;
use aiu_core::edit::helm_values::{Assignment, Role, set};
use granit_parser::{Event, Parser};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use super::texts::{Leaf, Sample, sample};

/// Values that need every way of writing.
const VALUES: [&str; 10] = [
    "v2.0.0",
    "1.30",
    "latest@sha256:aa11",
    "on",
    "0755",
    "acme/web:2",
    "it's \"so\"",
    "a: b # c",
    "tab\there",
    "été",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn a_scalar_changes_and_nothing_else(text in sample(), at in any::<Index>(), value in select(&VALUES[..])) {
        let named: Vec<&Leaf> = text.leaves.iter().filter(|leaf| leaf.path.is_some()).collect();
        prop_assume!(!named.is_empty());
        let leaf = at.get(&named);
        let path = leaf.path.as_deref().expect("only named leaves were taken");
        let Some(new) = edit(&text.text, path, value)? else { return Ok(()) };
        let mut expected = documents(&text.text);
        let together = |other: &&Leaf| {
            other.pointer == leaf.pointer || other.shared.is_some() && other.shared == leaf.shared
        };
        for other in text.leaves.iter().filter(together) {
            let place = expected[0].pointer_mut(&other.pointer);
            let Some(place) = place else { return Err(lost(&text, &other.pointer)) };
            *place = value.into();
        }
        prop_assert_eq!(documents(&new), expected, "from {:?}\nto {:?}", text.text, new);
        prop_assert_eq!(comments(&new), comments(&text.text), "from {:?}", text.text);
    }

    #[test]
    fn a_missing_key_is_added_and_nothing_else(text in sample(), at in any::<Index>(), value in select(&VALUES[..])) {
        let mapping = at.get(&text.mappings);
        let Some(new) = edit(&text.text, &format!("{mapping}new key.below"), value)? else {
            return Err(TestCaseError::fail("nothing was added"));
        };
        let mut expected = documents(&text.text);
        let pointer = pointer_of(mapping);
        let object = expected[0].pointer_mut(&pointer).and_then(Value::as_object_mut);
        let below = serde_json::json!({ "below": value });
        let Some(object) = object else { return Err(lost(&text, &pointer)) };
        object.insert("new key".to_owned(), below);
        prop_assert_eq!(documents(&new), expected, "from {:?}\nto {:?}", text.text, new);
        prop_assert_eq!(cut(&text.text, &new), "", "something went from {:?}: {:?}", text.text, new);
    }
}

/// One edit and the law of the second: asked again, nothing changes.
fn edit(text: &str, path: &str, value: &str) -> Result<Option<String>, TestCaseError> {
    let assignment = [Assignment { role: Role::Version, path, value }];
    let edited = set(text, &assignment);
    let Ok(Edited::Changed(new)) = edited else {
        prop_assert_eq!(edited, Ok(Edited::Unchanged), "{} = {} in {:?}", path, value, text);
        return Ok(None);
    };
    prop_assert_eq!(set(&new, &assignment), Ok(Edited::Unchanged), "again: {:?}", new);
    Ok(Some(new))
}

/// The generator does not know its own text.
fn lost(text: &Sample, pointer: &str) -> TestCaseError {
    TestCaseError::fail(format!("nothing at {pointer} of {:?}", text.text))
}

/// The bytes of the old text between the first and the last difference.
fn cut<'t>(old: &'t str, new: &str) -> &'t str {
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let start = same(&mut old.chars().zip(new.chars()));
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = same(&mut old_rest.chars().rev().zip(new_rest.chars().rev()));
    &old_rest[..old_rest.len() - end.min(old_rest.len())]
}

pub(super) fn documents(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// All comments of a text, in order.
pub(super) fn comments(text: &str) -> Vec<String> {
    let events = Parser::new_from_str(text).map(|event| event.expect("the text was read before"));
    let comments = events.filter_map(|(event, _)| match event {
        Event::Comment(text, _) => Some(text.into_owned()),
        _ => None,
    });
    comments.collect()
}

/// Dots and indexes of a mapping's path as a JSON pointer.
fn pointer_of(mapping: &str) -> String {
    let path = mapping.trim_end_matches('.').replace(['.', '['], "/").replace(']', "");
    if path.is_empty() { path } else { format!("/{path}") }
}
