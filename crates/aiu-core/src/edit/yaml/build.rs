//! From the parser's events to a [`Tree`].

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, options};

use super::super::{EditError, Problem};
use super::tree::{Document, Kind, Node, NodeId, Place, Properties, Style, Tag, Tree};

/// Longest text that is read, in bytes. Files of charts have kilobytes, and a tree takes many times
/// its text.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// More nodes than any file written by hand or by a tool has, few enough to keep in memory.
const MAX_NODES: u32 = 4_000_000;

/// Mappings up to this size are searched for duplicate keys pair by pair.
const SMALL: usize = 8;

impl<'t> Tree<'t> {
    /// Parses the whole text. Time and memory are linear in its length: nesting beyond 255
    /// levels, more than four million values and more than 64 MiB are refused, aliases are not
    /// expanded.
    pub(in crate::edit) fn parse(text: &'t str) -> Result<Self, EditError> {
        if text.len() > MAX_BYTES {
            let cause = format!("{} bytes, at most {MAX_BYTES} are read", text.len());
            return Err(EditError::unreadable(cause, None));
        }
        #[cfg(test)]
        {
            super::PARSED.set(super::PARSED.get() + 1);
            super::PARSED_BYTES.set(super::PARSED_BYTES.get() + text.len());
        }
        let options = options! { emit_anchor_events: true, emit_comments: false, block_scalar_eof_without_line_feed: true };
        let mut builder = Builder::new(text);
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = event.map_err(|error| {
                let line = error.marker().line();
                match template_line(text) {
                    Some(line) => EditError { problem: Problem::Templated, line: Some(line) },
                    None => EditError::unreadable(error.info(), Some(line)),
                }
            })?;
            builder.take(event, &span)?;
        }
        Ok(builder.finish())
    }
}

/// The first line on which a template action stands where YAML would have a node: `{{` alone,
/// behind a dash or behind a key's colon.
fn template_line(text: &str) -> Option<usize> {
    let is_action = |line: &str| {
        line.find("{{").is_some_and(|at| {
            let before = line[..at].trim();
            !before.starts_with('#') && (before.is_empty() || before.ends_with([':', '-', '}']))
        })
    };
    text.lines().position(is_action).map(|at| at + 1)
}

struct Builder<'t> {
    tree: Tree<'t>,
    open: Vec<Open>,
    anchors: HashMap<usize, NodeId>,
}

/// A collection whose end was not seen yet; in mappings, the key that waits for its value.
struct Open {
    node: NodeId,
    key: Option<NodeId>,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str) -> Self {
        let (nodes, documents) = (Vec::new(), Vec::new());
        let tree = Tree { text, nodes, documents, steps: OnceCell::new() };
        Self { tree, open: Vec::new(), anchors: HashMap::new() }
    }

    fn take(&mut self, event: Event<'t>, span: &Span) -> Result<(), EditError> {
        match event {
            Event::DocumentStart(explicit, _) => self.begin_document(explicit, span),
            Event::DocumentEnd => self.end_document(span),
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(&target) => drop(self.add(Kind::Alias(target), span, 0, None)?),
                None => return Err(EditError::unreadable("an alias without an anchor", None)),
            },
            Event::Scalar(value, style, anchor, tag) => {
                let style = style_of(style);
                self.add(Kind::Scalar { value, style }, span, anchor, tag.as_deref())?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                let flow = style == StructureStyle::Flow;
                let kind = Kind::Sequence { flow, items: Vec::new() };
                let node = self.add(kind, span, anchor, tag.as_deref())?;
                self.open.push(Open { node, key: None });
            }
            Event::MappingStart(style, anchor, tag) => {
                let flow = style == StructureStyle::Flow;
                let kind = Kind::Mapping { flow, entries: Vec::new() };
                let node = self.add(kind, span, anchor, tag.as_deref())?;
                self.open.push(Open { node, key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Anchor(..) => self.name_anchor(span),
            _ => {}
        }
        Ok(())
    }

    fn begin_document(&mut self, explicit: bool, span: &Span) {
        let marker = range(span);
        if let Some(previous) = self.tree.documents.last_mut()
            && previous.end == self.tree.text.len()
        {
            previous.end = marker.start;
        }
        let next = self.next_node();
        self.tree.documents.push(Document {
            start: if explicit { marker.end } else { marker.start },
            end: self.tree.text.len(),
            root: None,
            nodes: next..next,
            duplicate: None,
            template: None,
        });
    }

    fn end_document(&mut self, span: &Span) {
        self.anchors.clear();
        let marker = range(span);
        let next = self.next_node();
        if let Some(document) = self.tree.documents.last_mut() {
            document.nodes.end = next;
            if !marker.is_empty() {
                document.end = marker.start;
            }
        }
    }

    /// The number that the next node gets.
    fn next_node(&self) -> u32 {
        u32::try_from(self.tree.nodes.len()).expect("there are at most MAX_NODES")
    }

    /// Appends a node to the arena and to the collection that is open.
    fn add(
        &mut self,
        kind: Kind<'t>,
        span: &Span,
        anchor: usize,
        tag: Option<&granit_parser::Tag>,
    ) -> Result<NodeId, EditError> {
        let node = NodeId(self.next_node());
        if node.0 >= MAX_NODES {
            let cause = format!("more than {MAX_NODES} values");
            return Err(EditError::unreadable(cause, Some(span.start.line())));
        }
        let place = self.attach(node);
        let tag = tag.and_then(|tag| Some((range(&span.tag_span()?), tag_of(tag))));
        let properties = tag.map(|tag| Box::new(Properties { tag: Some(tag), anchor: None }));
        self.tree.nodes.push(Node { kind, span: range(span), properties, place });
        if anchor != 0 {
            self.anchors.insert(anchor, node);
        }
        Ok(node)
    }

    fn attach(&mut self, node: NodeId) -> Place {
        let document = self.tree.documents.len().saturating_sub(1);
        let Some(open) = self.open.last_mut() else {
            if let Some(document) = self.tree.documents.last_mut() {
                document.root = Some(node);
            }
            return Place::Root(document);
        };
        let parent = open.node;
        match &mut self.tree.nodes[parent.0 as usize].kind {
            Kind::Mapping { entries, .. } => {
                if let Some(key) = open.key.take() {
                    entries.push((key, node));
                    Place::Value { mapping: parent, key }
                } else {
                    open.key = Some(node);
                    Place::Key { mapping: parent }
                }
            }
            Kind::Sequence { items, .. } => {
                items.push(node);
                Place::Item { sequence: parent }
            }
            Kind::Scalar { .. } | Kind::Alias(_) => unreachable!("only collections are opened"),
        }
    }

    fn close(&mut self, span: &Span) {
        let Some(Open { node, .. }) = self.open.pop() else { return };
        if self.tree.is_flow(node) {
            self.tree.nodes[node.0 as usize].span.end = range(span).end;
        }
        let Kind::Mapping { entries, .. } = &self.tree[node].kind else { return };
        let duplicate = self.tree.duplicate(entries);
        let text = self.tree.text;
        let template = self.tree.is_flow(node)
            && text[self.tree[node].span.start..].starts_with("{{")
            && entries.iter().any(|&(key, _)| self.tree.is_flow(key));
        if let Some(document) = self.tree.documents.last_mut() {
            document.duplicate = document.duplicate.or(duplicate);
            document.template = document.template.or(template.then_some(node));
        }
    }

    /// The parser names an anchor right after the node that carries it.
    fn name_anchor(&mut self, span: &Span) {
        if let Some(node) = self.tree.nodes.last_mut() {
            node.properties.get_or_insert_default().anchor = Some(range(span));
        }
    }

    /// A root that is nothing at all counts as no root.
    fn finish(mut self) -> Tree<'t> {
        for at in 0..self.tree.documents.len() {
            if let Some(root) = self.tree.documents[at].root
                && self.tree.is_blank(root)
                && self.tree[root].properties.is_none()
            {
                self.tree.documents[at].root = None;
            }
        }
        self.tree
    }
}

impl Tree<'_> {
    fn duplicate(&self, entries: &[(NodeId, NodeId)]) -> Option<NodeId> {
        if entries.len() <= SMALL {
            let equal = |a: NodeId, b: NodeId| {
                self.text_of(a).is_some_and(|text| self.text_of(b) == Some(text))
            };
            let again = |at: usize| entries[..at].iter().any(|&(key, _)| equal(entries[at].0, key));
            return (1..entries.len()).find(|&at| again(at)).map(|at| entries[at].0);
        }
        let mut seen = HashSet::with_capacity(entries.len());
        let keys = entries.iter().map(|&(key, _)| key);
        keys.into_iter().find(|&key| self.text_of(key).is_some_and(|text| !seen.insert(text)))
    }
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::SingleQuoted => Style::Single,
        ScalarStyle::DoubleQuoted => Style::Double,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        ScalarStyle::Plain => Style::Plain,
    }
}

fn tag_of(tag: &granit_parser::Tag) -> Tag {
    if tag.is_yaml_core_schema_tag("str") || tag.parts() == ("", "!") {
        Tag::Text
    } else if tag.is_yaml_core_schema() {
        Tag::Other
    } else {
        Tag::Custom
    }
}

fn range(span: &Span) -> Range<usize> {
    span.byte_range().expect("a parser over a str knows byte offsets")
}
