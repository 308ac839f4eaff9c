use std::sync::Arc;

use super::super::tests::{Asked, asked, listed, options, running};
use super::super::{Inspection, decide, shortlist};
use super::findings;
use crate::policy::UpdatePolicy;
use crate::regexp::GoRegexp;

/// The findings of one decision: `Reason: found -> fix`.
fn told(strategy: &str, image: &str, filters: (&str, &str), current: &str, tags: &str) -> String {
    let asked = asked(strategy, image, filters.0, filters.1);
    let list = Arc::new(shortlist(&asked.policy, &listed(tags)));
    let current = running(current);
    let decision = decide(&list, &asked.policy, &asked.image, Some(&current), &options());
    let findings = findings(&decision, &asked.policy, &asked.image, Some(&current));
    let lines = findings.iter().map(|f| format!("{}: {} -> {}", f.reason, f.found, f.fix));
    lines.collect::<Vec<_>>().join("\n")
}

/// Spec 00 §1.5, §3.2 and §5.2: the scenarios of stage 3.
#[test]
fn a_finding_names_the_cause_and_the_cure() {
    const NONE: (&str, &str) = ("", "");
    #[rustfmt::skip]
    let rows = [
        ("S2.2a", "semver", "app", (r"regexp:^v\d+\.\d+\.\d+$", ""), "", "v1.2.3-build.4 v1.2.3-build.5 v1.2.3-build.6",
         r"NotAllowed: 3 of 3 tags: each is not matched by allowTags (regexp:^v\d+\.\d+\.\d+$); v1.2.3-build.4, v1.2.3-build.5 and 1 more -> widen it, as in allowTags: 'regexp:^v[0-9]+\.[0-9]+\.[0-9]+-build\.[0-9]+$'"),
        ("S2.2b", "semver", "app", NONE, "", "main-abc1234",
         "NotSemver: 1 of 1 tags: each is not a semantic version; main-abc1234 -> order these tags by age: updateStrategy: newest-build with allowTags: 'regexp:^main-[0-9a-f]+$'"),
        ("S2.2c", "semver", "ghcr.io/a/app", NONE, "", "latest",
         "MutableTag: no versions, only names that get pushed again: latest -> follow one of them: updateStrategy: digest with imageName: ghcr.io/a/app:latest\n\
          NotSemver: 1 of 1 tags: each is not a semantic version; latest -> order these tags by age: updateStrategy: newest-build with allowTags: 'regexp:^latest$'"),
        ("S2.2d", "semver", "app", ("", "* rc"), "", "1.0 2.0 3.0",
         "Ignored: 3 of 3 tags: each is matched by ignoreTags (*); 1.0, 2.0 and 1 more -> remove the pattern from ignoreTags, or narrow it"),
        ("S4.2", "alphabetical", "app", NONE, "v1.0", "v1.0 debug main-1",
         r"NoAllowTags: every tag can win, whoever pushed it: v1.0, main-1 and 1 more -> keep to tags like 'v1.0', as in allowTags: 'regexp:^v[0-9]+\.[0-9]+$'"),
        ("filtered", "alphabetical", "app", ("", "debug"), "v1.0", "v1.0 debug", ""),
        ("an exact constraint", "semver", "acme/web:1.0.0", NONE, "1.0.0", "1.0.0 1.1.0 2.0.0",
         "ConstraintFromTag: '1.0.0' admits 1 of 3 tags, and newer ones exist -> write 'acme/web' for any version, or 'acme/web:1.x'"),
        ("exact and the newest", "semver", "acme/web:=1.1.0", NONE, "1.0.0", "1.0.0 1.1.0 1.2.0-rc1", ""),
        ("a word", "semver", "app:stable", NONE, "stable", "stable 1.0.0",
         "ConstraintInvalid: invalid constraint 'stable' given: 'improper constraint: stable' -> write 'app' for any version, a range such as 'app:1.x', or updateStrategy: digest to follow the tag 'stable'\n\
          NotSemver: 1 of 2 tags: each is not a semantic version; stable -> order these tags by age: updateStrategy: newest-build with allowTags: 'regexp:^stable$'"),
        ("out of range", "semver", "app:^3", NONE, "", "1.0.0 2.4.0 latest",
         "OutsideConstraint: 2 of 3 tags: each is outside the constraint (^3); 1.0.0, 2.4.0 -> widen the range, as in imageName: app for any version or app:2.x\n\
          NotSemver: 1 of 3 tags: each is not a semantic version; latest -> order these tags by age: updateStrategy: newest-build with allowTags: 'regexp:^latest$'"),
        ("pre-releases", "semver", "app", NONE, "", "1.0.0-rc1",
         "OutsideConstraint: 1 of 1 tags: each is a pre-release, and the constraint names none (*); 1.0.0-rc1 -> name a pre-release in the range, as in imageName: app:*-0"),
        ("B17", "semver", "app", NONE, "8.1.0", "8.0.0",
         "WouldDowngrade: '8.1.0' is no longer listed, and the best tag that is, '8.0.0', is lower -> push '8.1.0' again, narrow the constraint so that it leaves '8.1.0' out, or start with --allow-downgrade"),
        ("another tag", "digest", "app:main", NONE, "", "latest",
         "OutsideConstraint: 1 of 1 tags: each is not the tag that the digest strategy follows (main); latest -> name a tag that is listed, as in imageName: app:latest"),
        ("no tags", "semver", "app", NONE, "", "",
         "NoTags: the registry lists no tags for 'app' -> push an image, or correct the name"),
        ("a glob for a range", "newest-build", "org/image:k8s-dev-*", ("regexp:.", ""), "k8s-dev-1", "k8s-dev-1 k8s-main-2",
         "ConstraintUnused: newest-build does not look at 'k8s-dev-*' behind the name -> write 'org/image', and say by allowTags which tags take part"),
        ("a tag for a range", "alphabetical", "app:latest", ("regexp:.", ""), "b", "a b",
         "ConstraintUnused: alphabetical does not look at 'latest' behind the name -> write 'app', and say by allowTags which tags take part"),
        ("all well", "semver", "app:1.x", NONE, "1.0.0", "1.0.0 1.1.0 latest", ""),
    ];
    for (id, strategy, image, filters, current, tags, expected) in rows {
        assert_eq!(told(strategy, image, filters, current, tags), expected, "{id}");
    }
}

/// A broken filter explains all that follows from it, so it comes first.
#[test]
fn causes_come_before_consequences() {
    let told = told("semver", "app:nonsense", ("^1", "["), "", "1.0.0");
    let reasons: Vec<_> =
        told.lines().map(|line| line.split(':').next().unwrap_or_default()).collect();
    assert_eq!(reasons, ["AllowTagsSyntax", "IgnoreTagsSyntax", "ConstraintInvalid", "NotAllowed"]);
}

#[test]
fn a_guessed_filter_matches_its_tag_and_its_kin() {
    #[rustfmt::skip]
    let rows = [
        ("v1.2.3",                   r"^v[0-9]+\.[0-9]+\.[0-9]+$",       "v10.0.1",            "v1.2"),
        ("main-7f3a9c2-1700000000",  "^main-[0-9a-f]+-[0-9]+$",          "main-abcdef0-18",    "dev-7f3a9c2-1"),
        ("1.25-alpine3.18",          r"^[0-9]+\.[0-9]+-alpine[0-9]+\.[0-9]+$", "1.26-alpine4.0", "1.25-debian12"),
        ("2024_01",                  "^[0-9]+_[0-9]+$",                  "2025_12",            "2024"),
        ("latest",                   "^latest$",                         "latest",             "latest2"),
    ];
    for (tag, expected, kin, stranger) in rows {
        let expression = super::expression_like(tag);
        assert_eq!(expression, expected);
        let expression = GoRegexp::new(&expression).unwrap();
        assert!(expression.is_match(tag) && expression.is_match(kin), "{tag}");
        assert!(!expression.is_match(stranger), "{tag}");
    }
}

/// Of several names that move the one that runs is to be followed, else `latest`, else the first.
#[test]
fn the_name_that_runs_is_proposed_to_be_followed() {
    for (current, tags, followed) in [
        ("main", "dev latest main", "app:main"),
        ("gone", "dev latest main", "app:latest"),
        ("", "dev main", "app:dev"),
    ] {
        let told = told("semver", "app", ("", ""), current, tags);
        let first = told.lines().next().unwrap_or_default();
        assert!(first.starts_with("MutableTag: ") && first.ends_with(followed), "{first}");
    }
}

/// A tag behind the name is often left over; a range there was meant.
#[test]
fn an_unused_range_weighs_more_than_an_unused_tag() {
    use crate::report::Severity;
    for (image, severity) in [("app:latest", Severity::Note), ("app:>=1 <2", Severity::Warning)] {
        let asked = asked("alphabetical", image, "regexp:.", "");
        let list = Arc::new(shortlist(&asked.policy, &listed("a b")));
        let decision = decide(&list, &asked.policy, &asked.image, None, &options());
        let findings = findings(&decision, &asked.policy, &asked.image, None);
        let of = |finding: &crate::report::Finding| (finding.reason, finding.severity);
        assert_eq!(findings.iter().map(of).collect::<Vec<_>>(), [("ConstraintUnused", severity)]);
    }
}

/// The platforms that were wanted are named, where the policy names any.
#[test]
fn images_for_other_platforms_are_told_with_the_wanted_ones() {
    let rows = [
        (vec!["linux/arm64", "linux/amd64"], "platform (linux/amd64, linux/arm64); a"),
        (vec![], "platform; a"),
    ];
    for (platforms, expected) in rows {
        let Asked { image, policy } = asked("newest-build", "app", "regexp:.", "");
        let platforms = platforms.into_iter().map(|text| text.parse().unwrap()).collect();
        let policy = UpdatePolicy::new(policy.strategy, policy.filter, platforms);
        let answers = [("a".parse().unwrap(), Inspection::WrongPlatform)].into();
        let list = Arc::new(shortlist(&policy, &listed("a")).inspected(&answers).unwrap());
        let decision = decide(&list, &policy, &image, None, &options());
        let findings = findings(&decision, &policy, &image, None);
        assert_eq!(findings.len(), 1);
        let found = &findings[0].found;
        assert_eq!(*found, format!("1 of 1 tags: each is not built for a wanted {expected}"));
    }
}
