//! Reading the current value of an image from a write-back target, and writing the new one.
//!
//! One module per kind of target; each both reads and edits, so that the two cannot disagree.
//! Two laws hold for every edit (spec 32, "Rules of the byte-minimal editor"): bytes outside
//! the edited ranges are untouched, and asking twice changes nothing the second time.
//! Where that cannot be kept the edit is refused with a reason and a line.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::image::{ImageReference, Repository};

mod error;
mod folder;
pub mod helm_values;
pub mod kustomization;
pub mod lists;
pub mod manifests;
mod override_file;
mod path;
mod reading;
mod source_block;
mod spec;
mod yaml;

#[cfg(test)]
mod tests;

pub use error::{EditError, Problem};
pub use folder::{FolderFilter, ManifestFolder};
pub use spec::SourceRef;

use source_block::List;
use yaml::Tree;

/// The names of a kustomization file; the first that exists in a folder is meant
/// (spec 30 §4.6).
pub const KUSTOMIZATION_NAMES: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// What an edit came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edited {
    /// The target already says what was asked.
    Unchanged,
    /// The new text.
    Changed(String),
}

/// The shape of a file that is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// `kustomization.yaml` and its other names (spec 30 §4.6).
    Kustomization,
    /// A values file of a Helm chart (spec 30 §4.5).
    HelmValues,
    /// `.argocd-source-<app>.yaml` of a Helm source (spec 30 §4.4).
    HelmOverride,
    /// `.argocd-source-<app>.yaml` of a Kustomize source (spec 30 §4.4).
    KustomizeOverride,
    /// `.argocd-source-<app>.yaml` of a Plugin source (spec 30 §4.4).
    PluginOverride,
    /// A plain manifest, or several in one file (spec 40 B3).
    Manifest,
}

impl FileKind {
    /// Whether Argo CD lays the file over the source's own settings (spec 30 §4.4).
    pub fn is_override(self) -> bool {
        matches!(self, Self::HelmOverride | Self::KustomizeOverride | Self::PluginOverride)
    }
}

/// Under which keys a target holds one image (spec 10 §6.2, 30 §4.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Keys {
    /// Helm parameters or values: one key for the whole reference, or one for the name and
    /// one for the tag.
    Helm(HelmKeys),
    /// A kustomize image entry, under this name if it is not the image's own.
    Kustomize {
        /// The text before `=`: what the manifests call the image.
        name: Option<Arc<str>>,
    },
    /// Environment variables of a config management plugin.
    Plugin(PluginKeys),
    /// The image fields of plain manifests, found by the image's repository.
    Manifest,
}

/// Keys of Helm parameters, or paths in a values file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HelmKeys {
    /// One key holds `repository:tag@digest`.
    Spec(Arc<str>),
    /// Two keys; either may be absent.
    NameAndTag {
        /// Holds the repository (`image.name` by default).
        name: Option<Arc<str>>,
        /// Holds the tag (`image.tag` by default).
        tag: Option<Arc<str>>,
    },
}

/// Names of plugin variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PluginKeys {
    /// One variable holds the whole reference.
    Spec(Arc<str>),
    /// Two variables; either may be absent.
    NameAndTag {
        /// Holds the repository.
        name: Option<Arc<str>>,
        /// Holds the tag.
        tag: Option<Arc<str>>,
    },
}

/// What should hold in a target: this reference, under these keys.
///
/// Not a key and a text, since what is written depends on what the target holds (a values
/// file that keeps its registry elsewhere, a kustomization that renames).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wish {
    /// Where in the target.
    pub keys: Keys,
    /// What it should say.
    pub image: ImageReference,
}

/// A file, to be asked for many images: it is parsed once, when first needed.
pub struct Reading<'t> {
    kind: FileKind,
    text: &'t str,
    tree: OnceCell<Result<Tree<'t>, EditError>>,
}

impl<'t> Reading<'t> {
    /// A file of this shape.
    pub fn of(kind: FileKind, text: &'t str) -> Self {
        Self { kind, text, tree: OnceCell::new() }
    }

    /// What the file says for one image, read under the keys that an edit would write.
    ///
    /// `None` if none of its keys is there, if they cannot be (a key below a scalar: [`apply`]
    /// tells), or if what is there names no image (a template, say). A key that holds nothing, or
    /// a tag that is none, gives a reference without a tag: the entry is the image's, its version
    /// is not known. A name without a registry means the configured repository if it has the same
    /// path.
    ///
    /// # Errors
    ///
    /// A text that cannot be read, or whose meaning is not sure; see [`Problem`].
    pub fn current(
        &self,
        keys: &Keys,
        configured: &Repository,
    ) -> Result<Option<ImageReference>, EditError> {
        let found = match (self.kind, keys) {
            (FileKind::Kustomization, Keys::Kustomize { name }) => {
                kustomization::current(self.tree()?, name.as_deref(), configured)
            }
            (FileKind::HelmValues, Keys::Helm(_)) if helm_values::is_empty(self.text) => Ok(None),
            (FileKind::HelmValues, Keys::Helm(keys)) => {
                helm_values::current(self.tree()?, keys, configured)
            }
            (FileKind::Manifest, Keys::Manifest) => manifests::places(self.text, configured)
                .map(|places| places.into_iter().map(|place| place.image).next()),
            (kind, _) if kind.is_override() => override_file::read(self.tree()?, keys, configured),
            (kind, _) => return Err(wrong_keys(kind)),
        };
        match found {
            Err(EditError { problem: Problem::Key(_), .. }) => Ok(None),
            found => found,
        }
    }

    fn tree(&self) -> Result<&Tree<'t>, EditError> {
        self.tree.get_or_init(|| Tree::parse(self.text)).as_ref().map_err(Clone::clone)
    }
}

/// What a file says for one image; see [`Reading::current`].
///
/// # Errors
///
/// A text that cannot be read, or whose meaning is not sure; see [`Problem`].
pub fn current(
    kind: FileKind,
    text: &str,
    keys: &Keys,
    configured: &Repository,
) -> Result<Option<ImageReference>, EditError> {
    Reading::of(kind, text).current(keys, configured)
}

/// Makes a file say what the wishes name; `None` is a file that does not exist.
///
/// Values files and override files are made where they are missing. Everything the wishes do
/// not concern keeps its bytes, and asking again is [`Edited::Unchanged`].
///
/// # Errors
///
/// See [`Problem`]; nothing is to be written then.
pub fn apply(kind: FileKind, text: Option<&str>, wishes: &[Wish]) -> Result<Edited, EditError> {
    let existing = text.ok_or(EditError { problem: Problem::Missing, line: None });
    match kind {
        FileKind::Kustomization => {
            let wishes = select(kind, wishes, |keys| match keys {
                Keys::Kustomize { name } => Some(name.as_deref()),
                _ => None,
            });
            kustomization::apply(existing?, &wishes?)
        }
        FileKind::HelmValues => {
            let wishes = select(kind, wishes, |keys| match keys {
                Keys::Helm(keys) => Some(keys),
                _ => None,
            });
            helm_values::apply(text, &wishes?)
        }
        FileKind::Manifest => {
            let wishes = select(kind, wishes, |keys| (*keys == Keys::Manifest).then_some(()))?;
            let images: Vec<_> = wishes.into_iter().map(|((), image)| image).collect();
            manifests::apply(existing?, &images)
        }
        FileKind::HelmOverride => override_file::apply(text, List::Parameters, wishes),
        FileKind::KustomizeOverride => override_file::apply(text, List::Images, wishes),
        FileKind::PluginOverride => override_file::apply(text, List::Variables, wishes),
    }
}

/// The wishes with the keys that this kind of file has.
fn select<'w, K>(
    kind: FileKind,
    wishes: &'w [Wish],
    keys: impl Fn(&'w Keys) -> Option<K>,
) -> Result<Vec<(K, &'w ImageReference)>, EditError> {
    let wanted = |wish: &'w Wish| Some((keys(&wish.keys)?, &wish.image));
    wishes.iter().map(|wish| wanted(wish).ok_or_else(|| wrong_keys(kind))).collect()
}

/// What an Application's own spec says for one image; as [`current`].
///
/// `document` counts the documents of the text from 0.
///
/// # Errors
///
/// [`Problem::Key`] if the document has no such source, and the refusals of [`apply`].
pub fn current_in_spec(
    text: &str,
    document: usize,
    source: SourceRef,
    keys: &Keys,
    configured: &Repository,
) -> Result<Option<ImageReference>, EditError> {
    spec::read(text, document, source, keys, configured)
}

/// Makes an Application's own spec say what the wishes name, in the bytes of the text that holds
/// it (spec 21 §8.1).
///
/// # Errors
///
/// [`Problem::Key`] if the document has no such source, and the refusals of [`apply`].
pub fn apply_in_spec(
    text: &str,
    document: usize,
    source: SourceRef,
    wishes: &[Wish],
) -> Result<Edited, EditError> {
    spec::apply(text, document, source, wishes)
}

fn wrong_keys(kind: FileKind) -> EditError {
    EditError::key(format!("keys of another kind cannot be written to a {kind:?} file"))
}
