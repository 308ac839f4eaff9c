//! The watches that fill the stores, and what they tell those who wait.

use std::sync::Arc;

use futures::StreamExt as _;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{Config, Error, watcher};
use serde::Serialize;
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
        let (api, watched, stop) = (Arc::clone(api), Arc::clone(watched), stop.clone());
        tasks.spawn(async move {
            let events = watcher(objects, Config::default().page_size(PAGE)).default_backoff();
            let mut events = std::pin::pin!(events.take_until(stop.cancelled_owned()));
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => {
                        let (changes, over) = store(&api).apply(index, event);
                        if over {
                            info!("Watching {} again", place::<K>(namespace.as_deref()));
                        }
                        if !changes.is_empty() {
                            watched.changed(changes);
                        }
                    }
                    Err(error) => {
                        if let Some(trouble) = trouble::<K>(&error, namespace.as_deref()) {
                            let text = trouble.text.clone();
                            if store(&api).trouble(index, trouble) {
                                warn!("{text}");
                            }
                        }
                    }
                }
                watched.turned();
            }
        });
    }
}

fn place<K: Kind>(namespace: Option<&str>) -> String {
    let namespace = namespace.map_or_else(String::new, |name| format!(" in namespace {name}"));
    format!("{}{namespace}", resource::<K>())
}

/// What a person should know of an error; a watch that the server has forgotten is listed
/// again, which is no trouble.
fn trouble<K: Kind>(error: &Error, namespace: Option<&str>) -> Option<Trouble> {
    let place = place::<K>(namespace);
    let (cause, verb) = match error {
        Error::InitialListFailed(cause) => (cause, "list"),
        Error::WatchStartFailed(cause) | Error::WatchFailed(cause) => (cause, "watch"),
        Error::WatchError(status) if status.code == 410 => return None,
        Error::WatchError(status) => {
            let error = ApiError::of_status(status, "watch", &resource::<K>(), &place);
            return Some(Trouble::of(format!("Cannot watch {place}: {error}")));
        }
        Error::NoResourceVersion => {
            return Some(Trouble::of(format!("Cannot watch {place}: {error}")));
        }
    };
    Some(match ApiError::of(cause, verb, &resource::<K>(), &place) {
        ApiError::Gone(_) => {
            Trouble { text: format!("Cannot watch {place}: {}", K::ABSENT), absent: true }
        }
        ApiError::Unreachable(_) => Trouble::of(format!(
            "Cannot watch {place}: the API server cannot be reached ({}); trying again",
            with_causes(cause)
        )),
        error => Trouble::of(format!("Cannot watch {place}: {error}")),
    })
}
