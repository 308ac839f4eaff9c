//! `kustomization.yaml` and its other names (spec 30 §4.6).

use std::collections::HashMap;

use super::yaml::{Kind, NodeId, Plan, Slot, Tree, Value};
use super::{EditError, Edited, Problem, reading};
use crate::image::{ImageReference, Repository};

/// One element of `images`, as it shall be.
///
/// It is replaced as a whole: what it does not carry is removed from the file (spec 32, K84),
/// but for keys that are none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageEntry {
    /// What the manifests call the image.
    pub name: String,
    /// What they shall use instead.
    pub new_name: Option<String>,
    /// Its tag.
    pub new_tag: Option<String>,
    /// Its digest.
    pub digest: Option<String>,
}

impl ImageEntry {
    /// The element for an image, under another name if the manifests use one.
    pub fn new(name: Option<&str>, image: &ImageReference) -> Self {
        let repository = image.repository.to_string();
        let tag = image.tag.as_ref();
        let (name, new_name) = match name {
            Some(name) => (name.to_owned(), Some(repository)),
            None => (repository, None),
        };
        Self {
            name,
            new_name,
            new_tag: tag.and_then(|tag| tag.name()).map(ToString::to_string),
            digest: tag.and_then(|tag| tag.pinned_digest()).map(ToString::to_string),
        }
    }

    /// Keys and values but for the name, in the order of new elements.
    fn fields(&self) -> [(&'static str, Option<&str>); 3] {
        [
            ("newName", self.new_name.as_deref()),
            ("newTag", self.new_tag.as_deref()),
            ("digest", self.digest.as_deref()),
        ]
    }

    fn to_value(&self) -> Value {
        let fields = self.fields().into_iter();
        let fields = fields.filter_map(|(key, value)| Some((key.to_owned(), Value::text(value?))));
        let name = std::iter::once(("name".to_owned(), Value::text(&self.name)));
        Value::Mapping(name.chain(fields).collect())
    }
}

/// What the file says for one image.
pub(super) fn current(
    text: &str,
    name: Option<&str>,
    configured: &Repository,
) -> Result<Option<ImageReference>, EditError> {
    let tree = Tree::parse(text)?;
    let Images::List(list) = images(&tree)? else { return Ok(None) };
    let wanted = name.map_or_else(|| configured.to_string(), str::to_owned);
    let mut items = tree.items(list).iter().map(|&item| tree.follow(item));
    let Some(item) = items.find(|&item| field(&tree, item, "name") == Some(&wanted)) else {
        return Ok(None);
    };
    let repository = field(&tree, item, "newName").unwrap_or(&wanted);
    let repository = repository.parse().unwrap_or_else(|_| configured.clone());
    let tag = reading::tag_and_digest(field(&tree, item, "newTag"), field(&tree, item, "digest"));
    Ok(Some(ImageReference { repository, tag }))
}

/// Makes `images` hold these elements; of several with one name the last holds.
///
/// # Errors
///
/// [`Problem::SeveralDocuments`] unless the text holds exactly one, [`Problem::Key`] if `images`
/// is not a list.
pub fn set(text: &str, entries: &[ImageEntry]) -> Result<Edited, EditError> {
    let tree = Tree::parse(text)?;
    let images = images(&tree)?;
    if entries.is_empty() {
        return Ok(Edited::Unchanged);
    }
    let entries = last_of_each_name(entries);
    let mut plan = Plan::new(&tree);
    match images {
        Images::NoKey(root) => {
            let items = entries.iter().map(|entry| entry.to_value()).collect();
            plan.put(root, 0, &["images"], Value::Sequence(items))?;
        }
        Images::Empty(node) => {
            plan.fill(
                node,
                Value::Sequence(entries.iter().map(|entry| entry.to_value()).collect()),
            );
        }
        Images::Other(node) => {
            let cause = format!("images is not a list but a {}", tree.kind_name(node));
            return Err(tree.error(Problem::Key(cause), node));
        }
        Images::List(list) => merge(&tree, &mut plan, list, &entries)?,
    }
    plan.finish()
}

/// What stands under `images`.
enum Images {
    /// No such key; the root mapping, if there is one.
    NoKey(Option<NodeId>),
    /// Null or an empty list.
    Empty(NodeId),
    /// A list with elements.
    List(NodeId),
    /// Something else.
    Other(NodeId),
}

fn images(tree: &Tree<'_>) -> Result<Images, EditError> {
    if tree.documents() != 1 {
        return Err(EditError { problem: Problem::SeveralDocuments, line: None });
    }
    let Some(root) = tree.root(0)? else { return Ok(Images::NoKey(None)) };
    if !matches!(tree.kind(root), Kind::Mapping { .. }) {
        let cause = format!("the file is not a mapping but a {}", tree.kind_name(root));
        return Err(tree.error(Problem::Key(cause), root));
    }
    let Some(node) = tree.get(root, "images") else { return Ok(Images::NoKey(Some(root))) };
    let node = tree.follow(node);
    Ok(match tree.kind(node) {
        Kind::Sequence { items, .. } if items.is_empty() => Images::Empty(node),
        Kind::Sequence { .. } => Images::List(node),
        _ if tree.is_null(node) => Images::Empty(node),
        _ => Images::Other(node),
    })
}

fn field<'a>(tree: &'a Tree<'_>, item: NodeId, key: &str) -> Option<&'a str> {
    tree.text_of(tree.get(item, key)?)
}

/// In the order in which the names first come.
fn last_of_each_name(entries: &[ImageEntry]) -> Vec<&ImageEntry> {
    let mut at: HashMap<&str, usize> = HashMap::new();
    let mut last: Vec<&ImageEntry> = Vec::new();
    for entry in entries {
        if let Some(&at) = at.get(entry.name.as_str()) {
            last[at] = entry;
        } else {
            at.insert(&entry.name, last.len());
            last.push(entry);
        }
    }
    last
}

fn merge(
    tree: &Tree<'_>,
    plan: &mut Plan<'_, '_>,
    list: NodeId,
    entries: &[&ImageEntry],
) -> Result<(), EditError> {
    let items = tree.items(list);
    let mut by_name: HashMap<&str, Vec<NodeId>> = HashMap::new();
    for item in items.iter().map(|&item| tree.follow(item)) {
        if let Some(name) = field(tree, item, "name") {
            by_name.entry(name).or_default().push(item);
        }
    }
    let mut slots: Vec<_> = (0..items.len()).map(Slot::Old).collect();
    for entry in entries {
        match by_name.get(entry.name.as_str()) {
            Some(items) => {
                for &item in items {
                    update(tree, plan, item, entry)?;
                }
            }
            None => slots.push(Slot::New(entry.to_value())),
        }
    }
    plan.arrange(list, slots);
    Ok(())
}

/// Sets, adds and removes the keys that we own; the others stay (spec 32, fault 13).
fn update(
    tree: &Tree<'_>,
    plan: &mut Plan<'_, '_>,
    item: NodeId,
    entry: &ImageEntry,
) -> Result<(), EditError> {
    for (key, wanted) in entry.fields() {
        match (tree.get(item, key), wanted) {
            (Some(node), Some(text)) => plan.set(node, text)?,
            (None, Some(text)) => plan.put(Some(item), 0, &[key], Value::text(text))?,
            (Some(_), None) => plan.drop_key(item, key),
            (None, None) => {}
        }
    }
    Ok(())
}

/// The wished elements, in order.
pub(super) fn apply(
    text: &str,
    wishes: &[(Option<&str>, &ImageReference)],
) -> Result<Edited, EditError> {
    let entries = wishes.iter().map(|(name, image)| ImageEntry::new(*name, image));
    set(text, &entries.collect::<Vec<_>>())
}
