//! What each image is at, and whether it is in use at all (ARCHITECTURE.md, "Data flow").
//!
//! The first that answers of target, spec and live summary is the current value. Images that
//! are not in use leave the pass here, before anything is asked on their behalf.

use std::collections::HashMap;
use std::sync::Arc;

use aiu_api::plan::{GitTarget, Target, TargetFile, TrackedImage};
use aiu_api::source::SourceType;
use aiu_core::decide::{Current, CurrentSource};
use aiu_core::edit::{EditError, FileKind, Keys, Reading, current, current_in_spec};
use aiu_core::image::{ImageReference, Registry, Repository};
use aiu_core::outcome::{Outcome, Stage};
use aiu_core::report::Finding;

use super::read::{self, Resolved, Texts, Unreadable, resolved};
use super::{Field, Row, manifests};
use crate::cluster::Piece;
use crate::cycle::World;

/// Fills in keys and current values; ends rows that are not in use or cannot be read.
pub fn observe(rows: &mut [Row], texts: &Texts, world: &World) {
    let default = world.registries.default_registry();
    let shared = Shared::among(rows, texts);
    let mut readings = Readings { shared: &shared, known: HashMap::new() };
    for row in rows.iter_mut().filter(|row| row.is_open()) {
        // Asked before anything that can fail: what nobody runs has no errors.
        if runs(&row.image, &default) == Some(false)
            && world.settings.require_live
            && !row.image.force
        {
            row.outcome = Some(Outcome::NotLive);
            continue;
        }
        let seen = match &row.image.target {
            Target::Spec { source_type, .. } => in_spec(row, *source_type, world),
            Target::File(target) => in_file(row, target, texts, world, &mut readings),
        };
        match seen {
            Err((reason, message)) => row.fail(Stage::Selected, reason, message),
            Ok(Seen { keys, places, fields, findings }) => {
                row.keys = Some(keys);
                row.fields = fields;
                row.findings = findings;
                match judge(&row.image, places, &default) {
                    Some(current) => row.current = Some(current),
                    None => row.outcome = Some(Outcome::NotLive),
                }
            }
        }
    }
}

/// Where an image was looked for, and what stood there.
pub(super) struct Seen {
    pub(super) keys: Keys,
    pub(super) places: Vec<(CurrentSource, ImageReference)>,
    /// Where plain manifests hold it.
    pub(super) fields: Vec<Field>,
    /// What a person should know about the files.
    pub(super) findings: Vec<Finding>,
}

fn in_spec(row: &Row, source_type: SourceType, world: &World) -> Result<Seen, Unreadable> {
    let keys = row.image.names.spec_keys(source_type);
    let found = spec_value(&row.image, &keys, world)?;
    Ok(Seen {
        keys,
        places: found.map(|found| (CurrentSource::Target, found)).into_iter().collect(),
        fields: Vec::new(),
        findings: Vec::new(),
    })
}

/// Texts that several rows look into, by where they lie.
struct Shared(HashMap<(usize, FileKind), Arc<str>>);

impl Shared {
    fn among(rows: &[Row], texts: &Texts) -> Self {
        let mut seen: HashMap<(usize, FileKind), (Arc<str>, usize)> = HashMap::new();
        for row in rows.iter().filter(|row| row.is_open()) {
            if let Target::File(target) = &row.image.target
                && let Ok(branch) = read::branch(row, texts)
                && let Ok(Resolved::File(path, kind)) = resolved(&target.file, branch)
                && let Ok(Some((_, text))) = read::text(branch, &path, kind)
            {
                seen.entry((place(&text), kind)).or_insert((text, 0)).1 += 1;
            }
        }
        let shared = seen.into_iter().filter(|(_, (_, rows))| *rows > 1);
        Self(shared.map(|(key, (text, _))| (key, text)).collect())
    }
}

/// Where a text lies; it is the same text for as long as somebody holds it.
fn place(text: &Arc<str>) -> usize {
    text.as_ptr().addr()
}

/// Files as they are asked for images; those that are shared are parsed once.
struct Readings<'t> {
    shared: &'t Shared,
    known: HashMap<(usize, FileKind), Reading<'t>>,
}

impl Readings<'_> {
    fn current(
        &mut self,
        kind: FileKind,
        text: &Arc<str>,
        keys: &Keys,
        repository: &Repository,
    ) -> Result<Option<ImageReference>, EditError> {
        let key = (place(text), kind);
        match self.shared.0.get(&key) {
            Some(text) => {
                let reading = self.known.entry(key).or_insert_with(|| Reading::of(kind, text));
                reading.current(keys, repository)
            }
            None => current(kind, text, keys, repository),
        }
    }
}

fn in_file(
    row: &Row,
    target: &GitTarget,
    texts: &Texts,
    world: &World,
    readings: &mut Readings<'_>,
) -> Result<Seen, Unreadable> {
    let branch = read::branch(row, texts)?;
    let resolved = resolved(&target.file, branch)
        .map_err(|(reason, cause)| (reason, format!("{}: {cause}", row.image.key.application)))?;
    let (path, kind) = match resolved {
        Resolved::File(path, kind) => (path, kind),
        Resolved::Manifests(folder) => {
            let default = world.registries.default_registry();
            let in_use = row.image.force || runs(&row.image, &default) == Some(true);
            return manifests::seen(&row.image, folder, branch, in_use);
        }
    };
    let keys = row.image.names.keys(kind);
    let mut places = Vec::new();
    let file = read::text(branch, &path, kind)?;
    if file.is_none() && kind == FileKind::Kustomization {
        let message = format!(
            "could not find kustomization in {path} on branch '{}'; correct the write-back-target or spec.source.path",
            branch.branch
        );
        return Err(("TargetMissing", message));
    }
    if let Some((file, text)) = file {
        let found = read_value(&row.image, &file.to_string(), || {
            readings.current(kind, &text, &keys, &row.image.configured.repository)
        })?;
        places.extend(found.map(|found| (CurrentSource::Target, found)));
    }
    if let Ok(Some(found)) = spec_value(&row.image, &spec_keys(&row.image, kind), world) {
        places.push((CurrentSource::Spec, found));
    }
    // The source's own kustomization says what its overrides start from.
    if let TargetFile::ByFolder { folder, .. } = &target.file
        && kind == FileKind::KustomizeOverride
        && let Ok(Some((_, text))) = read::text(branch, folder, FileKind::Kustomization)
        && let Ok(Some(found)) =
            current(FileKind::Kustomization, &text, &keys, &row.image.configured.repository)
    {
        places.push((CurrentSource::Spec, found));
    }
    Ok(Seen { keys, places, fields: Vec::new(), findings: Vec::new() })
}

/// The keys that hold the image in the Application's own spec, given its target's shape.
fn spec_keys(image: &TrackedImage, kind: FileKind) -> Keys {
    image.names.spec_keys(match kind {
        FileKind::HelmValues | FileKind::HelmOverride => SourceType::Helm,
        FileKind::PluginOverride => SourceType::Plugin,
        _ => SourceType::Kustomize,
    })
}

fn spec_value(
    image: &TrackedImage,
    keys: &Keys,
    world: &World,
) -> Result<Option<ImageReference>, Unreadable> {
    let read = |piece: &Piece<'_>| {
        read_value(image, piece.file, || {
            let repository = &image.configured.repository;
            current_in_spec(piece.text, 0, image.source, keys, repository).map_err(|mut error| {
                error.line = error.line.map(|line| line + piece.line - 1);
                error
            })
        })
    };
    world.cluster.read(&image.key.application, read).unwrap_or(Ok(None))
}

fn read_value(
    image: &TrackedImage,
    file: &str,
    read: impl FnOnce() -> Result<Option<ImageReference>, EditError>,
) -> Result<Option<ImageReference>, Unreadable> {
    read().map_err(|error| {
        (error.reason(), format!("{file}: {error} (looking for {})", image.configured.repository))
    })
}

/// Whether a reference is this image, or what the manifests call it.
pub(super) fn is_ours(
    image: &TrackedImage,
    reference: &ImageReference,
    default: &Registry,
) -> bool {
    let renamed = image.names.kustomize.as_ref().and_then(|(_, image)| image.as_ref());
    reference.repository.same_as(&image.configured.repository, default)
        || renamed.is_some_and(|renamed| reference.repository.same_as(renamed, default))
}

/// Whether Argo CD says that the image runs; `None` if it says nothing.
fn runs(image: &TrackedImage, default: &Registry) -> Option<bool> {
    let live = image.live.as_deref()?;
    Some(live.iter().any(|entry| is_ours(image, entry, default)))
}

/// The current value, if the image is in use.
fn judge(
    image: &TrackedImage,
    mut places: Vec<(CurrentSource, ImageReference)>,
    default: &Registry,
) -> Option<Current> {
    // A default key that holds another repository says nothing about this image.
    places.retain(|(_, reference)| image.names.named || is_ours(image, reference, default));
    let live = image.live.as_deref().unwrap_or_default();
    let running = live.iter().find(|entry| is_ours(image, entry, default));
    places.extend(running.map(|entry| (CurrentSource::Live, entry.clone())));
    match places.into_iter().next() {
        Some((source, reference)) => Some(Current { reference: Some(reference), source }),
        None if image.force => Some(Current { reference: None, source: CurrentSource::Forced }),
        None => None,
    }
}
