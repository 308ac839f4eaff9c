//! Commits one on top of the other, as texts: what each Application's edits make of the files
//! that the ones before it left. Nothing here talks to git.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use aiu_core::batch::{CommitPlan, FileEdit, FilePath, ImageChange};
use aiu_core::edit::{self, Edited, FileKind, Wish};
use aiu_core::image::ImageReference;

use crate::error::WriteError;
use crate::snapshot::{File, Snapshot, pick};
use crate::tree::{FileProblem, Mode, folders};

/// A file that a commit changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Where.
    pub path: FilePath,
    /// Its text before; `None` if the commit creates it.
    pub before: Option<Arc<str>>,
    /// Its text after.
    pub after: Arc<str>,
}

/// What a plan comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stacked {
    /// A commit to be made.
    Draft(Draft),
    /// Every file says already what is wished.
    AlreadySo,
    /// Every file will say what is wished once the drafts before it have landed.
    SoByOthers,
}

/// A commit to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// Its files with their modes, ordered by path.
    pub(crate) files: Vec<(Mode, ChangedFile)>,
    /// The planned changes that had an effect, in their order.
    pub(crate) changes: Vec<ImageChange>,
}

/// Works through the plans.
///
/// A plan that fails leaves no trace; the ones after it go on as if it had not been there.
pub(crate) fn stack<'a>(
    snapshot: &Snapshot,
    plans: impl IntoIterator<Item = &'a CommitPlan>,
) -> Vec<Result<Stacked, WriteError>> {
    let mut changed = HashMap::new();
    let mut drafts = Vec::new();
    for plan in plans {
        let mut layer = Layer { snapshot, below: &changed, own: HashMap::new() };
        let stacked = layer.stack(plan);
        if let Ok(Stacked::Draft(_)) = stacked {
            let own = layer.own;
            changed.extend(own);
        }
        drafts.push(stacked);
    }
    drafts
}

/// The files as one plan sees and changes them.
struct Layer<'a> {
    snapshot: &'a Snapshot,
    below: &'a HashMap<FilePath, File>,
    own: HashMap<FilePath, File>,
}

impl Layer<'_> {
    fn stack(&mut self, plan: &CommitPlan) -> Result<Stacked, WriteError> {
        let mut by_others = false;
        let mut files: BTreeMap<FilePath, (Mode, ChangedFile)> = BTreeMap::new();
        let mut effects: Vec<(&ImageReference, bool)> = Vec::new();
        for edit in &plan.edits {
            let (path, mode, before) = self.find(edit)?;
            by_others |= self.below.contains_key(&path);
            let after = applied(&path, edit.kind, before.as_deref(), &edit.wishes)?;
            for wish in &edit.wishes {
                let wish = std::slice::from_ref(wish);
                let effect = after.is_some() && has_effect(edit, before.as_deref(), wish);
                effects.push((&wish[0].image, effect));
            }
            if let Some(after) = after {
                let text = Arc::clone(&after);
                self.own.insert(path.clone(), File::Readable { mode, text });
                match files.entry(path) {
                    Entry::Occupied(mut earlier) => earlier.get_mut().1.after = after,
                    Entry::Vacant(first) => {
                        let path = first.key().clone();
                        first.insert((mode, ChangedFile { path, before, after }));
                    }
                }
            }
        }
        let changes: Vec<ImageChange> =
            plan.changes.iter().filter(|change| counts(change, &effects)).cloned().collect();
        Ok(if !files.is_empty() && !changes.is_empty() {
            Stacked::Draft(Draft { files: files.into_values().collect(), changes })
        } else if by_others {
            Stacked::SoByOthers
        } else {
            Stacked::AlreadySo
        })
    }

    /// The file that the edit means, its mode, and its text if it exists.
    fn find(&self, edit: &FileEdit) -> Result<(FilePath, Mode, Option<Arc<str>>), WriteError> {
        let (path, file) = pick(&edit.path, edit.kind, |path| self.file(path))
            .expect("the snapshot was taken for the paths of these plans");
        let refuse = |path: FilePath, cause| Err(WriteError::File { path, cause });
        match file {
            File::Readable { mode, text } => Ok((path, *mode, Some(Arc::clone(text)))),
            File::Refused(cause) => refuse(path, cause.clone()),
            File::Missing => match self.in_the_way(&path) {
                Some(cause) => refuse(path, cause),
                None => Ok((path, Mode::Plain, None)),
            },
        }
    }

    fn file(&self, path: &FilePath) -> Option<&File> {
        self.own.get(path).or_else(|| self.below.get(path)).or_else(|| self.snapshot.file(path))
    }

    /// What keeps a file from being created: an earlier plan made a file where it needs a
    /// folder, or a folder where it stands.
    fn in_the_way(&self, path: &FilePath) -> Option<FileProblem> {
        let made = || self.below.keys().chain(self.own.keys()).map(FilePath::as_str);
        if made().any(|other| folders(other).any(|folder| folder == path.as_str())) {
            return Some(FileProblem::Folder);
        }
        let file = folders(path.as_str()).find(|folder| made().any(|other| other == *folder))?;
        Some(FileProblem::NotAFolder(file.to_owned()))
    }
}

/// The text after the edit, if it is another one.
fn applied(
    path: &FilePath,
    kind: FileKind,
    before: Option<&str>,
    wishes: &[Wish],
) -> Result<Option<Arc<str>>, WriteError> {
    match edit::apply(kind, before, wishes) {
        Ok(Edited::Unchanged) => Ok(None),
        Ok(Edited::Changed(after)) if Some(after.as_str()) == before => Ok(None),
        Ok(Edited::Changed(after)) => Ok(Some(after.into())),
        Err(cause) => Err(WriteError::Edit { path: path.clone(), cause }),
    }
}

/// Whether one of several wishes would change the file by itself.
fn has_effect(edit: &FileEdit, before: Option<&str>, wish: &[Wish]) -> bool {
    edit.wishes.len() == 1 || !matches!(edit::apply(edit.kind, before, wish), Ok(Edited::Unchanged))
}

/// Whether a message shall tell of a change: not if all files said so already (spec 30 §4.7).
/// A change that no wish belongs to is told.
fn counts(change: &ImageChange, effects: &[(&ImageReference, bool)]) -> bool {
    let mut own = effects.iter().filter(|(image, _)| **image == change.to).peekable();
    own.peek().is_none() || own.any(|(_, effect)| *effect)
}

#[cfg(test)]
#[path = "stack/tests.rs"]
mod tests;
