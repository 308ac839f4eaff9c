//! Versions are in one order, and constraints combine as their grammar says.

use std::cmp::Ordering;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use aiu_core::version::{Version, VersionConstraint};
use proptest::prelude::*;

use super::few_cases;

/// Versions that are often close to each other, in all spellings.
fn version() -> impl Strategy<Value = String> {
    let pre_release = prop_oneof![
        3 => Just(String::new()),
        2 => "-(0|1|2|10|rc|rc1|alpha)(\\.(0|1|10|beta)){0,2}",
    ];
    let metadata = prop_oneof![4 => Just(String::new()), 1 => "\\+[ab]"];
    ("v?", "0{0,1}[0-3](\\.[0-3]){0,2}", pre_release, metadata)
        .prop_map(|(v, numbers, pre_release, metadata)| v + &numbers + &pre_release + &metadata)
}

fn constraint() -> impl Strategy<Value = String> {
    let operator = "(|=|!=|>|>=|=>|<|<=|=<|~|~>|\\^) ?";
    let pattern = "v?([0-3]|\\*)(\\.([0-3]|x)){0,2}(-(0|rc|alpha\\.1))?";
    let range = "[0-3](\\.[0-3])? - [0-3](\\.[0-3])?(-0)?";
    prop_oneof![
        6 => (operator, pattern).prop_map(|(operator, pattern)| operator + &pattern),
        1 => range.prop_map(String::from),
    ]
}

fn read(text: &str) -> Version {
    Version::parse(text).unwrap_or_else(|| panic!("'{text}' is a version"))
}

fn admits(constraint: &str, version: &str) -> bool {
    let constraint: VersionConstraint =
        constraint.parse().unwrap_or_else(|error| panic!("'{constraint}': {error}"));
    constraint.admits(&read(version))
}

fn hash(version: &Version) -> u64 {
    let mut hasher = DefaultHasher::new();
    version.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn versions_are_in_one_order(a in version(), b in version(), c in version()) {
        let (a, b, c) = (read(&a), read(&b), read(&c));
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a == b, a.cmp(&b) == Ordering::Equal);
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
        if a == b {
            prop_assert_eq!(hash(&a), hash(&b));
            prop_assert_eq!(a.cmp(&c), b.cmp(&c));
        }
    }

    #[test]
    fn a_printed_version_is_read_back(text in version()) {
        let version = read(&text);
        let printed = version.to_string();
        prop_assert_eq!(&read(&printed), &version);
        prop_assert_eq!(read(&printed).to_string(), printed);
    }

    #[test]
    fn a_printed_constraint_is_read_back(text in constraint(), version in version()) {
        let constraint: VersionConstraint = text.parse().unwrap();
        let again: VersionConstraint = constraint.to_string().parse().unwrap();
        prop_assert_eq!(&again, &constraint);
        prop_assert_eq!(again.admits(&read(&version)), constraint.admits(&read(&version)));
    }

    #[test]
    fn either_of_two_admits_the_union(a in constraint(), b in constraint(), version in version()) {
        let expected = admits(&a, &version) || admits(&b, &version);
        prop_assert_eq!(admits(&format!("{a} || {b}"), &version), expected);
        prop_assert_eq!(admits(&format!("{a}||{b}"), &version), expected);
    }

    /// With one exception: a hyphen range cannot follow a term with only a space between.
    #[test]
    fn spaces_and_commas_are_the_same(a in constraint(), b in constraint(), version in version()) {
        let expected = admits(&format!("{a},{b}"), &version);
        prop_assert_eq!(admits(&format!("{a} , {b}"), &version), expected);
        if !b.contains(" - ") {
            prop_assert_eq!(admits(&format!("{a} {b}"), &version), expected);
        }
    }

    #[test]
    fn two_terms_admit_no_more_than_each(a in constraint(), b in constraint(), text in version()) {
        let version = read(&text);
        // A pre-release in one term opens the gate for the other, so releases only.
        if version.pre_release().is_none() {
            let both = admits(&a, &text) && admits(&b, &text);
            prop_assert_eq!(admits(&format!("{a}, {b}"), &text), both);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\\t]{0,24}") {
        let _ = Version::parse(&text);
        if let Ok(constraint) = text.parse::<VersionConstraint>() {
            prop_assert_eq!(constraint.as_str(), text);
        }
    }
}
