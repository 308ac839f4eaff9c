//! What `test` was asked, by its flags (spec 22 §8; 40 B6).

use std::path::PathBuf;

use anyhow::Result;

use crate::line::Line;
use crate::settings::{Output, Reader};

/// The flags of `test`, and what stood behind it.
pub(super) struct Test {
    /// Exactly one is right.
    pub(super) image: Vec<String>,
    pub(super) semver_constraint: String,
    pub(super) allow_tags: String,
    pub(super) ignore_tags: Vec<String>,
    pub(super) update_strategy: String,
    pub(super) registries_conf_path: String,
    pub(super) loglevel: String,
    pub(super) kubeconfig: String,
    pub(super) manifests: Option<PathBuf>,
    pub(super) credentials: String,
    pub(super) platforms: Vec<String>,
    /// Only if it was given.
    pub(super) rate_limit: Option<i64>,
    pub(super) check: bool,
    pub(super) output: Option<Output>,
}

impl Test {
    pub(super) fn read(line: &Line, r: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            image: line.arguments.clone(),
            semver_constraint: r.text("semver-constraint")?,
            allow_tags: r.text("allow-tags")?,
            ignore_tags: r.list("ignore-tags")?,
            update_strategy: r.text("update-strategy")?,
            registries_conf_path: r.text("registries-conf-path")?,
            loglevel: r.text("loglevel")?,
            kubeconfig: r.text("kubeconfig")?,
            manifests: r.some_text("manifests")?.map(PathBuf::from),
            credentials: r.text("credentials")?,
            platforms: r.list("platforms")?,
            rate_limit: line.given("rate-limit").and_then(|rate| rate.parse().ok()),
            check: r.switch("check")?,
            output: match r.text("output")?.as_str() {
                "text" => Some(Output::Text),
                "json" => Some(Output::Json),
                _ => None,
            },
        })
    }
}
