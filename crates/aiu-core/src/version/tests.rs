use std::hash::{DefaultHasher, Hash, Hasher};

use super::*;
use crate::image::Tag;

fn version(text: &str) -> Version {
    Version::parse(text).unwrap_or_else(|| panic!("'{text}' is a version"))
}

fn constraint(text: &str) -> VersionConstraint {
    text.parse().unwrap_or_else(|error| panic!("'{text}': {error}"))
}

/// Spec 10 §4.1.
#[test]
fn tags_become_versions() {
    #[rustfmt::skip]
    let rows = [
        ("VER-001", "1",                    Some("1.0.0")),
        ("VER-001", "v1",                   Some("1.0.0")),
        ("VER-002", "v1.2",                 Some("1.2.0")),
        ("VER-003", "V1",                   None),
        ("VER-004", "1.2.3.4",              None),
        ("VER-005", "1.2.3-",               None),
        ("VER-005", "1.2.",                 None),
        ("VER-005", " 1.2",                 None),
        ("VER-005", "-1.2",                 None),
        ("VER-006", "1.2.3-rc.1",           Some("1.2.3-rc.1")),
        ("VER-007", "1.2.3-1.02",           None),
        ("VER-008", "1.2.3-0",              Some("1.2.3-0")),
        ("VER-009", "1.2.3+b",              Some("1.2.3+b")),
        ("VER-010", "1.2.3-a..b",           None),
        ("VER-011", "01.02.03",             Some("1.2.3")),
        ("VER-013", "20240115",             Some("20240115.0.0")),
        ("VER-014", "2024-01-15",           Some("2024.0.0-01-15")),
        ("VER-018", "",                     None),
        ("VER-018", "v",                    None),
        ("VER-018", "12345e7",              None),
        ("VER-019", "18446744073709551615", Some("18446744073709551615.0.0")),
        ("VER-020", "18446744073709551616", None),
        ("a sign",  "+1",                   None),
        ("a sign",  "1.+2",                 None),
    ];
    for (row, text, canonical) in rows {
        let read = Version::parse(text).map(|version| version.to_string());
        assert_eq!(read.as_deref(), canonical, "{row} '{text}'");
    }
}

/// Spec 10 §4.2.
#[test]
fn versions_have_semver_precedence() {
    #[rustfmt::skip]
    let ascending = [
        "0.0.0-0", "0.0.0", "1.0.0-1", "1.0.0-9", "1.0.0-10",
        "1.0.0-99999999999999999999", "1.0.0-100000000000000000000",
        "1.0.0-RC1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0-rc.2", "1.0.0-rc.10",
        "1.0.0-rc1", "1.0.0-rc10", "1.0.0-rc2", "1.0.0", "1.0.1", "1.1.0", "2.0.0",
    ];
    for pair in ascending.windows(2) {
        assert!(version(pair[0]) < version(pair[1]), "{} < {}", pair[0], pair[1]);
    }
}

#[test]
fn metadata_and_spelling_do_not_count() {
    for (left, right) in [("1.0.0+a", "1.0.0+b"), ("v1", "1.0.0"), ("01.0", "1"), ("1-a+x", "1-a")]
    {
        assert_eq!(version(left), version(right));
    }
}

#[test]
fn a_plain_version_owns_no_memory_of_the_heap() {
    let plain = Version::of(&"v1.27.3".parse::<Tag>().unwrap()).unwrap();
    assert_eq!((plain.pre_release(), plain.metadata()), (None, None));
    let full = version("1.27.3-rc.1+b.2");
    assert_eq!((full.pre_release(), full.metadata()), (Some("rc.1"), Some("b.2")));
}

/// What is equal must hash alike; what is not is kept apart, or maps of policies become lists.
#[test]
fn versions_and_constraints_hash_as_they_compare() {
    fn hash(value: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }
    assert_eq!(hash(version("v1.2+a")), hash(version("1.2.0+b")));
    for other in ["1.2.1", "1.2.0-rc", "2.2.0"] {
        assert_ne!(hash(version("1.2.0")), hash(version(other)), "{other}");
    }
    assert_eq!(hash(constraint("*")), hash(VersionConstraint::any()));
    assert_ne!(hash(constraint("1.x")), hash(constraint("2.x")));
}

/// Spec 10 §4.3; the vectors hold the long list.
#[test]
fn constraints_admit() {
    #[rustfmt::skip]
    let rows = [
        ("CON-001", "*",                     "0.0.3 1.0.0 12.0.0",           "2.0.0-rc1"),
        ("CON-003", "~>1.2",                 "1.2.0 1.2.9",                  "1.3.0 1.2.4-rc1"),
        ("CON-005", "1.2.3+a",               "1.2.3 1.2.3+b",                "1.2.4"),
        ("CON-006", "!=1.2.x",               "1.1.2 1.3.0 2.0.0",            "1.2.0 1.2.9"),
        ("CON-009", "> 1.2",                 "1.3.0",                        "1.2.9"),
        ("CON-013", "=<1.2",                 "1.2.9",                        "1.3.0"),
        ("CON-022", "^*",                    "0.0.0",                        "0.0.1 1.0.0"),
        ("CON-023", "~0.0.0",                "0.0.3 12.0.0",                 ""),
        ("CON-024", "~0.0",                  "0.0.0 0.0.9",                  "0.1.0"),
        ("CON-025", "1.2 - 1.3",             "1.2.0 1.3.9",                  "1.9.9"),
        ("CON-027", "1 - 2 || 4 - 5",        "1.5.0 4.5.0",                  "3.0.0"),
        ("CON-027", "1 - 2||4 - 5",          "1.5.0 4.5.0",                  "3.0.0"),
        ("CON-028", "1.2-1.3",               "1.2.0 1.2.9 1.2.3-rc1",        "1.3.0"),
        ("CON-029", ">=1.2 , <2",            "1.2.0 1.9.9",                  "2.0.0"),
        ("CON-034", ">=1.2.3-0 <2",          "1.2.3-rc1 1.9.9 2.0.0-rc1",    "2.0.0"),
        ("CON-036", "^1.2.0 || 2.0.0-rc1",   "1.3.0 2.0.0-rc1",              "1.3.0-rc1 2.0.0"),
        ("CON-038", "1.2-alpine",            "1.2.5-alpine 1.2.5-debian 1.2.5", "1.2.0-aaa 1.3.0-alpine"),
        ("CON-042", "x.2.3",                 "0.0.0 9.9.9",                  "1.0.0-rc1"),
        ("CON-046", "1234567",               "1234567",                      "1.0.0"),
    ];
    for (row, text, admitted, refused) in rows {
        let constraint = constraint(text);
        for text in admitted.split_whitespace() {
            assert!(constraint.admits(&version(text)), "{row} '{constraint}' admits {text}");
        }
        for text in refused.split_whitespace() {
            assert!(!constraint.admits(&version(text)), "{row} '{constraint}' refuses {text}");
        }
    }
}

#[test]
fn broken_constraints_say_why() {
    #[rustfmt::skip]
    let rows = [
        ("",          "improper constraint: "),
        ("latest",    "improper constraint: latest"),
        ("1 || ",     "improper constraint:  "),
        ("1.2,",      "improper constraint: 1.2,"),
        (",1.2",      "improper constraint: ,1.2"),
        (">1<2",      "improper constraint: >1<2"),
        ("^1 1 - 2",  "improper constraint: ^1 1 - 2"),
        ("1|2",       "constraint parser error: '1|2' is not a version"),
        ("1.2.3-a.",  "improper constraint: 1.2.3-a."),
        ("1.2.3+a.",  "improper constraint: 1.2.3+a."),
        ("1-a..b",    "improper constraint: 1-a..b"),
        ("1.2.3-01",  "constraint parser error: '1.2.3-01' is not a version"),
    ];
    for (text, message) in rows {
        let error = text.parse::<VersionConstraint>().unwrap_err();
        assert_eq!((error.to_string().as_str(), error.reason()), (message, "ConstraintInvalid"));
    }
}

#[test]
fn an_exact_constraint_is_one_full_version() {
    for text in ["1.2.3", "=1.2.3", " v1.2.3-alpine ", "1.2.3+b"] {
        assert!(constraint(text).is_exact(), "{text}");
    }
    for text in ["1.2", "1.2.x", "~1.2.3", "!=1.2.3", "1.2.3 || 1.2.4", ">=1.2.3 1.2.3", "*"] {
        assert!(!constraint(text).is_exact(), "{text}");
    }
}

#[test]
fn constraints_compare_by_text() {
    assert_eq!(VersionConstraint::any(), constraint("*"));
    assert_ne!(constraint("1.x"), constraint("1"));
    assert_eq!(constraint(" ~1.2 ").to_string(), " ~1.2 ");
}
