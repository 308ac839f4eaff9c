//! What is kept of each object: small, and understood as far as it can be.

use std::sync::Arc;

use aiu_api::application::{Application, ApplicationSpec, Metadata};
use aiu_api::image_updater::{ImageUpdater, ImageUpdaterSpec, ImageUpdaterStatus};
use aiu_api::{PREFIX, patch};
use aiu_core::batch::AppName;
use kube::api::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::wire::{ApplicationStatus, Applications, ImageUpdaters, Wire};

/// Something that a store keeps.
pub trait Seen: Sized + Send + Sync + 'static {
    /// What it is made of.
    type Wire;

    /// Reads an object; parts that cannot be understood are kept as such.
    fn of(wire: Self::Wire) -> Self;
}

/// What is kept of an Application: about 4 KB, not 100.
#[derive(Clone, Debug)]
pub struct SeenApplication {
    /// What decides something.
    pub application: Arc<Application>,
    /// The parts that edits read and write.
    pub owned: Box<str>,
    /// `metadata.resourceVersion`.
    pub version: Box<str>,
    /// `metadata.uid`.
    pub uid: Box<str>,
    /// Why it cannot be understood.
    pub problem: Option<String>,
}

impl Seen for SeenApplication {
    type Wire = Wire<Applications>;

    fn of(wire: Self::Wire) -> Self {
        let owned = patch::owned_text(&wire.spec).into();
        let ObjectMeta { resource_version, uid, .. } = &wire.metadata;
        let (version, uid) = (resource_version.as_deref(), uid.as_deref());
        let (version, uid) = (version.unwrap_or_default().into(), uid.unwrap_or_default().into());
        let (spec, status) = (understood("spec", wire.spec), status(wire.status));
        let problem = [spec.as_ref().err(), status.as_ref().err()].into_iter().flatten().next();
        let problem = problem.cloned();
        let application = Application {
            metadata: metadata(wire.metadata),
            spec: spec.unwrap_or_else(|_| ApplicationSpec::default()),
            // Argo CD has looked, even if it has nothing to say yet: what is not in its summary
            // is not known to run.
            status: Some(status.unwrap_or_default()),
        };
        Self { application: Arc::new(application), owned, version, uid, problem }
    }
}

fn status(
    wire: Option<ApplicationStatus>,
) -> Result<aiu_api::application::ApplicationStatus, String> {
    let Some(wire) = wire else { return Ok(aiu_api::application::ApplicationStatus::default()) };
    understood("status", serde_json::to_value(wire).map_err(|error| error.to_string())?)
}

/// A part of an object as one of our types, or which field of it is not what it should be.
fn understood<T: DeserializeOwned>(part: &str, value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let at = if path == "." { String::new() } else { format!(".{path}") };
        format!("{part}{at}: {}", error.inner())
    })
}

/// The metadata that selection and annotations need. Annotations of others, which are often
/// large, are left out.
fn metadata(meta: ObjectMeta) -> Metadata {
    let ours = |key: &str| key.strip_prefix(PREFIX).is_some_and(|rest| rest.starts_with('/'));
    let annotations = meta.annotations.unwrap_or_default();
    Metadata {
        name: meta.name.unwrap_or_default(),
        namespace: meta.namespace,
        labels: meta.labels.unwrap_or_default(),
        annotations: annotations.into_iter().filter(|(key, _)| ours(key)).collect(),
    }
}

/// What is kept of an `ImageUpdater`.
#[derive(Clone, Debug)]
pub struct SeenUpdater {
    /// Namespace and name.
    pub name: AppName,
    /// What it wants, or why that cannot be read.
    pub resource: Result<Arc<ImageUpdater>, String>,
    /// `metadata.generation`.
    pub generation: i64,
    /// `metadata.uid`.
    pub uid: Box<str>,
    /// `metadata.resourceVersion`.
    pub version: Box<str>,
    /// When it was made, for the order of claims: the older keeps an Application.
    pub created: Option<String>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// `metadata.finalizers`.
    pub finalizers: Vec<String>,
    /// The status as it stands.
    pub status: ImageUpdaterStatus,
}

impl Seen for SeenUpdater {
    type Wire = Wire<ImageUpdaters>;

    fn of(wire: Self::Wire) -> Self {
        let Wire { metadata: meta, spec, status } = wire;
        let name = AppName {
            namespace: meta.namespace.as_deref().unwrap_or_default().into(),
            name: meta.name.as_deref().unwrap_or_default().into(),
        };
        let generation = meta.generation.unwrap_or_default();
        let uid = meta.uid.as_deref().unwrap_or_default().into();
        let version = meta.resource_version.as_deref().unwrap_or_default().into();
        let created = meta.creation_timestamp.as_ref().map(|time| time.0.to_string());
        let deleting = meta.deletion_timestamp.is_some();
        let finalizers = meta.finalizers.clone().unwrap_or_default();
        let resource = match spec {
            Value::Null => Ok(ImageUpdaterSpec::default()),
            spec => understood("spec", spec).map_err(|error| {
                format!("the spec of ImageUpdater {name} cannot be read: {error}; correct the field, or apply the CRD of this version")
            }),
        };
        let resource = resource.map(|spec| {
            let metadata = ObjectMeta { managed_fields: None, ..meta };
            Arc::new(ImageUpdater { metadata, spec, status: None })
        });
        Self {
            name,
            resource,
            generation,
            uid,
            version,
            created,
            deleting,
            finalizers,
            // What cannot be read is written afresh by the next pass.
            status: status.and_then(|s| serde_json::from_value(s).ok()).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn application(text: &str) -> SeenApplication {
        SeenApplication::of(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn of_an_application_only_what_decides_something_is_kept() {
        let seen = application(
            r#"{"metadata":{"name":"a","namespace":"argocd","resourceVersion":"7","uid":"u","labels":{"env":"prod"},
                "annotations":{"argocd-image-updater.argoproj.io/image-list":"x","kubectl.kubernetes.io/last-applied-configuration":"{}"},
                "managedFields":[{"manager":"kubectl"}]},
                "spec":{"project":"p","source":{"repoURL":"u","helm":{"values":"big: text","parameters":[{"name":"image.tag","value":"1"}]}}},
                "status":{"sourceType":"Helm","summary":{"images":["x:1"]},"resources":[{"kind":"Pod"}],"history":[]}}"#,
        );
        assert_eq!(seen.problem, None);
        assert_eq!((&*seen.version, &*seen.uid), ("7", "u"));
        assert_eq!(seen.application.metadata.annotations.len(), 1);
        assert!(seen.application.spec.source.as_ref().unwrap().helm);
        let status = seen.application.status.as_ref().unwrap();
        assert_eq!(status.summary.images, ["x:1"]);
        let owned: Value = serde_json::from_str(&seen.owned).unwrap();
        let expected =
            r#"{"spec":{"source":{"helm":{"parameters":[{"name":"image.tag","value":"1"}]}}}}"#;
        assert_eq!(owned, serde_json::from_str::<Value>(expected).unwrap());
    }

    #[test]
    fn an_application_without_a_status_is_not_known_to_run_anything() {
        let seen = application(r#"{"metadata":{"name":"a"},"spec":{"source":{"repoURL":"u"}}}"#);
        assert_eq!(
            seen.application.status,
            Some(aiu_api::application::ApplicationStatus::default())
        );
    }

    #[test]
    fn an_object_that_cannot_be_understood_is_still_one() {
        let seen = application(r#"{"metadata":{"name":"a"},"spec":{"sources":"none"}}"#);
        let problem = seen.problem.unwrap();
        assert!(problem.starts_with("spec.sources: invalid type: string"), "{problem}");
        let text = r#"{"metadata":{"name":"u","namespace":"n"},"spec":{"applicationRefs":[{"namePattern":1}]}}"#;
        let seen = SeenUpdater::of(serde_json::from_str(text).unwrap());
        let problem = seen.resource.unwrap_err();
        let expected = "the spec of ImageUpdater n/u cannot be read: spec.applicationRefs[0].namePattern: invalid type: integer `1`, expected a string; ";
        assert!(problem.starts_with(expected), "{problem}");
    }

    #[test]
    fn an_updater_without_spec_is_read_as_one_that_wants_nothing() {
        let seen = SeenUpdater::of(serde_json::from_str(r#"{"metadata":{"name":"u"}}"#).unwrap());
        assert!(seen.resource.unwrap().spec.application_refs.is_empty());
    }
}
