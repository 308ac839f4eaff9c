//! Passes, one after another, with what is remembered between them.

use std::sync::Arc;
use std::time::SystemTime;

use aiu_api::annotations;
use aiu_git::{Mirrors, Writers};
use aiu_registry::Scanner;
use parking_lot::Mutex;

use crate::cluster::Cluster;
use crate::cluster::files::Manifests;
use crate::cycle::{AnnotationMode, PassSettings, Updater, World, cycle};
use crate::phrases;
use crate::registries::RegistriesFile;
use crate::report::CycleReport;
use crate::unlock::Keys;

/// What outlives a pass: answers of registries and copies of repositories.
pub struct Session {
    registries: RegistriesFile,
    scanner: Arc<Scanner>,
    keys: Arc<Keys>,
    mirrors: Arc<Mirrors>,
    writers: Arc<Writers>,
    settings: PassSettings,
}

impl Session {
    /// A session with nothing remembered yet.
    pub fn new(
        registries: RegistriesFile,
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
        let mut settings = self.settings.clone();
        settings.signature.date = SystemTime::now();
        let updaters = updaters(&manifests, settings.annotation_mode);
        let cluster = Cluster::Files(Mutex::new(manifests));
        let report = self.pass_over(cluster, &updaters, &settings).await;
        phrases::log(&report, settings.dry_run);
        report
    }

    /// Who asks registries, and counts it.
    pub fn scanner(&self) -> Arc<Scanner> {
        Arc::clone(&self.scanner)
    }

    /// How passes behave unless they are told otherwise.
    pub fn settings(&self) -> &PassSettings {
        &self.settings
    }

    /// One pass over a cluster as it is seen now, in silence.
    pub async fn pass_over(
        &self,
        cluster: Cluster,
        updaters: &[Updater],
        settings: &PassSettings,
    ) -> CycleReport {
        let world = World {
            cluster,
            registries: self.registries.current(),
            scanner: Arc::clone(&self.scanner),
            keys: Arc::clone(&self.keys),
            mirrors: Arc::clone(&self.mirrors),
            writers: Arc::clone(&self.writers),
            settings: settings.clone(),
        };
        cycle(updaters, &world).await
    }
}

/// The resources of the folder. Where annotations speak without one, a resource is assumed in
/// each namespace that has annotated Applications, behind those that are there (spec 40 B1).
fn updaters(manifests: &Manifests, mode: AnnotationMode) -> Vec<Updater> {
    let mut found: Vec<_> = manifests
        .updaters()
        .map(|(name, resource)| Updater {
            name: name.clone(),
            resource: Arc::new(resource.clone()),
            annotated_only: false,
            runs: true,
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
    found.extend(namespaces.into_iter().map(Updater::assumed));
    found
}
