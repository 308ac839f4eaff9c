//! Names of the branches that are pushed to (spec 30 §2.4 and its faults F6 and F7, spec 31
//! §2.1 and §2.2).

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::commit::{new_tag, old_tag};
use super::engine::Value;
use super::{RenderError, Template};
use crate::batch::{AppName, ImageChange};
use crate::image::Alias;

/// The template for the branches of pull and merge requests; it cannot be configured.
pub const REQUEST_BRANCH: &str = "image-updater-{{.TargetKey}}-{{.SHA256}}";

/// Longest name, in bytes: file systems hold no more in one path component.
const MAX_LENGTH: usize = 255;

/// What a template for branch names speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchData<'a> {
    /// `.Images`: one for each change, in configured order.
    pub images: Vec<BranchImage<'a>>,
    /// `.AppNamespace`
    pub app_namespace: &'a str,
    /// `.AppName`
    pub app_name: &'a str,
    /// `.TargetKey`, see [`target_key`].
    pub target_key: &'a str,
}

/// One of `.Images`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchImage<'a> {
    /// `.Name`: the repository's path, without registry.
    pub name: &'a str,
    /// `.Alias`; empty if the image has none.
    pub alias: &'a str,
    /// `.OldTag`: the digest if there is one, else the tag; empty if nothing was known.
    pub old_tag: &'a str,
    /// `.NewTag`: the digest if there is one, else the tag.
    pub new_tag: &'a str,
}

/// A name that git accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchName {
    /// The name.
    pub text: String,
    /// What the template gave, if that was too long.
    pub truncated_from: Option<String>,
}

/// Why no branch could be named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBranch {
    /// The template failed.
    #[error("git branch name could not be created from the template: {template}: {cause}")]
    Render {
        /// The template.
        template: String,
        /// Where it failed.
        cause: RenderError,
    },
    /// Nothing came of it that could be a name.
    #[error(
        "git branch name could not be created from the template: {template}: it gives an empty name"
    )]
    Empty {
        /// The template.
        template: String,
    },
}

impl InvalidBranch {
    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Render { cause, .. } => cause.reason(),
            Self::Empty { .. } => "TemplateFailed",
        }
    }
}

impl<'a> BranchData<'a> {
    /// The data for these changes of an Application.
    pub fn new(app: &'a AppName, target_key: &'a str, changes: &'a [ImageChange]) -> Self {
        let images = changes.iter().map(|change| BranchImage {
            name: change.to.repository.path(),
            alias: change.alias.as_ref().map_or("", Alias::as_str),
            old_tag: old_tag(change),
            new_tag: new_tag(change),
        });
        Self {
            images: images.collect(),
            app_namespace: &app.namespace,
            app_name: &app.name,
            target_key,
        }
    }

    /// `.SHA256`: hexadecimal, over `<name>-<old>-<new>,` for each change.
    pub fn sha256(&self) -> String {
        let mut text = String::new();
        for BranchImage { name, old_tag, new_tag, .. } in &self.images {
            let _ = write!(text, "{name}-{old_tag}-{new_tag},");
        }
        hexadecimal_sha256(&text)
    }

    fn to_value(&self) -> Value {
        Value::record(
            "argocd.branchNameTemplate",
            vec![
                ("Images", Value::list(self.images.iter().map(BranchImage::to_value))),
                ("SHA256", Value::text(&self.sha256())),
                ("AppNamespace", Value::text(self.app_namespace)),
                ("AppName", Value::text(self.app_name)),
                ("TargetKey", Value::text(self.target_key)),
            ],
        )
    }
}

impl BranchImage<'_> {
    fn to_value(&self) -> Value {
        Value::record(
            "argocd.imageChange",
            vec![
                ("Name", Value::text(self.name)),
                ("Alias", Value::text(self.alias)),
                ("OldTag", Value::text(self.old_tag)),
                ("NewTag", Value::text(self.new_tag)),
            ],
        )
    }
}

/// Names a branch. What git forbids in names is replaced, so that a digest can stand in
/// one (spec 30 F7); a name that git accepts stays as it is, up to 255 bytes.
pub fn branch_name(
    template: &Template,
    data: &BranchData<'_>,
) -> Result<BranchName, InvalidBranch> {
    let rendered = template
        .render(&data.to_value())
        .map_err(|cause| InvalidBranch::Render { template: template.as_str().to_owned(), cause })?;
    let cut = &rendered[..rendered.floor_char_boundary(MAX_LENGTH)];
    let text = accepted_by_git(cut);
    if text.is_empty() {
        return Err(InvalidBranch::Empty { template: template.as_str().to_owned() });
    }
    let truncated_from = (cut.len() < rendered.len()).then_some(rendered);
    Ok(BranchName { text, truncated_from })
}

/// The nearest name that `git check-ref-format --branch` accepts: `-` for what may not
/// stand somewhere, nothing for empty path components and leading dashes.
fn accepted_by_git(name: &str) -> String {
    let is_forbidden = |c: char| {
        c.is_ascii_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\')
    };
    let name = name.replace(is_forbidden, "-").replace("..", "--").replace("@{", "@-");
    let components = name.split('/').filter(|component| !component.is_empty());
    let components: Vec<String> = components.map(accepted_component).collect();
    let mut name = components.join("/");
    if name.ends_with('.') {
        name.pop();
        name.push('-');
    }
    name.trim_start_matches(['-', '.', '/']).to_owned()
}

/// No component may begin with a dot or end in `.lock`.
fn accepted_component(component: &str) -> String {
    let mut accepted = match component.strip_prefix('.') {
        Some(rest) => format!("-{rest}"),
        None => component.to_owned(),
    };
    if let Some(stem) = accepted.strip_suffix(".lock") {
        accepted = format!("{stem}-lock");
    }
    accepted
}

/// Tells write-back targets apart in the names of branches: eight hexadecimal digits (spec
/// 31 §2.1). `branch` is the base as configured, empty if it is not; `target` the path of
/// the file, or the folder of a kustomization.
pub fn target_key(repository: &str, branch: &str, target: &str) -> String {
    let mut key = hexadecimal_sha256(&format!("{repository}|{branch}|{target}"));
    key.truncate(8);
    key
}

fn hexadecimal_sha256(text: &str) -> String {
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(text) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
