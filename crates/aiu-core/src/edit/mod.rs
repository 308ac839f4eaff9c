//! Reading the current value of an image from a write-back target, and writing the new one.
//!
//! One module per kind of target; each both reads and edits, so that the two cannot disagree.
//! Two laws hold for every edit (spec 32, "Rules of the byte-minimal editor"): bytes outside
//! the edited ranges are untouched, and asking twice changes nothing the second time.
//! Where that cannot be kept the edit is refused with a reason and a line.

use std::fmt;
use std::sync::Arc;

use crate::image::ImageReference;

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

/// Why a target was not read or not edited. The text was left as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct EditError {
    /// What is wrong.
    pub problem: Problem,
    /// 1-based line in the text, where known.
    pub line: Option<usize>,
}

/// The kinds of refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The text is no YAML; the parser's words.
    Unreadable(String),
    /// Template actions (`{{ … }}`) outside of scalars: the file is rendered before it is YAML.
    Templated,
    /// The same key twice in one mapping.
    DuplicateKey(String),
    /// The target must hold exactly one document, this one holds more.
    SeveralDocuments,
    /// The file must exist and does not.
    Missing,
    /// The wished key cannot be reached or made; the reference's words (spec 30 §4.5).
    Key(String),
    /// After the edit something else than the wished values would differ.
    Guard(String),
}

impl EditError {
    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self.problem {
            Problem::Templated => "ManifestTemplated",
            Problem::Missing => "TargetMissing",
            Problem::Key(_) => "MissingKey",
            Problem::Unreadable(_)
            | Problem::DuplicateKey(_)
            | Problem::SeveralDocuments
            | Problem::Guard(_) => "ManifestUnreadable",
        }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        match &self.problem {
            Problem::Unreadable(cause) => write!(f, "not readable as YAML: {cause}"),
            Problem::Templated => f.write_str(
                "the file holds template actions ({{ … }}); name a file that is plain YAML as the target",
            ),
            Problem::DuplicateKey(key) => {
                write!(f, "the key '{key}' stands twice in one mapping; remove one of them")
            }
            Problem::SeveralDocuments => {
                f.write_str("target parameter file should contain a single YAML document")
            }
            Problem::Missing => f.write_str("the file does not exist"),
            Problem::Key(cause) => f.write_str(cause),
            Problem::Guard(path) => write!(
                f,
                "the edit would also change '{path}'; nothing was written, please report this file"
            ),
        }
    }
}
