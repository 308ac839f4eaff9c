//! The three lists of a source: `helm.parameters`, `kustomize.images`, `plugin.env`.
//!
//! An Application's source and an override file hold them alike, below different roots and
//! with small differences of dialect.

use std::borrow::Borrow;

use super::lists::{self, Entry, NamedImage, Setting};
use super::yaml::{Kind, NodeId, Plan, Slot, Tree, Value};
use super::{EditError, Keys, Problem, Wish, reading};
use crate::image::{ImageReference, Repository};

/// Helm's flag as Argo CD's API spells it, and as it may also stand in an override file.
const FORCE_STRING: &str = "forceString";

/// How a list is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// The key that makes Helm take a value for a string.
    pub(super) force_string: &'static str,
    /// Whether every entry that is written carries the flag, needed or not, as the original's
    /// override files do.
    pub(super) flags_all: bool,
    /// Whether Helm's parameters are kept in the order of their names.
    pub(super) sorted: bool,
}

/// One of the lists, by its two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Parameters,
    Images,
    Variables,
}

/// The wished entries, by list.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) parameters: Vec<Setting>,
    pub(super) images: Vec<NamedImage>,
    pub(super) variables: Vec<Setting>,
}

impl Wanted {
    pub(super) fn of(wishes: &[Wish]) -> Result<Self, EditError> {
        let mut wanted = Self::default();
        for Wish { keys, image } in wishes {
            match keys {
                Keys::Helm(keys) => wanted.parameters.extend(Setting::of_helm(keys, image)),
                Keys::Kustomize { name } => {
                    let image = image.clone();
                    wanted.images.push(NamedImage { name: name.clone(), image });
                }
                Keys::Plugin(keys) => wanted.variables.extend(Setting::of_plugin(keys, image)),
                Keys::Manifest => return Err(no_list()),
            }
        }
        Ok(wanted)
    }

    /// Whether anything is wished for this list.
    pub(super) fn has(&self, list: List) -> bool {
        match list {
            List::Parameters => !self.parameters.is_empty(),
            List::Images => !self.images.is_empty(),
            List::Variables => !self.variables.is_empty(),
        }
    }
}

impl List {
    pub(super) const ALL: [Self; 3] = [Self::Parameters, Self::Images, Self::Variables];

    /// The two keys under which the list stands.
    fn keys(self) -> [&'static str; 2] {
        match self {
            Self::Parameters => ["helm", "parameters"],
            Self::Images => ["kustomize", "images"],
            Self::Variables => ["plugin", "env"],
        }
    }

    /// The list's block for a file that has nothing yet: its key, and what stands below.
    pub(super) fn fresh(self, dialect: Dialect, wanted: &Wanted) -> (String, Value) {
        let [block, list] = self.keys();
        let values = self.new_values(dialect, wanted);
        (block.to_owned(), nested(list, Value::Sequence(values)))
    }

    /// Plans that the list below `base`, a mapping, holds the wished entries.
    pub(super) fn plan(
        self,
        plan: &mut Plan<'_, '_>,
        base: NodeId,
        dialect: Dialect,
        wanted: &Wanted,
    ) -> Result<(), EditError> {
        let tree = plan.tree();
        let [block, list] = self.keys();
        let new = || Value::Sequence(self.new_values(dialect, wanted));
        match self.find(tree, base)? {
            Place::NoBlock => plan.put(Some(base), &[block, list], new())?,
            Place::NullBlock(node) => plan.fill(node, nested(list, new())),
            Place::NoList(node) => plan.put(Some(node), &[list], new())?,
            Place::Empty(_) if self.new_values(dialect, wanted).is_empty() => {}
            Place::Empty(node) => plan.fill(node, new()),
            Place::List(node) => match self {
                Self::Images => plan_images(plan, node, &wanted.images)?,
                Self::Parameters => plan_settings(plan, node, &wanted.parameters, Some(dialect))?,
                Self::Variables => plan_settings(plan, node, &wanted.variables, None)?,
            },
        }
        Ok(())
    }

    /// The wished entries merged among themselves.
    fn new_values(self, dialect: Dialect, wanted: &Wanted) -> Vec<Value> {
        match self {
            Self::Images => added(lists::merge_images(&[], &wanted.images)).map(image).collect(),
            Self::Variables => {
                let settings = added(lists::merge_settings(&[], &wanted.variables));
                settings.map(|setting| entry(setting, None)).collect()
            }
            Self::Parameters => {
                let entries = lists::merge_settings(&[], &wanted.parameters);
                let mut settings: Vec<_> = added(entries).collect();
                if dialect.sorted {
                    settings.sort_by(|a, b| a.name.cmp(&b.name));
                }
                settings.iter().map(|setting| entry(setting, Some(dialect))).collect()
            }
        }
    }

    fn find(self, tree: &Tree<'_>, base: NodeId) -> Result<Place, EditError> {
        let [block, list] = self.keys();
        let Some(node) = tree.get(base, block).map(|node| tree.follow(node)) else {
            return Ok(Place::NoBlock);
        };
        if tree.is_null(node) {
            return Ok(Place::NullBlock(node));
        }
        if !matches!(tree.kind(node), Kind::Mapping { .. }) {
            return Err(tree.error(Problem::Key(format!("{block} is not a mapping")), node));
        }
        let Some(entries) = tree.get(node, list).map(|entries| tree.follow(entries)) else {
            return Ok(Place::NoList(node));
        };
        match tree.kind(entries) {
            Kind::Sequence { items, .. } if !items.is_empty() => Ok(Place::List(entries)),
            Kind::Sequence { .. } => Ok(Place::Empty(entries)),
            _ if tree.is_null(entries) => Ok(Place::Empty(entries)),
            _ => Err(tree.error(Problem::Key(format!("{block}.{list} is not a list")), entries)),
        }
    }

    /// The elements of the list below `base`; none if there is no list.
    fn items<'a>(self, tree: &'a Tree<'_>, base: NodeId) -> Result<&'a [NodeId], EditError> {
        match self.find(tree, base)? {
            Place::List(node) => Ok(tree.items(node)),
            _ => Ok(&[]),
        }
    }
}

fn no_list() -> EditError {
    EditError::key("an image field of a manifest is no key of a source")
}

/// How much of a list there is.
enum Place {
    NoBlock,
    NullBlock(NodeId),
    NoList(NodeId),
    Empty(NodeId),
    List(NodeId),
}

/// What the source below `base` says for one image.
pub(super) fn current(
    tree: &Tree<'_>,
    base: NodeId,
    keys: &Keys,
    configured: &Repository,
) -> Result<Option<ImageReference>, EditError> {
    let setting = |list: List| -> Result<_, EditError> {
        let items = list.items(tree, base)?;
        Ok(move |name: &str| {
            let mut named = items.iter().filter(|&&item| field(tree, item, "name") == Some(name));
            named.next().map(|&item| field(tree, item, "value").unwrap_or_default())
        })
    };
    Ok(match keys {
        Keys::Helm(keys) => reading::helm(keys, configured, setting(List::Parameters)?),
        Keys::Plugin(keys) => reading::plugin(keys, configured, setting(List::Variables)?),
        Keys::Kustomize { name } => {
            let texts = texts(tree, List::Images.items(tree, base)?);
            lists::find_image(&texts, name.as_deref(), configured)
                .and_then(|at| NamedImage::parse(texts[at]))
                .map(|found| found.image)
        }
        Keys::Manifest => return Err(no_list()),
    })
}

fn plan_images(
    plan: &mut Plan<'_, '_>,
    list: NodeId,
    wanted: &[NamedImage],
) -> Result<(), EditError> {
    let tree = plan.tree();
    let items = tree.items(list);
    let entries = lists::merge_images(&texts(tree, items), wanted);
    let mut slots = Vec::with_capacity(entries.len());
    for entry in entries {
        slots.push(match entry {
            Entry::Kept(at) => Slot::Old(at),
            Entry::Replaced(at, new) => {
                plan.set(items[at], &new.to_string())?;
                Slot::Old(at)
            }
            Entry::Added(new) => Slot::New(image(new)),
        });
    }
    plan.arrange(list, slots);
    Ok(())
}

/// Parameters come with their dialect, variables with none.
fn plan_settings(
    plan: &mut Plan<'_, '_>,
    list: NodeId,
    wanted: &[Setting],
    dialect: Option<Dialect>,
) -> Result<(), EditError> {
    let tree = plan.tree();
    let items: Vec<_> = tree.items(list).iter().map(|&item| tree.follow(item)).collect();
    let names: Vec<_> = items.iter().map(|&item| field(tree, item, "name")).collect();
    let mut entries = lists::merge_settings(&names, wanted);
    let mut changes = false;
    for entry in &entries {
        changes |= match entry {
            Entry::Kept(_) => false,
            Entry::Replaced(at, setting) => update(plan, items[*at], setting, dialect)?,
            Entry::Added(_) => true,
        };
    }
    if changes && dialect.is_some_and(|dialect| dialect.sorted) {
        lists::sort_settings(&mut entries, &names);
    }
    let slots = entries.into_iter().map(|slot| match slot {
        Entry::Kept(at) | Entry::Replaced(at, _) => Slot::Old(at),
        Entry::Added(setting) => Slot::New(entry(setting, dialect)),
    });
    plan.arrange(list, slots.collect());
    Ok(())
}

/// Plans one setting in place; whether its value changes.
fn update(
    plan: &mut Plan<'_, '_>,
    item: NodeId,
    setting: &Setting,
    dialect: Option<Dialect>,
) -> Result<bool, EditError> {
    let tree = plan.tree();
    let value = tree.get(item, "value");
    match value {
        Some(node) => plan.set(node, &setting.value)?,
        None => plan.put(Some(item), &["value"], Value::text(&setting.value))?,
    }
    // A flag that changes nothing is left as it is: only some texts are more than text to Helm.
    if let Some(dialect) = dialect.filter(|d| d.flags_all || setting.needs_force_string()) {
        let flags = [dialect.force_string, FORCE_STRING];
        match flags.iter().find_map(|flag| tree.get(item, flag)) {
            Some(flag) => plan.raise(flag)?,
            None => plan.put(Some(item), &[dialect.force_string], Value::Flag(true))?,
        }
    }
    Ok(value.and_then(|value| tree.text_of(value)) != Some(&setting.value))
}

fn entry(setting: impl Borrow<Setting>, dialect: Option<Dialect>) -> Value {
    let Setting { name, value } = setting.borrow();
    let mut entries =
        vec![("name".to_owned(), Value::text(&**name)), ("value".to_owned(), Value::text(value))];
    if let Some(dialect) = dialect {
        entries.push((dialect.force_string.to_owned(), Value::Flag(true)));
    }
    Value::Mapping(entries)
}

fn image(image: impl Borrow<NamedImage>) -> Value {
    Value::text(image.borrow().to_string())
}

fn nested(key: &str, value: Value) -> Value {
    Value::Mapping(vec![(key.to_owned(), value)])
}

/// What is left of a merge into an empty list.
fn added<T>(entries: Vec<Entry<T>>) -> impl Iterator<Item = T> {
    entries.into_iter().filter_map(|entry| match entry {
        Entry::Added(new) => Some(new),
        Entry::Kept(_) | Entry::Replaced(..) => None,
    })
}

fn field<'a>(tree: &'a Tree<'_>, item: NodeId, key: &str) -> Option<&'a str> {
    tree.text_of(tree.get(tree.follow(item), key)?)
}

/// The texts of a list of strings; elements that are none read as empty ones.
fn texts<'a>(tree: &'a Tree<'_>, items: &[NodeId]) -> Vec<&'a str> {
    items.iter().map(|&item| tree.text_of(item).unwrap_or_default()).collect()
}
