//! Laws of choosing a tag, whatever is listed.

use std::collections::BTreeSet;
use std::sync::Arc;

use aiu_core::decide::{
    Current, CurrentSource, DecideOptions, Decision, ImageMeta, Inspection, Metadata, Shortlist,
    TagList, Verdict, decide, explain, findings, shortlist,
};
use aiu_core::image::{ConfiguredImage, Digest, ImageReference, Registry, Tag, TagRef};
use aiu_core::policy::{DateSource, ListOrder, Merit, TagFilter, UpdatePolicy, UpdateStrategy};
use aiu_core::version::Version;
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::select;

/// What one image asks for.
#[derive(Clone, Debug)]
struct Asked {
    image: ConfiguredImage,
    policy: UpdatePolicy,
}

fn options(allow_downgrade: bool) -> DecideOptions {
    DecideOptions {
        default_registry: Registry::docker_hub(),
        kustomize_name: false,
        allow_downgrade,
    }
}

/// Tags of which many are spellings of one version, and some are no versions.
fn any_tag() -> impl Strategy<Value = Tag> {
    let version = (
        select(vec!["", "v", "0"]),
        0..3_u8,
        0..3_u8,
        0..4_u8,
        select(vec!["", "-rc1", "-0", "-a.b"]),
    );
    let version = version.prop_map(|(prefix, major, minor, patch, suffix)| match patch {
        3 => format!("{prefix}{major}.{minor}{suffix}"),
        _ => format!("{prefix}{major}.{minor}.{patch}{suffix}"),
    });
    let word = select(vec!["latest", "main", "main-7f3a9c2", "_", "sha256-00.sig"]);
    prop_oneof![4 => version, 1 => word.prop_map(str::to_owned)]
        .prop_map(|text| text.parse().expect("a tag"))
}

/// A listing, with repetitions.
fn any_listing() -> impl Strategy<Value = Vec<Tag>> {
    prop::collection::vec(any_tag(), 0..12)
}

fn any_asked() -> impl Strategy<Value = Asked> {
    let constraint =
        select(vec!["", "*", "1.x", "~1.2", ">=1 <2", "*-0", "1.0.0", "nonsense", "main"]);
    let strategy = select(vec!["semver", "newest-build", "alphabetical", "digest"]);
    let allow = select(vec!["", "any", "regexp:^v", "regexp:[0-9]$", "broken"]);
    let ignore = select(vec!["", "*-rc*", "v1*", "["]);
    (constraint, strategy, allow, ignore).prop_filter_map(
        "the digest strategy needs a tag",
        |(constraint, strategy, allow, ignore)| {
            let image: ConfiguredImage = "app".parse().expect("an image");
            let constraint = (!constraint.is_empty()).then(|| constraint.into());
            let image = ConfiguredImage { constraint, ..image };
            let dates = DateSource::ImageConfig;
            let (strategy, _) = UpdateStrategy::from_parts(&image, Some(strategy), dates).ok()?;
            let filter = TagFilter::new(Some(allow), [ignore]);
            Some(Asked { image, policy: UpdatePolicy::new(strategy, filter, Vec::new()) })
        },
    )
}

/// Answers that depend on the tag alone: many dates are equal, some images are unusable.
fn answers(tags: &[Tag]) -> Metadata {
    let answer = |tag: &Tag| {
        let number: i64 = tag.as_str().bytes().map(i64::from).sum();
        let inspection = match number % 7 {
            0 => Inspection::WrongPlatform,
            1 => Inspection::NoManifest,
            kind => Inspection::Image(ImageMeta {
                created: (kind > 2).then(|| Timestamp::from_second(number % 3).expect("early")),
                digest: Some(Digest::new(&format!("sha256:{number:064}"))),
                ..ImageMeta::default()
            }),
        };
        (tag.clone(), inspection)
    };
    tags.iter().map(answer).collect()
}

fn inspected(asked: &Asked, tags: &[Tag]) -> Shortlist {
    let list = shortlist(&asked.policy, &tags.iter().cloned().collect());
    list.inspected(&answers(tags)).expect("every tag is answered")
}

fn decided(asked: &Asked, tags: &[Tag], current: Option<&Current>, downgrade: bool) -> Decision {
    let list = Arc::new(inspected(asked, tags));
    decide(&list, &asked.policy, &asked.image, current, &options(downgrade))
}

fn running(tag: TagRef) -> Current {
    let app: ImageReference = "app".parse().expect("an image");
    Current { reference: Some(app.with_tag(tag)), source: CurrentSource::Target }
}

proptest! {
    #[test]
    fn every_tag_ends_once_in_one_place(asked in any_asked(), tags in any_listing()) {
        let given: BTreeSet<&Tag> = tags.iter().collect();
        let fresh = shortlist(&asked.policy, &TagList::new(tags.clone()));
        let decision = decided(&asked, &tags, None, false);
        let explanation = explain(&decision, None);
        for ended in [
            fresh.tags().collect::<Vec<_>>(),
            decision.shortlist.tags().collect(),
            explanation.lines().map(|line| line.tag).collect(),
        ] {
            prop_assert_eq!(ended.len(), given.len());
            prop_assert_eq!(&ended.into_iter().collect::<BTreeSet<_>>(), &given);
        }
    }

    #[test]
    fn the_order_of_the_listing_does_not_matter(
        asked in any_asked(),
        (tags, shuffled) in any_listing().prop_flat_map(|tags| {
            (Just(tags.clone()), Just(tags).prop_shuffle())
        }),
    ) {
        prop_assert_eq!(inspected(&asked, &tags), inspected(&asked, &shuffled));
    }

    #[test]
    fn candidates_are_in_order_and_admitted(asked in any_asked(), tags in any_listing()) {
        let list = inspected(&asked, &tags);
        prop_assert!(list.candidates.is_sorted_by(|better, worse| better > worse));
        for candidate in &list.candidates {
            prop_assert_eq!(asked.policy.filter.judge(&candidate.tag), Ok(()));
            if let (UpdateStrategy::Semver(range), Merit::Version(version)) =
                (&asked.policy.strategy, &candidate.merit)
            {
                prop_assert_eq!(range.judge(version), Ok(()));
            }
        }
    }

    #[test]
    fn an_update_made_is_not_made_again(
        asked in any_asked(), tags in any_listing(), current in any_tag(), downgrade: bool,
    ) {
        let current = running(TagRef::tag(current));
        if let Verdict::UpdateTo(tag) = decided(&asked, &tags, Some(&current), downgrade).verdict {
            prop_assert!(tags.iter().any(|listed| Some(listed) == tag.name()));
            let again = decided(&asked, &tags, Some(&running(tag)), downgrade).verdict;
            prop_assert_eq!(again, Verdict::UpToDate);
        }
    }

    /// Spec 40 B17.
    #[test]
    fn only_the_switch_lowers_an_admitted_version(
        asked in any_asked(), tags in any_listing(), current in any_tag(),
    ) {
        let UpdateStrategy::Semver(range) = &asked.policy.strategy else { return Ok(()) };
        let at = Some(running(TagRef::tag(current.clone())));
        let held = decided(&asked, &tags, at.as_ref(), false).verdict;
        let switched = decided(&asked, &tags, at.as_ref(), true).verdict;
        prop_assert!(!matches!(switched, Verdict::Held(_)));
        if let Verdict::Held(_) = held {
            prop_assert!(matches!(switched, Verdict::UpdateTo(_)));
            prop_assert!(!tags.contains(&current));
        } else {
            prop_assert_eq!(&held, &switched);
        }
        if let (Verdict::UpdateTo(to), Some(from)) = (held, Version::of(&current))
            && asked.policy.filter.judge(&current).is_ok()
            && range.judge(&from).is_ok()
        {
            let to = to.name().and_then(Version::of).expect("semver chooses versions");
            prop_assert!(to >= from);
        }
    }

    #[test]
    fn a_sorted_listing_is_taken_at_its_word(tags in any_listing()) {
        let image: ConfiguredImage = "app".parse().expect("an image");
        let pick = |order| {
            let dates = DateSource::ListOrder(order);
            let (strategy, _) = UpdateStrategy::from_parts(&image, Some("newest-build"), dates)
                .expect("newest-build needs no constraint");
            let filter = TagFilter::new(None, ["*-rc*"]);
            let policy = UpdatePolicy::new(strategy, filter, Vec::new());
            let list = shortlist(&policy, &TagList::new(tags.clone()));
            list.candidates.into_iter().map(|candidate| candidate.tag).collect::<Vec<_>>()
        };
        let listed = TagList::new(tags.clone());
        let kept = listed.as_slice().iter().filter(|tag| !tag.as_str().contains("-rc"));
        let mut expected: Vec<Tag> = kept.cloned().collect();
        prop_assert_eq!(&pick(ListOrder::LatestFirst), &expected);
        expected.reverse();
        prop_assert_eq!(&pick(ListOrder::LatestLast), &expected);
    }

    #[test]
    fn a_choice_without_winner_says_why(asked in any_asked(), tags in any_listing()) {
        let decision = decided(&asked, &tags, None, false);
        if let Verdict::NoCandidate(why) = &decision.verdict {
            let told = findings(&decision, &asked.policy, &asked.image, None);
            prop_assert!(told.iter().any(|finding| finding.reason == why.reason()), "{:?}", told);
        }
    }

    #[test]
    fn references_are_printed_as_they_are_read(
        text in "((ghcr\\.io|localhost:5000|Reg)/)?[a-zA-Z_.-]{1,5}(/[a-z]{1,3})?(:[a-z0-9][a-z0-9.]{0,3})?(@(sha256:)?[a-f0-9]{1,4})?"
    ) {
        if let Ok(reference) = text.parse::<ImageReference>() {
            let printed = reference.to_string();
            prop_assert_eq!(&printed, &text);
            prop_assert_eq!(printed.parse::<ImageReference>(), Ok(reference));
        }
    }
}
