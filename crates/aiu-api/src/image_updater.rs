//! The `ImageUpdater` resource, field by field as users write it (spec 20).
//!
//! Absent and empty are kept apart wherever merging depends on it (spec 20 §5).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::application::Metadata;

/// One `ImageUpdater` (`argocd-image-updater.argoproj.io/v1alpha1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ImageUpdater {
    /// Name and namespace.
    pub metadata: Metadata,
    /// What is wanted; absent in objects that the schema accepts all the same (spec 20 §1).
    #[serde(default)]
    pub spec: ImageUpdaterSpec,
}

/// What is wanted (spec 20 §3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageUpdaterSpec {
    /// Settings for all images.
    pub common_update_settings: Option<CommonUpdateSettings>,
    /// Write-back for all Applications.
    pub write_back_config: Option<WriteBackConfig>,
    /// Signature checks.
    pub images_verification: Option<ImagesVerification>,
    /// Which Applications, and which of their images.
    #[serde(default)]
    pub application_refs: Vec<ApplicationRef>,
}

/// Which Applications are meant (spec 20 §3.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationRef {
    /// A glob over the Application's name.
    pub name_pattern: String,
    /// Labels the Application must carry.
    pub label_selectors: Option<LabelSelector>,
    /// Whether images and settings come from the Application's annotations.
    pub use_annotations: Option<bool>,
    /// Settings for the images of these Applications.
    pub common_update_settings: Option<CommonUpdateSettings>,
    /// Write-back for these Applications.
    pub write_back_config: Option<WriteBackConfig>,
    /// Signature checks.
    pub images_verification: Option<ImagesVerification>,
    /// The images.
    #[serde(default)]
    pub images: Vec<ImageConfig>,
}

/// A standard Kubernetes label selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector {
    /// Labels with exactly these values.
    #[serde(default)]
    pub match_labels: BTreeMap<String, String>,
    /// Conditions over labels.
    #[serde(default)]
    pub match_expressions: Vec<LabelExpression>,
}

/// One condition over a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct LabelExpression {
    /// The label's key.
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: String,
    /// The values `In` and `NotIn` speak of.
    #[serde(default)]
    pub values: Vec<String>,
}

/// How a tag is chosen (spec 20 §2.1). Absent fields are inherited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommonUpdateSettings {
    /// `semver`, `newest-build`, `alphabetical`, `digest`, or an older name.
    pub update_strategy: Option<String>,
    /// Whether the image counts as in use although the Application does not run it.
    pub force_update: Option<bool>,
    /// `any` or `regexp:EXPRESSION`.
    pub allow_tags: Option<String>,
    /// Globs of tags to drop.
    pub ignore_tags: Option<Vec<String>>,
    /// Where the registry's credentials are.
    pub pull_secret: Option<String>,
    /// `os/arch[/variant]`.
    pub platforms: Option<Vec<String>>,
}

/// Where and how the result is written (spec 20 §2.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteBackConfig {
    /// `argocd`, `git` or `git:CREDENTIALS`.
    pub method: Option<String>,
    /// Details of the git method.
    pub git_config: Option<GitConfig>,
}

/// Details of the git method.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GitConfig {
    /// The repository, if it is not the Application's.
    pub repository: Option<String>,
    /// `base`, `base:push` or `:push`.
    pub branch: Option<String>,
    /// The file or folder that is edited.
    pub write_back_target: Option<String>,
    /// The forge that pull requests go to.
    pub pull_request: Option<PullRequest>,
}

/// Where pull requests are opened (spec 20 §2.2). Known to be present or not; an image whose
/// write-back asks for one is refused until requests are supported, never pushed directly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct PullRequest {}

/// Whether signatures must be checked (spec 20 §2.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ImagesVerification {
    /// On unless it says `false`.
    pub enabled: Option<bool>,
}

/// One image to keep up to date (spec 20 §3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageConfig {
    /// The image's short name.
    #[serde(default)]
    pub alias: String,
    /// `[registry/]name[:constraint]`.
    #[serde(default)]
    pub image_name: String,
    /// Settings of this image.
    pub common_update_settings: Option<CommonUpdateSettings>,
    /// Signature checks.
    pub images_verification: Option<ImagesVerification>,
    /// Under which keys the manifests hold it.
    pub manifest_targets: Option<ManifestTargets>,
}

/// Under which keys the manifests hold an image; at most one block is set (spec 20 §2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ManifestTargets {
    /// Helm parameters or values.
    pub helm: Option<TargetKeys>,
    /// A kustomize image name.
    pub kustomize: Option<KustomizeTarget>,
    /// Variables of a plugin.
    pub plugin: Option<TargetKeys>,
}

/// Keys of Helm values or plugin variables. A set `spec` makes the others irrelevant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct TargetKeys {
    /// Key of the repository.
    pub name: Option<String>,
    /// Key of the tag.
    pub tag: Option<String>,
    /// Key of the whole reference.
    pub spec: Option<String>,
}

/// What the manifests call an image that kustomize replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct KustomizeTarget {
    /// The name in the manifests.
    pub name: String,
}

impl CommonUpdateSettings {
    /// These settings where they are set, else `general` (spec 21 §4.1). Lists are replaced
    /// as a whole; an empty list is set.
    #[must_use]
    pub fn over(&self, general: &Self) -> Self {
        let (own, general) = (self.clone(), general.clone());
        Self {
            update_strategy: own.update_strategy.or(general.update_strategy),
            force_update: own.force_update.or(general.force_update),
            allow_tags: own.allow_tags.or(general.allow_tags),
            ignore_tags: own.ignore_tags.or(general.ignore_tags),
            pull_secret: own.pull_secret.or(general.pull_secret),
            platforms: own.platforms.or(general.platforms),
        }
    }
}

impl WriteBackConfig {
    /// These settings where they are set, else `general` (spec 21 §4.3).
    #[must_use]
    pub fn over(&self, general: &Self) -> Self {
        let git = match (self.git_config.clone(), general.git_config.clone()) {
            (Some(own), Some(general)) => Some(GitConfig {
                repository: own.repository.or(general.repository),
                branch: own.branch.or(general.branch),
                write_back_target: own.write_back_target.or(general.write_back_target),
                // As a whole, never key by key.
                pull_request: own.pull_request.or(general.pull_request),
            }),
            (own, general) => own.or(general),
        };
        Self { method: self.method.clone().or_else(|| general.method.clone()), git_config: git }
    }
}
