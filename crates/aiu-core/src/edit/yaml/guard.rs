//! The proof behind every edit: the new text is parsed, and only what was planned may differ.
//!
//! What stands before and behind the documents that change is compared byte by byte: between two
//! `---` nothing of one document reaches into the next, so the same bytes are the same values.

use std::ops::Range;

use super::super::{EditError, Problem};
use super::plan::{Change, Plan, Slot};
use super::print::Value;
use super::tree::{Kind, NodeId, Place, Tag, Tree};

/// Begins a document.
const MARKER: &str = "---";

/// Refuses a text that is not the old one with the plan's changes.
pub(super) fn check(plan: &Plan<'_, '_>, text: &str) -> Result<(), EditError> {
    let part = Part::of(plan);
    let changed =
        part.of_new(text).ok_or_else(|| refused("a document that was to stay".to_owned()))?;
    let new = Tree::parse(changed).map_err(|mut error| {
        error.line = error.line.map(|line| line + part.before.lines().count());
        refused(format!("the whole text, which could not be read ({error})"))
    })?;
    let documents = &plan.tree.documents[part.documents.clone()];
    let ends = documents.first().zip(documents.last());
    let nodes = ends.map_or(0..0, |(first, last)| first.nodes.start..last.nodes.end);
    let mut walk = Walk {
        plan,
        old: plan.tree,
        new: &new,
        twins: vec![None; nodes.len()],
        first: nodes.start,
        aliases: Vec::new(),
        todo: Vec::new(),
    };
    walk.documents(part.documents)?;
    while let Some((old, new)) = walk.todo.pop() {
        if !walk.agrees(old, new) {
            return Err(walk.differs_at(old));
        }
    }
    let strayed = walk.aliases.iter().find(|(_, old, new)| walk.twin(*old) != Some(*new));
    strayed.map_or(Ok(()), |&(alias, ..)| Err(walk.differs_at(alias)))
}

fn refused(what: String) -> EditError {
    EditError { problem: Problem::Guard(what), line: None }
}

/// The documents of the old text from the first to the last that change, and what stands around
/// them.
struct Part<'t> {
    documents: Range<usize>,
    before: &'t str,
    behind: &'t str,
}

impl<'t> Part<'t> {
    /// It begins with a `---` and ends before one. Where there is none, it reaches to the end of
    /// the text: a document that is introduced otherwise may belong to directives before it.
    fn of(plan: &Plan<'_, 't>) -> Self {
        let Plan { tree, changes, root } = plan;
        let documents = &tree.documents;
        let holding = |node: &NodeId| documents.partition_point(|d| d.nodes.end <= node.0);
        let marker_behind = |at: usize| {
            let end = documents.get(at)?.end;
            tree.text[end..].starts_with(MARKER).then_some(end)
        };
        let first = changes.keys().next().filter(|_| root.is_none()).map_or(0, holding);
        let last = changes.keys().next_back().map_or(0, holding);
        let begin = first.checked_sub(1).and_then(marker_behind).map(|at| (first, at));
        let (first, start) = begin.unwrap_or((0, 0));
        let end = marker_behind(last).map(|at| (last + 1, at));
        let (past, end) = end.unwrap_or((documents.len(), tree.text.len()));
        let (before, behind) = (&tree.text[..start], &tree.text[end..]);
        Self { documents: first..past, before, behind }
    }

    /// What stands in its place in a new text; `None` if anything around it is not as it was.
    fn of_new<'n>(&self, text: &'n str) -> Option<&'n str> {
        let part = text.strip_prefix(self.before)?.strip_suffix(self.behind)?;
        let begins = self.before.is_empty() || part.starts_with(MARKER);
        let ends = self.behind.is_empty() || part.is_empty() || part.ends_with(['\n', '\r']);
        (begins && ends).then_some(part)
    }
}

/// Old and new text side by side. A list of pairs to compare takes the place of recursion.
struct Walk<'a, 't> {
    plan: &'a Plan<'a, 't>,
    old: &'a Tree<'t>,
    new: &'a Tree<'a>,
    /// By old node, from `first` on, the new node in its place.
    twins: Vec<Option<NodeId>>,
    first: u32,
    /// Old alias, what it stood for, what its twin stands for.
    aliases: Vec<(NodeId, NodeId, NodeId)>,
    todo: Vec<(NodeId, NodeId)>,
}

impl Walk<'_, '_> {
    fn twin(&self, old: NodeId) -> Option<NodeId> {
        self.twins[(old.0 - self.first) as usize]
    }

    /// Compares the new documents with these of the old text.
    fn documents(&mut self, part: Range<usize>) -> Result<(), EditError> {
        let added = self.plan.root.as_ref();
        let count = part.len().max(usize::from(added.is_some()));
        if self.new.documents.len() != count {
            return Err(refused("the number of documents".to_owned()));
        }
        for (at, new) in (part.start..).zip(&self.new.documents) {
            let old = self.old.documents.get(at);
            if new.duplicate.is_some() && old.is_none_or(|old| old.duplicate.is_none()) {
                return Err(refused("a key, which would then stand twice".to_owned()));
            }
            let planned = added.filter(|_| at == 0);
            match (old.and_then(|old| old.root), new.root, planned) {
                (Some(old), Some(new), None) => self.todo.push((old, new)),
                (None, None, None) => {}
                (None, Some(new), Some(entries))
                    if Value::Mapping(entries.clone()).equals(self.new, new) => {}
                _ => return Err(refused(format!("document {}", at + 1))),
            }
        }
        Ok(())
    }

    /// Compares one pair, and notes its children for later.
    fn agrees(&mut self, old: NodeId, new: NodeId) -> bool {
        self.twins[(old.0 - self.first) as usize] = Some(new);
        let change = self.plan.changes.get(&old);
        if !self.same_properties(old, new, change) {
            return false;
        }
        match (change, self.old.kind(old), self.new.kind(new)) {
            (Some(Change::Scalar(value) | Change::Filled(value)), _, kind) => {
                !matches!(kind, Kind::Alias(_)) && value.equals(self.new, new)
            }
            (
                change,
                Kind::Mapping { entries: before, flow: was_flow },
                Kind::Mapping { entries: after, flow },
            ) => was_flow == flow && self.same_entries(change, before, after),
            (
                change,
                Kind::Sequence { items: before, flow: was_flow },
                Kind::Sequence { items: after, flow },
            ) => was_flow == flow && self.same_items(change, before, after),
            (
                None,
                Kind::Scalar { value: before, style: was_style },
                Kind::Scalar { value: after, style },
            ) => before == after && was_style == style,
            (None, &Kind::Alias(before), &Kind::Alias(after)) => {
                self.aliases.push((old, before, after));
                true
            }
            _ => false,
        }
    }

    /// Whether anchor and tag are as they were; a tag that forbids strings gives way to `!!str`.
    fn same_properties(&self, old: NodeId, new: NodeId, change: Option<&Change>) -> bool {
        let anchor = |tree: &Tree<'_>, node: NodeId| {
            let range = tree[node].properties.as_ref()?.anchor.clone()?;
            tree.text.get(range).map(str::to_owned)
        };
        let tag = |tree: &Tree<'_>, node: NodeId| {
            let (range, _) = tree[node].properties.as_ref()?.tag.clone()?;
            tree.text.get(range).map(str::to_owned)
        };
        let same_tag = match (change, self.old.tag(old)) {
            (Some(Change::Scalar(Value::Text(_))), Some(Tag::Other)) => {
                self.new.tag(new) == Some(Tag::Text)
            }
            _ => tag(self.old, old) == tag(self.new, new),
        };
        same_tag && anchor(self.old, old) == anchor(self.new, new)
    }

    fn same_entries(
        &mut self,
        change: Option<&Change>,
        before: &[(NodeId, NodeId)],
        after: &[(NodeId, NodeId)],
    ) -> bool {
        let (dropped, added) = match change {
            Some(Change::Mapping { dropped, added }) => (Some(dropped), added.as_slice()),
            _ => (None, &[][..]),
        };
        let is_kept = |at: &usize| dropped.is_none_or(|dropped| !dropped.contains(at));
        let kept: Vec<_> = (0..before.len()).filter(is_kept).map(|at| before[at]).collect();
        if after.len() != kept.len() + added.len() {
            return false;
        }
        let (old_part, new_part) = after.split_at(kept.len());
        for (&(key, value), &(new_key, new_value)) in kept.iter().zip(old_part) {
            self.todo.extend([(key, new_key), (value, new_value)]);
        }
        added.iter().zip(new_part).all(|((name, value), &(new_key, new_value))| {
            Value::text(name).equals(self.new, new_key) && value.equals(self.new, new_value)
        })
    }

    fn same_items(&mut self, change: Option<&Change>, before: &[NodeId], after: &[NodeId]) -> bool {
        let Some(Change::Sequence(slots)) = change else {
            self.todo.extend(before.iter().copied().zip(after.iter().copied()));
            return before.len() == after.len();
        };
        slots.len() == after.len()
            && slots.iter().zip(after).all(|(slot, &new)| match slot {
                Slot::Old(at) => {
                    self.todo.push((before[*at], new));
                    true
                }
                Slot::New(value) => value.equals(self.new, new),
            })
    }

    fn differs_at(&self, node: NodeId) -> EditError {
        let mut steps = Vec::new();
        let mut at = node;
        while let Some(parent) = self.old.parent(at) {
            steps.push(match (self.old[at].place, self.old.kind(parent)) {
                (Place::Value { key, .. }, _) => self.old.text_of(key).unwrap_or("?").to_owned(),
                (Place::Item { .. }, Kind::Sequence { items, .. }) => {
                    format!("[{}]", items.binary_search(&at).unwrap_or_default())
                }
                _ => "a key".to_owned(),
            });
            at = parent;
        }
        steps.reverse();
        let path = steps.join(".").replace(".[", "[");
        self.old.error(Problem::Guard(format!("'{path}'")), node)
    }
}
