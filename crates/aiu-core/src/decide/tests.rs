use std::sync::Arc;

use super::*;
use crate::image::{ConfiguredImage, Digest, Registry, Tag};
use crate::policy::{DateSource, ListOrder, Policies, TagFilter, UpdatePolicy, UpdateStrategy};

mod reported;

/// A policy as a user writes it: strategy, `image:constraint`, allowTags, ignoreTags.
pub(super) struct Asked {
    pub(super) image: ConfiguredImage,
    pub(super) policy: UpdatePolicy,
}

pub(super) fn asked(strategy: &str, image: &str, allow: &str, ignore: &str) -> Asked {
    asked_of(DateSource::ImageConfig, strategy, image, allow, ignore)
}

/// The same, of a registry that sorts its listing or tells push dates.
fn asked_of(dates: DateSource, strategy: &str, image: &str, allow: &str, ignore: &str) -> Asked {
    let image: ConfiguredImage = image.parse().unwrap();
    let (strategy, _) = UpdateStrategy::from_parts(&image, Some(strategy), dates).unwrap();
    let filter = TagFilter::new(Some(allow), ignore.split_whitespace());
    Asked { image, policy: UpdatePolicy { strategy, filter, platforms: Vec::new() } }
}

pub(super) fn listed(tags: &str) -> TagList {
    tags.split_whitespace().map(|tag| tag.parse::<Tag>().unwrap()).collect()
}

pub(super) fn options() -> DecideOptions {
    DecideOptions {
        default_registry: Registry::docker_hub(),
        kustomize_name: false,
        allow_downgrade: false,
    }
}

/// What runs: `app` with this tag, or nothing known.
pub(super) fn running(tag: &str) -> Current {
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

/// What a registry answers: `tag=DAY` for an image built on that day of March, `tag=platform`,
/// `tag=gone`, `tag=undated`, `tag=sha256:…`. A tag that is not named stays unanswered.
fn answers(told: &str) -> Metadata {
    let answer = |(tag, told): (&str, &str)| {
        let created = told.parse::<u8>().map(|day| format!("2024-03-{day:02}T00:00:00Z"));
        let image = ImageMeta {
            created: created.ok().map(|date| date.parse().unwrap()),
            digest: told.starts_with("sha256:").then(|| Digest::new(told)),
            ..ImageMeta::default()
        };
        let inspection = match told {
            "platform" => Inspection::WrongPlatform,
            "gone" => Inspection::NoManifest,
            _ => Inspection::Image(image),
        };
        (tag.parse().unwrap(), inspection)
    };
    told.split_whitespace().filter_map(|pair| pair.split_once('=')).map(answer).collect()
}

fn inspected(asked: &Asked, tags: &str, told: &str) -> Result<Arc<Shortlist>, Unanswered> {
    shortlist(&asked.policy, &listed(tags)).inspected(&answers(told)).map(Arc::new)
}

/// Spec 10 §5.4, §5.5, SEL-010, SEL-014, SEL-015, and F6.
#[test]
fn the_youngest_image_wins() {
    const WORDS: &str = "zz bb yy cc aa ll";
    #[rustfmt::skip]
    let rows = [
        ("SEL-010", WORDS, "zz=1 bb=2 yy=3 cc=4 aa=6 ll=7", "ll aa cc yy bb zz"),
        ("SEL-014", "v2.0.2 v1.0 v1.0.1 v2.0.3 v2.0", "v2.0.2=5 v1.0=2 v1.0.1=1 v2.0.3=4 v2.0=3", "v2.0.2 v2.0.3 v2.0 v1.0 v1.0.1"),
        ("SEL-015", "v2.0.2 v1.0 v1.0.1 v2.0.3 v2.0", "v2.0.2=1 v1.0=1 v1.0.1=1 v2.0.3=1 v2.0=1", "v2.0.3 v2.0.2 v2.0 v1.0.1 v1.0"),
        ("platform", "a b c", "a=1 b=2 c=platform", "b a; c WrongPlatform"),
        ("gone",     "a b c", "a=1 b=gone c=2",     "c a; b NoManifest"),
        ("undated",  "a b c", "a=1 b=undated c=2",  "c a; b NoBuildDate"),
        ("none left", "a b",  "a=gone b=platform",  "; a NoManifest; b WrongPlatform"),
        ("F6",       "a b c", "a=1 b=2",            "no answer about tag 'c', without which nothing can be chosen; wait for the next try"),
    ];
    let asked = asked("newest-build", "app", "", "");
    for (id, tags, told, expected) in rows {
        let got = match inspected(&asked, tags, told) {
            Err(unanswered) => unanswered.to_string(),
            Ok(list) => {
                assert_eq!(list.needs, Needs::Nothing, "{id}");
                let names: Vec<_> = list.candidates.iter().map(|c| c.tag.as_str()).collect();
                let rejected = list.rejected.iter();
                let rejected = rejected.map(|r| format!("; {} {}", r.tag, r.reason.word()));
                names.join(" ") + &rejected.collect::<String>()
            }
        };
        assert_eq!(got, expected, "{id}");
    }
}

#[test]
fn a_strategy_says_what_it_needs() {
    let tag = |text: &str| text.parse::<Tag>().unwrap();
    let sorted = DateSource::ListOrder(ListOrder::LatestFirst);
    #[rustfmt::skip]
    let rows = [
        (asked("semver", "app", "", "b"),                 Needs::Nothing),
        (asked("alphabetical", "app", "", "b"),           Needs::Nothing),
        (asked("newest-build", "app", "", "b"),           Needs::Dates([tag("c"), tag("a")].into())),
        (asked("newest-build", "app", "", "*"),           Needs::Nothing),
        (asked_of(DateSource::PushDate, "newest-build", "app", "", "b"), Needs::Dates([tag("c"), tag("a")].into())),
        (asked_of(sorted, "newest-build", "app", "", ""), Needs::Nothing),
        (asked_of(sorted, "digest", "app:a", "", ""),     Needs::Digest(tag("a"))),
        (asked("digest", "app:x", "", ""),                Needs::Nothing),
    ];
    for (asked, needs) in rows {
        let list = shortlist(&asked.policy, &listed("a b c"));
        assert_eq!(list.needs, needs, "{:?}", asked.policy.strategy);
    }
}

#[test]
fn what_keeps_an_update_from_being_made_has_a_word() {
    let unanswered = super::Unanswered { tag: "1.0".parse().unwrap() };
    assert_eq!(unanswered.reason(), "NotInspected");
    let tag = |text: &str| text.parse::<Tag>().unwrap();
    let downgrade = HoldReason::WouldDowngrade { current: tag("2"), best: tag("1") };
    let reverted = HoldReason::Reverted { now: "1".to_owned(), wanted: "2".to_owned() };
    assert_eq!((downgrade.reason(), reverted.reason()), ("WouldDowngrade", "Reverted"));
}

/// The numbers of the log line "found … from … tags eligible for consideration".
#[test]
fn lists_are_counted() {
    #[rustfmt::skip]
    let rows = [
        // strategy, image, ignoreTags, tags listed, listed, passed the filters, candidates
        ("semver", "app:^1", "dev*", "1.0.0 1.1.0 2.0.0 latest dev-1", 5, 4, 2),
        ("semver", "app",    "*",    "1.0.0 1.1.0",                    2, 0, 0),
        ("alphabetical", "app", "",  "a",                              1, 1, 1),
        ("digest", "app:a",  "",     "a b",                            2, 1, 1),
        ("semver", "app",    "",     "",                               0, 0, 0),
    ];
    for (strategy, image, ignore, tags, all, considered, candidates) in rows {
        let tags = listed(tags);
        assert_eq!((tags.len(), tags.is_empty()), (all, all == 0), "{image}");
        let list = shortlist(&asked(strategy, image, "", ignore).policy, &tags);
        assert_eq!((list.len(), list.is_empty()), (all, all == 0), "{image}");
        assert_eq!((list.considered(), list.candidates.len()), (considered, candidates), "{image}");
    }
}

/// Without its answers a list decides nothing, rather than by name.
#[test]
fn a_list_that_was_not_inspected_decides_nothing() {
    let asked = asked("newest-build", "app", "", "");
    let list = Arc::new(shortlist(&asked.policy, &listed("a b")));
    let decision = decide(&list, &asked.policy, &asked.image, Some(&running("a")), &options());
    assert_eq!(decision.verdict, Verdict::NoCandidate(NoCandidate::NotInspected));
    let fates: Vec<_> = explain(&decision, None).lines().map(|line| line.fate.word()).collect();
    assert_eq!(fates, ["NotInspected", "NotInspected"]);
}

/// Spec 10 §5.4: places count in the listing as the registry gives it.
#[test]
fn a_sorted_listing_needs_no_dates() {
    let rows = [(ListOrder::LatestFirst, "update to m"), (ListOrder::LatestLast, "update to k")];
    for (order, expected) in rows {
        let asked = asked_of(DateSource::ListOrder(order), "newest-build", "app", "", "z");
        let list = Arc::new(shortlist(&asked.policy, &listed("z m a m k")));
        let decision = decide(&list, &asked.policy, &asked.image, None, &options());
        assert_eq!(decision.verdict.to_string(), expected);
    }
}

/// Spec 10 §7.2, §9, UPD-014 to UPD-017.
#[test]
fn a_tag_is_followed_by_its_digest() {
    #[rustfmt::skip]
    let rows = [
        // current, answer, what comes of it
        ("latest",            "latest=sha256:new", "update to latest@sha256:new; other is not the tag that the digest strategy follows"),
        ("latest@sha256:old", "latest=sha256:new", "update to latest@sha256:new; other is not the tag that the digest strategy follows"),
        ("latest@sha256:new", "latest=sha256:new", "up to date; other is not the tag that the digest strategy follows"),
        ("other@sha256:new",  "latest=sha256:new", "up to date; other (current) is not the tag that the digest strategy follows"),
        ("@sha256:new",       "latest=sha256:new", "up to date; other is not the tag that the digest strategy follows"),
        ("",                  "latest=sha256:new", "update to latest@sha256:new; other is not the tag that the digest strategy follows"),
        ("latest",            "latest=undated",    "no candidate: no tag has an image manifest; latest (current) has no image manifest in the registry; other is not the tag that the digest strategy follows"),
        ("latest",            "latest=gone",       "no candidate: no tag has an image manifest; latest (current) has no image manifest in the registry; other is not the tag that the digest strategy follows"),
    ];
    let asked = asked("digest", "app:latest", "", "");
    for (current, told_of, expected) in rows {
        let current = match current {
            "@sha256:new" => Current {
                reference: Some("app@sha256:new".parse().unwrap()),
                source: CurrentSource::Live,
            },
            tag => running(tag),
        };
        let list = inspected(&asked, "other latest", told_of).unwrap();
        let decision = decide(&list, &asked.policy, &asked.image, Some(&current), &options());
        assert_eq!(told(&decision, Some(&current)), expected, "{current:?}");
    }
}

#[test]
fn an_explanation_has_a_line_for_every_tag() {
    let asked = asked("semver", "app:^1", "", "*-rc*");
    let tags = "latest 1.0.0 1.2.0 2.0.0 1.3.0-rc1 1.3.0-beta v1.2.0";
    let list = Arc::new(shortlist(&asked.policy, &listed(tags)));
    let current = running("1.1.0");
    let decision = decide(&list, &asked.policy, &asked.image, Some(&current), &options());
    let tag = current.reference.as_ref().and_then(|reference| reference.tag.as_ref());
    let explanation = explain(&decision, tag);
    let expected = "\
update to v1.2.0; 3 candidates, 4 rejected (1 Ignored, 1 NotSemver, 2 OutsideConstraint)
  v1.2.0 is chosen
  1.2.0 is outranked by v1.2.0
  1.0.0 is outranked by v1.2.0
  1.3.0-beta is a pre-release, and the constraint names none
  1.3.0-rc1 is matched by ignoreTags
  2.0.0 is outside the constraint
  latest is not a semantic version
  1.1.0 (current) is not listed";
    assert_eq!(explanation.to_string(), expected);

    let data = serde_json::to_value(&explanation).unwrap();
    assert_eq!(data["verdict"], "update to v1.2.0");
    assert_eq!(data["current"], "1.1.0");
    assert_eq!(data["tags"][1]["by"], "v1.2.0");
    let words = data["tags"].as_array().unwrap().iter().map(|tag| tag["verdict"].as_str().unwrap());
    let words: Vec<_> = words.collect();
    #[rustfmt::skip]
    assert_eq!(words, ["Chosen", "Outranked", "Outranked", "OutsideConstraint", "Ignored", "OutsideConstraint", "NotSemver"]);
}

#[test]
fn an_explanation_tells_the_dates_that_decided() {
    let asked = asked("newest-build", "app", "", "");
    let list = inspected(&asked, "a b c", "a=2 b=1 c=gone").unwrap();
    let decision = decide(&list, &asked.policy, &asked.image, Some(&running("a")), &options());
    let tag = "a".parse().unwrap();
    let explanation = explain(&decision, Some(&tag));
    let expected = "\
up to date; 2 candidates, 1 rejected (1 NoManifest)
  a (current) [2024-03-02T00:00:00Z] is kept
  b [2024-03-01T00:00:00Z] is outranked by a
  c has no image manifest in the registry";
    assert_eq!(explanation.to_string(), expected);
    let data = serde_json::to_value(&explanation).unwrap();
    assert_eq!(data["tags"][0]["date"], "2024-03-02T00:00:00Z");
    assert_eq!(data["tags"][0].get("pushed"), None);

    // Spec 40 B13: which dates they are is said.
    let asked = asked_of(DateSource::PushDate, "newest-build", "app", "", "");
    let list = inspected(&asked, "a b", "a=2 b=1").unwrap();
    let decision = decide(&list, &asked.policy, &asked.image, Some(&running("b")), &options());
    let explanation = explain(&decision, None);
    let expected = "\
update to a; 2 candidates
  a [pushed 2024-03-02T00:00:00Z] is chosen
  b [pushed 2024-03-01T00:00:00Z] is outranked by a";
    assert_eq!(explanation.to_string(), expected);
    assert_eq!(serde_json::to_value(&explanation).unwrap()["tags"][1]["pushed"], true);
}

/// Reading settings compiles nothing, and what 5,000 images ask in three ways is compiled three
/// times, however many shortlists and decisions need it.
#[test]
fn expressions_are_compiled_once_per_policy_on_first_use() {
    let compiled = || crate::regexp::COMPILED.get();
    let before = compiled();
    let mut policies = Policies::default();
    let image = |at: usize| {
        let filter = ["regexp:^8", "regexp:^[89]", "regexp:."][at % 3];
        let Asked { image, policy } = asked("semver", "app", filter, "*-rc [");
        let mut policy = Arc::new(policy);
        policies.share(&mut policy);
        (image, policy)
    };
    let images: Vec<_> = (0..5_000).map(image).collect();
    assert_eq!(compiled() - before, 0);
    assert!(images.iter().all(|(_, policy)| !policy.filter.is_compiled()));

    let current = running("8.1.0");
    for (image, policy) in &images {
        // The filter is asked about each tag, about the one that runs, and for findings.
        let list = Arc::new(shortlist(policy, &listed("8.0.0 7.0.0 8.2.0-rc")));
        let decision = decide(&list, policy, image, Some(&current), &options());
        assert!(matches!(decision.verdict, Verdict::Held(_)), "{}", decision.verdict);
        assert_eq!(findings(&decision, policy, image, Some(&current)).len(), 2);
    }
    assert_eq!(compiled() - before, 3);
    assert!(images.iter().all(|(_, policy)| policy.filter.is_compiled()));
}
