//! A YAML text as an arena of nodes, each with the bytes it stands on.
//!
//! Aliases are kept as references and never expanded, so a text of nested aliases costs what
//! its bytes cost. The arena also means that dropping a deep tree needs no stack.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::{Index, Range};

use super::super::{EditError, Problem};
use super::print::Steps;

/// A node of one [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::edit) struct NodeId(pub(super) u32);

/// A text that was parsed, all its documents.
#[derive(Debug)]
pub(in crate::edit) struct Tree<'t> {
    pub(super) text: &'t str,
    pub(super) nodes: Vec<Node<'t>>,
    pub(super) documents: Vec<Document>,
    /// Looked for once, by the first insertion.
    pub(super) steps: OnceCell<Steps>,
}

/// One document of a text.
#[derive(Debug)]
pub(super) struct Document {
    /// Where content may begin: behind the `---`, or the first byte after the previous end.
    pub(super) start: usize,
    /// Where the next marker or the end of the text stands.
    pub(super) end: usize,
    /// The root node; absent where the document holds nothing but comments.
    pub(super) root: Option<NodeId>,
    /// The document's nodes in the arena.
    pub(super) nodes: Range<u32>,
    /// The first key found twice in one mapping.
    pub(super) duplicate: Option<NodeId>,
    /// The first `{{` that was read as a mapping inside a mapping.
    pub(super) template: Option<NodeId>,
}

/// One node.
#[derive(Debug)]
pub(in crate::edit) struct Node<'t> {
    pub(super) kind: Kind<'t>,
    /// The node's own text. Of block collections only the start means something, of block
    /// scalars it is the body without the header; see the methods in `layout`.
    pub(super) span: Range<usize>,
    pub(super) properties: Option<Box<Properties>>,
    pub(super) place: Place,
}

/// What a node is.
#[derive(Debug)]
pub(in crate::edit) enum Kind<'t> {
    /// A single value.
    Scalar {
        /// Its text after unescaping and folding. Implied nulls read `~`.
        value: Cow<'t, str>,
        /// How it is written.
        style: Style,
    },
    /// Keys and values, in the order of the text.
    Mapping {
        /// Whether it is written in braces.
        flow: bool,
        /// Key and value nodes.
        entries: Vec<(NodeId, NodeId)>,
    },
    /// A list.
    Sequence {
        /// Whether it is written in brackets.
        flow: bool,
        /// Its elements.
        items: Vec<NodeId>,
    },
    /// `*name`: the node that carries the anchor.
    Alias(NodeId),
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::edit) enum Style {
    Plain,
    Single,
    Double,
    /// `|` or `>`.
    Block,
}

/// Anchor and tag in front of a node.
#[derive(Debug, Default)]
pub(super) struct Properties {
    pub(super) anchor: Option<Range<usize>>,
    pub(super) tag: Option<(Range<usize>, Tag)>,
}

/// What a tag says about a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// `!!str` or `!`: a string, however it looks.
    Text,
    /// Another type of the core schema, such as `!!int`.
    Other,
    /// An application's own tag.
    Custom,
}

/// Where in the structure a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Root(usize),
    Key { mapping: NodeId },
    Value { mapping: NodeId, key: NodeId },
    Item { sequence: NodeId },
}

impl<'t> Index<NodeId> for Tree<'t> {
    type Output = Node<'t>;

    fn index(&self, node: NodeId) -> &Node<'t> {
        &self.nodes[node.0 as usize]
    }
}

impl<'t> Tree<'t> {
    /// How many documents the text holds; a text of comments alone holds none.
    pub(in crate::edit) fn documents(&self) -> usize {
        self.documents.len()
    }

    /// The root of a document, `None` if it holds nothing (or there is no such document).
    ///
    /// Refuses a document with a key that stands twice, since readers disagree about which of
    /// the two counts (spec 32, rule 7), and one whose braces are template actions.
    pub(in crate::edit) fn root(&self, document: usize) -> Result<Option<NodeId>, EditError> {
        let Some(document) = self.documents.get(document) else { return Ok(None) };
        if let Some(node) = document.template {
            return Err(self.error(Problem::Templated, node));
        }
        if let Some(key) = document.duplicate {
            let name = self.text_of(key).unwrap_or_default().to_owned();
            return Err(self.error(Problem::DuplicateKey(name), key));
        }
        Ok(document.root)
    }

    /// The text between a document's markers.
    pub(in crate::edit) fn document_text(&self, document: usize) -> &str {
        self.documents.get(document).map_or("", |document| &self.text[document.start..document.end])
    }

    /// All nodes of a document, parents before their children.
    pub(in crate::edit) fn nodes_of(&self, document: usize) -> impl Iterator<Item = NodeId> {
        let nodes = self.documents.get(document).map_or(0..0, |document| document.nodes.clone());
        nodes.map(NodeId)
    }

    /// Keys and values of a mapping; none if the node is something else.
    pub(in crate::edit) fn entries(
        &self,
        mapping: NodeId,
    ) -> impl Iterator<Item = (NodeId, NodeId)> {
        let entries = match &self[mapping].kind {
            Kind::Mapping { entries, .. } => entries.as_slice(),
            _ => &[],
        };
        entries.iter().copied()
    }

    /// What the node is.
    pub(in crate::edit) fn kind(&self, node: NodeId) -> &Kind<'t> {
        &self[node].kind
    }

    /// The node itself, or the anchored node if it is an alias.
    pub(in crate::edit) fn follow(&self, node: NodeId) -> NodeId {
        match self[node].kind {
            Kind::Alias(target) => target,
            _ => node,
        }
    }

    /// The text of a scalar, as written but for escapes and folding; aliases are followed.
    /// `None` for collections.
    pub(in crate::edit) fn text_of(&self, node: NodeId) -> Option<&str> {
        match &self[self.follow(node)].kind {
            Kind::Scalar { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The value under `key`, if `mapping` is a mapping that has it. Merge keys are not
    /// followed.
    pub(in crate::edit) fn get(&self, mapping: NodeId, key: &str) -> Option<NodeId> {
        self.entry(mapping, key).map(|(_, value)| value)
    }

    /// The elements of a list; none if the node is something else.
    pub(in crate::edit) fn items(&self, sequence: NodeId) -> &[NodeId] {
        match &self[sequence].kind {
            Kind::Sequence { items, .. } => items,
            _ => &[],
        }
    }

    /// Index and value of the entry under `key`.
    pub(super) fn entry(&self, mapping: NodeId, key: &str) -> Option<(usize, NodeId)> {
        let Kind::Mapping { entries, .. } = &self[mapping].kind else { return None };
        let at = entries.iter().position(|&(k, _)| self.text_of(k) == Some(key))?;
        Some((at, entries[at].1))
    }

    /// Whether the node is null: nothing, `~`, or the word.
    pub(in crate::edit) fn is_null(&self, node: NodeId) -> bool {
        match &self[node].kind {
            Kind::Scalar { value, style: Style::Plain } => {
                self.tag(node).is_none()
                    && matches!(value.as_ref(), "" | "~" | "null" | "Null" | "NULL")
            }
            _ => false,
        }
    }

    /// The type's name as the errors of the reference print it.
    pub(in crate::edit) fn kind_name(&self, node: NodeId) -> &'static str {
        match self[node].kind {
            Kind::Scalar { .. } => "ScalarNode",
            Kind::Mapping { .. } => "MappingNode",
            Kind::Sequence { .. } => "SequenceNode",
            Kind::Alias(_) => "AliasNode",
        }
    }

    /// An error that points at the node's line.
    pub(in crate::edit) fn error(&self, problem: Problem, node: NodeId) -> EditError {
        EditError { problem, line: Some(self.line(node)) }
    }

    /// The node's line, from 1 on.
    pub(in crate::edit) fn line(&self, node: NodeId) -> usize {
        let before = &self.text[..self[node].span.start];
        1 + before.bytes().filter(|&b| b == b'\n').count()
    }

    /// The collection that the node is a part of.
    pub(super) fn parent(&self, node: NodeId) -> Option<NodeId> {
        match self[node].place {
            Place::Root(_) => None,
            Place::Key { mapping } | Place::Value { mapping, .. } => Some(mapping),
            Place::Item { sequence } => Some(sequence),
        }
    }

    pub(super) fn tag(&self, node: NodeId) -> Option<Tag> {
        self[node].properties.as_ref()?.tag.as_ref().map(|&(_, tag)| tag)
    }

    /// Whether the node is a collection in braces or brackets.
    pub(super) fn is_flow(&self, node: NodeId) -> bool {
        matches!(
            self[node].kind,
            Kind::Mapping { flow: true, .. } | Kind::Sequence { flow: true, .. }
        )
    }

    /// Whether the node stands inside braces or brackets.
    pub(super) fn in_flow(&self, node: NodeId) -> bool {
        self.parent(node).is_some_and(|parent| self.is_flow(parent))
    }

    /// Whether the node is a plain scalar of no characters.
    pub(super) fn is_blank(&self, node: NodeId) -> bool {
        let node = &self[node];
        node.span.is_empty() && matches!(node.kind, Kind::Scalar { style: Style::Plain, .. })
    }
}
