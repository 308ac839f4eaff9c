//! Objects as the API server sends them, before anything of them is understood.
//!
//! One object that cannot be decoded must not hide all others of its kind, so the parts that
//! people write stay JSON here, and are read one object at a time ([`super::objects`]).

use std::borrow::Cow;
use std::fmt::Debug;

use kube::Resource;
use kube::api::ObjectMeta;
use kube::core::NamespaceResourceScope;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A kind of object that is watched.
pub trait Kind: Clone + Debug + Default + Send + Sync + 'static {
    /// Its API group.
    const GROUP: &'static str;
    /// Its version.
    const VERSION: &'static str;
    /// Its name.
    const KIND: &'static str;
    /// Its name in paths.
    const PLURAL: &'static str;
    /// What to say where the server does not know it.
    const ABSENT: &'static str;
    /// What is kept of its status.
    type Status: Clone + Debug + Default + DeserializeOwned + Send + Sync + 'static;
}

/// Argo CD's `Application`.
#[derive(Clone, Debug, Default)]
pub struct Applications;

impl Kind for Applications {
    const GROUP: &'static str = "argoproj.io";
    const VERSION: &'static str = "v1alpha1";
    const KIND: &'static str = "Application";
    const PLURAL: &'static str = "applications";
    const ABSENT: &'static str = "this cluster has no such kind; install Argo CD, or point --kubeconfig at the cluster that has it";
    type Status = ApplicationStatus;
}

/// The parts of an Application's status that are read; the rest, which is most of the object,
/// is dropped while it is parsed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ApplicationStatus {
    pub source_type: Value,
    pub source_types: Value,
    pub summary: Value,
}

/// Our own `ImageUpdater`.
#[derive(Clone, Debug, Default)]
pub struct ImageUpdaters;

impl Kind for ImageUpdaters {
    const GROUP: &'static str = aiu_api::PREFIX;
    const VERSION: &'static str = "v1alpha1";
    const KIND: &'static str = "ImageUpdater";
    const PLURAL: &'static str = "imageupdaters";
    const ABSENT: &'static str = "the CustomResourceDefinition is not installed; install it with: argocd-image-updater crd | kubectl apply --server-side -f -";
    type Status = Value;
}

/// An object of one kind.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(bound = "K::Status: DeserializeOwned + Serialize")]
pub struct Wire<K: Kind> {
    #[serde(default)]
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: Value,
    #[serde(default)]
    pub status: Option<K::Status>,
}

impl<K: Kind> Resource for Wire<K> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        K::KIND.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        K::GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        K::VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::PLURAL.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// The kind as a Role names it.
pub fn resource<K: Kind>() -> String {
    format!("{}.{}", K::PLURAL, K::GROUP)
}
