//! Resource, annotations and defaults become a [`WorkPlan`] (spec 21 §3–§5, 10 §6).
//!
//! This is the one place where raw settings are read. What cannot be understood becomes a
//! [`Dropped`] entry with its reason, and never keeps another image from being updated.

mod names;

use std::sync::Arc;

use aiu_core::batch::{AppName, Author, BranchKey, FilePath, InvalidPath};
use aiu_core::edit::{FileKind, ManifestFolder, SourceRef};
use aiu_core::image::{
    ConfiguredImage, ImageReference, InvalidConfiguredImage, InvalidPlatform, Platform,
};
use aiu_core::outcome::{Failure, ImageKey, Stage};
use aiu_core::policy::{StrategyNote, TagFilter, UpdatePolicy, UpdateStrategy};
use aiu_core::registries::{Endpoint, Registries};
use aiu_core::report::{Finding, Severity};

use crate::annotations;
use crate::application::Application;
use crate::image_updater::{
    CommonUpdateSettings, ImageConfig, ImageUpdater, ImagesVerification, WriteBackConfig,
};
use crate::origin::{self, Layer, Level, Places, Setting};
use crate::plan::{Dropped, GitTarget, KeyPlace, Target, TargetFile, TrackedImage, WorkPlan};
use crate::select::Matched;
use crate::source::{Chosen, SourceType, choose, is_override_file};
use crate::write_back::{self, GitWriteBack, TargetSetting, WriteBack};

/// What resolving needs besides the objects.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// The registries.
    pub registries: &'a Registries,
    /// Namespace of objects that name none, and of Applications with short override names.
    pub namespace: &'a str,
    /// The platform that images are chosen for where the user names none.
    pub platform: &'a Platform,
}

/// Makes the plan of one resource.
pub fn resolve(updater: &ImageUpdater, matched: &[Matched<'_>], context: &Context<'_>) -> WorkPlan {
    let mut plan = WorkPlan::default();
    for matched in matched {
        let app = matched.application.full_name(context.namespace);
        let one = OneApplication { app, application: matched.application, context };
        one.plan(updater, matched, &mut plan);
    }
    plan
}

/// The effective settings of one Application.
struct Effective {
    images: Vec<ImageConfig>,
    settings: CommonUpdateSettings,
    write_back: WriteBackConfig,
    verification: Option<ImagesVerification>,
    /// What each level says, the most specific first, but for the images' own.
    layers: Vec<Layer>,
    /// Whether they are those of the Application's own annotations.
    own: bool,
    /// Who is named as the author of commits.
    author: Option<Author>,
    /// The resource that they come from.
    updater: String,
}

/// Where the images of one Application are written.
struct Place {
    source: SourceRef,
    target: Target,
}

struct OneApplication<'a> {
    app: AppName,
    application: &'a Application,
    context: &'a Context<'a>,
}

impl OneApplication<'_> {
    fn plan(&self, updater: &ImageUpdater, matched: &Matched<'_>, plan: &mut WorkPlan) {
        // A reference to everything meets Applications that ask for nothing (spec 00 S1.1).
        let by_annotations = matched.reference.use_annotations == Some(true);
        if by_annotations && !annotations::any(&self.application.metadata.annotations) {
            return;
        }
        let effective = match self.effective(updater, matched, plan) {
            Ok(effective) => effective,
            Err(failure) => return plan.dropped.push(self.dropped(None, failure)),
        };
        let place = match self.place(&effective) {
            Ok(place) => place,
            Err(failure) => return plan.dropped.push(self.dropped(None, failure)),
        };
        let not_set = write_back::method_not_set(&effective.write_back);
        plan.findings.extend(not_set.map(|finding| (self.app.clone(), finding)));
        let before = plan.images.len();
        let live = self.live();
        for image in &effective.images {
            match self.image(image, &effective, &place, live.clone()) {
                Ok((tracked, findings)) => {
                    plan.findings.extend(findings.into_iter().map(|f| (self.app.clone(), f)));
                    let listed = plan.images[before..].iter().any(|i| i.key == tracked.key);
                    if listed {
                        let failure = twice(&tracked.key);
                        plan.dropped.push(self.dropped(Some(image), failure));
                    } else {
                        plan.images.push(tracked);
                    }
                }
                Err(failure) => plan.dropped.push(self.dropped(Some(image), failure)),
            }
        }
        plan.applications += usize::from(plan.images.len() > before);
    }

    /// Settings from the annotations or from the resource, merged down to the Application.
    fn effective(
        &self,
        updater: &ImageUpdater,
        matched: &Matched<'_>,
        plan: &mut WorkPlan,
    ) -> Result<Effective, Failure> {
        let reference = matched.reference;
        if reference.use_annotations == Some(true) {
            let notes = &self.application.metadata.annotations;
            let read = annotations::read(&self.app, notes)
                .map_err(|error| unusable(error.reason(), error.to_string()))?;
            let unread = annotations::unread(notes, &read.images).into_iter();
            plan.findings.extend(unread.map(|unread| (self.app.clone(), unread.into())));
            let layer = Layer::new(Level::Annotation, Some(&read.settings), Some(&read.write_back));
            return Ok(Effective {
                layers: vec![layer],
                updater: updater.metadata.name.clone().unwrap_or_default(),
                images: read.images,
                settings: read.settings,
                write_back: read.write_back,
                // The resource's own block counts too: no global policy is lost (spec 10 F13).
                verification: verification(&[
                    updater.spec.images_verification.as_ref(),
                    reference.images_verification.as_ref(),
                ]),
                own: true,
                author: read.author,
            });
        }
        let spec = &updater.spec;
        let (common, write_back) = (CommonUpdateSettings::default(), WriteBackConfig::default());
        Ok(Effective {
            images: reference.images.clone(),
            settings: (reference.common_update_settings.as_ref().unwrap_or(&common))
                .over(spec.common_update_settings.as_ref().unwrap_or(&common)),
            write_back: (reference.write_back_config.as_ref().unwrap_or(&write_back))
                .over(spec.write_back_config.as_ref().unwrap_or(&write_back)),
            verification: verification(&[
                spec.images_verification.as_ref(),
                reference.images_verification.as_ref(),
            ]),
            layers: vec![
                Layer::new(
                    Level::Reference,
                    reference.common_update_settings.as_ref(),
                    reference.write_back_config.as_ref(),
                ),
                Layer::new(
                    Level::Resource,
                    spec.common_update_settings.as_ref(),
                    spec.write_back_config.as_ref(),
                ),
            ],
            own: false,
            author: None,
            updater: updater.metadata.name.clone().unwrap_or_default(),
        })
    }

    /// Where the images of this Application are written.
    fn place(&self, effective: &Effective) -> Result<Place, Failure> {
        let invalid = |error: write_back::InvalidWriteBack| {
            unusable(
                "WriteBackInvalid",
                format!("could not create write-back config, skipping: {error}"),
            )
        };
        let parsed = write_back::parse(&effective.write_back).map_err(invalid)?;
        let target = match &parsed {
            WriteBack::Application => &TargetSetting::Override,
            WriteBack::Git(git) => &git.target,
        };
        let chosen = choose(self.application, target).ok_or_else(|| {
            unusable(
                "UnsupportedSourceType",
                format!("application source is not defined for {}", self.app),
            )
        })?;
        let source_type = chosen.source_type.or_else(|| meant(&effective.images));
        self.refuse_values_of_kustomize(target)?;
        let in_git =
            |target| Target::File(GitTarget { author: effective.author.clone(), ..target });
        match (parsed, source_type) {
            (WriteBack::Git(git), Some(SourceType::Directory))
                if takes_manifests(&git.target, effective.own) =>
            {
                let target = self.manifests_target(&git, &chosen).map_err(|e| invalid(e.into()))?;
                Ok(Place { source: chosen.at, target: in_git(target) })
            }
            (_, Some(SourceType::Directory)) => Err(self.unsupported("Directory")),
            (WriteBack::Application, None) => Err(self.unsupported("")),
            (WriteBack::Application, Some(source_type)) => {
                Ok(Place { source: chosen.at, target: Target::Spec { source_type } })
            }
            (WriteBack::Git(git), source_type) => {
                let target = self
                    .git_target(&git, &chosen, source_type, effective.own)
                    .map_err(|e| invalid(e.into()))?;
                Ok(Place { source: chosen.at, target: in_git(target) })
            }
        }
    }

    /// Nobody deploys a values file that is the target of a Kustomize source (spec 30 F25).
    fn refuse_values_of_kustomize(&self, target: &TargetSetting) -> Result<(), Failure> {
        let TargetSetting::File(path) = target else { return Ok(()) };
        let own = choose(self.application, &TargetSetting::Override);
        let is_kustomize = own.is_some_and(|c| c.source_type == Some(SourceType::Kustomize));
        if is_kustomize && self.application.spec.sources.is_empty() && !is_override_file(path) {
            return Err(unusable(
                "WriteBackInvalid",
                format!(
                    "write-back target '{path}' is a values file, but {} is a Kustomize application, which reads none; use kustomization:PATH",
                    self.app
                ),
            ));
        }
        Ok(())
    }

    fn git_target(
        &self,
        git: &GitWriteBack,
        chosen: &Chosen<'_>,
        source_type: Option<SourceType>,
        own_settings: bool,
    ) -> Result<GitTarget, InvalidPath> {
        // Relative targets start at the source chosen without the target (spec 30 §2.1, F18).
        let base = choose(self.application, &TargetSetting::Override);
        let source_path = base.and_then(|c| c.source.path.as_deref()).unwrap_or("");
        let path =
            write_back::target_path(&git.target, source_path, &self.app, self.context.namespace)?;
        let file = match (&git.target, source_type) {
            (TargetSetting::Kustomization { .. }, _) => {
                TargetFile::Known(path, FileKind::Kustomization)
            }
            (TargetSetting::HelmValues { .. }, _) => TargetFile::Known(path, FileKind::HelmValues),
            (_, Some(SourceType::Kustomize)) => {
                TargetFile::Known(path, FileKind::KustomizeOverride)
            }
            (TargetSetting::File(name), Some(SourceType::Helm | SourceType::Plugin))
                if !is_override_file(name) =>
            {
                TargetFile::Known(path, FileKind::HelmValues)
            }
            // A Plugin Application counts as Helm under the git method (spec 21 §6.1).
            (_, Some(_)) => TargetFile::Known(path, FileKind::HelmOverride),
            (_, None) => TargetFile::ByFolder {
                file: path,
                folder: FilePath::join("", source_path)?,
                manifests: takes_manifests(&git.target, own_settings)
                    .then(|| manifest_folder(&git.target, chosen))
                    .transpose()?,
            },
        };
        Ok(self.on_branch(git, chosen, file))
    }

    /// The plain manifests of a folder.
    fn manifests_target(
        &self,
        git: &GitWriteBack,
        chosen: &Chosen<'_>,
    ) -> Result<GitTarget, InvalidPath> {
        let file = TargetFile::Manifests(manifest_folder(&git.target, chosen)?);
        Ok(self.on_branch(git, chosen, file))
    }

    fn on_branch(&self, git: &GitWriteBack, chosen: &Chosen<'_>, file: TargetFile) -> GitTarget {
        let remote =
            git.repository.clone().unwrap_or_else(|| chosen.source.repo_url.as_str().into());
        let base = (git.base.clone()).or_else(|| self.revision(&remote, chosen));
        GitTarget {
            branch: BranchKey { remote, base, head: git.push.clone() },
            credentials: git.credentials.clone(),
            project: self.application.spec.project.as_deref().unwrap_or_default().into(),
            file,
            author: None,
        }
    }

    /// The revision that the Application tracks in this repository (spec 30 §2.3); `HEAD` and
    /// nothing mean the remote's default branch.
    fn revision(&self, remote: &str, chosen: &Chosen<'_>) -> Option<Arc<str>> {
        let same = self.application.spec.sources.iter().find(|s| s.repo_url == remote);
        let revision = same.unwrap_or(chosen.source).target_revision.as_deref()?.trim();
        (!revision.is_empty() && revision != "HEAD").then(|| revision.into())
    }

    fn image(
        &self,
        image: &ImageConfig,
        effective: &Effective,
        place: &Place,
        live: Option<Arc<[ImageReference]>>,
    ) -> Result<(TrackedImage, Vec<Finding>), Failure> {
        let verification = self.verification(image, effective)?;
        let identifier = match image.alias.as_str() {
            "" => image.image_name.clone(),
            alias => format!("{alias}={}", image.image_name),
        };
        let configured: ConfiguredImage =
            identifier.parse().map_err(|error: InvalidConfiguredImage| {
                unusable("ImageListInvalid", error.to_string())
            })?;
        let names = names::of(image).map_err(|cause| unusable("ImageListInvalid", cause))?;
        let own = image.common_update_settings.clone().unwrap_or_default();
        let settings = own.over(&effective.settings);
        let endpoint = self.context.registries.endpoint_for(&configured.repository);
        let (policy, findings) = self.policy(&configured, &settings, &endpoint);
        let identity = match &configured.alias {
            Some(alias) => alias.as_str().into(),
            None => configured.repository.to_string().into(),
        };
        let tracked = TrackedImage {
            key: ImageKey { application: self.app.clone(), image: identity },
            policy,
            force: settings.force_update == Some(true),
            wire_path: endpoint.wire_path(&configured.repository),
            endpoint,
            pull_secret: settings.pull_secret.as_deref().map(Arc::from),
            verification,
            names,
            source: place.source,
            target: place.target.clone(),
            settings: self.origins(image, effective).into(),
            live,
            configured,
        };
        Ok((tracked, findings))
    }

    /// Where the key is with which an image must be signed, if it must be (spec 21 §4.2).
    fn verification(
        &self,
        image: &ImageConfig,
        effective: &Effective,
    ) -> Result<Option<KeyPlace>, Failure> {
        let levels = [effective.verification.as_ref(), image.images_verification.as_ref()];
        let Some(settings) = verification(&levels).filter(|v| v.enabled != Some(false)) else {
            return Ok(None);
        };
        let key = settings.cosign_key.filter(|k| !k.secret_name.is_empty() && !k.key.is_empty());
        let key = key.ok_or_else(|| {
            unusable(
                "Unverified",
                format!(
                    "Could not set images verification settings for image {}, skipping: cosignKey is required when verification is enabled; name the Secret and its field",
                    image.image_name
                ),
            )
        })?;
        Ok(Some(KeyPlace {
            namespace: Arc::clone(&self.app.namespace),
            name: key.secret_name.into(),
            field: key.key.into(),
        }))
    }

    /// Which level set each setting of an image.
    fn origins(&self, image: &ImageConfig, effective: &Effective) -> Vec<Setting> {
        let level = if effective.own { Level::ImageAnnotation } else { Level::Image };
        let own = Layer::new(level, image.common_update_settings.as_ref(), None);
        let layers: Vec<Layer> = [own].into_iter().chain(effective.layers.clone()).collect();
        let places = Places {
            updater: &effective.updater,
            alias: &image.alias,
            annotations: &self.application.metadata.annotations,
        };
        origin::settings(&layers, &places)
    }

    fn policy(
        &self,
        image: &ConfiguredImage,
        settings: &CommonUpdateSettings,
        endpoint: &Endpoint,
    ) -> (Result<Arc<UpdatePolicy>, Failure>, Vec<Finding>) {
        let mut findings = Vec::new();
        let dates = endpoint.date_source();
        let word = settings.update_strategy.as_deref();
        let policy = UpdateStrategy::from_parts(image, word, dates).map(|(strategy, note)| {
            if let Some(note) = note {
                findings.push(Finding {
                    severity: Severity::Warning,
                    reason: match note {
                        StrategyNote::Renamed { .. } => "StrategyRenamed",
                        StrategyNote::Unknown(_) => "StrategyUnknown",
                    },
                    found: note.to_string(),
                    fix: format!("write update-strategy: {}", strategy.name()),
                });
            }
            let ignore = settings.ignore_tags.clone().unwrap_or_default();
            let allow = settings.allow_tags.as_deref();
            let filter = TagFilter::new(allow, ignore.iter().map(String::as_str));
            let platforms = self.platforms(&strategy, settings, &mut findings);
            Arc::new(UpdatePolicy { strategy, filter, platforms })
        });
        let policy = policy.map_err(|error| Failure {
            stage: Stage::Chosen,
            reason: error.reason(),
            message: error.to_string(),
        });
        (policy, findings)
    }

    /// The platforms that count, for the strategies that look at images (spec 10 §8.3).
    fn platforms(
        &self,
        strategy: &UpdateStrategy,
        settings: &CommonUpdateSettings,
        findings: &mut Vec<Finding>,
    ) -> Vec<Platform> {
        if !matches!(strategy, UpdateStrategy::NewestBuild(_) | UpdateStrategy::Digest(_)) {
            return Vec::new();
        }
        let wanted = settings.platforms.clone().unwrap_or_default();
        if wanted.is_empty() {
            return vec![self.context.platform.clone()];
        }
        let parsed = wanted.iter().map(|text| {
            text.parse().unwrap_or_else(|error: InvalidPlatform| {
                findings.push(Finding {
                    severity: Severity::Warning,
                    reason: "WrongPlatform",
                    found: error.to_string(),
                    fix: "write platforms as os/arch or os/arch/variant, such as linux/arm64"
                        .into(),
                });
                error.never()
            })
        });
        parsed.collect()
    }

    /// What runs, where Argo CD says so. Entries that are no references are left out.
    fn live(&self) -> Option<Arc<[ImageReference]>> {
        let images = &self.application.status.as_ref()?.summary.images;
        Some(images.iter().filter_map(|image| image.parse().ok()).collect())
    }

    fn unsupported(&self, source_type: &str) -> Failure {
        unusable(
            "UnsupportedSourceType",
            format!(
                "skipping app '{}' of type '{source_type}' because it's not of supported source type; \
                 use a Helm or Kustomize source, or write-back-method: git with a write-back-target \
                 ('manifests' for plain manifests)",
                self.app
            ),
        )
    }

    fn dropped(&self, image: Option<&ImageConfig>, failure: Failure) -> Dropped {
        let image = image.map(|image| match image.alias.as_str() {
            "" => image.image_name.clone(),
            alias => alias.to_owned(),
        });
        Dropped { application: self.app.clone(), image, failure }
    }
}

fn unusable(reason: &'static str, message: String) -> Failure {
    Failure { stage: Stage::Selected, reason, message }
}

fn twice(key: &ImageKey) -> Failure {
    let message =
        format!("the image '{}' is listed twice; give each entry an alias of its own", key.image);
    unusable("ImageListInvalid", message)
}

/// The most specific level's word on signatures; a block without one means yes (spec 20 §2.4).
fn verification(levels: &[Option<&ImagesVerification>]) -> Option<ImagesVerification> {
    let set = levels.iter().rev().flatten();
    let enabled = set.clone().find_map(|level| level.enabled);
    let cosign_key = set.clone().find_map(|level| level.cosign_key.clone());
    set.clone().next().map(|_| ImagesVerification { enabled: enabled.or(Some(true)), cosign_key })
}

/// Whether plain manifests are edited: where the target says so, and without a target for who
/// wrote both the images and the git method on the Application itself (spec 40 B3).
fn takes_manifests(target: &TargetSetting, own_settings: bool) -> bool {
    match target {
        TargetSetting::Manifests { .. } => true,
        TargetSetting::Override => own_settings,
        _ => false,
    }
}

/// The folder that is meant, and which of its files: those that Argo CD deploys.
fn manifest_folder(
    target: &TargetSetting,
    chosen: &Chosen<'_>,
) -> Result<ManifestFolder, InvalidPath> {
    let path = match target {
        TargetSetting::Manifests { path } => path.as_deref().unwrap_or("."),
        _ => ".",
    };
    let directory = chosen.source.directory.clone().unwrap_or_default();
    Ok(ManifestFolder {
        folder: FilePath::join(chosen.source.path.as_deref().unwrap_or(""), path)?,
        recurse: directory.recurse,
        include: names::text(directory.include.as_ref()),
        exclude: names::text(directory.exclude.as_ref()),
    })
}

/// The type that the images' own targets speak of, where nothing else tells it.
fn meant(images: &[ImageConfig]) -> Option<SourceType> {
    let targets = || images.iter().filter_map(|image| image.manifest_targets.as_ref());
    if targets().any(|t| t.helm.is_some()) {
        Some(SourceType::Helm)
    } else if targets().any(|t| t.kustomize.is_some()) {
        Some(SourceType::Kustomize)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
