//! The `ImageUpdater` resource, field by field as users write it (spec 20).
//!
//! Absent and empty are kept apart wherever merging depends on it (spec 20 §5). The schema that
//! the API server checks objects with is derived from these types; [`crate::crd`] prints it.

mod resource;
mod schema;
mod status;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use resource::{KIND, PLURAL, VERSION};
pub use status::{Condition, ImageUpdaterStatus, RecentUpdate};

/// One `ImageUpdater` (`argocd-image-updater.argoproj.io/v1alpha1`).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct ImageUpdater {
    /// Name, namespace and the rest of what every object has.
    #[serde(default)]
    pub metadata: ObjectMeta,
    /// What is wanted; absent in objects that the schema accepts all the same (spec 20 §1).
    #[serde(default)]
    pub spec: ImageUpdaterSpec,
    /// What the last pass came to.
    #[serde(default)]
    pub status: Option<ImageUpdaterStatus>,
}

/// What is wanted (spec 20 §3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["applicationRefs"]))]
pub struct ImageUpdaterSpec {
    /// Settings for all images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub common_update_settings: Option<CommonUpdateSettings>,
    /// Write-back for all Applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_back_config: Option<WriteBackConfig>,
    /// Signature checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images_verification: Option<ImagesVerification>,
    /// Which Applications, and which of their images.
    #[serde(default)]
    #[schemars(transform = schema::list_by_name_pattern)]
    pub application_refs: Vec<ApplicationRef>,
}

/// Which Applications are meant (spec 20 §3.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::images_or_annotations)]
pub struct ApplicationRef {
    /// A glob over the Application's name.
    pub name_pattern: String,
    /// Labels the Application must carry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selectors: Option<LabelSelector>,
    /// Whether images and settings come from the Application's annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub use_annotations: Option<bool>,
    /// Settings for the images of these Applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub common_update_settings: Option<CommonUpdateSettings>,
    /// Write-back for these Applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_back_config: Option<WriteBackConfig>,
    /// Signature checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images_verification: Option<ImagesVerification>,
    /// The images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = schema::list_by_alias)]
    pub images: Vec<ImageConfig>,
}

/// A standard Kubernetes label selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct LabelSelector {
    /// Labels with exactly these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Conditions over labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = schema::atomic)]
    pub match_expressions: Vec<LabelExpression>,
}

/// One condition over a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabelExpression {
    /// The label's key.
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: String,
    /// The values `In` and `NotIn` speak of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = schema::atomic)]
    pub values: Vec<String>,
}

/// How a tag is chosen (spec 20 §2.1). Absent fields are inherited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommonUpdateSettings {
    /// `semver`, `newest-build`, `alphabetical`, `digest`, or an older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_strategy: Option<String>,
    /// Whether the image counts as in use although the Application does not run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force_update: Option<bool>,
    /// `any` or `regexp:EXPRESSION`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_tags: Option<String>,
    /// Globs of tags to drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::atomic)]
    pub ignore_tags: Option<Vec<String>>,
    /// Where the registry's credentials are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_secret: Option<String>,
    /// `os/arch[/variant]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::atomic)]
    pub platforms: Option<Vec<String>>,
}

/// Where and how the result is written (spec 20 §2.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WriteBackConfig {
    /// `argocd`, `git` or `git:CREDENTIALS`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = schema::METHOD))]
    pub method: Option<String>,
    /// Details of the git method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_config: Option<GitConfig>,
}

/// Details of the git method.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitConfig {
    /// The repository, if it is not the Application's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// `base`, `base:push` or `:push`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The file or folder that is edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_back_target: Option<String>,
    /// The forge that pull requests go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequest>,
}

/// Where pull requests are opened; exactly one forge is set (spec 20 §2.2, 40 B11). Known to be
/// present or not; an image whose write-back asks for one is refused until requests are
/// supported, never pushed directly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::one_forge)]
pub struct PullRequest {
    /// GitHub and GitHub Enterprise Server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub github: Option<Forge>,
    /// GitLab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gitlab: Option<Forge>,
    /// Gitea and Forgejo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gitea: Option<Forge>,
    /// Bitbucket Cloud and Data Center.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitbucket: Option<Forge>,
    /// Azure DevOps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure_dev_ops: Option<Forge>,
    /// Labels that a new request is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::request_labels)]
    pub labels: Option<Vec<String>>,
}

/// Says by its presence that requests go to a forge; has no settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Forge {}

/// Whether signatures must be checked (spec 20 §2.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::key_if_enabled)]
pub struct ImagesVerification {
    /// On unless it says `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub enabled: Option<bool>,
    /// The public key that images must be signed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosign_key: Option<CosignKey>,
}

/// Where a public key of cosign is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CosignKey {
    /// The Secret, in the namespace of the resource.
    pub secret_name: String,
    /// The key inside it.
    pub key: String,
}

/// One image to keep up to date (spec 20 §3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["alias", "imageName"]))]
pub struct ImageConfig {
    /// The image's short name.
    #[serde(default)]
    #[schemars(extend("pattern" = schema::ALIAS))]
    pub alias: String,
    /// `[registry/]name[:constraint]`.
    #[serde(default)]
    pub image_name: String,
    /// Settings of this image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub common_update_settings: Option<CommonUpdateSettings>,
    /// Signature checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images_verification: Option<ImagesVerification>,
    /// Under which keys the manifests hold it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest_targets: Option<ManifestTargets>,
}

/// Under which keys the manifests hold an image; at most one block is set (spec 20 §2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = schema::one_target)]
pub struct ManifestTargets {
    /// Helm parameters or values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub helm: Option<TargetKeys>,
    /// A kustomize image name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomize: Option<KustomizeTarget>,
    /// Variables of a plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::plugin_keys)]
    pub plugin: Option<TargetKeys>,
}

/// Keys of Helm values or plugin variables. A set `spec` makes the others irrelevant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetKeys {
    /// Key of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Key of the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Key of the whole reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
}

/// What the manifests call an image that kustomize replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

#[cfg(test)]
mod tests;
