//! One selection, from a listing to the tag: what `semver_pick` and `version_strategies` ask.

use std::fmt::Write as _;
use std::sync::Arc;

use aiu_core::decide::{
    DecideOptions, ImageMeta, Inspection, Metadata, NoCandidate, Reason, Shortlist, TagList,
    Verdict, decide, shortlist,
};
use aiu_core::image::{ConfiguredImage, Digest, Registry, Tag};
use aiu_core::policy::{DateSource, ListOrder, TagFilter, UpdatePolicy, UpdateStrategy};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Case;

/// Answers with `result`, `tag`, `digest` and `listed`, or with an error.
pub(super) fn select(case: &Case) -> Value {
    let image = image(case.text("constraint"));
    let strategy = case.input["strategy"].as_str();
    let policy = match UpdateStrategy::from_parts(&image, strategy, date_source(case)) {
        Ok((strategy, _)) => UpdatePolicy { strategy, filter: filter(case), platforms: vec![] },
        Err(error) => return json!({ "result": "error", "error": error.to_string() }),
    };
    let list = shortlist(&policy, &tags(case));
    let Ok(list) = list.inspected(&metadata(case, &policy.strategy)) else {
        return json!({ "result": "error" });
    };
    let listed = listed(&list);
    let options = DecideOptions {
        default_registry: Registry::docker_hub(),
        kustomize_name: false,
        allow_downgrade: false,
    };
    match decide(&Arc::new(list), &policy, &image, None, &options).verdict {
        Verdict::UpdateTo(winner) => {
            let mut answer = json!({ "result": "tag", "listed": listed });
            answer["tag"] = winner.name().expect("a tag was selected").as_str().into();
            if let Some(digest) = winner.pinned_digest() {
                answer["digest"] = digest.as_str().into();
            }
            answer
        }
        Verdict::NoCandidate(why) if why.is_failure() => {
            assert_eq!(why, NoCandidate::AllRejected(Reason::ConstraintInvalid));
            json!({ "result": "error", "error": why.to_string(), "listed": listed })
        }
        Verdict::NoCandidate(_) => json!({ "result": "none", "listed": listed }),
        verdict @ (Verdict::UpToDate | Verdict::Held(_)) => panic!("nothing runs, yet {verdict}"),
    }
}

/// Equal, but for tags that no registry can list (`1.0.0+a`, ` 1.2.4`).
pub(super) fn equal_but_for_impossible_tags(expected: &Value, answer: &Value) -> bool {
    let mut expected = expected.clone();
    if let Some(listed) = expected.get_mut("listed").and_then(Value::as_array_mut) {
        listed.retain(|tag| tag.as_str().is_some_and(|tag| tag.parse::<Tag>().is_ok()));
    }
    super::same_but_for_error_texts(&expected, answer)
}

fn image(constraint: &str) -> ConfiguredImage {
    let image: ConfiguredImage = "app=example.com/team/app".parse().expect("an image");
    ConfiguredImage { constraint: (!constraint.is_empty()).then(|| constraint.into()), ..image }
}

fn filter(case: &Case) -> TagFilter {
    TagFilter::new(case.input["allow_tags"].as_str(), case.texts("ignore_tags"))
}

/// The registry's sort mode, if it has one.
fn date_source(case: &Case) -> DateSource {
    match case.text("tag_sort_mode").to_ascii_lowercase().as_str() {
        "latest-first" => DateSource::ListOrder(ListOrder::LatestFirst),
        "latest-last" => DateSource::ListOrder(ListOrder::LatestLast),
        _ => DateSource::ImageConfig,
    }
}

/// The listed tags, be they names or objects with a name.
fn listed_tags(case: &Case) -> impl Iterator<Item = (Tag, &Value)> {
    let tags = case.input["tags"].as_array().expect("a case lists tags");
    tags.iter().filter_map(|tag| {
        let name = tag.as_str().or_else(|| tag["name"].as_str()).expect("a tag has a name");
        Some((name.parse().ok()?, tag))
    })
}

fn tags(case: &Case) -> TagList {
    listed_tags(case).map(|(tag, _)| tag).collect()
}

/// What the registry answers about each tag; nothing where the fetch fails in passing. Only
/// dates are read from the configuration, whose fetch is the one that `metadata_error` fails.
fn metadata(case: &Case, strategy: &UpdateStrategy) -> Metadata {
    let needs_configuration = !matches!(strategy, UpdateStrategy::Digest(_));
    let answers = listed_tags(case).filter_map(|(tag, told)| {
        let inspection = match told["meta"].as_str() {
            Some("manifest_error") => return None,
            Some("metadata_error") if needs_configuration => return None,
            Some("none") => Inspection::WrongPlatform,
            _ => Inspection::Image(image_meta(told)),
        };
        Some((tag, inspection))
    });
    answers.collect()
}

/// A missing date is the zero time, a digest is told by the text it is the digest of.
fn image_meta(told: &Value) -> ImageMeta {
    const ZERO_TIME: &str = "0001-01-01T00:00:00Z";
    /// Later than any time we can hold, by a day.
    const END_OF_TIME: &str = "9999-12-31T23:59:59Z";
    let created = match told["date"].as_str().unwrap_or(ZERO_TIME) {
        END_OF_TIME => Timestamp::MAX,
        date => date.parse().expect("a date"),
    };
    let hash = Sha256::digest(told["digest"].as_str().unwrap_or_default());
    let mut digest = String::from("sha256:");
    for byte in hash {
        let _ = write!(digest, "{byte:02x}");
    }
    ImageMeta { created: Some(created), digest: Some(Digest::new(&digest)), ..ImageMeta::default() }
}

/// The tags that the reference hands to its strategies, in byte order.
fn listed(list: &Shortlist) -> Vec<String> {
    let rejected = list.rejected.iter().filter(|rejection| rejection.reason.is_of_strategy());
    let candidates = list.candidates.iter().map(|candidate| &candidate.tag);
    let mut tags: Vec<_> =
        candidates.chain(rejected.map(|rejection| &rejection.tag)).map(Tag::to_string).collect();
    assert_eq!(tags.len(), list.considered());
    tags.sort_unstable();
    tags
}
