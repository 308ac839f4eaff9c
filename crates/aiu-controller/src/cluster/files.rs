//! A folder of manifests in place of a cluster (spec 40 B5).
//!
//! It answers like the API server: objects are found by kind and name, wherever they stand,
//! in files of one or several documents. A patch edits the document in its file. What cannot
//! be used is a [`Problem`] that names file and line; the rest goes on.

mod git;
mod patch;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aiu_api::application::Application;
use aiu_api::image_updater::ImageUpdater;
use aiu_core::batch::AppName;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::documents::{Document, Head, split};
use super::replace;

/// Files above this size hold no manifests that people write.
const LARGEST_FILE: u64 = 32 << 20;

/// The `ConfigMap` whose keys are settings (spec 22 §10).
pub const CONFIG_MAP: &str = "argocd-image-updater-config";

/// All objects of ours in a folder.
#[derive(Debug)]
pub struct Manifests {
    root: PathBuf,
    texts: BTreeMap<String, String>,
    applications: Vec<(AppName, Place, Arc<Application>)>,
    updaters: Vec<(AppName, ImageUpdater)>,
    settings: BTreeMap<String, String>,
    secrets: BTreeMap<(String, String), Secret>,
    git_maps: BTreeMap<(String, String), BTreeMap<String, String>>,
    problems: Vec<Problem>,
    files_seen: usize,
}

/// Where an object stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the folder.
    pub file: String,
    /// Which document of the file.
    pub document: usize,
    /// The 1-based line that it starts on.
    pub line: usize,
    /// The bytes of the file that it took up when the file was read.
    pub bytes: Range<usize>,
}

/// What in the folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Stable word (spec 00 §6).
    pub reason: &'static str,
    /// Whether it makes the run fail. A template that would make manifests does not.
    pub fails: bool,
    /// One sentence: file, line, cause and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Why a folder cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be opened or listed.
    #[error(
        "cannot read the manifests in '{folder}': {cause}; give --manifests a folder that can be read"
    )]
    Unreadable {
        /// The folder.
        folder: String,
        /// The operating system's words.
        cause: io::Error,
    },
    /// Nothing to work on.
    #[error(
        "no Application found in '{folder}' ({files} YAML and JSON files read); give --manifests the folder that holds documents with 'kind: Application'"
    )]
    NoApplication {
        /// The folder.
        folder: String,
        /// How many files were read.
        files: usize,
    },
}

#[derive(Deserialize)]
struct ConfigMap {
    metadata: aiu_api::application::Metadata,
    #[serde(default)]
    data: BTreeMap<String, String>,
}

/// A Secret as it stands in its file; printing it shows the names of its fields alone.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secret {
    metadata: aiu_api::application::Metadata,
    #[serde(default)]
    data: BTreeMap<String, SecretString>,
    #[serde(default)]
    string_data: BTreeMap<String, SecretString>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.data.keys().chain(self.string_data.keys())).finish()
    }
}

impl Manifests {
    /// Reads all manifests under `root`, in the order of their names; there must be something
    /// to work on. `default_namespace` is the namespace of objects that name none.
    pub fn load(root: &Path, default_namespace: &str) -> Result<Self, LoadError> {
        let manifests = Self::read(root, default_namespace)?;
        if manifests.applications.is_empty() && manifests.problems.is_empty() {
            return Err(LoadError::NoApplication {
                folder: root.display().to_string(),
                files: manifests.files_seen,
            });
        }
        Ok(manifests)
    }

    /// As [`Manifests::load`], for those who want Secrets and settings alone.
    pub fn read(root: &Path, default_namespace: &str) -> Result<Self, LoadError> {
        let mut manifests = Self {
            root: root.to_owned(),
            texts: BTreeMap::new(),
            applications: Vec::new(),
            updaters: Vec::new(),
            settings: BTreeMap::new(),
            secrets: BTreeMap::new(),
            git_maps: BTreeMap::new(),
            problems: Vec::new(),
            files_seen: 0,
        };
        let mut listing = Listing::default();
        listing
            .visit(root, root)
            .map_err(|cause| LoadError::Unreadable { folder: root.display().to_string(), cause })?;
        for (folder, cause) in listing.unreadable {
            manifests.problem(
                "ManifestUnreadable",
                format!(
                    "the folder {folder} cannot be read: {cause}; make it readable or move it away"
                ),
            );
        }
        listing.files.sort();
        for file in listing.files {
            manifests.read_file(file, default_namespace);
        }
        manifests.refuse_duplicates();
        Ok(manifests)
    }

    /// The Applications, ordered by name.
    pub fn applications(&self) -> impl Iterator<Item = (&AppName, &Place, &Arc<Application>)> {
        self.applications.iter().map(|(name, place, app)| (name, place, app))
    }

    /// Leaves out all Applications but this one: `NAMESPACE/NAME`, or `NAME` in any namespace.
    pub fn leave_only(&mut self, wanted: &str) {
        self.applications.retain(|(name, ..)| *wanted == *name.name || wanted == name.to_string());
    }

    /// The resources, ordered by name.
    pub fn updaters(&self) -> impl Iterator<Item = (&AppName, &ImageUpdater)> {
        self.updaters.iter().map(|(name, updater)| (name, updater))
    }

    /// The keys of the settings' `ConfigMap`; empty if the folder has none.
    pub fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// What could not be used.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The text of one Application's document, as it was read.
    pub(super) fn document(&self, place: &Place) -> Option<&str> {
        self.texts.get(&place.file)?.get(place.bytes.clone())
    }

    /// Where an Application stands.
    pub fn place(&self, app: &AppName) -> Option<&Place> {
        let at = self.applications.binary_search_by(|(name, ..)| name.cmp(app)).ok()?;
        Some(&self.applications[at].1)
    }

    /// The value of a Secret's field, decoded; if there is none, what is missing.
    pub fn secret_field(&self, namespace: &str, name: &str, field: &str) -> Result<String, String> {
        let secret =
            (self.secrets.get(&(namespace.to_owned(), name.to_owned()))).ok_or_else(|| {
                format!("the folder has no Secret '{name}' in namespace '{namespace}'")
            })?;
        if let Some(text) = secret.string_data.get(field) {
            return Ok(text.expose_secret().to_owned());
        }
        let encoded = secret.data.get(field).ok_or_else(|| {
            let known: Vec<&str> =
                secret.data.keys().chain(secret.string_data.keys()).map(String::as_str).collect();
            format!("the Secret '{name}' has no field '{field}', only {}", known.join(", "))
        })?;
        let packed: String = encoded.expose_secret().split_whitespace().collect();
        let bytes = BASE64.decode(packed);
        bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
            format!("the field '{field}' of Secret '{name}' is not base64 of a text")
        })
    }

    fn read_file(&mut self, file: String, default_namespace: &str) {
        self.files_seen += 1;
        let path = self.root.join(&file);
        let bytes = match fs::metadata(&path) {
            Ok(metadata) if metadata.len() > LARGEST_FILE => return,
            Ok(_) => fs::read(&path),
            Err(cause) => Err(cause),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(cause) => {
                return self.problem(
                    "ManifestUnreadable",
                    format!("{file} cannot be read: {cause}; make it readable or remove it"),
                );
            }
        };
        // Values files, charts and the like are most of a repository, and are not parsed.
        if !OUR_KINDS.iter().any(|kind| memchr::memmem::find(&bytes, kind.as_bytes()).is_some()) {
            return;
        }
        match String::from_utf8(bytes) {
            Ok(text) => {
                for document in split(&text) {
                    self.read_document(&file, document, default_namespace);
                }
                self.texts.insert(file, text);
            }
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                self.problem(
                    "ManifestUnreadable",
                    format!("{file} is not UTF-8 (byte {at}); save it as UTF-8"),
                );
            }
        }
    }

    fn read_document(&mut self, file: &str, document: Document<'_>, default_namespace: &str) {
        let head: Head = match document.decode() {
            Ok(head) => head,
            // A list or a scalar is no object; a broken one matters if it means to be ours.
            Err(error) if OUR_KINDS.iter().any(|kind| names_kind(document.text, kind)) => {
                return self.undecodable(file, document, error.line, &error.cause);
            }
            Err(_) => return,
        };
        let group = head.api_version.as_deref().unwrap_or_default();
        let place = Place {
            file: file.to_owned(),
            document: document.index,
            line: document.line,
            bytes: document.start..document.start + document.text.len(),
        };
        match (group.split('/').next(), head.kind.as_deref()) {
            (Some("argoproj.io"), Some("Application")) => {
                if let Some(app) = self.decode::<Application>(file, document) {
                    self.applications.push((
                        app.full_name(default_namespace),
                        place,
                        Arc::new(app),
                    ));
                }
            }
            (Some(aiu_api::PREFIX), Some("ImageUpdater")) => {
                if let Some(updater) = self.decode::<ImageUpdater>(file, document) {
                    let metadata = &updater.metadata;
                    let namespace = metadata.namespace.as_deref().unwrap_or(default_namespace);
                    let name = AppName {
                        namespace: namespace.into(),
                        name: metadata.name.as_deref().unwrap_or_default().into(),
                    };
                    self.updaters.push((name, updater));
                }
            }
            (Some("v1"), Some("ConfigMap")) if document.text.contains(CONFIG_MAP) => {
                if let Some(map) = self.decode::<ConfigMap>(file, document)
                    && map.metadata.name == CONFIG_MAP
                {
                    self.settings = map.data;
                }
            }
            (Some("v1"), Some("ConfigMap")) if git::MAPS.iter().any(|it| document.text.contains(it)) => {
                if let Some(map) = self.decode::<ConfigMap>(file, document) {
                    let namespace = map.metadata.namespace.as_deref().unwrap_or(default_namespace);
                    self.git_maps.insert((namespace.to_owned(), map.metadata.name), map.data);
                }
            }
            (Some("v1"), Some("Secret")) => {
                if let Some(secret) = self.decode::<Secret>(file, document) {
                    let metadata = &secret.metadata;
                    let namespace = metadata.namespace.as_deref().unwrap_or(default_namespace);
                    let name = (namespace.to_owned(), metadata.name.clone());
                    self.secrets.insert(name, secret);
                }
            }
            (Some("v1"), Some("List")) if document.text.contains("argoproj.io/") => self.problem(
                "ManifestUnreadable",
                format!("{file} holds a List; write each Application as a document of its own, so that it can be edited in place"),
            ),
            _ => {}
        }
    }

    fn decode<T: DeserializeOwned>(&mut self, file: &str, document: Document<'_>) -> Option<T> {
        match document.decode() {
            Ok(object) => Some(object),
            Err(error) => {
                self.undecodable(file, document, error.line, &error.cause);
                None
            }
        }
    }

    fn undecodable(&mut self, file: &str, document: Document<'_>, line: usize, cause: &str) {
        if document.text.contains("{{") {
            self.problems.push(Problem {
                reason: "ManifestTemplated",
                fails: false,
                message: format!(
                    "{file} line {line} is a template, not a manifest, and is left alone; render it into the folder if it should be updated"
                ),
            });
        } else {
            self.problem(
                "ManifestUnreadable",
                format!("{file} line {line} cannot be read: {cause}; mend the document or move it out of the folder"),
            );
        }
    }

    fn problem(&mut self, reason: &'static str, message: String) {
        self.problems.push(Problem { reason, fails: true, message });
    }

    /// Two documents of one name: nobody can say which is meant, so neither is used.
    fn refuse_duplicates(&mut self) {
        let places =
            |(name, place, _): &(AppName, Place, Arc<Application>)| (name.clone(), place.clone());
        let mut by_name: BTreeMap<AppName, Vec<Place>> = BTreeMap::new();
        for (name, place) in self.applications.iter().map(places) {
            by_name.entry(name).or_default().push(place);
        }
        by_name.retain(|_, places| places.len() > 1);
        for (name, places) in &by_name {
            let shown: Vec<String> =
                places.iter().map(|p| format!("{} line {}", p.file, p.line)).collect();
            self.problem(
                "DuplicateManifest",
                format!(
                    "the Application {name} stands in {}; keep one of them",
                    shown.join(" and in ")
                ),
            );
        }
        self.applications.retain(|(name, ..)| !by_name.contains_key(name));
        self.applications.sort_by(|a, b| a.0.cmp(&b.0));
        self.updaters.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

/// Words without which a file holds nothing for us.
const OUR_KINDS: [&str; 6] =
    ["Application", "ImageUpdater", "Secret", CONFIG_MAP, git::MAPS[0], git::MAPS[1]];

/// Whether a text seems to declare an object of this kind.
fn names_kind(text: &str, kind: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start().trim_start_matches(['"', '{', ' ']);
        line.strip_prefix("kind").is_some_and(|rest| rest.contains(kind))
    })
}

/// The manifest files below a folder.
#[derive(Default)]
struct Listing {
    /// Relative to the root.
    files: Vec<String>,
    /// Folders that could not be listed.
    unreadable: Vec<(String, io::Error)>,
}

impl Listing {
    /// Collects what `folder` holds. Hidden folders are left out, links to folders are not
    /// followed; leftovers of a killed process are removed.
    fn visit(&mut self, root: &Path, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), entry.path());
            let name = name.to_string_lossy();
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() {
                if !name.starts_with('.')
                    && let Err(cause) = self.visit(root, &path)
                {
                    self.unreadable.push((relative, cause));
                }
            } else if replace::is_leftover(&name) {
                // If it cannot be removed it does no harm either: its name is no manifest's.
                let _ = fs::remove_file(&path);
            } else if is_manifest_name(&path) && !path.is_dir() {
                self.files.push(relative);
            }
        }
        Ok(())
    }
}

fn is_manifest_name(path: &Path) -> bool {
    matches!(path.extension().and_then(|e| e.to_str()), Some("yaml" | "yml" | "json"))
}

#[cfg(test)]
mod tests;
