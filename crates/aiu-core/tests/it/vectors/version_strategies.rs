//! The other strategies, and whether what they select is an update.

use aiu_core::decide::{needs_update, reselect_live};
use aiu_core::image::{ConfiguredImage, Digest, ImageReference, Registry, TagRef};
use aiu_core::policy::{DateSource, UpdateStrategy};
use serde_json::{Value, json};

use super::selection::{equal_but_for_impossible_tags, select};
use super::{Answers, Case, Handler};

const SELECT: Handler = Handler::new(select).agreeing(equal_but_for_impossible_tags);

pub(super) const ANSWERS: Answers = Answers {
    kinds: &[
        ("select", SELECT),
        ("sorted_registry", SELECT),
        ("filtered", SELECT),
        ("needs_update", Handler::new(needs_update_of)),
        ("reselect_live", Handler::new(reselect)),
        ("strategy_name", Handler::new(strategy_name)),
    ],
    deviations: &[],
};

/// A tag and a digest, either of which may be empty; `None` for nothing at all.
fn tag_ref(told: &Value) -> Option<TagRef> {
    let text = |field: &str| told[field].as_str().filter(|text| !text.is_empty());
    let tag = text("tag").map(|tag| tag.parse().expect("a tag"));
    match (tag, text("digest").map(Digest::new)) {
        (Some(tag), Some(digest)) => Some(TagRef::pinned(tag, digest)),
        (Some(tag), None) => Some(TagRef::tag(tag)),
        (None, digest) => digest.map(TagRef::digest),
    }
}

fn configured(case: &Case) -> ConfiguredImage {
    case.text("configured").parse().expect("an image")
}

fn needs_update_of(case: &Case) -> Value {
    let image = configured(case);
    let live: ImageReference = case.text("live_image").parse().expect("an image");
    let strategy = match case.text("strategy") {
        "digest" => UpdateStrategy::Digest("any".parse().expect("a tag")),
        _ => UpdateStrategy::Alphabetical,
    };
    let moved = !case.text("kustomize_image").is_empty()
        && !live.repository.same_as(&image.repository, &Registry::docker_hub());
    let winner = tag_ref(&case.input["winner"]).expect("a winner");
    json!({ "update": needs_update(&strategy, tag_ref(&case.input["live"]).as_ref(), &winner, moved) })
}

fn reselect(case: &Case) -> Value {
    let repository =
        case.text("live_image").parse::<ImageReference>().expect("an image").repository;
    let live = case.input["live"].as_array().expect("a list");
    let live: Vec<_> = live
        .iter()
        .map(|told| ImageReference { repository: repository.clone(), tag: tag_ref(told) })
        .collect();
    let newest = Digest::new(case.text("newest_digest"));
    let place = reselect_live(&configured(case), &live, &newest, &Registry::docker_hub());
    json!({ "index": place.map_or(-1, |place| i64::try_from(place).expect("a short list")) })
}

fn strategy_name(case: &Case) -> Value {
    let image: ConfiguredImage = "app:latest".parse().expect("an image");
    let parts =
        UpdateStrategy::from_parts(&image, Some(case.text("value")), DateSource::ImageConfig);
    let (strategy, _) = parts.expect("a tag to follow is given");
    json!({ "strategy": strategy.name() })
}
