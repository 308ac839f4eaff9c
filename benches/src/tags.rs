//! Parsing and ranking of tags.

use aiu_core::decide::{Shortlist, TagList, shortlist};
use aiu_core::image::{ConfiguredImage, Tag};
use aiu_core::policy::{DateSource, TagFilter, UpdatePolicy, UpdateStrategy};

/// Names as registries list them: releases, pre-releases, variants, commits, words.
pub fn names(count: u64) -> Vec<String> {
    let name = |n: u64| match n % 5 {
        0 => format!("v{}.{}.{}", n % 7, n % 90, n),
        1 => format!("{}.{}.{}-rc.{}", n % 7, n % 90, n, n % 3),
        2 => format!("{}.{}.{n}-alpine3.18", n % 7, n % 90),
        3 => format!("main-{n:07x}-{n}"),
        _ => format!("nightly-{n}"),
    };
    (0..count).map(name).collect()
}

/// A range with alternatives, an allowed expression and ignored patterns.
pub fn policy() -> UpdatePolicy {
    let image: ConfiguredImage = "app:>=1.2 <6 || ~6.1-0".parse().expect("an image");
    let (strategy, _) = UpdateStrategy::from_parts(&image, Some("semver"), DateSource::ImageConfig)
        .expect("a strategy");
    let filter = TagFilter::new(Some(r"regexp:^v?\d+\.\d+\.\d+"), ["*-rc.2", "v3.1?.*"]);
    UpdatePolicy::new(strategy, filter, Vec::new())
}

/// Parses the names and ranks them.
pub fn ranked(names: &[String], policy: &UpdatePolicy) -> Shortlist {
    let tags: TagList = names.iter().map(|name| name.parse::<Tag>().expect("a tag")).collect();
    shortlist(policy, &tags)
}
