//! Argo CD's `Application`, as far as we read it.
//!
//! Only the fields that decide something are decoded, so that thousands of Applications fit
//! into little memory. Edits never go through these types: they would drop the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_core::batch::AppName;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

/// One Application (`argoproj.io/v1alpha1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Application {
    /// Name, namespace, labels and annotations.
    pub metadata: Metadata,
    /// What is deployed.
    #[serde(default)]
    pub spec: ApplicationSpec,
    /// What Argo CD found; absent in a folder of manifests.
    #[serde(default)]
    pub status: Option<ApplicationStatus>,
}

/// The metadata that selection and annotations need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Metadata {
    /// The object's name.
    #[serde(default)]
    pub name: String,
    /// The object's namespace; absent in many manifests.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Labels, for label selectors.
    #[serde(default, deserialize_with = "null_is_default")]
    pub labels: BTreeMap<String, String>,
    /// Annotations; those with our prefix are settings.
    #[serde(default, deserialize_with = "null_is_default")]
    pub annotations: BTreeMap<String, String>,
}

/// The part of `spec` that says where manifests come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationSpec {
    /// The Argo CD project, which limits repository credentials.
    #[serde(default)]
    pub project: Option<String>,
    /// The only source of a single-source Application.
    #[serde(default)]
    pub source: Option<Source>,
    /// The sources of a multi-source Application.
    #[serde(default, deserialize_with = "null_is_default")]
    pub sources: Vec<Source>,
    /// The hydrator, whose dry source is what people edit.
    #[serde(default)]
    pub source_hydrator: Option<SourceHydrator>,
}

/// Where manifests come from and which tool renders them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The git repository or chart registry.
    #[serde(default, rename = "repoURL")]
    pub repo_url: String,
    /// The folder inside the repository.
    #[serde(default)]
    pub path: Option<String>,
    /// Branch, tag, commit or chart version.
    #[serde(default)]
    pub target_revision: Option<String>,
    /// The chart's name, where the source is a chart registry.
    #[serde(default)]
    pub chart: Option<String>,
    /// Whether Helm settings are present.
    #[serde(default, deserialize_with = "is_present")]
    pub helm: bool,
    /// Whether Kustomize settings are present.
    #[serde(default, deserialize_with = "is_present")]
    pub kustomize: bool,
    /// Whether plugin settings are present.
    #[serde(default, deserialize_with = "is_present")]
    pub plugin: bool,
    /// Settings of a folder of plain manifests.
    #[serde(default)]
    pub directory: Option<DirectorySettings>,
}

/// How the files of a folder of plain manifests are found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct DirectorySettings {
    /// Whether folders inside the folder count too.
    #[serde(default, deserialize_with = "null_is_default")]
    pub recurse: bool,
    /// Only files that match.
    #[serde(default)]
    pub include: Option<String>,
    /// No files that match.
    #[serde(default)]
    pub exclude: Option<String>,
}

/// Argo CD's source hydrator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceHydrator {
    /// The source before rendering.
    pub dry_source: Source,
}

/// What Argo CD reports about an Application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationStatus {
    /// The type of the only source.
    #[serde(default)]
    pub source_type: Option<String>,
    /// The types of several sources, in their order.
    #[serde(default, deserialize_with = "null_is_default")]
    pub source_types: Vec<String>,
    /// What runs.
    #[serde(default, deserialize_with = "null_is_default")]
    pub summary: Summary,
}

/// The summary of what runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Summary {
    /// The image references of all running containers.
    #[serde(default, deserialize_with = "null_is_default")]
    pub images: Vec<String>,
}

impl Application {
    /// Namespace and name; `default_namespace` stands in where the manifest names none.
    pub fn full_name(&self, default_namespace: &str) -> AppName {
        AppName {
            namespace: Arc::from(self.metadata.namespace.as_deref().unwrap_or(default_namespace)),
            name: Arc::from(self.metadata.name.as_str()),
        }
    }
}

/// `helm: {}` and `helm: {…}` are present, an absent or null key is not. The content is
/// read by the editor, from the text.
fn is_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<IgnoredAny>::deserialize(deserializer)?.is_some())
}

/// Reads `null` as the empty value: manifests written by tools hold `labels: null`.
fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_counts_as_present_even_when_it_is_empty() {
        let rows = [
            ("{repoURL: u, helm: {}}", (true, false)),
            ("{repoURL: u, helm: {parameters: [{name: a, value: b}]}}", (true, false)),
            ("{repoURL: u, kustomize: {images: [a:1]}}", (false, true)),
            ("{repoURL: u, helm: null}", (false, false)),
            ("{repoURL: u}", (false, false)),
        ];
        for (text, expected) in rows {
            let source: Source = serde_saphyr::from_str(text).unwrap();
            assert_eq!((source.helm, source.kustomize), expected, "{text}");
        }
    }

    #[test]
    fn revisions_keep_their_spelling() {
        let source: Source = serde_saphyr::from_str("{repoURL: u, targetRevision: 1.10}").unwrap();
        assert_eq!(source.target_revision.as_deref(), Some("1.10"));
    }
}
