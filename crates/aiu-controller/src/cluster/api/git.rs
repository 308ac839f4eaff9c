//! What Argo CD keeps in its namespace for git: labelled Secrets and two `ConfigMap`s.
//!
//! They are watched from the first pass on that writes to git; a cluster without such passes is
//! not asked for them. Where the account may not watch them, they are asked for pass by pass.

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_core::batch::AppName;
use aiu_git::credentials::KnownHosts;
use aiu_git::credentials::secrets::{
    CERTIFICATES, GitSecret, GitSources, KNOWN_HOSTS, LABEL, REPOSITORY, TEMPLATE,
};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::ListParams;
use kube::runtime::watcher::Config;
use parking_lot::Mutex;
use tokio::sync::{Notify, OnceCell};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::objects::Seen;
use super::store::{Change, Store};
use super::watch::{Subject, Watched, follow};
use super::{Api, ApiError, DEADLINE, SecretFields, view, within_deadline};
use crate::cluster::SecretError;

/// A labelled Secret, decoded.
struct Labelled {
    secret_type: String,
    fields: SecretFields,
}

impl Seen for Labelled {
    type Wire = Secret;

    fn of(wire: Secret) -> Self {
        let mut labels = wire.metadata.labels.unwrap_or_default();
        let data = wire.data.unwrap_or_default().into_iter().map(|(key, bytes)| (key, bytes.0));
        Self {
            secret_type: labels.remove(LABEL).unwrap_or_default(),
            fields: view::fields(data.collect()),
        }
    }
}

/// The texts of a `ConfigMap`.
type Texts = BTreeMap<String, String>;

impl Seen for Texts {
    type Wire = ConfigMap;

    fn of(wire: ConfigMap) -> Self {
        wire.data.unwrap_or_default()
    }
}

/// The watches, once they are wanted.
#[derive(Default)]
pub(super) struct GitWatch(OnceCell<Watching>);

struct Watching {
    seen: Arc<Sources>,
    /// Dropped with the value, which ends the watches.
    _tasks: Mutex<JoinSet<()>>,
}

/// What the watches have brought.
struct Sources {
    namespace: Arc<str>,
    secrets: Store<Labelled>,
    known_hosts: Store<Texts>,
    certificates: Store<Texts>,
    turned: Notify,
}

impl<T: Seen> Watched<T> for Sources {
    fn changed(&self, _: Vec<Change<T>>) {}

    fn turned(&self) {
        self.turned.notify_waiters();
    }
}

impl Api {
    /// What is known of git now. The first question waits for the listings; later ones cost the
    /// API server nothing.
    pub(super) async fn git_sources(&self, namespace: &str) -> Result<GitSources, SecretError> {
        let watching = self.git.0.get_or_init(async || self.watch_git(namespace)).await;
        let seen = &watching.seen;
        if *seen.namespace != *namespace {
            return self.ask_for_git(namespace, None).await;
        }
        // Who cannot be reached is asked once more below, and says why.
        let _ = timeout(DEADLINE, seen.filled()).await;
        if seen.secrets.is_ready() && !seen.secrets.is_refused() {
            return Ok(sources(seen.secrets(), self.texts(seen).await));
        }
        self.ask_for_git(namespace, Some(seen)).await
    }

    fn watch_git(&self, namespace: &str) -> Watching {
        let namespace: Arc<str> = namespace.into();
        let only = [Some(Arc::clone(&namespace))];
        let seen = Arc::new(Sources {
            secrets: Store::new(only.clone()),
            known_hosts: Store::new(only.clone()),
            certificates: Store::new(only),
            turned: Notify::new(),
            namespace,
        });
        let mut tasks = JoinSet::new();
        let labelled = Config::default().labels(&labels());
        self.follow_git(&mut tasks, &seen, "secrets", |seen| &seen.secrets, labelled);
        let named = |name| Config::default().fields(&format!("metadata.name={name}"));
        let (maps, hosts) = ("configmaps", named(KNOWN_HOSTS.0));
        self.follow_git(&mut tasks, &seen, maps, |seen| &seen.known_hosts, hosts);
        let certificates = named(CERTIFICATES);
        self.follow_git(&mut tasks, &seen, maps, |seen| &seen.certificates, certificates);
        Watching { seen, _tasks: Mutex::new(tasks) }
    }

    fn follow_git<T>(
        &self,
        tasks: &mut JoinSet<()>,
        seen: &Arc<Sources>,
        resource: &str,
        store: fn(&Sources) -> &Store<T>,
        wanted: Config,
    ) where
        T: Seen,
        T::Wire: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned
            + Send
            + Sync
            + 'static,
    {
        let objects = kube::Api::namespaced(self.client.clone(), &seen.namespace);
        let subject = Subject {
            resource: resource.to_owned(),
            namespace: Some(Arc::clone(&seen.namespace)),
            absent: "this cluster has no such kind",
        };
        let seen = Arc::clone(seen);
        tasks.spawn(async move {
            follow(objects, wanted, &subject, store(&seen), 0, &*seen).await;
        });
    }

    /// One list and two gets.
    async fn ask_for_git(
        &self,
        namespace: &str,
        seen: Option<&Sources>,
    ) -> Result<GitSources, SecretError> {
        let secrets: kube::Api<Secret> = kube::Api::namespaced(self.client.clone(), namespace);
        let wanted = ListParams::default().labels(&labels());
        let subject = AppName { namespace: namespace.into(), name: "".into() };
        let listed = within_deadline(secrets.list(&wanted), "list", "secrets", &subject).await;
        let listed = listed.map_err(|error| SecretError {
            reason: error.reason(),
            message: format!("the git credentials of Argo CD cannot be read: {error}"),
        })?;
        let secrets = listed.items.into_iter().map(|secret| {
            let name = secret.metadata.name.clone().unwrap_or_default();
            git_secret(namespace.into(), name.into(), &Labelled::of(secret))
        });
        let texts = match seen {
            Some(seen) => self.texts(seen).await,
            None => {
                [self.map(namespace, KNOWN_HOSTS.0).await, self.map(namespace, CERTIFICATES).await]
            }
        };
        Ok(sources(secrets.collect(), texts))
    }

    /// Both `ConfigMap`s. One that may not be watched is asked for.
    async fn texts(&self, seen: &Sources) -> [Texts; 2] {
        let of = async |store: &Store<Texts>, name: &str| {
            if !store.is_ready() || store.is_refused() {
                return self.map(&seen.namespace, name).await;
            }
            let found = store.all().into_values().next();
            found.map_or_else(Texts::new, |texts| (*texts).clone())
        };
        [of(&seen.known_hosts, KNOWN_HOSTS.0).await, of(&seen.certificates, CERTIFICATES).await]
    }

    /// The texts of a `ConfigMap`; none if there is none. One that may not be read is as good as
    /// absent: what is mounted of it holds then.
    async fn map(&self, namespace: &str, name: &str) -> Texts {
        let maps: kube::Api<ConfigMap> = kube::Api::namespaced(self.client.clone(), namespace);
        let subject = AppName { namespace: namespace.into(), name: name.into() };
        match within_deadline(maps.get(name), "get", "configmaps", &subject).await {
            Ok(map) => Texts::of(map),
            Err(ApiError::Gone(_)) => Texts::new(),
            Err(error) => {
                tracing::debug!("ConfigMap {namespace}/{name} is not used: {error}");
                Texts::new()
            }
        }
    }
}

impl Sources {
    /// Waits until each watch has listed, or knows why it cannot.
    async fn filled(&self) {
        loop {
            let turned = self.turned.notified();
            let mut turned = std::pin::pin!(turned);
            // From here on no turn is missed.
            turned.as_mut().enable();
            let is_known = self.secrets.is_known()
                && self.known_hosts.is_known()
                && self.certificates.is_known();
            if is_known {
                return;
            }
            turned.await;
        }
    }

    fn secrets(&self) -> Vec<GitSecret> {
        let all = self.secrets.all().into_iter();
        all.map(|(at, labelled)| git_secret(at.namespace, at.name, &labelled)).collect()
    }
}

/// The Secrets that sign in to repositories, as a selector.
fn labels() -> String {
    format!("{LABEL} in ({REPOSITORY}, {TEMPLATE})")
}

fn git_secret(namespace: Arc<str>, name: Arc<str>, labelled: &Labelled) -> GitSecret {
    let Labelled { secret_type, fields } = labelled;
    GitSecret { namespace, name, secret_type: secret_type.clone(), fields: fields.clone() }
}

fn sources(secrets: Vec<GitSecret>, [mut hosts, certificates]: [Texts; 2]) -> GitSources {
    let known_hosts = hosts.remove(KNOWN_HOSTS.1);
    GitSources {
        secrets,
        known_hosts: known_hosts.map_or(KnownHosts::Users, |text| KnownHosts::Text(text.into())),
        certificates: certificates.into_iter().map(|(host, text)| (host, text.into())).collect(),
        certificate_folder: None,
    }
}
