//! The form of a scenario file.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde::Deserialize;

/// Files by path.
pub type Files = BTreeMap<String, String>;

/// Branches by name.
pub type Branches = BTreeMap<String, Files>;

/// One scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it shows, as one sentence.
    pub title: String,
    /// What there is at the start.
    pub given: Given,
    /// What is done, in order, and what must come of each.
    pub steps: Vec<Step>,
}

/// What there is at the start.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Given {
    /// Tags by image name, host included. All hosts are answered by one registry.
    pub registry: BTreeMap<String, Vec<String>>,
    /// How many tags a page of a listing holds.
    pub page_size: Option<usize>,
    /// Remotes by the URL that manifests use.
    pub git: BTreeMap<String, Branches>,
    /// The folder of manifests.
    pub manifests: Files,
}

/// One thing that is done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What is done.
    #[serde(rename = "do")]
    pub deed: Deed,
    /// What must come of it.
    #[serde(default)]
    pub then: Expected,
}

/// What can be done.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// One pass, in the same process as the passes before.
    Pass,
    /// Somebody pushes images: tags by image name.
    Push(BTreeMap<String, Vec<String>>),
    /// Somebody commits files: remote, branch, files.
    Commit(BTreeMap<String, Branches>),
    /// Somebody writes manifests.
    Write(Files),
    /// The registry goes away.
    StopRegistry,
    /// The registry answers every listing of these images with a status.
    Refuse(BTreeMap<String, u16>),
    /// A remote accepts no more pushes.
    ProtectRemote(String),
}

/// What must come of a step. What is not named is not looked at. The digest of what was pushed
/// under the tag `develop` is written `sha256:develop`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expected {
    /// Every image of the report: `namespace/application image` to its outcome in words.
    pub images: Option<BTreeMap<String, String>>,
    /// Texts that occur in what people are told.
    pub says: Vec<String>,
    /// How often the peers were asked during the step: `listings`, `ls-remote`, `fetch-tip`,
    /// `fetch-blobs`, `pushes`, `git-processes`, `file-writes`.
    pub counts: BTreeMap<String, u64>,
    /// How many commits each branch gained: remote, branch, number.
    pub commits: BTreeMap<String, BTreeMap<String, usize>>,
    /// Messages of the commits that each branch gained, oldest first.
    pub messages: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Files of a branch after the step, byte for byte: remote, branch, path.
    pub files: BTreeMap<String, Branches>,
    /// Manifests after the step, byte for byte.
    pub manifests: Files,
    /// Whether the pass counts as failed; `run --once` would end with 1.
    pub failed: Option<bool>,
}

impl Scenario {
    /// Reads a scenario; unknown keys are errors, since a misspelt expectation proves nothing.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        serde_saphyr::from_str(text).context("not a scenario")
    }
}
