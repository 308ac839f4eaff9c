//! Where Applications, resources and settings come from, and where patches go.
//!
//! The seam of ARCHITECTURE.md, "two enums, no traits": the Kubernetes API, or a folder of
//! manifests that answers like it.

pub mod api;
pub mod documents;
pub mod files;
mod replace;

use std::sync::Arc;

use aiu_api::application::Application;
use aiu_core::batch::AppName;
use aiu_core::edit::{EditError, SourceRef, Wish};
use futures::StreamExt as _;
use parking_lot::Mutex;
use secrecy::SecretString;

use aiu_git::credentials::secrets::{GitSecret, GitSources};

use crate::report::{FileChange, WritePlace};
use api::View;
use files::Manifests;

/// A place that holds Applications, as one pass sees it.
#[derive(Debug)]
pub enum Cluster {
    /// A folder of manifests (spec 40 B5).
    Files(Mutex<Manifests>),
    /// The Kubernetes API.
    Api(View),
}

/// The document of one Application.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Its text alone.
    pub text: &'a str,
    /// The file that it stands in, or the object's name.
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
        /// Where.
        place: WritePlace,
        /// The file, relative to the folder, or the object's name.
        file: String,
    },
}

/// Edits of one Application's own spec.
#[derive(Debug)]
pub struct SpecEdit {
    /// The Application.
    pub application: AppName,
    /// Which of its sources.
    pub source: SourceRef,
    /// What it shall say.
    pub wishes: Vec<Wish>,
}

/// What became of edits, in their order.
#[derive(Debug, Default)]
pub struct Patches {
    /// By Application.
    pub done: Vec<(AppName, Result<Patched, PatchError>)>,
    /// The files that were, or would have been, replaced.
    pub files: Vec<FileChange>,
}

/// Why an Application was not written.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The edit itself was refused.
    #[error("{file}: {cause}")]
    Edit {
        /// The file, relative to the folder, or the object's name.
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
    /// The API server refuses, or cannot be asked.
    #[error(transparent)]
    Api(#[from] api::ApiError),
}

impl PatchError {
    /// Stable word (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Edit { cause, .. } => cause.reason(),
            Self::Write { .. } => "FileNotWritable",
            Self::Changed(_) => "FileChanged",
            Self::Api(error) => error.reason(),
        }
    }
}

/// Why a field of a Secret cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SecretError {
    /// Stable word (spec 00 §6).
    pub reason: &'static str,
    /// What is missing, or why it could not be asked for.
    pub message: String,
}

impl SecretError {
    /// The Secret, or the field, is not there.
    pub fn missing(message: String) -> Self {
        Self { reason: "CredentialSecretMissing", message }
    }
}

impl Cluster {
    /// The Applications that this pass looks at, ordered by name.
    pub fn applications(&self) -> Vec<(AppName, Arc<Application>)> {
        match self {
            Self::Files(manifests) => {
                let manifests = manifests.lock();
                let all = manifests.applications();
                all.map(|(name, _, app)| (name.clone(), Arc::clone(app))).collect()
            }
            Self::Api(view) => view.applications(),
        }
    }

    /// Reads something from one Application's document, before anything of it is written.
    /// `None` if there is no such Application.
    pub fn read<T>(&self, app: &AppName, read: impl FnOnce(&Piece<'_>) -> T) -> Option<T> {
        match self {
            Self::Files(manifests) => {
                let manifests = manifests.lock();
                let place = manifests.place(app)?;
                let text = manifests.document(place)?;
                Some(read(&Piece { text, file: &place.file, line: place.line }))
            }
            Self::Api(view) => view.read(app, read),
        }
    }

    /// The value of a Secret's field, decoded.
    pub async fn secret_field(
        &self,
        namespace: &str,
        name: &str,
        field: &str,
    ) -> Result<SecretString, SecretError> {
        match self {
            Self::Files(manifests) => {
                let found = manifests.lock().secret_field(namespace, name, field);
                found.map(SecretString::from).map_err(SecretError::missing)
            }
            Self::Api(view) => view.secret_field(namespace, name, field).await,
        }
    }

    /// What Argo CD knows of git (spec 30 §3.1): its labelled Secrets, known hosts and
    /// certificates, in its own namespace.
    pub async fn git_sources(&self, namespace: &str) -> Result<GitSources, SecretError> {
        match self {
            Self::Files(manifests) => Ok(manifests.lock().git_sources(namespace)),
            Self::Api(view) => view.git_sources(namespace).await,
        }
    }

    /// A Secret that somebody named for git.
    pub async fn git_secret(&self, namespace: &str, name: &str) -> Result<GitSecret, SecretError> {
        match self {
            Self::Files(manifests) => {
                let found = manifests.lock().git_secret(namespace, name);
                found.map_err(SecretError::missing)
            }
            Self::Api(view) => {
                let fields = view.secret(namespace, name).await?;
                let (namespace, name) = (namespace.into(), name.into());
                let fields = (*fields).clone();
                Ok(GitSecret { namespace, name, secret_type: String::new(), fields })
            }
        }
    }

    /// Whether a person's own logins stand behind it.
    pub fn has_user(&self) -> bool {
        match self {
            Self::Files(_) => true,
            Self::Api(_) => false,
        }
    }

    /// Edits Applications' own specs: only what was wished, and only what is a change. So many of
    /// them are asked for `at_once`.
    pub async fn patch(&self, edits: Vec<SpecEdit>, dry_run: bool, at_once: usize) -> Patches {
        match self {
            Self::Files(manifests) => manifests.lock().patch(&edits, dry_run),
            Self::Api(view) => {
                let patches = edits.into_iter().map(|edit| patch_object(view, edit, dry_run));
                let done = futures::stream::iter(patches).buffered(at_once.max(1)).collect().await;
                Patches { done, files: Vec::new() }
            }
        }
    }
}

async fn patch_object(
    view: &View,
    edit: SpecEdit,
    dry_run: bool,
) -> (AppName, Result<Patched, PatchError>) {
    let SpecEdit { application, source, wishes } = edit;
    let patched = view.patch(&application, source, &wishes, dry_run).await;
    (application, patched)
}
