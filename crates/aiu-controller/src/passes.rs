//! Passes over a folder of manifests, one after another, with what is remembered between them.

use std::sync::Arc;

use aiu_api::annotations;
use aiu_api::image_updater::{ApplicationRef, ImageUpdater, ImageUpdaterSpec};
use aiu_core::batch::AppName;
use aiu_core::registries::Registries;
use aiu_git::{Mirrors, Writers};
use aiu_registry::Scanner;
use parking_lot::Mutex;

use crate::cluster::Cluster;
use crate::cluster::files::Manifests;
use crate::cycle::{AnnotationMode, PassSettings, Updater, World, cycle};
use crate::phrases;
use crate::report::CycleReport;
use crate::unlock::Keys;

/// What outlives a pass: answers of registries and copies of repositories.
pub struct Session {
    registries: Arc<Registries>,
    scanner: Arc<Scanner>,
    keys: Arc<Keys>,
    mirrors: Arc<Mirrors>,
    writers: Arc<Writers>,
    settings: PassSettings,
}

impl Session {
    /// A session with nothing remembered yet.
    pub fn new(
        registries: Arc<Registries>,
        scanner: Scanner,
        keys: Keys,
        mirrors: Arc<Mirrors>,
        writers: Writers,
        settings: PassSettings,
    ) -> Self {
        Self {
            registries,
            scanner: Arc::new(scanner),
            keys: Arc::new(keys),
            mirrors,
            writers: Arc::new(writers),
            settings,
        }
    }

    /// One pass over a folder as it was read, and its log lines.
    pub async fn pass(&self, manifests: Manifests) -> CycleReport {
        let updaters = updaters(&manifests, self.settings.annotation_mode);
        let world = World {
            cluster: Cluster::Files(Mutex::new(manifests)),
            registries: Arc::clone(&self.registries),
            scanner: Arc::clone(&self.scanner),
            keys: Arc::clone(&self.keys),
            mirrors: Arc::clone(&self.mirrors),
            writers: Arc::clone(&self.writers),
            settings: self.settings.clone(),
        };
        let report = cycle(&updaters, &world).await;
        phrases::log(&report, self.settings.dry_run);
        report
    }
}

/// The resources of the folder. Where annotations speak without one, a resource is assumed in
/// each namespace that has annotated Applications, behind those that are there (spec 40 B1).
fn updaters(manifests: &Manifests, mode: AnnotationMode) -> Vec<Updater> {
    let mut found: Vec<_> = manifests
        .updaters()
        .map(|(name, resource)| Updater {
            name: name.clone(),
            resource: resource.clone(),
            annotated_only: false,
        })
        .collect();
    let assumes = match mode {
        AnnotationMode::Auto => found.is_empty(),
        AnnotationMode::Always => true,
        AnnotationMode::Never => false,
    };
    if !assumes {
        return found;
    }
    let mut namespaces: Vec<Arc<str>> = manifests
        .applications()
        .filter(|(_, _, app)| annotations::any(&app.metadata.annotations))
        .map(|(name, ..)| Arc::clone(&name.namespace))
        .collect();
    namespaces.sort();
    namespaces.dedup();
    found.extend(namespaces.into_iter().map(assumed));
    found
}

/// Selects every annotated Application of a namespace.
fn assumed(namespace: Arc<str>) -> Updater {
    let everything = ApplicationRef {
        name_pattern: "*".to_owned(),
        use_annotations: Some(true),
        ..ApplicationRef::default()
    };
    let spec = ImageUpdaterSpec { application_refs: vec![everything], ..Default::default() };
    Updater {
        name: AppName { namespace, name: "annotations".into() },
        resource: ImageUpdater { spec, ..ImageUpdater::default() },
        annotated_only: true,
    }
}
