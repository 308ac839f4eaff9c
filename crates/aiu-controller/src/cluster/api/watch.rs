//! The watches that fill the stores, and what they tell those who wait.

use std::fmt::Debug;
use std::sync::Arc;

use futures::StreamExt as _;
use kube::Resource;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{Config, Error, watcher};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::Api;
use super::error::{ApiError, with_causes};
use super::objects::Seen;
use super::store::{Change, Store, Trouble};
use super::wire::{Kind, Wire, resource};

/// How many objects a page of a listing holds. Applications are large while they are parsed.
const PAGE: u32 = 100;

/// Whoever wants to know what happened.
pub trait Watched<T>: Send + Sync + 'static {
    /// Objects changed.
    fn changed(&self, changes: Vec<Change<T>>);

    /// A listing is complete, or a watch is in trouble: who waits for readiness looks again.
    fn turned(&self);
}

/// Starts one watch per namespace of a store; they end with the token.
pub fn watch<K, T>(
    tasks: &mut JoinSet<()>,
    api: &Arc<Api>,
    store: fn(&Api) -> &Store<T>,
    watched: &Arc<impl Watched<T>>,
    stop: &CancellationToken,
) where
    K: Kind,
    K::Status: Serialize,
    T: Seen<Wire = Wire<K>>,
{
    for (index, namespace) in store(api).namespaces().into_iter().enumerate() {
        let objects: kube::Api<Wire<K>> = match &namespace {
            Some(namespace) => kube::Api::namespaced(api.client.clone(), namespace),
            None => kube::Api::all(api.client.clone()),
        };
        let subject = Subject { resource: resource::<K>(), namespace, absent: K::ABSENT };
        let (api, watched, stop) = (Arc::clone(api), Arc::clone(watched), stop.clone());
        tasks.spawn(async move {
            let follow =
                follow(objects, Config::default(), &subject, store(&api), index, &*watched);
            stop.run_until_cancelled(follow).await;
        });
    }
}

/// Brings every event of one watch into its store. Never ends by itself.
pub(super) async fn follow<T>(
    objects: kube::Api<T::Wire>,
    wanted: Config,
    subject: &Subject,
    store: &Store<T>,
    index: usize,
    watched: &impl Watched<T>,
) where
    T: Seen,
    T::Wire: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let events = watcher(objects, wanted.page_size(PAGE)).default_backoff();
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                let (changes, over) = store.apply(index, event);
                if over {
                    info!("Watching {} again", subject.place());
                }
                if !changes.is_empty() {
                    watched.changed(changes);
                }
            }
            Err(error) => {
                if let Some(trouble) = subject.trouble(&error) {
                    let text = trouble.text.clone();
                    if store.trouble(index, trouble) {
                        warn!("{text}");
                    }
                }
            }
        }
        watched.turned();
    }
}

/// What a watch is about, as people are told of it.
pub(super) struct Subject {
    /// As a Role names it.
    pub(super) resource: String,
    /// `None` for all.
    pub(super) namespace: Option<Arc<str>>,
    /// What to say where the server does not know the kind.
    pub(super) absent: &'static str,
}

impl Subject {
    fn place(&self) -> String {
        let namespace = self.namespace.as_deref();
        let namespace = namespace.map_or_else(String::new, |name| format!(" in namespace {name}"));
        format!("{}{namespace}", self.resource)
    }

    /// What a person should know of an error; a watch that the server has forgotten is listed
    /// again, which is no trouble.
    fn trouble(&self, error: &Error) -> Option<Trouble> {
        let place = self.place();
        let (cause, verb) = match error {
            Error::InitialListFailed(cause) => (cause, "list"),
            Error::WatchStartFailed(cause) | Error::WatchFailed(cause) => (cause, "watch"),
            Error::WatchError(status) if status.code == 410 => return None,
            Error::WatchError(status) => {
                let error = ApiError::of_status(status, "watch", &self.resource, &place);
                return Some(Trouble::of(format!("Cannot watch {place}: {error}")));
            }
            Error::NoResourceVersion => {
                return Some(Trouble::of(format!("Cannot watch {place}: {error}")));
            }
        };
        Some(match ApiError::of(cause, verb, &self.resource, &place) {
            ApiError::Gone(_) => Trouble {
                absent: true,
                ..Trouble::of(format!("Cannot watch {place}: {}", self.absent))
            },
            ApiError::Unreachable(_) => Trouble::of(format!(
                "Cannot watch {place}: the API server cannot be reached ({}); trying again",
                with_causes(cause)
            )),
            error @ ApiError::Forbidden { .. } => {
                Trouble { refused: true, ..Trouble::of(format!("Cannot watch {place}: {error}")) }
            }
            error => Trouble::of(format!("Cannot watch {place}: {error}")),
        })
    }
}
