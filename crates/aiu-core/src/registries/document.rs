//! A YAML document as a small tree that keeps what this file's types depend on: lines, and
//! whether a scalar is quoted.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};

/// Aliases may repeat a part of the document; in all it may not get larger than this.
const MAX_NODES: usize = 100_000;

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// 1-based.
    pub(super) line: usize,
    pub(super) value: Value,
}

/// Key, its line, value; in the order of the text, with repetitions.
pub(super) type Mapping = Vec<(String, usize, Node)>;

#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar { text: String, plain: bool },
    List(Vec<Node>),
    Mapping(Mapping),
}

impl Node {
    /// The text of an unquoted scalar.
    pub(super) fn plain(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, plain: true } => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.plain(), Some("" | "~" | "null" | "Null" | "NULL"))
    }

    fn size(&self) -> usize {
        1 + match &self.value {
            Value::Scalar { .. } => 0,
            Value::List(items) => items.iter().map(Self::size).sum(),
            Value::Mapping(entries) => entries.iter().map(|(_, _, node)| node.size()).sum(),
        }
    }
}

/// Reads the first document; `None` if there is none. Errors are the parser's words, which
/// name a place and quote nothing.
pub(super) fn read(text: &str) -> Result<Option<Node>, String> {
    let mut reader = Reader { anchors: HashMap::new(), nodes: 0 };
    let mut open: Vec<Open> = Vec::new();
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| error.to_string())?;
        let Some(node) = reader.take(event, span.start.line(), &mut open)? else { continue };
        match open.last_mut() {
            Some(collection) => collection.push(node)?,
            None => return Ok(Some(node)),
        }
    }
    Ok(None)
}

/// A collection whose end has not been seen.
struct Open {
    anchor: usize,
    node: Node,
    /// The key whose value comes next, in a mapping.
    key: Option<(String, usize)>,
}

impl Open {
    fn new(line: usize, anchor: usize, value: Value) -> Self {
        Self { anchor, node: Node { line, value }, key: None }
    }

    fn push(&mut self, node: Node) -> Result<(), String> {
        match &mut self.node.value {
            Value::List(items) => items.push(node),
            Value::Mapping(entries) => match (self.key.take(), node) {
                (Some((key, line)), node) => entries.push((key, line, node)),
                (None, Node { line, value: Value::Scalar { text, .. } }) => {
                    self.key = Some((text, line));
                }
                (None, Node { line, .. }) => {
                    return Err(format!("line {line}: a key must be a text"));
                }
            },
            // Scalars are never open.
            Value::Scalar { .. } => {}
        }
        Ok(())
    }
}

struct Reader {
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

impl Reader {
    /// Takes one event; gives a node when one is complete.
    fn take(
        &mut self,
        event: Event<'_>,
        line: usize,
        open: &mut Vec<Open>,
    ) -> Result<Option<Node>, String> {
        let (anchor, node) = match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                let value = Value::Scalar { text: text.into_owned(), plain };
                (anchor, Node { line, value })
            }
            Event::SequenceStart(_, anchor, _) => {
                open.push(Open::new(line, anchor, Value::List(Vec::new())));
                return Ok(None);
            }
            Event::MappingStart(_, anchor, _) => {
                open.push(Open::new(line, anchor, Value::Mapping(Vec::new())));
                return Ok(None);
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open { anchor, node, .. }) => (anchor, node),
                None => return Ok(None),
            },
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(node) => (0, node.clone()),
                None => return Err(format!("line {line}: an alias inside of its own anchor")),
            },
            _ => return Ok(None),
        };
        self.nodes += node.size();
        if self.nodes > MAX_NODES {
            return Err(format!("line {line}: too many values"));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(Some(node))
    }
}
