//! Names of images: read, printed, compared.

use aiu_core::decide::find_live;
use aiu_core::image::{
    ConfiguredImage, Digest, ImageReference, KustomizeImage, Registry, Repository, TagRef,
    split_long_form,
};
use serde_json::{Value, json};

use super::{Answers, Case, Handler};

pub(super) const ANSWERS: Answers = Answers {
    kinds: &[
        (
            "parse",
            Handler::new(parse).agreeing(nothing_written_is_no_tag).obeying(obeys_parse_rule),
        ),
        ("render", Handler::new(render).agreeing(rendered_alike)),
        ("copy", Handler::new(copy).agreeing(rendered_alike)),
        ("pair", Handler::new(pair)),
        ("find", Handler::new(find)),
        ("kustomize_match", Handler::new(kustomize_match)),
        ("kustomize_entry", Handler::new(kustomize_entry)),
        ("long_form", Handler::new(long_form)),
        ("webhook", Handler::new(webhook)),
    ],
    deviations: &[
        ("image_ref/4f5413e230c0", NO_NAME),
        ("image_ref/c0d109fa7720", NO_NAME),
        ("image_ref/0b5dbf35cebf", NO_NAME),
        ("image_ref/1faf1207379f", NO_NAME),
        ("image_ref/74633789f1c7", NO_NAME),
        ("image_ref/8aaabfcdd2cc", NO_NAME),
        ("image_ref/a08790498c6e", NO_NAME),
        ("image_ref/a12d8552d18f", NO_NAME),
        ("image_ref/2e1888eb2201", NAMED_LIKE_THE_HUB),
        ("image_ref/862d45e1b1dd", NAMED_LIKE_THE_HUB),
        ("image_ref/ac7878a5f3c6", SEVERAL_COLONS),
        ("image_ref/5144b917772e", SEVERAL_COLONS),
        ("image_ref/42342bd6217e", SEVERAL_COLONS),
        ("image_ref/58219b71dd66", LINE_BREAK),
        ("image_ref/0ad9fa3558e4", DIGEST_ENTRY),
        ("image_ref/dc9fcb6317aa", DIGEST_ENTRY),
        ("image_ref/a59d1b730440", DIGEST_ENTRY),
        ("image_ref/cfc816e0c2f2", DIGEST_ENTRY),
        ("image_ref/1e4137013bec", DIGEST_ENTRY),
        ("image_ref/28395bdffd46", DIGEST_ENTRY),
        ("image_ref/7e617af59989", DIGEST_ENTRY),
    ],
};

const NO_NAME: &str = "an image without a name is refused, so that nothing is asked for it";
const NAMED_LIKE_THE_HUB: &str =
    "an image called docker.io has no registry: printed as written, and the same by 10 F5";
const SEVERAL_COLONS: &str = "the name ends at the first colon, whether a digest follows or not";
const LINE_BREAK: &str = "a line break means that a comma is missing in the list (21 §5.2)";
const DIGEST_ENTRY: &str =
    "entries of one repository are the same entry (10 F20); else a digest would stay beside a tag";

fn configured(case: &Case, field: &str) -> Result<ConfiguredImage, Value> {
    let refused = |error| json!({ "error": format!("{error}") });
    case.text(field).parse::<ConfiguredImage>().map_err(refused)
}

fn parse(case: &Case) -> Value {
    let image = match configured(case, "identifier") {
        Ok(image) => image,
        Err(refused) => return refused,
    };
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let tag = (image.constraint.is_some() || image.digest.is_some()).then(|| {
        json!({
            "name": text(image.constraint.as_deref()),
            "digest": text(image.digest.as_ref().map(Digest::as_str)),
        })
    });
    json!({
        "alias": text(image.alias.as_ref().map(aiu_core::image::Alias::as_str)),
        "registry": text(image.repository.registry().map(Registry::as_str)),
        "name": image.repository.path(),
        "tag": tag,
    })
}

/// The reference tells `name:` from `name`; both mean that no tag is given.
fn nothing_written_is_no_tag(expected: &Value, answer: &Value) -> bool {
    let mut expected = expected.clone();
    if expected["tag"] == json!({ "name": "", "digest": "" }) {
        expected["tag"] = Value::Null;
    }
    super::same_but_for_error_texts(&expected, answer)
}

/// The cases with a rule in words: URLs, and a host with a port before a short digest.
fn obeys_parse_rule(case: &Case, answer: &Value) -> bool {
    if let Some("10:IMG-052") = case.fault.as_deref() {
        answer["error"].is_string()
    } else {
        let registry = answer["registry"].as_str().unwrap_or_default();
        case.text("identifier").starts_with(registry) && registry.contains(':')
    }
}

/// The fields of a log line about an image (spec 10 §1.4).
fn log_fields(image: &ConfiguredImage) -> Value {
    let registry = image.repository.registry().map(ToString::to_string).unwrap_or_default();
    let mut fields =
        json!({ "image_registry": registry, "image_name": image.repository.to_string() });
    let optional = [
        ("image_alias", image.alias.as_ref().map(ToString::to_string)),
        ("image_tag", image.constraint.as_ref().map(ToString::to_string)),
        ("image_digest", image.digest.as_ref().map(ToString::to_string)),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            fields[name] = value.into();
        }
    }
    fields
}

fn render(case: &Case) -> Value {
    let image = match configured(case, "identifier") {
        Ok(image) => image,
        Err(refused) => return refused,
    };
    let unnamed = ConfiguredImage { alias: None, ..image.clone() };
    let tag_with_digest = match (&image.constraint, &image.digest) {
        (None, None) => String::new(),
        (None, Some(digest)) => TagRef::digest(digest.clone()).as_tag_value(),
        (Some(constraint), None) => constraint.to_string(),
        (Some(constraint), Some(digest)) => format!("{constraint}@{digest}"),
    };
    json!({
        "display": image.to_string(),
        "with_tag": unnamed.to_string(),
        "without_tag": image.repository.to_string(),
        "tag_with_digest": tag_with_digest,
        "log_fields": log_fields(&image),
    })
}

/// `original` is the text that was given, which nothing of ours repeats.
fn rendered_alike(expected: &Value, answer: &Value) -> bool {
    let mut expected = expected.clone();
    if let Some(fields) = expected.as_object_mut() {
        fields.remove("original");
    }
    super::same_but_for_error_texts(&expected, answer)
}

fn copy(case: &Case) -> Value {
    let image = configured(case, "identifier").expect("the cases name images");
    let text = |field: &str| case.input["new_tag"][field].as_str().filter(|text| !text.is_empty());
    let tag = match (text("name"), text("digest").map(Digest::new)) {
        (Some(name), Some(digest)) => Some(TagRef::pinned(name.parse().expect("a tag"), digest)),
        (Some(name), None) => Some(TagRef::tag(name.parse().expect("a tag"))),
        (None, digest) => digest.map(TagRef::digest),
    };
    let value = tag.as_ref().map(TagRef::as_tag_value).unwrap_or_default();
    let new = ImageReference { repository: image.repository, tag };
    let alias = image.alias.map(|alias| format!("{alias}=")).unwrap_or_default();
    json!({
        "display": format!("{alias}{new}"),
        "with_tag": new.to_string(),
        "tag_with_digest": value,
    })
}

fn pair(case: &Case) -> Value {
    let image = configured(case, "configured").expect("the cases name images");
    let live = configured(case, "live").expect("the cases name images");
    let same = image.repository.same_as(&live.repository, &Registry::docker_hub());
    json!({
        "lookup": same,
        "merge": same,
        "differs": !same,
        "differs_with_tag": !same || image.constraint != live.constraint,
    })
}

fn find(case: &Case) -> Value {
    let image = configured(case, "configured").expect("the cases name images");
    let kustomize: Option<ConfiguredImage> = case.text("kustomize_image").parse().ok();
    let live: Vec<ImageReference> = case
        .texts("live")
        .into_iter()
        .map(|text| text.split_once('=').map_or(text, |(_, image)| image))
        .map(|text| text.parse().expect("a live image"))
        .collect();
    let kustomize = kustomize.as_ref().map(|image| &image.repository);
    let place = find_live(&image, kustomize, &live, &Registry::docker_hub());
    json!({ "index": place.map_or(-1, |place| i64::try_from(place).expect("a short list")) })
}

fn kustomize_match(case: &Case) -> Value {
    json!({ "match": KustomizeImage::is_same_entry(case.text("entry"), case.text("query")) })
}

fn kustomize_entry(case: &Case) -> Value {
    let entry = KustomizeImage::read(case.text("entry"));
    json!({
        "name": &*entry.name,
        "newName": entry.new_name.as_deref().unwrap_or_default(),
        "newTag": entry.new_tag.as_deref().unwrap_or_default(),
        "digest": entry.digest.as_ref().map(Digest::as_str).unwrap_or_default(),
    })
}

fn long_form(case: &Case) -> Value {
    let name = case.text("text");
    let split = split_long_form(name);
    json!({ "long": split.is_some(), "short_form": split.map_or(name, |(_, short)| short) })
}

/// Whether a push event is about the image: a comparison like any other (spec 10 F25).
fn webhook(case: &Case) -> Value {
    let image = configured(case, "imageName").expect("the cases name images");
    let event = [case.text("event_registry"), case.text("event_repository")].join("/");
    let event: Repository = event.trim_start_matches('/').parse().expect("an event's repository");
    json!({ "kept": image.repository.same_as(&event, &Registry::docker_hub()) })
}
