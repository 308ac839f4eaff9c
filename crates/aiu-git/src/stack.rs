//! Commits one on top of the other, as texts: what each Application's edits make of the files
//! that the ones before it left. Nothing here talks to git.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use aiu_core::batch::{CommitPlan, FileEdit, FilePath, ImageChange};
use aiu_core::edit::{self, Edited, FileKind, Wish};
use aiu_core::image::ImageReference;

use crate::error::WriteError;
use crate::snapshot::{File, Snapshot, pick};
use crate::tree::{FileProblem, Mode, folders};

/// A file of a branch, and what all commits of one push make of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Where.
    pub path: FilePath,
    /// Its text before; `None` if it is created.
    pub before: Option<Arc<str>>,
    /// Its text after.
    pub after: Arc<str>,
}

/// A file that a commit changes: what it puts where, in the text that the commits before it left.
///
/// Not the whole text: many Applications may share a large file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) path: FilePath,
    pub(crate) mode: Mode,
    /// The bytes that are replaced.
    at: Range<usize>,
    text: Box<str>,
}

impl Splice {
    pub(crate) fn between(path: FilePath, mode: Mode, before: &str, after: &str) -> Self {
        let equal = |(a, b): &(u8, u8)| a == b;
        let mut start = before.bytes().zip(after.bytes()).take_while(equal).count();
        while !(before.is_char_boundary(start) && after.is_char_boundary(start)) {
            start -= 1;
        }
        let rest = before[start..].bytes().rev().zip(after[start..].bytes().rev());
        let mut end = rest.take_while(equal).count();
        while !(before.is_char_boundary(before.len() - end)
            && after.is_char_boundary(after.len() - end))
        {
            end -= 1;
        }
        let text = after[start..after.len() - end].into();
        Self { path, mode, at: start..before.len() - end, text }
    }

    /// Makes of the text before the text after.
    pub(crate) fn apply(&self, text: &mut String) {
        text.replace_range(self.at.clone(), &self.text);
    }
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
    /// Its files, ordered by path.
    pub(crate) files: Vec<Splice>,
    /// The planned changes that had an effect, in their order.
    pub(crate) changes: Vec<ImageChange>,
}

/// What plans come to, one after the other.
pub(crate) struct Stack {
    /// By plan.
    pub(crate) plans: Vec<Result<Stacked, WriteError>>,
    /// What all drafts come to together, by path.
    pub(crate) files: BTreeMap<FilePath, ChangedFile>,
}

/// Works through the plans.
///
/// A plan that fails leaves no trace; the ones after it go on as if it had not been there.
pub(crate) fn stack<'a>(
    snapshot: &Snapshot,
    plans: impl IntoIterator<Item = &'a CommitPlan>,
) -> Stack {
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
    let text = |file: &File| match file {
        File::Readable { text, .. } => Some(Arc::clone(text)),
        File::Missing | File::Refused(_) => None,
    };
    let files = changed.into_iter().filter_map(|(path, file)| {
        let before = snapshot.file(&path).and_then(text);
        let file = ChangedFile { path: path.clone(), before, after: text(&file)? };
        Some((path, file))
    });
    Stack { plans: drafts, files: files.collect() }
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
        // Mode and text before, by path; the text after is the layer's own.
        let mut files: BTreeMap<FilePath, (Mode, Option<Arc<str>>)> = BTreeMap::new();
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
            if let Some(text) = after {
                self.own.insert(path.clone(), File::Readable { mode, text });
                files.entry(path).or_insert((mode, before));
            }
        }
        let changes: Vec<ImageChange> =
            plan.changes.iter().filter(|change| counts(change, &effects)).cloned().collect();
        Ok(if !files.is_empty() && !changes.is_empty() {
            Stacked::Draft(Draft { files: self.splices(files), changes })
        } else if by_others {
            Stacked::SoByOthers
        } else {
            Stacked::AlreadySo
        })
    }

    /// What the plan's own texts are, as differences from the texts before.
    fn splices(&self, files: BTreeMap<FilePath, (Mode, Option<Arc<str>>)>) -> Vec<Splice> {
        let splice = |(path, (mode, before)): (FilePath, (Mode, Option<Arc<str>>))| {
            let Some(File::Readable { text: after, .. }) = self.own.get(&path) else { return None };
            Some(Splice::between(path, mode, before.as_deref().unwrap_or_default(), after))
        };
        files.into_iter().filter_map(splice).collect()
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
