//! Commit messages (spec 30 §5.1).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::engine::Value;
use super::{RenderError, Template};
use crate::batch::ImageChange;
use crate::image::TagRef;

/// The text of the template that is used when none is configured.
pub const DEFAULT_COMMIT_MESSAGE: &str = "build: automatic update of {{ .AppName }}

{{ range .AppChanges -}}
updates image {{ .Image }} tag '{{ .OldTag }}' to '{{ .NewTag }}'
{{ end -}}
";

/// What a template for commit messages speaks of: `.AppName` and `.AppChanges`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitData<'a> {
    /// The Application's name, without its namespace.
    pub app_name: &'a str,
    /// Its changes, in configured order.
    pub changes: Vec<CommitImage<'a>>,
}

/// One of `.AppChanges`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitImage<'a> {
    /// `.Image`: the repository's path, without registry.
    pub image: &'a str,
    /// `.OldTag`: the digest if there is one, else the tag; empty if nothing was known.
    pub old_tag: &'a str,
    /// `.NewTag`: the digest if there is one, else the tag.
    pub new_tag: &'a str,
    /// `.Labels` of the new image.
    pub labels: &'a BTreeMap<String, String>,
}

/// A message that a commit can be made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitMessage {
    /// The message.
    pub text: String,
    /// Why the template failed, in which case the message is a plain one.
    pub failure: Option<RenderError>,
}

impl Template {
    /// The template that is used when none is configured.
    pub fn default_commit_message() -> Self {
        static DEFAULT: LazyLock<Template> = LazyLock::new(|| {
            Template::parse(DEFAULT_COMMIT_MESSAGE).expect("the default is a valid template")
        });
        DEFAULT.clone()
    }

    /// The message for a commit. A template that fails does not stop it.
    pub fn commit_message(&self, data: &CommitData<'_>) -> CommitMessage {
        match self.render(&data.to_value()) {
            Ok(text) => CommitMessage { text, failure: None },
            Err(failure) => CommitMessage {
                text: format!("build: update of application {}", data.app_name),
                failure: Some(failure),
            },
        }
    }
}

/// The message that tells these changes of the Application `app`.
pub fn commit_message(template: &Template, app: &str, changes: &[ImageChange]) -> CommitMessage {
    template.commit_message(&CommitData::new(app, changes))
}

impl<'a> CommitData<'a> {
    /// The data for these changes of the Application `app_name`.
    pub fn new(app_name: &'a str, changes: &'a [ImageChange]) -> Self {
        let changes = changes.iter().map(|change| CommitImage {
            image: change.to.repository.path(),
            old_tag: old_tag(change),
            new_tag: new_tag(change),
            labels: &change.labels,
        });
        Self { app_name, changes: changes.collect() }
    }

    fn to_value(&self) -> Value {
        Value::record(
            "argocd.commitMessageTemplate",
            vec![
                ("AppName", Value::text(self.app_name)),
                ("AppChanges", Value::list(self.changes.iter().map(CommitImage::to_value))),
            ],
        )
    }
}

impl CommitImage<'_> {
    fn to_value(&self) -> Value {
        Value::record(
            "argocd.commitMessageChange",
            vec![
                ("Image", Value::text(self.image)),
                ("OldTag", Value::text(self.old_tag)),
                ("NewTag", Value::text(self.new_tag)),
                ("Labels", Value::map(self.labels)),
            ],
        )
    }
}

/// What the target said before, for messages.
pub(super) fn old_tag(change: &ImageChange) -> &str {
    change.from.as_ref().and_then(|from| from.tag.as_ref()).map_or("", TagRef::short)
}

/// What the target shall say, for messages.
pub(super) fn new_tag(change: &ImageChange) -> &str {
    change.to.tag.as_ref().map_or("", TagRef::short)
}
