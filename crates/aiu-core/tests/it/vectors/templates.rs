//! Commit messages, branch names and the texts of requests.

use std::collections::BTreeMap;

use aiu_core::batch::AppName;
use aiu_core::image::{Alias, ConfiguredImage};
use aiu_core::template::{
    BranchData, BranchImage, CommitData, CommitImage, Template, branch_name, request_text,
    target_key,
};
use serde_json::{Value, json};

use super::{Answers, Case, Handler};

pub(super) const ANSWERS: Answers = Answers {
    kinds: &[
        ("commit", Handler::new(commit)),
        ("branch", Handler::new(branch).agreeing(agrees_on_text).obeying(git_accepts)),
        ("pr_text", Handler::new(request)),
        ("target_key", Handler::new(key_of_target)),
    ],
    deviations: &[(
        "templates/ea956300847f",
        "imaginary numbers are refused: nothing in a message or a branch name can need one",
    )],
};

/// One element of `in.changes`, as texts: some of its tags could not be tags.
struct Change<'c> {
    image: ConfiguredImage,
    old_tag: &'c str,
    new_tag: &'c str,
    labels: BTreeMap<String, String>,
}

fn changes(case: &Case) -> Vec<Change<'_>> {
    let changes = case.input["changes"].as_array().expect("a case has changes");
    changes.iter().map(Change::read).collect()
}

impl<'c> Change<'c> {
    fn read(change: &'c Value) -> Self {
        let text = |field: &str| change[field].as_str().unwrap_or_default();
        let shown = |digest, tag| if text(digest).is_empty() { text(tag) } else { text(digest) };
        Self {
            image: text("image").parse().expect("an image"),
            old_tag: shown("old_digest", "old_tag"),
            new_tag: shown("new_digest", "new_tag"),
            labels: serde_json::from_value(change["labels"].clone()).unwrap_or_default(),
        }
    }
}

fn commit(case: &Case) -> Value {
    let template = match Template::parse(case.text("template")) {
        Ok(template) => template,
        Err(error) => return json!({ "failure": "parse", "error": error.to_string() }),
    };
    let changes = changes(case);
    let images = changes.iter().map(|change| CommitImage {
        image: change.image.repository.path(),
        old_tag: change.old_tag,
        new_tag: change.new_tag,
        labels: &change.labels,
    });
    let data = CommitData { app_name: case.text("app_name"), changes: images.collect() };
    let message = template.commit_message(&data);
    match message.failure {
        None => json!({ "failure": null, "text": message.text }),
        Some(error) => {
            json!({ "failure": "execute", "text": message.text, "error": error.to_string() })
        }
    }
}

/// A branch that cannot be named is an empty text here.
fn branch(case: &Case) -> Value {
    let changes = changes(case);
    let images = changes.iter().map(|change| BranchImage {
        name: change.image.repository.path(),
        alias: change.image.alias.as_ref().map_or("", Alias::as_str),
        old_tag: change.old_tag,
        new_tag: change.new_tag,
    });
    let data = BranchData {
        images: images.collect(),
        app_namespace: case.text("app_namespace"),
        app_name: case.text("app_name"),
        target_key: case.text("target_key"),
    };
    let named =
        Template::parse(case.text("template")).map(|template| branch_name(&template, &data));
    json!({ "text": named.ok().and_then(Result::ok).map(|name| name.text).unwrap_or_default() })
}

/// How a failure is classed does not show; that there is no name does.
fn agrees_on_text(expected: &Value, answer: &Value) -> bool {
    expected["text"] == answer["text"]
}

/// The rules of `git check-ref-format`; no name at all is a clear error.
fn git_accepts(_: &Case, answer: &Value) -> bool {
    let name = answer["text"].as_str().expect("an answer has a text");
    let forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let component_is_fine = |component: &str| {
        let locks = component.strip_suffix(".lock").is_some();
        !component.is_empty() && !component.starts_with('.') && !locks
    };
    name.is_empty()
        || (name.len() <= 255
            && !name.contains(forbidden)
            && !name.contains("..")
            && !name.contains("@{")
            && !name.starts_with('-')
            && !name.ends_with('.')
            && name.split('/').all(component_is_fine))
}

fn request(case: &Case) -> Value {
    let app = AppName {
        namespace: case.text("app_namespace").into(),
        name: case.text("app_name").into(),
    };
    let request = request_text(case.text("message"), &app);
    json!({ "title": request.title, "body": request.body })
}

fn key_of_target(case: &Case) -> Value {
    let target = match case.text("target") {
        "" => case.text("kustomize_base"),
        path => path,
    };
    json!({ "key": target_key(case.text("repo"), case.text("branch"), target) })
}
