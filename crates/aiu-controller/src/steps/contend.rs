//! One key holds one image: of images that would be written under the same key of one
//! Application, one keeps it.
//!
//! Otherwise they would take turns, each pass writing the one that the other had replaced.

use std::collections::BTreeMap;

use aiu_api::plan::{GitTarget, Target, TargetFile, TrackedImage};
use aiu_core::batch::AppName;
use aiu_core::edit::helm_values::steps;
use aiu_core::edit::{FileKind, HelmKeys, Keys, PluginKeys};
use aiu_core::image::Registry;
use aiu_core::outcome::{Outcome, Stage};

use super::Row;
use super::observe::is_ours;
use crate::cycle::World;

/// A row, and the key of its that is looked at.
type Contender = (usize, String);

/// Leaves each key to one image: to the one that it holds, and where it holds none of them or
/// several, to one that names the key rather than to one that has it by default, and of those to
/// the last configured, as in the reference. In a values file a key also holds those that lie
/// within it.
pub fn contend(rows: &mut [Row], world: &World) {
    let default = world.registries.default_registry();
    let mut by_key: BTreeMap<(AppName, Vec<String>), Vec<Contender>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.is_open()) {
        for key in row.keys.iter().flat_map(|keys| names(keys, &row.image)) {
            let place = (row.image.key.application.clone(), parts(&row.image.target, &key));
            by_key.entry(place).or_default().push((index, key));
        }
    }
    for ((app, key), own) in &by_key {
        let above = (1..key.len()).filter_map(|at| by_key.get(&(app.clone(), key[..at].to_vec())));
        let mut contenders: Vec<&Contender> = above.flatten().chain(own).collect();
        contenders.sort_by_key(|(index, _)| *index);
        contenders.dedup_by_key(|(index, _)| *index);
        contenders.retain(|(index, _)| rows[*index].is_open());
        if contenders.len() > 1 {
            settle(rows, &contenders, &default);
        }
    }
}

/// A key as the steps that lead to its place; two keys overlap if one's steps begin the other's.
fn parts(target: &Target, key: &str) -> Vec<String> {
    match target {
        Target::File(GitTarget { file: TargetFile::Known(_, FileKind::HelmValues), .. }) => {
            steps(key)
        }
        _ => vec![key.to_owned()],
    }
}

fn settle(rows: &mut [Row], contenders: &[&Contender], default: &Registry) {
    let indexes = || contenders.iter().map(|(index, _)| *index);
    let held: Vec<usize> = indexes().filter(|&index| is_held(&rows[index], default)).collect();
    let claims = |&index: &usize| (held.contains(&index), rows[index].image.names.named, index);
    let Some(keeper) = indexes().max_by_key(claims) else { return };
    let winner = rows[keeper].image.key.image.clone();
    let kept = contenders.iter().find(|(index, _)| *index == keeper);
    let kept = kept.map_or("", |(_, key)| key);
    for (index, key) in contenders.iter().filter(|(index, _)| *index != keeper) {
        let row = &mut rows[*index];
        if held.is_empty() || held.contains(index) {
            let overlap = if key == kept {
                format!("'{key}' is also the key of '{winner}', which keeps it")
            } else {
                format!("'{key}' overlaps with '{kept}', the key of '{winner}', which keeps it")
            };
            let message = format!("{overlap}; name a key of its own for '{}'", row.image.key.image);
            row.fail(Stage::Selected, "KeyContested", message);
        } else {
            // The key is another image's: this Application does not use this one.
            row.outcome = Some(Outcome::NotLive);
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
