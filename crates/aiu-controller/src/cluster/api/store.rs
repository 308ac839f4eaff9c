//! What a watch has seen of one kind of object, ordered by name.
//!
//! A watch per namespace of the scope fills one store. After it has been filled it is never
//! listed again unless the server says that it has forgotten where we were.

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_core::batch::AppName;
use kube::Resource;
use kube::runtime::watcher::Event;
use parking_lot::RwLock;

use super::objects::Seen;

/// The objects of one kind.
#[derive(Debug)]
pub struct Store<T> {
    inner: RwLock<Inner<T>>,
}

#[derive(Debug)]
struct Inner<T> {
    objects: BTreeMap<AppName, Arc<T>>,
    watches: Vec<Watch<T>>,
}

/// What one watch has come to.
#[derive(Debug)]
struct Watch<T> {
    /// Its namespace; `None` for all.
    namespace: Option<Arc<str>>,
    /// The objects of a listing that is not complete yet.
    filling: Option<BTreeMap<AppName, Arc<T>>>,
    /// Whether it has been complete once.
    ready: bool,
    /// What keeps it from being up to date.
    trouble: Option<Trouble>,
}

/// Why a watch cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// One sentence: what, why, and what to do.
    pub text: String,
    /// Whether the server does not know the kind at all.
    pub absent: bool,
    /// Whether this account may not.
    pub refused: bool,
}

impl Trouble {
    /// A trouble with a kind that the server knows.
    pub fn of(text: String) -> Self {
        Self { text, absent: false, refused: false }
    }
}

/// What one event changed: the object before and after it.
#[derive(Debug)]
pub struct Change<T> {
    /// Which object.
    pub name: AppName,
    /// As it was.
    pub before: Option<Arc<T>>,
    /// As it is.
    pub after: Option<Arc<T>>,
}

impl<T: Seen> Store<T> {
    /// An empty store that a watch per namespace will fill.
    pub fn new(namespaces: impl IntoIterator<Item = Option<Arc<str>>>) -> Self {
        let watch = |namespace| Watch { namespace, filling: None, ready: false, trouble: None };
        let watches = namespaces.into_iter().map(watch).collect();
        Self { inner: RwLock::new(Inner { objects: BTreeMap::new(), watches }) }
    }

    /// The namespaces that are watched; `None` means all.
    pub fn namespaces(&self) -> Vec<Option<Arc<str>>> {
        self.inner.read().watches.iter().map(|watch| watch.namespace.clone()).collect()
    }

    /// Whether every watch has been complete once.
    pub fn is_ready(&self) -> bool {
        self.inner.read().watches.iter().all(|watch| watch.ready)
    }

    /// Whether every watch has been complete once, or knows why it cannot be.
    pub fn is_known(&self) -> bool {
        self.inner.read().watches.iter().all(|watch| watch.ready || watch.trouble.is_some())
    }

    /// Whether the server does not know the kind.
    pub fn is_absent(&self) -> bool {
        let inner = self.inner.read();
        inner.watches.iter().any(|watch| watch.trouble.as_ref().is_some_and(|t| t.absent))
    }

    /// Whether the server does not let this account watch.
    pub fn is_refused(&self) -> bool {
        let inner = self.inner.read();
        inner.watches.iter().any(|watch| watch.trouble.as_ref().is_some_and(|t| t.refused))
    }

    /// What keeps watches from being up to date.
    pub fn troubles(&self) -> Vec<String> {
        self.inner
            .read()
            .watches
            .iter()
            .filter_map(|watch| Some(watch.trouble.as_ref()?.text.clone()))
            .collect()
    }

    /// One object.
    pub fn get(&self, name: &AppName) -> Option<Arc<T>> {
        self.inner.read().objects.get(name).cloned()
    }

    /// The objects of a namespace.
    pub fn within(&self, namespace: &Arc<str>) -> BTreeMap<AppName, Arc<T>> {
        let inner = self.inner.read();
        let first = AppName { namespace: Arc::clone(namespace), name: "".into() };
        let own = inner.objects.range(first..);
        let own = own.take_while(|(name, _)| name.namespace == *namespace);
        own.map(|(name, object)| (name.clone(), Arc::clone(object))).collect()
    }

    /// All objects.
    pub fn all(&self) -> BTreeMap<AppName, Arc<T>> {
        self.inner.read().objects.clone()
    }

    /// Puts in what a write answered, so that the next pass does not depend on the watch.
    pub fn put(&self, name: &AppName, object: T) {
        let mut inner = self.inner.write();
        // What was deleted meanwhile stays so.
        if let Some(known) = inner.objects.get_mut(name) {
            *known = Arc::new(object);
        }
    }

    /// A watch that cannot go on, and why. Whether this is news.
    pub fn trouble(&self, watch: usize, found: Trouble) -> bool {
        let mut inner = self.inner.write();
        let trouble = &mut inner.watches[watch].trouble;
        let is_news = trouble.as_ref() != Some(&found);
        *trouble = Some(found);
        is_news
    }

    /// Takes what a watch saw; says what changed, and whether an earlier trouble is over.
    pub fn apply(&self, watch: usize, event: Event<T::Wire>) -> (Vec<Change<T>>, bool)
    where
        T::Wire: Resource<DynamicType = ()>,
    {
        let mut inner = self.inner.write();
        let Inner { objects, watches } = &mut *inner;
        let watch = &mut watches[watch];
        let over = !matches!(event, Event::Init) && watch.trouble.take().is_some();
        let changes = match event {
            Event::Init => {
                watch.filling = Some(BTreeMap::new());
                Vec::new()
            }
            Event::InitApply(wire) => {
                let name = name(&wire);
                let filling = watch.filling.get_or_insert_default();
                filling.insert(name, Arc::new(T::of(wire)));
                Vec::new()
            }
            Event::InitDone => {
                watch.ready = true;
                let listed = watch.filling.take().unwrap_or_default();
                replace(objects, watch.namespace.as_ref(), listed)
            }
            Event::Apply(wire) => {
                let name = name(&wire);
                let after = Arc::new(T::of(wire));
                let before = objects.insert(name.clone(), Arc::clone(&after));
                vec![Change { name, before, after: Some(after) }]
            }
            Event::Delete(wire) => {
                let name = name(&wire);
                let before = objects.remove(&name);
                vec![Change { name, before, after: None }]
            }
        };
        (changes, over)
    }
}

/// Puts a complete listing in the place of what was known of its namespace.
fn replace<T>(
    objects: &mut BTreeMap<AppName, Arc<T>>,
    namespace: Option<&Arc<str>>,
    listed: BTreeMap<AppName, Arc<T>>,
) -> Vec<Change<T>> {
    let is_own = |name: &AppName| namespace.is_none_or(|own| name.namespace == *own);
    let gone: Vec<AppName> = objects
        .keys()
        .filter(|name| is_own(name) && !listed.contains_key(*name))
        .cloned()
        .collect();
    let mut changes = Vec::new();
    for name in gone {
        let before = objects.remove(&name);
        changes.push(Change { name, before, after: None });
    }
    for (name, after) in listed {
        let before = objects.insert(name.clone(), Arc::clone(&after));
        changes.push(Change { name, before, after: Some(after) });
    }
    changes
}

fn name(wire: &impl Resource) -> AppName {
    let meta = wire.meta();
    AppName {
        namespace: meta.namespace.as_deref().unwrap_or_default().into(),
        name: meta.name.as_deref().unwrap_or_default().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::objects::SeenApplication;
    use super::super::wire::{Applications, Wire};
    use super::*;

    fn wire(namespace: &str, name: &str, version: &str) -> Wire<Applications> {
        let mut wire = Wire::<Applications>::default();
        wire.metadata.namespace = Some(namespace.to_owned());
        wire.metadata.name = Some(name.to_owned());
        wire.metadata.resource_version = Some(version.to_owned());
        wire
    }

    fn shown(store: &Store<SeenApplication>) -> String {
        let all = store.all().into_iter().map(|(name, seen)| format!("{name}@{}", seen.version));
        all.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_listing_replaces_what_was_known_of_its_namespace_alone() {
        let store = Store::<SeenApplication>::new([Some("a".into()), Some("b".into())]);
        for event in [Event::Init, Event::InitApply(wire("a", "x", "1")), Event::InitDone] {
            store.apply(0, event);
        }
        assert!(!store.is_ready());
        for event in [Event::Init, Event::InitApply(wire("b", "y", "1")), Event::InitDone] {
            store.apply(1, event);
        }
        assert!(store.is_ready());
        assert_eq!(shown(&store), "a/x@1 b/y@1");

        store.apply(0, Event::Apply(wire("a", "x", "2")));
        store.apply(0, Event::Init);
        store.apply(0, Event::InitApply(wire("a", "z", "3")));
        assert_eq!(shown(&store), "a/x@2 b/y@1", "an unfinished listing changes nothing");
        let (changes, _) = store.apply(0, Event::InitDone);
        assert_eq!(shown(&store), "a/z@3 b/y@1");
        assert_eq!(changes.len(), 2);
        let within = store.within(&"b".into());
        assert_eq!(within.keys().map(ToString::to_string).collect::<Vec<_>>(), ["b/y"]);
    }

    #[test]
    fn a_trouble_is_news_once_and_is_over_with_the_next_event() {
        let store = Store::<SeenApplication>::new([None]);
        assert!(store.trouble(0, Trouble::of("away".to_owned())));
        assert!(!store.trouble(0, Trouble::of("away".to_owned())));
        assert!(!store.apply(0, Event::Init).1, "the start of a listing proves nothing yet");
        assert!(store.apply(0, Event::InitDone).1);
        assert_eq!(store.troubles(), Vec::<String>::new());
    }

    #[test]
    fn what_was_deleted_is_not_put_back_by_an_answer() {
        let store = Store::<SeenApplication>::new([None]);
        store.apply(0, Event::Apply(wire("a", "x", "1")));
        let (changes, _) = store.apply(0, Event::Delete(wire("a", "x", "1")));
        assert!(changes[0].after.is_none());
        let name = changes[0].name.clone();
        store.put(&name, SeenApplication::of(wire("a", "x", "2")));
        assert_eq!(shown(&store), "");
    }
}
