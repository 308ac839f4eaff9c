//! The resource as a client names it: group, version, kind, path.

use std::borrow::Cow;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::ImageUpdater;
use crate::PREFIX;

/// The only version (spec 20 §1).
pub(crate) const VERSION: &str = "v1alpha1";
pub(crate) const KIND: &str = "ImageUpdater";
pub(crate) const PLURAL: &str = "imageupdaters";

impl Resource for ImageUpdater {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        KIND.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        PREFIX.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        PLURAL.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl Serialize for ImageUpdater {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = if self.status.is_some() { 5 } else { 4 };
        let mut object = serializer.serialize_struct(KIND, fields)?;
        object.serialize_field("apiVersion", &Self::api_version(&()))?;
        object.serialize_field("kind", KIND)?;
        object.serialize_field("metadata", &self.metadata)?;
        object.serialize_field("spec", &self.spec)?;
        if let Some(status) = &self.status {
            object.serialize_field("status", status)?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_finds_it_where_the_original_has_it() {
        assert_eq!(
            ImageUpdater::url_path(&(), Some("argocd")),
            "/apis/argocd-image-updater.argoproj.io/v1alpha1/namespaces/argocd/imageupdaters"
        );
    }

    /// Spec 20 §5: nothing is added on the way, and presence markers stay.
    #[test]
    fn what_is_read_is_written_again() {
        let text = r#"{"apiVersion":"argocd-image-updater.argoproj.io/v1alpha1","kind":"ImageUpdater",
            "metadata":{"name":"demo","namespace":"argocd","finalizers":["a/b"]},
            "spec":{"writeBackConfig":{"method":"git","gitConfig":{"pullRequest":{"gitlab":{},"labels":[]}}},
              "imagesVerification":{"enabled":false},
              "applicationRefs":[{"namePattern":"*","useAnnotations":false,
                "labelSelectors":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"Exists"}]},
                "images":[{"alias":"a","imageName":"nginx","commonUpdateSettings":{"ignoreTags":[]},
                  "manifestTargets":{"helm":{}},
                  "imagesVerification":{"cosignKey":{"secretName":"s","key":"k"}}}]}]},
            "status":{"applicationsMatched":0,"imagesManaged":0,"conditions":[{"type":"Ready","status":"True",
              "reason":"R","message":"m","lastTransitionTime":"2026-01-02T03:04:05Z","observedGeneration":3}]}}"#;
        let given: serde_json::Value = serde_json::from_str(text).unwrap();
        let read: ImageUpdater = serde_json::from_value(given.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), given);
    }

    /// Spec 20 §4: statuses of other versions decode, unknown fields and absent ones alike.
    #[test]
    fn objects_of_other_versions_decode() {
        #[rustfmt::skip]
        let rows = [
            (r#"{"metadata":{"name":"a"}}"#, None),
            (r#"{"metadata":{"name":"a"},"spec":{"applicationRefs":[],"later":1},"status":{}}"#, Some(0)),
            (r#"{"metadata":{"name":"a","creationTimestamp":null},"status":{"applicationsMatched":4,"recentUpdates":[{"alias":"w"}],"conditions":[{"type":"Ready"}],"later":{}}}"#, Some(4)),
        ];
        for (text, matched) in rows {
            let read: ImageUpdater = serde_json::from_str(text).unwrap();
            assert_eq!(read.status.map(|status| status.applications_matched), matched, "{text}");
        }
    }
}
