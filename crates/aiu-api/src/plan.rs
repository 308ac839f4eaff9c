//! The work of one pass, as checked values: what `resolve` makes of resource, annotations
//! and settings.

use std::sync::Arc;

use aiu_core::batch::{AppName, Author, BranchKey, FilePath};
use aiu_core::edit::{FileKind, HelmKeys, Keys, ManifestFolder, PluginKeys, SourceRef};
use aiu_core::image::{ConfiguredImage, ImageReference, Repository};
use aiu_core::outcome::{Failure, ImageKey};
use aiu_core::policy::UpdatePolicy;
use aiu_core::registries::Endpoint;
use aiu_core::report::Finding;

use crate::origin::Setting;
use crate::source::SourceType;
use crate::write_back::GitCredentials;

/// Everything that one pass looks at, ordered by [`ImageKey`], the images of an Application
/// in configured order.
#[derive(Clone, Debug, Default)]
pub struct WorkPlan {
    /// How many Applications have at least one usable image.
    pub applications: usize,
    /// The images to look at.
    pub images: Vec<TrackedImage>,
    /// Images and Applications whose settings cannot be used.
    pub dropped: Vec<Dropped>,
    /// What to tell about an Application although it is worked on.
    pub findings: Vec<(AppName, Finding)>,
}

/// Something that cannot be worked on, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The Application.
    pub application: AppName,
    /// The image as configured; `None` if it is the whole Application.
    pub image: Option<String>,
    /// Why.
    pub failure: Failure,
}

/// One image of one Application, with everything its update needs.
#[derive(Clone, Debug)]
pub struct TrackedImage {
    /// Its identity.
    pub key: ImageKey,
    /// What the user configured.
    pub configured: ConfiguredImage,
    /// How a tag is chosen; a policy that cannot be made is a failure of this image.
    pub policy: Result<Arc<UpdatePolicy>, Failure>,
    /// Whether it counts as in use although nothing runs it.
    pub force: bool,
    /// Where its registry answers.
    pub endpoint: Arc<Endpoint>,
    /// The repository's path there.
    pub wire_path: Arc<str>,
    /// Where credentials come from, if the user named a place for this image.
    pub pull_secret: Option<Arc<str>>,
    /// Where the key is with which it must be signed, if it must be.
    pub verification: Option<KeyPlace>,
    /// Under which keys it is written.
    pub names: TargetNames,
    /// Which source of the Application it belongs to.
    pub source: SourceRef,
    /// Where it is written.
    pub target: Target,
    /// Which level set each of its settings.
    pub settings: Arc<[Setting]>,
    /// What Argo CD says runs, if it says anything.
    pub live: Option<Arc<[ImageReference]>>,
}

/// The field of a Secret that holds a public key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPlace {
    /// The namespace: the Application's own.
    pub namespace: Arc<str>,
    /// The Secret.
    pub name: Arc<str>,
    /// Its field.
    pub field: Arc<str>,
}

/// Where an image is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The Application's own spec.
    Spec {
        /// What renders the source.
        source_type: SourceType,
    },
    /// A file in git.
    File(GitTarget),
}

/// A file in git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitTarget {
    /// Remote and branch.
    pub branch: BranchKey,
    /// Where the remote's credentials come from.
    pub credentials: GitCredentials,
    /// The Application's project, which limits Argo CD's credentials; empty if it names none.
    pub project: Arc<str>,
    /// The file.
    pub file: TargetFile,
    /// Who is named as the author of commits, if not the one who commits (spec 40 B16).
    pub author: Option<Author>,
}

/// The file, or how to find out which it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetFile {
    /// This path has this shape.
    Known(FilePath, FileKind),
    /// An override file whose shape follows the folder's content, as Argo CD finds it out:
    /// a chart makes it Helm, a kustomization Kustomize.
    ByFolder {
        /// The override file.
        file: FilePath,
        /// The source's folder.
        folder: FilePath,
        /// What is written if the folder is neither; `None` where that must be asked for.
        manifests: Option<ManifestFolder>,
    },
    /// The image fields of the plain manifests of a folder (spec 40 B3).
    Manifests(ManifestFolder),
}

/// The names under which manifests hold an image, for whatever kind of target it turns out
/// to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetNames {
    /// Helm parameters or paths of values.
    pub helm: HelmKeys,
    /// The kustomize name and, parsed, the image that it means.
    pub kustomize: Option<(Arc<str>, Option<Repository>)>,
    /// Variables of a plugin.
    pub plugin: Option<PluginKeys>,
    /// Whether the user named any of them.
    pub named: bool,
}

impl TargetNames {
    /// The names in a target of this kind.
    pub fn keys(&self, kind: FileKind) -> Keys {
        match kind {
            FileKind::HelmValues | FileKind::HelmOverride => Keys::Helm(self.helm.clone()),
            FileKind::PluginOverride => match &self.plugin {
                Some(plugin) => Keys::Plugin(plugin.clone()),
                None => Keys::Helm(self.helm.clone()),
            },
            FileKind::Kustomization | FileKind::KustomizeOverride => self.kustomize_keys(),
            FileKind::Manifest => Keys::Manifest,
        }
    }

    /// The names in an Application's spec.
    pub fn spec_keys(&self, source_type: SourceType) -> Keys {
        match (&self.plugin, source_type) {
            (Some(plugin), _) => Keys::Plugin(plugin.clone()),
            (None, SourceType::Helm | SourceType::Plugin) => Keys::Helm(self.helm.clone()),
            (None, SourceType::Kustomize | SourceType::Directory) => self.kustomize_keys(),
        }
    }

    fn kustomize_keys(&self) -> Keys {
        Keys::Kustomize { name: self.kustomize.as_ref().map(|(name, _)| name.clone()) }
    }
}
