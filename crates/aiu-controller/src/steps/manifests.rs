//! Plain manifests as a target: many places for one image, in files that are found by reading
//! (spec 40 B3).

use std::collections::BTreeMap;

use aiu_api::plan::TrackedImage;
use aiu_core::batch::{FileEdit, FilePath};
use aiu_core::decide::CurrentSource;
use aiu_core::edit::manifests::places;
use aiu_core::edit::{FileKind, Keys, ManifestFolder, Wish};
use aiu_core::image::ImageReference;
use aiu_core::report::{Finding, Severity};
use aiu_git::BranchTexts;

use super::observe::Seen;
use super::read::{self, Unreadable};
use super::{Field, Row};

/// How many files a sentence names.
const NAMED: usize = 10;

/// All fields of the folder's files that name the image.
///
/// It must have one if it is in use. A file that cannot be read and holds the image's name is told about; it keeps the image from
/// being updated only if no other file has a place for it.
pub(super) fn seen(
    image: &TrackedImage,
    folder: &ManifestFolder,
    branch: &BranchTexts,
    in_use: bool,
) -> Result<Seen, Unreadable> {
    let repository = &image.configured.repository;
    let files = branch.manifests(folder).unwrap_or_default();
    let mut fields = Vec::new();
    let mut problems: Vec<Unreadable> = Vec::new();
    for file in files {
        // Of what is no text it cannot be known whether it names the image.
        let Ok(Some((_, text))) = read::text(branch, file, FileKind::Manifest) else { continue };
        match places(&text, repository) {
            Ok(places) => fields.extend(
                places.into_iter().map(|place| Field { file: file.clone(), image: place.image }),
            ),
            Err(error) => problems.push((
                error.reason(),
                format!("{file}: {error} (it names {repository}, and is left alone)"),
            )),
        }
    }
    if fields.is_empty() && !problems.is_empty() {
        return Err(problems.remove(0));
    }
    if fields.is_empty() && in_use {
        return Err(("MissingKey", nowhere(image, folder, branch, files)));
    }
    let mut findings: Vec<Finding> = problems.into_iter().map(left_alone).collect();
    if fields.is_empty() {
        findings.push(Finding {
            severity: Severity::Note,
            reason: "MissingKey",
            found: nowhere(image, folder, branch, files),
            fix: "correct the image's name, or name the folder: write-back-target: manifests:PATH"
                .to_owned(),
        });
    }
    let places = fields.iter().map(|field| (CurrentSource::Target, field.image.clone())).collect();
    Ok(Seen { keys: Keys::Manifest, places, fields, findings })
}

fn left_alone((reason, found): Unreadable) -> Finding {
    let fix = "keep templates out of the folder, or mend the file".to_owned();
    Finding { severity: Severity::Warning, reason, found, fix }
}

fn nowhere(
    image: &TrackedImage,
    folder: &ManifestFolder,
    branch: &BranchTexts,
    files: &[FilePath],
) -> String {
    let looked = match files {
        [] => format!("there is no manifest in the folder '{}'", folder.folder),
        files => {
            let names: Vec<&str> = files.iter().take(NAMED).map(FilePath::as_str).collect();
            let more = match files.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("looked at {}{more}", names.join(", "))
        }
    };
    format!(
        "no image field names {} on branch '{}': {looked}",
        image.configured.repository, branch.branch
    )
}

/// The distinct references that stand in the fields, in the order of the files.
pub(super) fn references(row: &Row) -> Vec<&ImageReference> {
    let mut distinct: Vec<&ImageReference> = Vec::new();
    for field in &row.fields {
        if !distinct.contains(&&field.image) {
            distinct.push(&field.image);
        }
    }
    distinct
}

/// One edit for each file that holds a field of an image that changes, ordered by path.
pub(super) fn edits(changed: &[(&Row, ImageReference)]) -> Vec<FileEdit> {
    let mut by_file: BTreeMap<&FilePath, Vec<Wish>> = BTreeMap::new();
    for (row, image) in changed {
        let wish = Wish { keys: Keys::Manifest, image: image.clone() };
        for field in &row.fields {
            let wishes = by_file.entry(&field.file).or_default();
            if !wishes.contains(&wish) {
                wishes.push(wish.clone());
            }
        }
    }
    let edit = |(path, wishes): (&FilePath, _)| FileEdit {
        path: path.clone(),
        kind: FileKind::Manifest,
        wishes,
    };
    by_file.into_iter().map(edit).collect()
}
