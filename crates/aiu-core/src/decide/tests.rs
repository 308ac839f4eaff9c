use std::sync::Arc;

use super::*;
use crate::image::{ConfiguredImage, Registry, Tag};
use crate::policy::{DateSource, TagFilter, UpdatePolicy, UpdateStrategy};

/// A policy as a user writes it: strategy, `image:constraint`, allowTags, ignoreTags.
struct Asked {
    image: ConfiguredImage,
    policy: UpdatePolicy,
}

fn asked(strategy: &str, image: &str, allow: &str, ignore: &str) -> Asked {
    let image: ConfiguredImage = image.parse().unwrap();
    let dates = DateSource::ImageConfig;
    let (strategy, _) = UpdateStrategy::from_parts(&image, Some(strategy), dates).unwrap();
    let filter = TagFilter::new(Some(allow), ignore.split_whitespace());
    Asked { image, policy: UpdatePolicy { strategy, filter, platforms: Vec::new() } }
}

fn listed(tags: &str) -> TagList {
    tags.split_whitespace().map(|tag| tag.parse::<Tag>().unwrap()).collect()
}

fn options() -> DecideOptions {
    DecideOptions {
        default_registry: Registry::docker_hub(),
        kustomize_name: false,
        allow_downgrade: false,
    }
}

/// What runs: `app` with this tag, or nothing known.
fn running(tag: &str) -> Current {
    let reference = (!tag.is_empty()).then(|| format!("app:{tag}").parse().unwrap());
    Current { reference, source: CurrentSource::Live }
}

/// The whole decision, as a person would say it.
fn told(decision: &Decision, current: Option<&Current>) -> String {
    let current = current.and_then(|current| current.reference.as_ref()?.tag.as_ref());
    let explanation = explain(decision, current);
    let worth_telling = |line: &Line<'_>| !matches!(line.fate, Fate::Chosen | Fate::Kept);
    let lines = explanation.lines().filter(worth_telling).map(|line| format!("; {line}"));
    format!("{}{}", decision.verdict, lines.collect::<String>())
}

fn decided(
    asked: &Asked,
    current: Option<&Current>,
    tags: &str,
    options: &DecideOptions,
) -> String {
    let list = Arc::new(shortlist(&asked.policy, &listed(tags)));
    told(&decide(&list, &asked.policy, &asked.image, current, options), current)
}

#[test]
fn the_highest_admitted_version_wins() {
    #[rustfmt::skip]
    let rows = [
        // constraint, current, tags listed, what comes of it
        ("^1.2", "1.2.0",  "1.2.0 1.3.1",    "update to 1.3.1; 1.2.0 (current) is outranked by 1.3.1"),
        ("^1.2", "1.2.0",  "2.0.0",          "no candidate: no version is within the constraint; 2.0.0 is outside the constraint"),
        ("^1.2", "latest", "latest 1.2.9",   "update to 1.2.9; latest (current) is not a semantic version"),
        ("^1.2", "1.2.0",  "v1.2.4 1.2.4",   "update to v1.2.4; 1.2.4 is outranked by v1.2.4"),
        ("^1.2", "1.2.4",  "v1.2.4 1.2.4",   "up to date; v1.2.4 is outranked by 1.2.4"),
        ("^1.2", "",       "1.2.4",          "update to 1.2.4"),
        ("^1.2", "1.2.4@sha256:ab", "1.2.4", "update to 1.2.4"),
        ("^1.2", "1.0.0",  "1.9.0-rc1 1.2.0", "update to 1.2.0; 1.9.0-rc1 is a pre-release, and the constraint names none"),
        ("^1.2", "1.0.0",  "2.0.0-rc1 1.2.0", "update to 1.2.0; 2.0.0-rc1 is outside the constraint"),
        ("^1.2", "1.0.0",  "",               "no candidate: the repository has no tags"),
        ("^1.2", "1.0.0",  "1.2.0 1.2.0",    "update to 1.2.0"),
    ];
    for (constraint, current, tags, expected) in rows {
        let asked = asked("semver", &format!("app:{constraint}"), "", "");
        let told = decided(&asked, Some(&running(current)), tags, &options());
        assert_eq!(told, expected, "{constraint} given [{tags}]");
    }
}

/// Spec 10 §5.5, SEL-001 to SEL-012 and SEL-017 to SEL-020.
#[test]
fn tags_are_selected() {
    const VERSIONS: &str = "0.1 0.5.1 0.9 1.0 1.0.1 1.1.2 2.0.3";
    const WORDS: &str = "zz bb yy cc aa ll";
    #[rustfmt::skip]
    let rows = [
        ("SEL-001", "semver", "app",          "",       VERSIONS,              "2.0.3"),
        ("SEL-002", "semver", "app:^1.0",     "",       VERSIONS,              "1.1.2"),
        ("SEL-003", "semver", "app:~1.0",     "",       VERSIONS,              "1.0.1"),
        ("SEL-006", "semver", "app",          "",       "v2.2.0 v2.3.0-rc.0.18.g1abb7b5dd-ppc64le", "v2.2.0"),
        ("SEL-007", "semver", "app:~1.0",     "",       "0.1 0.5.1 0.9 2.0.3", "none: OutsideConstraint"),
        ("SEL-008", "semver", "app:latest",   "",       "0.1 0.5.1 0.9 2.0.3", "failed: ConstraintInvalid"),
        ("SEL-009", "semver", "app:~1.0",     "",       "",                    "none: NoTags"),
        ("SEL-011", "semver", "app",          "",       WORDS,                 "none: NotSemver"),
        ("SEL-012", "alphabetical", "app",    "",       WORDS,                 "zz"),
        ("SEL-017", "semver", "app:latest",   "",       WORDS,                 "none: NotSemver"),
        ("SEL-018", "semver", "app",          "",       "1.0.0 v1.0.0",        "v1.0.0"),
        ("SEL-020", "semver", "app",          "regexp:x", "1.2.0 1.2.1",       "none: NotAllowed"),
    ];
    for (id, strategy, image, allow, tags, expected) in rows {
        let asked = asked(strategy, image, allow, "");
        let list = Arc::new(shortlist(&asked.policy, &listed(tags)));
        let decision = decide(&list, &asked.policy, &asked.image, None, &options());
        let got = match decision.verdict {
            Verdict::UpdateTo(tag) => tag.to_string().trim_start_matches(':').to_owned(),
            Verdict::NoCandidate(why) if why.is_failure() => format!("failed: {}", why.reason()),
            Verdict::NoCandidate(why) => format!("none: {}", why.reason()),
            verdict => verdict.to_string(),
        };
        assert_eq!(got, expected, "{id}");
    }
}

/// Spec 40 B17.
#[test]
fn a_version_that_vanished_is_not_lowered_silently() {
    const HELD: &str =
        "held: 8.0.0 is lower than the current 8.1.0, which the registry no longer lists";
    #[rustfmt::skip]
    let rows = [
        // image, allowTags, ignoreTags, allow downgrade, tags listed, verdict
        ("app",      "",          "",      false, "3.0.0 7.9.1 8.0.0",       HELD),
        ("app",      "",          "",      false, "3.0.0 7.9.1 8.0.0 8.2.0", "update to 8.2.0"),
        ("app:~8.0", "",          "",      false, "3.0.0 7.9.1 8.0.0",       "update to 8.0.0"),
        ("app",      "regexp:^8\\.0", "",  false, "8.0.0",                   "update to 8.0.0"),
        ("app",      "",          "8.1.*", false, "8.0.0 8.1.0",             "update to 8.0.0"),
        ("app",      "",          "",      true,  "3.0.0 7.9.1 8.0.0",       "update to 8.0.0"),
        ("app:~8.0", "",          "",      true,  "3.0.0 7.9.1 8.0.0",       "update to 8.0.0"),
    ];
    for (image, allow, ignore, allow_downgrade, tags, expected) in rows {
        let asked = asked("semver", image, allow, ignore);
        let list = Arc::new(shortlist(&asked.policy, &listed(tags)));
        let options = DecideOptions { allow_downgrade, ..options() };
        let decision =
            decide(&list, &asked.policy, &asked.image, Some(&running("8.1.0")), &options);
        assert_eq!(decision.verdict.to_string(), expected, "{image} given [{tags}]");
    }
}

/// Spec 21 §7.3 and §7.4: the rows on registries.
#[test]
fn another_repository_alone_is_an_update_under_a_kustomize_name() {
    #[rustfmt::skip]
    let rows = [
        ("jannfis/foobar:1.0.1",           true,  "update to 1.0.1"),
        ("gcr.io/jannfis/foobar:1.0.1",    true,  "up to date"),
        ("jannfis/foobar:1.0.1",           false, "up to date"),
    ];
    for (current, kustomize_name, expected) in rows {
        let asked = asked("semver", "gcr.io/jannfis/foobar:>=1.0.1", "", "");
        let list = Arc::new(shortlist(&asked.policy, &listed("1.0.1")));
        let reference = Some(current.parse().unwrap());
        let current = Current { reference, source: CurrentSource::Spec };
        let options = DecideOptions { kustomize_name, ..options() };
        let decision = decide(&list, &asked.policy, &asked.image, Some(&current), &options);
        assert_eq!(decision.verdict.to_string(), expected, "{current:?}");
    }
}
