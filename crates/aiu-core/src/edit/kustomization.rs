//! `kustomization.yaml` and its other names (spec 30 §4.6).

use std::collections::HashMap;

use super::yaml::{Kind, NodeId, Plan, Slot, Tree, Value};
use super::{EditError, Edited, Problem, reading};
use crate::image::{Digest, ImageReference, KustomizeImage, Repository, TagRef};

/// What the file says for one image.
pub(super) fn current(
    tree: &Tree<'_>,
    name: Option<&str>,
    configured: &Repository,
) -> Result<Option<ImageReference>, EditError> {
    let Images::List(list) = images(tree)? else { return Ok(None) };
    let wanted = name.map_or_else(|| configured.to_string(), str::to_owned);
    let mut items = tree.items(list).iter().map(|&item| tree.follow(item));
    let Some(item) = items.find(|&item| field(tree, item, "name") == Some(&wanted)) else {
        return Ok(None);
    };
    let repository = field(tree, item, "newName").unwrap_or(&wanted);
    let repository = repository.parse().unwrap_or_else(|_| configured.clone());
    let tag = reading::tag_and_digest(field(tree, item, "newTag"), field(tree, item, "digest"));
    Ok(Some(ImageReference { repository, tag }))
}

/// Makes `images` hold these elements; of several with one name the last holds.
///
/// An element is replaced as a whole: what the new one does not carry is removed from the file
/// (spec 32, K84), but for keys that are none of ours.
///
/// # Errors
///
/// [`Problem::SeveralDocuments`] unless the text holds exactly one, [`Problem::Key`] if `images`
/// is not a list.
pub fn set(text: &str, entries: &[KustomizeImage]) -> Result<Edited, EditError> {
    let tree = Tree::parse(text)?;
    let images = images(&tree)?;
    if entries.is_empty() {
        return Ok(Edited::Unchanged);
    }
    let entries = last_of_each_name(entries);
    let mut plan = Plan::new(&tree);
    match images {
        Images::NoKey(root) => {
            let items = entries.iter().map(|entry| to_value(entry)).collect();
            plan.put(root, &["images"], Value::Sequence(items))?;
        }
        Images::Empty(node) => {
            plan.fill(node, Value::Sequence(entries.iter().map(|entry| to_value(entry)).collect()));
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
fn last_of_each_name(entries: &[KustomizeImage]) -> Vec<&KustomizeImage> {
    let mut at: HashMap<&str, usize> = HashMap::new();
    let mut last: Vec<&KustomizeImage> = Vec::new();
    for entry in entries {
        if let Some(&at) = at.get(&*entry.name) {
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
    entries: &[&KustomizeImage],
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
        match by_name.get(&*entry.name) {
            Some(items) => {
                for &item in items {
                    update(tree, plan, item, entry)?;
                }
            }
            None => slots.push(Slot::New(to_value(entry))),
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
    entry: &KustomizeImage,
) -> Result<(), EditError> {
    for (key, wanted) in fields(entry) {
        match (tree.get(item, key), wanted) {
            (Some(node), Some(text)) => plan.set(node, text)?,
            (None, Some(text)) => plan.put(Some(item), &[key], Value::text(text))?,
            (Some(_), None) => plan.drop_key(item, key),
            (None, None) => {}
        }
    }
    Ok(())
}

/// Keys and values but for the name, in the order of new elements.
fn fields(entry: &KustomizeImage) -> [(&'static str, Option<&str>); 3] {
    [
        ("newName", entry.new_name.as_deref()),
        ("newTag", entry.new_tag.as_deref()),
        ("digest", entry.digest.as_ref().map(Digest::as_str)),
    ]
}

fn to_value(entry: &KustomizeImage) -> Value {
    let fields = fields(entry).into_iter();
    let fields = fields.filter_map(|(key, value)| Some((key.to_owned(), Value::text(value?))));
    let name = std::iter::once(("name".to_owned(), Value::text(&*entry.name)));
    Value::Mapping(name.chain(fields).collect())
}

/// The wished elements, in order.
pub(super) fn apply(
    text: &str,
    wishes: &[(Option<&str>, &ImageReference)],
) -> Result<Edited, EditError> {
    let entries: Vec<_> = wishes.iter().map(|(name, image)| element(*name, image)).collect();
    set(text, &entries)
}

/// The element for an image, under another name if the manifests use one.
fn element(name: Option<&str>, image: &ImageReference) -> KustomizeImage {
    let repository = image.repository.to_string().into();
    let tag = image.tag.as_ref();
    let (name, new_name) = match name {
        Some(name) => (name.into(), Some(repository)),
        None => (repository, None),
    };
    let new_tag = tag.and_then(TagRef::name).map(|tag| tag.as_str().into());
    let digest = tag.and_then(TagRef::pinned_digest).cloned();
    KustomizeImage { name, new_name, new_tag, digest }
}
