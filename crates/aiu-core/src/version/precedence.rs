//! Which of two pre-releases comes first (semver 2.0.0 §11, spec 10 §4.2).

use std::cmp::Ordering;

/// Compares what stands behind the `-`. A version without pre-release is the higher one.
pub(super) fn of_pre_releases(left: Option<&str>, right: Option<&str>) -> Ordering {
    match (left, right) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(left), Some(right)) => of_identifier_lists(left, right),
    }
}

fn of_identifier_lists(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(left), Some(right)) => match of_identifiers(left, right) {
                Ordering::Equal => {}
                unequal => return unequal,
            },
        }
    }
}

fn of_identifiers(left: &str, right: &str) -> Ordering {
    match (is_numeric(left), is_numeric(right)) {
        // Without leading zeros the longer number is the larger one, however long it is.
        (true, true) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => left.cmp(right),
    }
}

pub(super) fn is_numeric(identifier: &str) -> bool {
    identifier.bytes().all(|b| b.is_ascii_digit())
}
