//! Under which names manifests hold an image.

use std::sync::Arc;

use aiu_core::edit::{HelmKeys, PluginKeys};
use aiu_core::image::{ImageReference, Repository};

use crate::image_updater::{ImageConfig, ManifestTargets, TargetKeys};
use crate::plan::TargetNames;

/// The names of one image in its manifests (spec 21 §4.5, §8.1).
pub(super) fn of(image: &ImageConfig) -> Result<TargetNames, String> {
    let empty = ManifestTargets::default();
    let targets = image.manifest_targets.as_ref().unwrap_or(&empty);
    let set = [targets.helm.is_some(), targets.kustomize.is_some(), targets.plugin.is_some()];
    if set.iter().filter(|set| **set).count() > 1 {
        return Err("only one of the fields (Helm, Kustomize, Plugin) should be set, dictating the update method".to_owned());
    }
    // Without an alias nothing ties the keys to the image (spec 30 §4.3).
    let helm = targets.helm.as_ref().filter(|_| !image.alias.is_empty());
    let kustomize = targets.kustomize.as_ref().map(|k| k.name.trim()).filter(|n| !n.is_empty());
    Ok(TargetNames {
        helm: helm_keys(helm),
        kustomize: kustomize.map(|name| (Arc::from(name), kustomize_image(name))),
        plugin: targets.plugin.as_ref().and_then(plugin_keys),
        named: helm.is_some_and(|keys| *keys != TargetKeys::default())
            || kustomize.is_some()
            || targets.plugin.is_some(),
    })
}

fn kustomize_image(name: &str) -> Option<Repository> {
    name.parse::<ImageReference>().ok().map(|image| image.repository)
}

/// A key, trimmed; blank counts as unset.
pub(super) fn text(key: Option<&String>) -> Option<Arc<str>> {
    key.map(|key| key.trim()).filter(|key| !key.is_empty()).map(Arc::from)
}

fn helm_keys(keys: Option<&TargetKeys>) -> HelmKeys {
    let keys = keys.cloned().unwrap_or_default();
    match text(keys.spec.as_ref()) {
        Some(spec) => HelmKeys::Spec(spec),
        None => HelmKeys::NameAndTag {
            name: Some(text(keys.name.as_ref()).unwrap_or_else(|| "image.name".into())),
            tag: Some(text(keys.tag.as_ref()).unwrap_or_else(|| "image.tag".into())),
        },
    }
}

fn plugin_keys(keys: &TargetKeys) -> Option<PluginKeys> {
    match (text(keys.spec.as_ref()), text(keys.name.as_ref())) {
        (Some(spec), _) => Some(PluginKeys::Spec(spec)),
        (None, Some(name)) => {
            Some(PluginKeys::NameAndTag { name: Some(name), tag: text(keys.tag.as_ref()) })
        }
        (None, None) => None,
    }
}
