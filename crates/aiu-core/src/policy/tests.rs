use std::hash::{DefaultHasher, Hash, Hasher};

use super::*;
use crate::image::{ConfiguredImage, Tag};
use crate::report::Severity;

fn tags(text: &str) -> Vec<Tag> {
    text.split_whitespace().map(|tag| tag.parse().unwrap()).collect()
}

/// Spec 10 §5.3. Upstream's warning is part of the row where there is one.
#[test]
fn tags_are_allowed() {
    const SYNTAX: &str = "Invalid match option syntax 'other', ignoring";
    #[rustfmt::skip]
    let rows = [
        ("FLT-001", "",                  "x",                        true,  ""),
        ("FLT-002", "ANY",               "x",                        true,  ""),
        ("FLT-004", "other",             "other",                    false, SYNTAX),
        ("FLT-005", "not-regexp:a-z",    "a-z",                      false, "Unknown match function: not-regexp"),
        ("FLT-006", "regexp:[aA-zZ",     "a",                        false, "Could not compile regexp '[aA-zZ'"),
        ("FLT-007", "regexp:[a-z]+",     "lemon",                    true,  ""),
        ("FLT-007", "regexp:[a-z]+",     "31337",                    false, ""),
        ("FLT-008", "RegExp:[aA-zZ]",    "MatchFuncRegexp-tag-name", true,  ""),
        ("FLT-009", "regexp:^[0-9a-f]{7}$", "a5fb3d3",               true,  ""),
        ("FLT-009", "regexp:^[0-9a-f]{7}$", "latest",                false, ""),
        ("FLT-010", "regexp:1.19",       "x1a19y",                   true,  ""),
        ("FLT-011", "regexp:",           "x",                        true,  ""),
        ("FLT-013", "regexp:^(?!dev)",   "x",                        false, "Could not compile regexp '^(?!dev)'"),
        ("F22",     " any ",             "x",                        true,  ""),
        ("F22",     " regexp:^1 ",       "1",                        true,  ""),
    ];
    for (id, value, tag, allowed, warning) in rows {
        let allow = AllowTags::new(Some(value));
        assert_eq!(allow.allows(tag), allowed, "{id}: {value} on {tag}");
        let told = match allow {
            AllowTags::Broken(fault) => fault.to_string(),
            AllowTags::Any | AllowTags::Matching(_) => String::new(),
        };
        assert_eq!(told, warning, "{id}");
    }
}

#[test]
fn tags_are_ignored() {
    let rows = [
        ("FLT-020", "tag1 tag2", "tag2", true),
        ("FLT-021", "tag? foo", "tag10", false),
        ("FLT-026", "[!a-c]*", "beta", true),
        ("FLT-027", "{a,b}", "a", false),
        ("FLT-028", "[a-]", "a", false),
        ("FLT-030", "Latest", "latest", false),
    ];
    for (id, patterns, tag, ignored) in rows {
        let filter = TagFilter::new(None, patterns.split_whitespace());
        let expected = if ignored { Err(Reason::Ignored) } else { Ok(()) };
        assert_eq!(filter.judge(&tag.parse().unwrap()), expected, "{id}");
    }
    let untrimmed = TagFilter::new(None, [" latest", ""]);
    assert_eq!(untrimmed.judge(&"latest".parse().unwrap()), Ok(()), "FLT-031, FLT-032");
}

/// Spec 10 F17, spec 00 §6.
#[test]
fn broken_filters_are_told_with_their_correction() {
    #[rustfmt::skip]
    let rows = [
        (r"^v\d+$", "", "AllowTagsSyntax", r"Invalid match option syntax '^v\d+$', ignoring: no tag is allowed",
         r"allowTags: 'regexp:^v\d+$' (admits 2 of 3 listed tags)"),
        ("glob:v1", "", "AllowTagsSyntax", "Unknown match function: glob: no tag is allowed",
         "allowTags: 'regexp:v1' (admits 1 of 3 listed tags)"),
        ("*-rc", "", "AllowTagsSyntax", "Invalid match option syntax '*-rc', ignoring: no tag is allowed",
         "write 'any', or 'regexp:' and an expression that compiles: missing argument to repetition operator: `*`; write `.*` for any text"),
        ("any", "[a-", "IgnoreTagsSyntax", "in ignoreTags, '[a-': syntax error in pattern: ",
         "correct the pattern"),
        ("", "*-rc RegExp:^[a-z]", "IgnoreTagsSyntax", "in ignoreTags, 'RegExp:^[a-z]' is taken for a shell pattern, which no tag matches",
         "write patterns such as '*-rc*', or say by allowTags what to keep"),
    ];
    let listed = tags("v1 v2 main");
    for (allow, ignore, reason, found, fix) in rows {
        let filter = TagFilter::new(Some(allow), ignore.split_whitespace());
        let findings = filter.findings(listed.iter());
        assert_eq!(findings.len(), 1, "{allow}");
        assert_eq!(findings[0].reason, reason);
        assert!(findings[0].found.starts_with(found), "{}", findings[0].found);
        assert!(findings[0].fix.starts_with(fix), "{}", findings[0].fix);
    }
    let both = TagFilter::new(Some("x"), ["["]);
    let severities: Vec<_> = both.findings(listed.iter()).iter().map(|f| f.severity).collect();
    assert_eq!(severities, [Severity::Error, Severity::Warning]);
}

fn strategy(
    name: &str,
    image: &str,
) -> Result<(UpdateStrategy, Option<StrategyNote>), PolicyError> {
    let image: ConfiguredImage = image.parse().unwrap();
    UpdateStrategy::from_parts(&image, Some(name), DateSource::ImageConfig)
}

/// Spec 10 §5.1 with F22.
#[test]
fn strategies_have_names() {
    let rows = [
        ("", "semver", ""),
        ("SemVer", "semver", ""),
        (" digest\t", "digest", ""),
        ("latest", "newest-build", "\"latest\" strategy has been renamed to \"newest-build\". "),
        ("NAME", "alphabetical", "\"name\" strategy has been renamed to \"alphabetical\". "),
        ("newest_build", "semver", "Unknown sort option newest_build -- using semver"),
    ];
    for (name, expected, note) in rows {
        let (strategy, noted) = strategy(name, "app:latest").unwrap();
        assert_eq!(strategy.name(), expected, "{name}");
        let noted = noted.map(|note| note.to_string()).unwrap_or_default();
        assert!(noted.starts_with(note) && noted.is_empty() == note.is_empty(), "{noted}");
    }
}

#[test]
fn digest_needs_one_tag_to_follow() {
    let rows = [
        (
            "gcr.io/x/app",
            "cannot use update strategy 'digest' for image 'gcr.io/x/app' without a version constraint",
        ),
        ("app:1.x || 2.x", "cannot use update strategy 'digest' for image 'app:1.x || 2.x': a tag"),
    ];
    for (image, message) in rows {
        let error = strategy("digest", image).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert_eq!(error.reason(), "ConstraintInvalid");
    }
}

/// Images that ask the same share a shortlist, so the same words must make equal policies.
#[test]
fn equal_words_make_equal_policies() {
    let policy = |constraint: &str, allow: &str, platforms: &str| {
        let (strategy, _) = strategy("semver", &format!("app:{constraint}")).unwrap();
        let platforms = platforms.split_whitespace().map(|text| text.parse().unwrap());
        UpdatePolicy::new(strategy, TagFilter::new(Some(allow), ["*-rc", "["]), platforms.collect())
    };
    let one = policy("1.x", "regexp:^1", "linux/amd64 linux/arm64");
    assert_eq!(one, policy("1.x", " regexp:^1", "linux/arm64 linux/amd64 linux/arm64"));
    let others = [
        policy("2.x", "regexp:^1", "linux/amd64 linux/arm64"),
        policy("nonsense", "regexp:^1", "linux/amd64 linux/arm64"),
        policy("1.x", "regexp:^2", "linux/amd64 linux/arm64"),
        policy("1.x", "regexp:(", "linux/amd64 linux/arm64"),
        policy("1.x", "regexp:^1", "linux/amd64"),
    ];
    for other in others {
        assert_ne!(one, other);
    }
}

/// A filter is what was written, whether it has been used or not.
#[test]
fn filters_compare_hash_and_print_by_their_texts() {
    let hash = |filter: &TagFilter| {
        let mut hasher = DefaultHasher::new();
        filter.hash(&mut hasher);
        hasher.finish()
    };
    let [fresh, used] =
        [" regexp:^1 ", "regexp:^1"].map(|allow| TagFilter::new(Some(allow), ["["]));
    assert!(used.judge(&"1".parse().unwrap()).is_ok());
    assert!(used.is_compiled() && !fresh.is_compiled());
    assert_eq!((&fresh, hash(&fresh)), (&used, hash(&used)));
    let printed = r#"TagFilter { allow: Some("regexp:^1"), ignore: ["["] }"#;
    assert_eq!([&fresh, &used].map(|filter| format!("{filter:?}")), [printed; 2]);
    let other = TagFilter::new(Some("regexp:^2"), ["["]);
    assert!(fresh != other && hash(&fresh) != hash(&other));
    for all in [None, Some(""), Some(" any "), Some("ANY")] {
        assert_eq!(TagFilter::new(all, []), TagFilter::new(None, []));
    }
}

#[test]
fn a_pre_release_is_told_from_a_version_out_of_range() {
    let rows = [
        ("1.x", "1.2.3-rc1", Reason::PreRelease),
        ("1.x", "2.0.0-rc1", Reason::OutsideConstraint),
        ("1.x", "2.0.0", Reason::OutsideConstraint),
        ("1.x-0", "2.0.0-rc1", Reason::OutsideConstraint),
        ("latest", "2.0.0", Reason::ConstraintInvalid),
        ("1.x", "latest", Reason::NotSemver),
    ];
    for (range, tag, reason) in rows {
        let (strategy, _) = strategy("semver", &format!("app:{range}")).unwrap();
        assert_eq!(strategy.judge(&tag.parse().unwrap(), 0, 1), Err(reason), "{range} on {tag}");
    }
}

#[test]
fn only_a_followed_tag_needs_no_listing() {
    for (word, lists) in
        [("semver", true), ("newest-build", true), ("name", true), ("digest", false)]
    {
        assert_eq!(
            strategy(word, "app:1.x")
                .or_else(|_| strategy(word, "app:latest"))
                .unwrap()
                .0
                .lists_tags(),
            lists,
            "{word}"
        );
    }
}

/// The words that explanations and `test` say of an order by age.
#[test]
fn sources_of_dates_have_names() {
    let rows = [
        (DateSource::ImageConfig, "build dates"),
        (DateSource::PushDate, "push dates"),
        (DateSource::ListOrder(ListOrder::LatestFirst), "the registry's own order"),
        (DateSource::ListOrder(ListOrder::LatestLast), "the registry's own order"),
    ];
    for (source, name) in rows {
        assert_eq!(source.to_string(), name);
    }
}
