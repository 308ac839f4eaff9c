//! One key holds one image: of images that would be written under the same key of one
//! Application, one keeps it.
//!
//! Otherwise they would take turns, each pass writing the one that the other had replaced.

use std::collections::BTreeMap;

use aiu_api::plan::TrackedImage;
use aiu_core::batch::AppName;
use aiu_core::edit::{HelmKeys, Keys, PluginKeys};
use aiu_core::image::Registry;
use aiu_core::outcome::{Outcome, Stage};

use super::Row;
use super::observe::is_ours;
use crate::cycle::World;

/// Leaves each key to one image: to the one that it holds, and where it holds none of them or
/// several, to the last configured, as in the reference.
pub fn contend(rows: &mut [Row], world: &World) {
    let default = world.registries.default_registry();
    let mut by_key: BTreeMap<(AppName, String), Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.is_open()) {
        for key in row.keys.iter().flat_map(|keys| names(keys, &row.image)) {
            by_key.entry((row.image.key.application.clone(), key)).or_default().push(index);
        }
    }
    for ((_, key), mut contenders) in by_key {
        contenders.retain(|&index| rows[index].is_open());
        if contenders.len() > 1 {
            settle(rows, &key, &contenders, &default);
        }
    }
}

fn settle(rows: &mut [Row], key: &str, contenders: &[usize], default: &Registry) {
    let held: Vec<usize> =
        contenders.iter().copied().filter(|&index| is_held(&rows[index], default)).collect();
    let Some(&keeper) = held.last().or(contenders.last()) else { return };
    let winner = rows[keeper].image.key.image.clone();
    for &index in contenders.iter().filter(|&&index| index != keeper) {
        if held.is_empty() || held.contains(&index) {
            let message = format!(
                "'{key}' is also the key of '{winner}', which keeps it; name a key of its own for '{}'",
                rows[index].image.key.image
            );
            rows[index].fail(Stage::Selected, "KeyContested", message);
        } else {
            // The key is another image's: this Application does not use this one.
            rows[index].outcome = Some(Outcome::NotLive);
        }
    }
}

/// Whether what stands under the key is this image.
fn is_held(row: &Row, default: &Registry) -> bool {
    let current = row.current.as_ref().and_then(|current| current.reference.as_ref());
    current.is_some_and(|reference| is_ours(&row.image, reference, default))
}

/// The keys of an image in its target.
fn names(keys: &Keys, image: &TrackedImage) -> Vec<String> {
    let both = |name: &Option<std::sync::Arc<str>>, tag: &Option<std::sync::Arc<str>>| {
        [name, tag].into_iter().flatten().map(ToString::to_string).collect()
    };
    match keys {
        Keys::Helm(HelmKeys::Spec(key)) | Keys::Plugin(PluginKeys::Spec(key)) => {
            vec![key.to_string()]
        }
        Keys::Helm(HelmKeys::NameAndTag { name, tag })
        | Keys::Plugin(PluginKeys::NameAndTag { name, tag }) => both(name, tag),
        Keys::Kustomize { name: Some(name) } => vec![name.to_string()],
        Keys::Kustomize { name: None } | Keys::Manifest => {
            vec![image.configured.repository.to_string()]
        }
    }
}
