//! One pass's view of the cluster: the Applications as they were when it began, each Secret
//! read once, and the guarded patch.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use aiu_api::application::Application;
use aiu_api::patch;
use aiu_api::source::choose;
use aiu_api::write_back::TargetSetting;
use aiu_core::batch::AppName;
use aiu_core::edit::{Edited, SourceRef, Wish, apply_in_spec};
use aiu_git::credentials::secrets::GitSources;
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::OnceCell;

use super::error::ApiError;
use super::objects::SeenApplication;
use super::{Api, SecretFields};
use crate::cluster::{PatchError, Patched, Piece, SecretError};
use crate::report::WritePlace;

/// How often a patch is tried over when the object moves on meanwhile (spec 21 §8.2).
const ATTEMPTS: usize = 5;

type Asked = Arc<OnceCell<Result<Arc<SecretFields>, SecretError>>>;

/// What one pass sees.
pub struct View {
    api: Arc<Api>,
    applications: BTreeMap<AppName, Arc<SeenApplication>>,
    secrets: Mutex<HashMap<(String, String), Asked>>,
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("applications", &self.applications.len())
            .finish_non_exhaustive()
    }
}

impl View {
    /// A view of the Applications in one namespace, as they are now.
    pub fn of_namespace(api: Arc<Api>, namespace: &Arc<str>) -> Self {
        let applications = api.applications.within(namespace);
        Self { api, applications, secrets: Mutex::default() }
    }

    /// Whether there is no Application at all.
    pub fn is_empty(&self) -> bool {
        self.applications.is_empty()
    }

    /// The Applications; those that cannot be understood are left out, which the log has told.
    pub(in crate::cluster) fn applications(&self) -> Vec<(AppName, Arc<Application>)> {
        let usable = self.applications.iter().filter(|(_, seen)| seen.problem.is_none());
        usable.map(|(name, seen)| (name.clone(), Arc::clone(&seen.application))).collect()
    }

    pub(in crate::cluster) fn read<T>(
        &self,
        app: &AppName,
        read: impl FnOnce(&Piece<'_>) -> T,
    ) -> Option<T> {
        let seen = self.applications.get(app)?;
        Some(read(&Piece { text: &seen.owned, file: &shown(app), line: 1 }))
    }

    /// A field of a Secret; the Secret is asked for once, whoever needs it.
    pub(in crate::cluster) async fn secret_field(
        &self,
        namespace: &str,
        name: &str,
        field: &str,
    ) -> Result<SecretString, SecretError> {
        let fields = self.secret(namespace, name).await?;
        super::field_of(&fields, namespace, name, field)
    }

    /// What Argo CD knows of git.
    pub(in crate::cluster) async fn git_sources(
        &self,
        namespace: &str,
    ) -> Result<GitSources, SecretError> {
        self.api.git_sources(namespace).await
    }

    /// All fields of a Secret.
    pub async fn secret(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Arc<SecretFields>, SecretError> {
        let asked = {
            let mut secrets = self.secrets.lock();
            Arc::clone(secrets.entry((namespace.to_owned(), name.to_owned())).or_default())
        };
        asked.get_or_init(|| super::read_secret(&self.api.client, namespace, name)).await.clone()
    }

    /// Makes an Application's spec say what is wished, by a patch that the server refuses if
    /// the object is no longer the one that was read.
    pub(in crate::cluster) async fn patch(
        &self,
        app: &AppName,
        source: SourceRef,
        wishes: &[Wish],
        dry_run: bool,
    ) -> Result<Patched, PatchError> {
        let gone = || ApiError::Gone(shown(app));
        let read = self.applications.get(app).ok_or_else(gone)?;
        let mut seen = Arc::clone(read);
        for _ in 0..ATTEMPTS {
            let before = &*seen.owned;
            let edited = apply_in_spec(before, 0, source, wishes)
                .map_err(|cause| PatchError::Edit { file: shown(app), cause })?;
            let Edited::Changed(after) = edited else { return Ok(Patched::AlreadySo) };
            let changed = Patched::Changed {
                place: WritePlace::Cluster,
                file: format!("applications/{app}"),
            };
            if dry_run {
                return Ok(changed);
            }
            let operations = patch::guarded(before, &after, &seen.version)
                .map_err(|error| ApiError::Refused(error.to_string()))?;
            match self.api.patch_application(app, operations).await {
                Ok(()) => return Ok(changed),
                // A patch whose places are gone is refused before versions are compared.
                Err(error @ (ApiError::Conflict(_) | ApiError::Refused(_))) => {
                    let fresh = self.api.read_application(app).await?;
                    if fresh.version == seen.version {
                        return Err(error.into());
                    }
                    seen = Arc::new(fresh);
                    if meant(&seen.application) != meant(&read.application) {
                        return Err(ApiError::Changed(shown(app)).into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(ApiError::Conflict(app.to_string()).into())
    }
}

/// Which source is meant, and of which type: what the edit was decided for.
fn meant(app: &Application) -> Option<(SourceRef, Option<aiu_api::source::SourceType>, String)> {
    let chosen = choose(app, &TargetSetting::Override)?;
    Some((chosen.at, chosen.source_type, chosen.source.repo_url.clone()))
}

/// An Application as messages name it.
fn shown(app: &AppName) -> String {
    format!("application {app}")
}

/// Decodes the fields of a Secret; those that are no text are left out.
pub(super) fn fields(data: BTreeMap<String, Vec<u8>>) -> SecretFields {
    let texts = data.into_iter().filter_map(|(key, bytes)| {
        let text = SecretString::from(String::from_utf8(bytes).ok()?);
        Some((key, text))
    });
    texts.filter(|(_, text)| !text.expose_secret().is_empty()).collect()
}
