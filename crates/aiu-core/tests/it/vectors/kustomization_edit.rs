//! Edits of kustomization files.

use aiu_core::edit::kustomization::set;
use aiu_core::image::KustomizeImage;
use serde_json::{Value, json};

use super::content::{documents, same_content};
use super::helm_values_edit::answer;
use super::{Answers, Case, Handler};

const EDIT: Handler = Handler::new(edit).agreeing(same_content).obeying(adds_no_second_element);

pub(super) const ANSWERS: Answers =
    Answers { kinds: &[("edit", EDIT), ("tag_value", EDIT)], deviations: &[] };

fn edit(case: &Case) -> Value {
    let entries: Vec<_> = case.texts("images").into_iter().map(KustomizeImage::read).collect();
    answer(case.text("yaml"), set(case.text("yaml"), &entries).map_err(|e| e.to_string()))
}

/// `32:unlisted alias element`: the element is an alias, and its anchored mapping changes.
fn adds_no_second_element(case: &Case, answer: &Value) -> bool {
    let entry = KustomizeImage::read(case.texts("images")[0]);
    let digest = entry.digest.as_ref().map(|digest| digest.as_str().into());
    let fields = [
        ("name", Some(entry.name)),
        ("newName", entry.new_name),
        ("newTag", entry.new_tag),
        ("digest", digest),
    ];
    let element: Value = fields
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), json!(&*value?))))
        .collect();
    let Some(documents) = answer["yaml"].as_str().and_then(documents) else { return false };
    documents.len() == 1
        && documents[0]["images"] == json!([element])
        && documents[0]["x"] == element
}
