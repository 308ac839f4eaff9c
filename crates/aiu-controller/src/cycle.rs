//! One pass: from what the cluster holds to what was written.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aiu_api::image_updater::{ApplicationRef, ImageUpdater, ImageUpdaterSpec};
use aiu_core::batch::AppName;
use aiu_core::image::Platform;
use aiu_core::registries::{OperatorsSource, Registries};
use aiu_core::template::Template;
use aiu_git::{Mirrors, Signature, Writers};
use aiu_registry::Scanner;
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::report::CycleReport;
use crate::steps::{
    batch, choose, confirm, contend, hold, inspect, label, observe, plan, read, scan, write,
};
use crate::unlock::{GitFiles, Keys, unlock};

/// What a pass works with.
pub struct World {
    /// Where Applications come from and patches go.
    pub cluster: Cluster,
    /// The registries and their aliases.
    pub registries: Arc<Registries>,
    /// Asks registries, each question once.
    pub scanner: Arc<Scanner>,
    /// Credentials.
    pub keys: Arc<Keys>,
    /// Reads branches.
    pub mirrors: Arc<Mirrors>,
    /// Writes branches.
    pub writers: Arc<Writers>,
    /// How this pass behaves.
    pub settings: PassSettings,
}

/// A resource, and whether it is one.
#[derive(Clone, Debug)]
pub struct Updater {
    /// Namespace and name.
    pub name: AppName,
    /// What it wants.
    pub resource: Arc<ImageUpdater>,
    /// Whether it stands in for missing resources, and so speaks only of Applications that
    /// carry annotations of ours (spec 40 B1).
    pub annotated_only: bool,
    /// Whether this pass works on it; else it only claims its Applications.
    pub runs: bool,
}

/// The name of what stands in for missing resources (spec 40 B1).
pub const ANNOTATIONS: &str = "annotations";

impl Updater {
    /// Selects every annotated Application of a namespace, in place of a resource.
    pub fn assumed(namespace: Arc<str>) -> Self {
        let everything = ApplicationRef {
            name_pattern: "*".to_owned(),
            use_annotations: Some(true),
            ..ApplicationRef::default()
        };
        let spec = ImageUpdaterSpec { application_refs: vec![everything], ..Default::default() };
        let name = AppName { namespace, name: ANNOTATIONS.into() };
        let mut resource = ImageUpdater { spec, ..ImageUpdater::default() };
        resource.metadata.name = Some(name.name.to_string());
        resource.metadata.namespace = Some(name.namespace.to_string());
        Self { name, resource: Arc::new(resource), annotated_only: true, runs: true }
    }
}

/// Whether annotations count without a resource that says so (spec 40 B1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnnotationMode {
    /// As long as there is no resource at all.
    #[default]
    Auto,
    /// For every annotated Application that no resource selects.
    Always,
    /// Never, as in the original.
    Never,
}

/// How a pass behaves.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[derive(Clone, Debug)]
pub struct PassSettings {
    /// Namespace of objects that name none, and of Applications with short override names.
    pub namespace: String,
    /// The platform that images are chosen for where the user names none.
    pub platform: Platform,
    /// Let an image go down when its running version is gone (spec 40 B17).
    pub allow_downgrade: bool,
    /// An image counts as in use only if Argo CD says that it runs (spec 40 B9).
    pub require_live: bool,
    /// Whether annotations count without a resource that says so.
    pub annotation_mode: AnnotationMode,
    /// Which of the operator's own sources of credentials images may name (spec 40 B7).
    pub image_sources: BTreeSet<OperatorsSource>,
    /// Do everything but write.
    pub dry_run: bool,
    /// How old a listing may be that this pass makes do with; none older than the pass itself
    /// where nothing else asks.
    pub accepted_age: Duration,
    /// How many repositories are asked at once.
    pub concurrency: usize,
    /// The template of commit messages.
    pub message: Arc<Template>,
    /// Files that say whom git believes.
    pub git_files: GitFiles,
    /// What a person took back stays back (spec 40 B10).
    pub hold_reverted: bool,
    /// All Applications of a branch share a commit (spec 40 B15).
    pub one_commit_per_branch: bool,
    /// Who commits, and when.
    pub signature: Signature,
}

/// One pass over the given resources.
///
/// Every line is a row of the table "Data flow" in ARCHITECTURE.md; the lines that await talk
/// to the world. Nothing returns early: what failed for one image is a row of the report.
/// Resources are passed together so that they share every listing, fetch and push.
pub async fn cycle(updaters: &[Updater], world: &World) -> CycleReport {
    let started = Instant::now();
    let floor = started.checked_sub(world.settings.accepted_age).unwrap_or(started);
    let (plan, mut report) = plan::plan(updaters, world);
    let access = unlock(&plan, started, world).await;

    let texts = read::texts(&plan, &access, world).await;
    let mut rows = plan::rows(plan, &access);
    observe::observe(&mut rows, &texts, world);
    contend::contend(&mut rows, world);

    let scans = scan::list_tags(&rows, floor, world).await;
    let mut shortlists = choose::shortlists(&rows, &scans);
    inspect::inspect(&mut shortlists, floor, world).await;
    choose::decisions(&mut rows, &shortlists, world);
    confirm::confirm(&mut rows, world).await;
    hold::hold(&mut rows, world).await;
    label::label(&mut rows, floor, world).await;
    let changes = batch::changes(&rows);

    let batches = batch::batches(&mut rows, &changes, &texts);
    let written = write::write(batches, world).await;
    write::settle(&mut rows, changes, written, &mut report);
    report.images.extend(rows.into_iter().map(plan::finish));
    report
}
