//! A listing of 20,000 tags is nothing special, and the core holds many of them.

use aiu_core::decide::{Shortlist, TagList, shortlist};
use aiu_core::image::{ConfiguredImage, Tag};
use aiu_core::policy::{DateSource, TagFilter, UpdatePolicy, UpdateStrategy};

const TAGS: u64 = 20_000;

/// Names as registries list them: releases, pre-releases, variants, commits, words.
fn names() -> Vec<String> {
    let name = |n: u64| match n % 5 {
        0 => format!("v{}.{}.{}", n % 7, n % 90, n),
        1 => format!("{}.{}.{}-rc.{}", n % 7, n % 90, n, n % 3),
        2 => format!("{}.{}.{n}-alpine3.18", n % 7, n % 90),
        3 => format!("main-{n:07x}-{n}"),
        _ => format!("nightly-{n}"),
    };
    (0..TAGS).map(name).collect()
}

fn policy() -> UpdatePolicy {
    let image: ConfiguredImage = "app:>=1.2 <6 || ~6.1-0".parse().expect("an image");
    let dates = DateSource::ImageConfig;
    let (strategy, _) =
        UpdateStrategy::from_parts(&image, Some("semver"), dates).expect("a strategy");
    let filter = TagFilter::new(Some(r"regexp:^v?\d+\.\d+\.\d+"), ["*-rc.2", "v3.1?.*"]);
    UpdatePolicy::new(strategy, filter, Vec::new())
}

fn ranked(names: &[String], policy: &UpdatePolicy) -> Shortlist {
    let tags: TagList = names.iter().map(|name| name.parse::<Tag>().expect("a tag")).collect();
    shortlist(policy, &tags)
}

#[test]
fn a_tag_costs_two_allocations_at_most() {
    let (names, policy) = (names(), policy());
    let (mut admitted, mut rejected) = (0, 0);
    let spent = allocation_counter::measure(|| {
        let list = ranked(&names, &policy);
        (admitted, rejected) = (list.candidates.len(), list.rejected.len());
    });
    assert_eq!((admitted, rejected), (2_794, 17_206), "some of each kind");
    assert!(spent.count_total <= 2 * TAGS, "{} allocations for {TAGS} tags", spent.count_total);
}
