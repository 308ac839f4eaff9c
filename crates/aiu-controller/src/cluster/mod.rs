//! Where Applications, resources and settings come from, and where patches go.
//!
//! The seam of ARCHITECTURE.md, "two enums, no traits": the Kubernetes API becomes the second
//! variant; until then a folder of manifests is the only cluster there is.

pub mod documents;
pub mod files;
mod replace;

use aiu_core::batch::AppName;
use aiu_core::edit::{EditError, SourceRef, Wish};

use files::Manifests;

/// A place that holds Applications.
#[derive(Debug)]
pub enum Cluster {
    /// A folder of manifests (spec 40 B5).
    Files(Manifests),
}

/// The document of one Application.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Its text alone.
    pub text: &'a str,
    /// The file that it stands in.
    pub file: &'a str,
    /// The 1-based line of the file that it starts on.
    pub line: usize,
}

/// What becomes of an Application that is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patched {
    /// It already says what was wished.
    AlreadySo,
    /// It was changed, or would have been in a dry run.
    Changed {
        /// The file, relative to the folder.
        file: String,
        /// The file's text before.
        before: String,
        /// The file's text after.
        after: String,
    },
}

/// Why an Application was not written.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The edit itself was refused.
    #[error("{file}: {cause}")]
    Edit {
        /// The file, relative to the folder.
        file: String,
        /// Why.
        cause: EditError,
    },
    /// The file could not be read again or replaced.
    #[error("{file}: {cause}")]
    Write {
        /// The file, relative to the folder.
        file: String,
        /// The operating system's words, and what to do.
        cause: String,
    },
    /// Somebody else wrote the file since it was read.
    #[error("{0} changed while the pass ran; run again to use its new content")]
    Changed(String),
}

impl PatchError {
    /// Stable word (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Edit { cause, .. } => cause.reason(),
            Self::Write { .. } => "FileNotWritable",
            Self::Changed(_) => "FileChanged",
        }
    }
}

impl Cluster {
    /// Reads something from one Application's document, before anything of it is written.
    /// `None` if there is no such Application.
    pub fn read<T>(&self, app: &AppName, read: impl FnOnce(&Piece<'_>) -> T) -> Option<T> {
        match self {
            Self::Files(manifests) => {
                let place = manifests.place(app)?;
                let text = manifests.document(place)?;
                Some(read(&Piece { text, file: &place.file, line: place.line }))
            }
        }
    }

    /// The value of a Secret's field, decoded; if there is none, what is missing.
    pub fn secret_field(&self, namespace: &str, name: &str, field: &str) -> Result<String, String> {
        match self {
            Self::Files(manifests) => manifests.secret_field(namespace, name, field),
        }
    }

    /// Edits one Application's own spec: byte-minimal, and only if bytes change.
    pub fn patch(
        &mut self,
        app: &AppName,
        source: SourceRef,
        wishes: &[Wish],
        dry_run: bool,
    ) -> Result<Patched, PatchError> {
        match self {
            Self::Files(manifests) => manifests.patch(app, dry_run, |text, document| {
                aiu_core::edit::apply_in_spec(text, document, source, wishes)
            }),
        }
    }
}
