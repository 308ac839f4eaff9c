//! Where things stand in the text: lines, colons, dashes, and the ends of nodes.
//!
//! Everything here is computed when an edit asks for it. Between two nodes a text holds blanks,
//! line breaks, comments and one indicator, so an indicator is found by stepping over the rest.

use std::ops::Range;

use super::tree::{Kind, NodeId, Place, Style, Tree};

/// The line breaks of YAML.
const BREAKS: [char; 2] = ['\n', '\r'];
/// Blanks within a line.
pub(super) const BLANKS: [char; 2] = [' ', '\t'];

impl Tree<'_> {
    /// The first byte of the line that `at` is on, behind a byte-order mark.
    pub(super) fn line_start(&self, at: usize) -> usize {
        match self.text[..at].rfind(BREAKS) {
            Some(line_break) => line_break + 1,
            None if self.text.starts_with('\u{feff}') => '\u{feff}'.len_utf8().min(at),
            None => 0,
        }
    }

    /// The line break behind `at`, or the end of the text.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.text[at..].find(BREAKS).map_or(self.text.len(), |offset| at + offset)
    }

    /// The first byte of the next line, or the end of the text.
    pub(super) fn next_line(&self, at: usize) -> usize {
        let end = self.line_end(at);
        match &self.text[end..] {
            rest if rest.starts_with("\r\n") => end + 2,
            "" => end,
            _ => end + 1,
        }
    }

    /// How many bytes stand before `at` on its line.
    pub(super) fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    /// Whether nothing but blanks stands before `at` on its line.
    pub(super) fn starts_line(&self, at: usize) -> bool {
        self.text[self.line_start(at)..at].trim_matches(BLANKS).is_empty()
    }

    /// The line break in use around `at`.
    pub(super) fn line_break(&self, at: usize) -> &'static str {
        let before = self.text[..at].rfind(BREAKS);
        let Some(end) = before.or_else(|| self.text.find(BREAKS)) else { return "\n" };
        match &self.text.as_bytes()[..=end] {
            [.., b'\r', b'\n'] => "\r\n",
            [.., b'\n'] => "\n",
            _ if self.text[end..].starts_with("\r\n") => "\r\n",
            _ => "\r",
        }
    }

    /// The first byte from `at` on that is neither blank, line break nor comment.
    pub(super) fn significant(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
                Some(b'#') => at = self.line_end(at),
                _ => return at,
            }
        }
    }

    /// Where the node begins, anchor and tag included.
    pub(super) fn start(&self, node: NodeId) -> usize {
        let node = &self[node];
        let anchor = node.properties.as_ref().and_then(|p| p.anchor.as_ref());
        let tag = node.properties.as_ref().and_then(|p| p.tag.as_ref()).map(|(range, _)| range);
        let properties = anchor.into_iter().chain(tag).map(|range| range.start);
        properties.min().unwrap_or(node.span.start)
    }

    /// The end of anchor and tag, if there are any.
    pub(super) fn properties_end(&self, node: NodeId) -> Option<usize> {
        let properties = self[node].properties.as_ref()?;
        let tag = properties.tag.as_ref().map(|(range, _)| range);
        properties.anchor.iter().chain(tag).map(|range| range.end).max()
    }

    /// The end of the node's visible text: the last byte that belongs to its value.
    pub(super) fn end(&self, node: NodeId) -> usize {
        let mut node = node;
        loop {
            node = match &self[node].kind {
                Kind::Mapping { flow: false, entries } => match entries.last() {
                    Some(&(_, value)) => value,
                    None => return self[node].span.start,
                },
                Kind::Sequence { flow: false, items } => match items.last() {
                    Some(&item) => item,
                    None => return self[node].span.start,
                },
                Kind::Scalar { style: Style::Block, .. } => return self.block_end(node),
                _ if self.is_blank(node) => return self.blank_end(node),
                _ => return self[node].span.end,
            }
        }
    }

    /// The end of what stands in place of a scalar without characters.
    fn blank_end(&self, node: NodeId) -> usize {
        if let Some(end) = self.properties_end(node) {
            return end;
        }
        match self[node].place {
            Place::Value { key, .. } => self.colon(key).unwrap_or_else(|| self.end(key)),
            _ => self.text[..self[node].span.start].trim_end().len(),
        }
    }

    /// Behind the colon that follows a key; `None` for a key that has none (`{a, b}`).
    pub(super) fn colon(&self, key: NodeId) -> Option<usize> {
        let at = self.significant(self[key].span.end.max(self.end(key)));
        self.text[at..].starts_with(':').then_some(at + 1)
    }

    /// Where the node's own text may begin: behind the colon, dash or marker in front of it,
    /// and behind its anchor and tag.
    pub(super) fn slot(&self, node: NodeId) -> usize {
        self.properties_end(node).unwrap_or_else(|| self.indicator_end(node))
    }

    /// Behind the colon, dash or marker that introduces the node.
    fn indicator_end(&self, node: NodeId) -> usize {
        match self[node].place {
            Place::Root(document) => self.documents[document].start,
            Place::Key { .. } => self[node].span.start,
            Place::Value { key, .. } => self.colon(key).unwrap_or_else(|| self.end(key)),
            Place::Item { sequence } => {
                let Kind::Sequence { flow: false, items } = &self[sequence].kind else {
                    return self[node].span.start;
                };
                let at = items.binary_search(&node).expect("a node is an item of its place");
                self.dash(sequence, at) + 1
            }
        }
    }

    /// The dash of an item of a block sequence.
    pub(super) fn dash(&self, sequence: NodeId, at: usize) -> usize {
        let Kind::Sequence { items, .. } = &self[sequence].kind else {
            return self[sequence].span.start;
        };
        match (at.checked_sub(1).map(|before| items[before]), self[sequence].place) {
            (Some(before), _) => self.significant(self.end(before)),
            // A list that is not indented below its key begins at its first item's text.
            (None, Place::Value { .. }) => self.significant(self.slot(sequence)),
            (None, _) => self[sequence].span.start,
        }
    }

    /// The column at which the keys of a block mapping, or the dashes of a block sequence, are.
    pub(super) fn indent(&self, collection: NodeId) -> usize {
        match self[collection].kind {
            Kind::Sequence { flow: false, .. } => self.column(self.dash(collection, 0)),
            _ => self.column(self[collection].span.start),
        }
    }

    /// The line on which something may be inserted behind a node's text.
    pub(super) fn line_after(&self, end: usize) -> usize {
        let at_line_start = end > 0 && self.text[..end].ends_with(BREAKS);
        if at_line_start { end } else { self.next_line(end) }
    }

    /// The end of a block scalar's content: its trailing line breaks belong to it only if it
    /// keeps them (`|+`).
    fn block_end(&self, node: NodeId) -> usize {
        let (body, Kind::Scalar { value, .. }) = (&self[node].span, &self[node].kind) else {
            return self[node].span.end;
        };
        if value.is_empty() {
            return self.text[..body.end].trim_end().len();
        }
        // The parser's span reaches into the indent of the line that follows.
        let mut end = body.end;
        let line = self.line_start(end);
        if self.text[line..end].trim_matches(' ').is_empty() {
            end = line;
        }
        let keeps = value.ends_with("\n\n") || value.as_ref() == "\n";
        if keeps {
            return end;
        }
        let indent = self.column(body.start);
        loop {
            let line = self.line_start(self.text[..end].trim_end_matches(BREAKS).len());
            let content = self.text[line..end].trim_end_matches(BREAKS);
            let is_padding = content.len() <= indent && content.trim_matches(' ').is_empty();
            if !is_padding || line <= body.start {
                return line + content.len();
            }
            end = line;
        }
    }

    /// Header (`|-`, `>2`) and body of a block scalar; the body begins on the next line.
    pub(super) fn block_parts(&self, node: NodeId) -> (Range<usize>, Range<usize>) {
        let header = self.significant(self.slot(node));
        let is_header = |c: char| matches!(c, '|' | '>' | '+' | '-' | '0'..='9');
        let rest = &self.text[header..];
        let header = header..header + rest.find(|c| !is_header(c)).unwrap_or(rest.len());
        let body = self.next_line(header.end);
        (header, body..self.end(node).max(body))
    }
}
