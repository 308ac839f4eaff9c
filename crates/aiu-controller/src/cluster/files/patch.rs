//! Edits of Applications' documents. However many Applications stand in a file, it is cut into
//! its documents and replaced once, and each document is parsed by itself.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::Arc;

use aiu_core::edit::{EditError, Edited, apply_in_spec};

use super::super::documents::split;
use super::super::replace;
use super::super::{PatchError, Patched, Patches, SpecEdit};
use super::Manifests;
use crate::report::{FileChange, WritePlace};

/// Why a file was not replaced.
#[derive(Clone)]
enum NotReplaced {
    Changed,
    Write(String),
}

impl NotReplaced {
    fn of(self, file: &str) -> PatchError {
        match self {
            Self::Changed => PatchError::Changed(file.to_owned()),
            Self::Write(cause) => PatchError::Write { file: file.to_owned(), cause },
        }
    }
}

/// Edits of one file: their places in the answer, and the documents that they are for.
type OfFile<'a> = Vec<(usize, usize, &'a SpecEdit)>;

impl Manifests {
    /// Makes the documents say what is wished, and replaces the files whose bytes change.
    pub(in crate::cluster) fn patch(&mut self, edits: &[SpecEdit], dry_run: bool) -> Patches {
        let mut results: Vec<_> = edits.iter().map(|_| None).collect();
        let mut by_file: BTreeMap<String, OfFile<'_>> = BTreeMap::new();
        for (at, edit) in edits.iter().enumerate() {
            if let Some(place) = self.place(&edit.application) {
                let of_file = by_file.entry(place.file.clone()).or_default();
                of_file.push((at, place.document, edit));
            } else {
                results[at] = Some(Err(PatchError::Changed(edit.application.to_string())));
            }
        }
        let mut files = Vec::new();
        for (file, edits) in by_file {
            let before = self.texts.get(&file).cloned().unwrap_or_default();
            let (after, edited) = edit_documents(&before, &edits);
            let replaced = match &after {
                Some(after) if !dry_run => self.replace_file(&file, &before, after),
                _ => Ok(()),
            };
            for ((at, ..), edited) in edits.iter().zip(edited) {
                results[*at] = Some(match (edited, &replaced) {
                    (Err(cause), _) => Err(PatchError::Edit { file: file.clone(), cause }),
                    (Ok(false), _) => Ok(Patched::AlreadySo),
                    (Ok(true), Ok(())) => {
                        Ok(Patched::Changed { place: WritePlace::Folder, file: file.clone() })
                    }
                    (Ok(true), Err(why)) => Err(why.clone().of(&file)),
                });
            }
            if let (Some(after), Ok(())) = (after, replaced) {
                files.push(FileChange {
                    branch: None,
                    file: file.clone(),
                    before: Some(before.into()),
                    after: Arc::from(after.as_str()),
                });
                self.texts.insert(file, after);
            }
        }
        let names = edits.iter().map(|edit| edit.application.clone());
        Patches { done: names.zip(results.into_iter().flatten()).collect(), files }
    }

    fn replace_file(&self, file: &str, before: &str, after: &str) -> Result<(), NotReplaced> {
        let failed = |cause: io::Error| {
            NotReplaced::Write(format!(
                "cannot be replaced: {cause}; make the file and its folder writable"
            ))
        };
        // A link is followed, but not out of the folder: what stands elsewhere is not ours.
        let path = fs::canonicalize(self.root.join(file)).map_err(failed)?;
        let root = fs::canonicalize(&self.root).map_err(failed)?;
        if !path.starts_with(&root) {
            return Err(NotReplaced::Write(
                "is a link that leaves the folder; write-back does not follow it".to_owned(),
            ));
        }
        if fs::read_to_string(&path).map_err(failed)? != before {
            return Err(NotReplaced::Changed);
        }
        replace::replace(&path, after).map_err(failed)
    }
}

/// The text with the edits in it, if they change any byte, and whether each of them does.
fn edit_documents(
    text: &str,
    edits: &OfFile<'_>,
) -> (Option<String>, Vec<Result<bool, EditError>>) {
    let documents = split(text);
    let mut changed: BTreeMap<usize, String> = BTreeMap::new();
    let edited = edits.iter().map(|(_, at, edit)| {
        let document = &documents[*at];
        let piece = changed.get(at).map_or(document.text, String::as_str);
        match apply_in_spec(piece, 0, edit.source, &edit.wishes) {
            Ok(Edited::Unchanged) => Ok(false),
            Ok(Edited::Changed(after)) => {
                changed.insert(*at, after);
                Ok(true)
            }
            Err(mut error) => {
                error.line = error.line.map(|line| line + document.line - 1);
                Err(error)
            }
        }
    });
    let edited = edited.collect();
    if changed.is_empty() {
        return (None, edited);
    }
    let (mut after, mut copied) = (String::with_capacity(text.len()), 0);
    for (at, piece) in &changed {
        let document = &documents[*at];
        after.push_str(&text[copied..document.start]);
        after.push_str(piece);
        copied = document.start + document.text.len();
    }
    after.push_str(&text[copied..]);
    (Some(after), edited)
}
