//! The files that settings name: registries, and the template of commit messages (spec 22 §5).

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aiu_core::registries::Registries;
use aiu_core::template::{DEFAULT_COMMIT_MESSAGE, Template};
use anyhow::{Context as _, Result};

use super::{CommitSettings, Reader, Settings};

/// Something to log at level info.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub text: &'static str,
    pub path: Option<PathBuf>,
}

/// Where the Deployment mounts the registries file.
pub const REGISTRIES_CONF: &str = "/app/config/registries.conf";

/// What a file gave.
enum Read {
    Text(String),
    /// There is none, or a folder.
    None,
}

fn read(path: &Path) -> std::io::Result<Read> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Read::Text(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => {
            Ok(Read::None)
        }
        Err(error) => Err(error),
    }
}

/// The registries: the file that a flag names, else the folder's ConfigMap, else the file at
/// the default path if it exists, else the built-in set (spec 11 §1.1; 40 B5).
pub fn registries(reader: &mut Reader<'_>) -> Result<(Arc<Registries>, Option<Note>)> {
    let is_given = reader.given("registries-conf-path").is_some();
    let path = PathBuf::from(reader.text("registries-conf-path")?);
    let builtin = || Arc::new(Registries::builtin());
    if path.as_os_str().is_empty() {
        return Ok((builtin(), None));
    }
    if !is_given && let Some(text) = reader.folder_text("registries.conf") {
        return Ok((parse_registries(text, FOLDER_REGISTRIES)?, None));
    }
    let place = path.display().to_string();
    match read(&path) {
        Ok(Read::Text(text)) => Ok((parse_registries(&text, &place)?, None)),
        Ok(Read::None) => {
            let text =
                "Registry configuration not found or is a directory, using default configuration";
            Ok((builtin(), Some(Note { text, path: Some(path) })))
        }
        Err(error) => {
            Err(error).with_context(|| format!("could not load registry configuration: {place}"))
        }
    }
}

/// The file that the registries are in, where that is one which may change (spec 40 B14).
pub fn registries_path(reader: &mut Reader<'_>) -> Result<Option<PathBuf>> {
    let path = PathBuf::from(reader.text("registries-conf-path")?);
    Ok(Some(path).filter(|path| !path.as_os_str().is_empty()))
}

/// The registries for a question that names its file: this file, else the folder's ConfigMap,
/// else the file at the default path if there is one (spec 22 §8). What is named must be there.
pub fn registries_at(
    path: Option<&Path>,
    config_map: &BTreeMap<String, String>,
) -> Result<Arc<Registries>> {
    let path = match (path, config_map.get("registries.conf")) {
        (None, Some(text)) => return parse_registries(text, FOLDER_REGISTRIES),
        (None, None) if !Path::new(REGISTRIES_CONF).is_file() => {
            return Ok(Arc::new(Registries::builtin()));
        }
        (path, _) => path.unwrap_or(Path::new(REGISTRIES_CONF)),
    };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the registries file {}", path.display()))?;
    parse_registries(&text, &path.display().to_string())
}

const FOLDER_REGISTRIES: &str = "registries.conf in ConfigMap argocd-image-updater-config";

fn parse_registries(text: &str, place: &str) -> Result<Arc<Registries>> {
    let parsed = Registries::parse(text).map_err(anyhow::Error::new);
    let parsed = parsed.with_context(|| format!("could not load registry configuration: {place}"));
    Ok(Arc::new(parsed?))
}

/// How commits are made.
#[derive(Clone)]
pub struct Commits {
    pub settings: CommitSettings,
    pub message: Arc<Template>,
}

impl Commits {
    /// Commits with the default message, for commands that make none.
    pub fn with_default_message(settings: &Settings) -> Self {
        let message = Arc::new(Template::default_commit_message());
        Self { settings: settings.commits.clone(), message }
    }

    /// Identity and message of commits (spec 30 §5.1, §5.2).
    pub fn read(settings: &Settings, reader: &mut Reader<'_>) -> Result<(Self, Option<Note>)> {
        let (message, note) = message(reader)?;
        let message = Arc::new(message);
        Ok((Self { settings: settings.commits.clone(), message }, note))
    }
}

/// The template of commit messages: the file, else the folder's ConfigMap, else the default.
fn message(reader: &mut Reader<'_>) -> Result<(Template, Option<Note>)> {
    let path = PathBuf::from(reader.text("git-commit-message-path")?);
    let from_file = if path.as_os_str().is_empty() {
        Read::None
    } else {
        let failed = || format!("could not read commit message template {}", path.display());
        read(&path).with_context(failed)?
    };
    let from_folder = reader.folder_text("git.commit-message-template");
    let (text, note) = match (from_file, from_folder) {
        (Read::Text(text), _) if !text.is_empty() => (text, None),
        (_, Some(text)) => (text.to_owned(), None),
        (Read::Text(_), None) => {
            let text = "Using default Git commit message template";
            (DEFAULT_COMMIT_MESSAGE.to_owned(), Some(Note { text, path: None }))
        }
        (Read::None, None) => {
            let text = "commit message template not found, using default";
            let note = (!path.as_os_str().is_empty()).then_some(Note { text, path: Some(path) });
            (DEFAULT_COMMIT_MESSAGE.to_owned(), note)
        }
    };
    let template = Template::parse(&text).context("could not parse commit message template")?;
    Ok((template, note))
}
