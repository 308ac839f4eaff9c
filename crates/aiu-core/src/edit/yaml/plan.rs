//! What shall differ in a text.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{EditError, Edited, Problem};
use super::print::Value;
use super::tree::{Kind, NodeId, Style, Tag, Tree};
use super::{guard, print, scalar, splice};

/// Deeper than any chart nests, and shallow enough to be read again.
const MAX_KEYS: usize = 64;

/// Changes to the nodes of one [`Tree`], collected first and applied together: the spans of one
/// never move under another.
#[derive(Debug)]
pub(in crate::edit) struct Plan<'a, 't> {
    pub(super) tree: &'a Tree<'t>,
    pub(super) changes: BTreeMap<NodeId, Change>,
    /// Keys for the root mapping of the first document, if it has no root.
    pub(super) root: Option<Vec<(String, Value)>>,
}

/// What becomes of one node.
#[derive(Debug)]
pub(super) enum Change {
    /// A scalar or alias becomes this text or flag.
    Scalar(Value),
    /// Null or an empty list becomes this collection.
    Filled(Value),
    /// A mapping loses and gains keys.
    Mapping { dropped: BTreeSet<usize>, added: Vec<(String, Value)> },
    /// A list has these elements, in this order.
    Sequence(Vec<Slot>),
}

/// One element of a list after the edit.
#[derive(Clone, Debug)]
pub(in crate::edit) enum Slot {
    /// The element that stood at this index, with whatever is planned inside it.
    Old(usize),
    /// A new one.
    New(Value),
}

impl<'a, 't> Plan<'a, 't> {
    pub(in crate::edit) fn new(tree: &'a Tree<'t>) -> Self {
        Self { tree, changes: BTreeMap::new(), root: None }
    }

    /// The text that is planned for.
    pub(in crate::edit) fn tree(&self) -> &'a Tree<'t> {
        self.tree
    }

    /// The scalar or alias becomes this string; of several texts for one node the last holds.
    pub(in crate::edit) fn set(&mut self, node: NodeId, text: &str) -> Result<(), EditError> {
        self.scalar(node, Value::text(text))
    }

    /// The scalar or alias becomes `true`.
    pub(in crate::edit) fn raise(&mut self, flag: NodeId) -> Result<(), EditError> {
        self.scalar(flag, Value::Flag(true))
    }

    fn scalar(&mut self, node: NodeId, value: Value) -> Result<(), EditError> {
        if self.tree.text_of(node).is_none() {
            let cause = format!("unexpected type {}", self.tree.kind_name(node));
            return Err(self.tree.error(Problem::Key(cause), node));
        }
        self.changes.insert(node, Change::Scalar(value));
        Ok(())
    }

    /// Makes the text stand under `keys` below a mapping that lacks the first of them, or below
    /// the root of the first document if that is empty (`None`).
    pub(in crate::edit) fn put(
        &mut self,
        mapping: Option<NodeId>,
        keys: &[&str],
        value: Value,
    ) -> Result<(), EditError> {
        if keys.len() > MAX_KEYS {
            return Err(EditError::key(format!("the key has more than {MAX_KEYS} parts")));
        }
        let entries = match mapping {
            Some(node) => self.added(node),
            None => self.root.get_or_insert_default(),
        };
        print::nest(entries, keys, value)
            .map_err(|key| EditError::key(format!("unexpected type ScalarNode for key {key}")))
    }

    /// The keys that a mapping gains.
    fn added(&mut self, mapping: NodeId) -> &mut Vec<(String, Value)> {
        match self.changes.entry(mapping).or_insert_with(Change::mapping) {
            Change::Mapping { added, .. } => added,
            _ => unreachable!("a mapping only loses and gains keys"),
        }
    }

    /// The mapping loses a key, if it has it.
    pub(in crate::edit) fn drop_key(&mut self, mapping: NodeId, key: &str) {
        let Some((at, _)) = self.tree.entry(mapping, key) else { return };
        let change = self.changes.entry(mapping).or_insert_with(Change::mapping);
        if let Change::Mapping { dropped, .. } = change {
            dropped.insert(at);
        }
    }

    /// The list has these elements.
    pub(in crate::edit) fn arrange(&mut self, sequence: NodeId, slots: Vec<Slot>) {
        self.changes.insert(sequence, Change::Sequence(slots));
    }

    /// Null or an empty list becomes this collection.
    pub(in crate::edit) fn fill(&mut self, node: NodeId, value: Value) {
        self.changes.insert(node, Change::Filled(value));
    }

    /// Applies the changes and checks that nothing else differs.
    pub(in crate::edit) fn finish(mut self) -> Result<Edited, EditError> {
        let tree = self.tree;
        self.changes.retain(|&node, change| !change.holds(tree, node));
        if self.changes.is_empty() && self.root.is_none() {
            return Ok(Edited::Unchanged);
        }
        let text = splice::apply(tree, self.splices()?);
        guard::check(&self, &text)?;
        Ok(Edited::Changed(text))
    }
}

impl Change {
    fn mapping() -> Self {
        Self::Mapping { dropped: BTreeSet::new(), added: Vec::new() }
    }

    /// Whether the node already is what it shall become.
    fn holds(&self, tree: &Tree<'_>, node: NodeId) -> bool {
        match self {
            Self::Scalar(value) => value.equals(tree, node),
            Self::Filled(_) => false,
            Self::Mapping { dropped, added } => dropped.is_empty() && added.is_empty(),
            Self::Sequence(slots) => match tree.kind(node) {
                Kind::Sequence { items, .. } => {
                    slots.len() == items.len() && is_append(slots, items.len())
                }
                _ => false,
            },
        }
    }
}

/// Whether the first `count` slots are the old elements in their old order.
pub(super) fn is_append(slots: &[Slot], count: usize) -> bool {
    slots.len() >= count
        && slots[..count]
            .iter()
            .enumerate()
            .all(|(at, slot)| matches!(slot, Slot::Old(i) if *i == at))
}

impl Value {
    /// Whether every reader finds this value at the node. Aliases are followed, collections
    /// must have nothing more.
    pub(super) fn equals(&self, tree: &Tree<'_>, node: NodeId) -> bool {
        let node = tree.follow(node);
        match (self, tree.kind(node)) {
            (Self::Text(text), Kind::Scalar { value, .. }) => {
                value == text && tree.reads_as_text(node)
            }
            (Self::Flag(flag), Kind::Scalar { value, style: Style::Plain }) => {
                value.as_ref() == if *flag { "true" } else { "false" }
            }
            (Self::Mapping(wanted), Kind::Mapping { entries, .. }) => {
                wanted.len() == entries.len()
                    && wanted.iter().zip(entries).all(|((name, value), &(key, node))| {
                        Self::text(name).equals(tree, key) && value.equals(tree, node)
                    })
            }
            (Self::Sequence(wanted), Kind::Sequence { items, .. }) => {
                wanted.len() == items.len()
                    && wanted.iter().zip(items).all(|(value, &item)| value.equals(tree, item))
            }
            _ => false,
        }
    }
}

impl Tree<'_> {
    /// Whether every reader takes the scalar for a string.
    fn reads_as_text(&self, node: NodeId) -> bool {
        let Kind::Scalar { value, style } = &self[node].kind else { return false };
        match self.tag(node) {
            Some(Tag::Text) => true,
            Some(Tag::Other) => false,
            Some(Tag::Custom) | None => {
                *style != Style::Plain || !self.is_blank(node) && scalar::reads_as_text(value)
            }
        }
    }
}
