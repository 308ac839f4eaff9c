//! Edits of kustomization files.

use aiu_core::edit::kustomization::{ImageEntry, set};
use serde_json::{Value, json};

use super::content::{documents, same_content};
use super::helm_values_edit::answer;
use super::{Answers, Case, Handler};

const EDIT: Handler = Handler::new(edit).agreeing(same_content).obeying(adds_no_second_element);

pub(super) const ANSWERS: Answers =
    Answers { kinds: &[("edit", EDIT), ("tag_value", EDIT)], deviations: &[] };

fn edit(case: &Case) -> Value {
    let entries: Vec<_> = case.texts("images").into_iter().map(entry).collect();
    answer(case.text("yaml"), set(case.text("yaml"), &entries).map_err(|e| e.to_string()))
}

/// An override string, by hand: some tags here are none that the product accepts.
fn entry(text: &str) -> ImageEntry {
    let (name, image) = match text.split_once('=') {
        Some((name, image)) => (Some(name), image),
        None => (None, text),
    };
    let (image, digest) = match image.split_once('@') {
        Some((image, digest)) => (image, Some(digest.to_owned())),
        None => (image, None),
    };
    let path = image.rfind('/').map_or(0, |at| at + 1);
    let (image, tag) = match image[path..].split_once(':') {
        Some((last, tag)) => (&image[..path + last.len()], Some(tag.to_owned())),
        None => (image, None),
    };
    ImageEntry {
        name: name.unwrap_or(image).to_owned(),
        new_name: name.map(|_| image.to_owned()),
        new_tag: tag,
        digest,
    }
}

/// `32:unlisted alias element`: the element is an alias, and its anchored mapping changes.
fn adds_no_second_element(case: &Case, answer: &Value) -> bool {
    let entry = entry(case.texts("images")[0]);
    let fields =
        [("name", Some(entry.name)), ("newName", entry.new_name), ("newTag", entry.new_tag)];
    let fields = fields.into_iter().chain([("digest", entry.digest)]);
    let element: Value =
        fields.filter_map(|(key, value)| Some((key.to_owned(), json!(value?)))).collect();
    let Some(documents) = answer["yaml"].as_str().and_then(documents) else { return false };
    documents.len() == 1
        && documents[0]["images"] == json!([element])
        && documents[0]["x"] == element
}
