//! From a plan's changes to the byte ranges that they touch; those of scalars.

use super::super::EditError;
use super::layout::BLANKS;
use super::plan::{Change, Plan};
use super::print::Value;
use super::scalar;
use super::splice::Splice;
use super::tree::{Kind, NodeId, Place, Style, Tag, Tree};

impl Plan<'_, '_> {
    /// One splice or more for each change.
    pub(super) fn splices(&self) -> Result<Vec<Splice>, EditError> {
        let mut out = Vec::new();
        for (&node, change) in &self.changes {
            match change {
                Change::Scalar(value) => self.tree.rewrite(node, value, &mut out),
                Change::Filled(value) => self.tree.fill(node, value, &mut out),
                Change::Mapping { dropped, added } => {
                    self.tree.drop_entries(node, dropped, &mut out)?;
                    self.tree.add_entries(node, added, &mut out)?;
                }
                Change::Sequence(slots) => self.tree.rearrange(node, slots, &mut out)?,
            }
        }
        if let Some(entries) = &self.root {
            out.push(self.tree.begin(entries));
        }
        Ok(out)
    }
}

impl Tree<'_> {
    fn rewrite(&self, node: NodeId, value: &Value, out: &mut Vec<Splice>) {
        let text = match value {
            Value::Text(text) => text,
            Value::Flag(_) => {
                out.push(self.replace_token(node, value.flow(false, false)));
                return;
            }
            Value::Mapping(_) | Value::Sequence(_) => return,
        };
        let Kind::Scalar { style, .. } = self[node].kind else {
            out.push(self.replace_token(node, self.print(node, text, Style::Plain)));
            return;
        };
        if let Some((range, Tag::Other)) =
            self[node].properties.as_ref().and_then(|p| p.tag.clone())
        {
            out.push(Splice::replace(range, "!!str"));
        }
        match style {
            Style::Block => self.rewrite_block(node, text, out),
            style => out.push(self.replace_token(node, self.print(node, text, style))),
        }
    }

    fn print(&self, node: NodeId, text: &str, style: Style) -> String {
        let is_text = matches!(self.tag(node), Some(Tag::Text | Tag::Other));
        let style = if style == Style::Plain && self.in_json(node) { Style::Double } else { style };
        scalar::print(text, style, self.in_flow(node), is_text)
    }

    /// Puts `token` in the place of the node's text. Where there is none, it comes behind the
    /// colon or dash, with a blank between.
    pub(super) fn replace_token(&self, node: NodeId, token: String) -> Splice {
        if !self.is_blank(node) {
            return Splice::replace(self[node].span.clone(), token);
        }
        let at = self.slot(node);
        let no_colon =
            matches!(self[node].place, Place::Value { key, .. } if self.colon(key).is_none());
        if no_colon {
            return Splice::insert(at, format!(": {token}"));
        }
        let rest = &self.text[at..];
        let padded = rest.starts_with(BLANKS) && !rest.trim_start_matches(BLANKS).starts_with('#');
        if padded { Splice::insert(at + 1, token) } else { Splice::insert(at, format!(" {token}")) }
    }

    /// A block scalar keeps its form if the text is one line of it, and loses its final line
    /// break (`|` becomes `|-`); else it becomes a quoted one.
    fn rewrite_block(&self, node: NodeId, text: &str, out: &mut Vec<Splice>) {
        let (header, body) = self.block_parts(node);
        let old = &self.text[body.clone()];
        let first = old.split_inclusive(['\n', '\r']).find(|line| !line.trim().is_empty());
        let one_line = !text.is_empty()
            && text.trim() == text
            && !text.contains(|c: char| c.is_control() || c == '\u{feff}');
        let end = body.start + old.trim_end_matches(['\n', '\r']).len();
        if let Some(line) = first.filter(|_| one_line) {
            let kind = &self.text[header.start..=header.start];
            let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
            out.push(Splice::replace(header, format!("{kind}-")));
            out.push(Splice::replace(body.start..end, format!("{indent}{text}")));
            return;
        }
        // What ends the header's line now ends the value.
        let line_end = self.line_end(header.end);
        out.push(Splice::replace(header, scalar::print(text, Style::Double, false, true)));
        if !old.is_empty() {
            out.push(Splice::replace(line_end..end, ""));
        }
    }

    /// Whether the node stands in a mapping that is written as JSON: braces and quoted keys.
    pub(super) fn in_json(&self, node: NodeId) -> bool {
        let mut node = node;
        while let Some(parent) = self.parent(node) {
            if !self.is_flow(parent) {
                return false;
            }
            if let Kind::Mapping { entries, .. } = &self[parent].kind {
                return entries.first().is_some_and(|&(key, _)| {
                    matches!(self[key].kind, Kind::Scalar { style: Style::Double, .. })
                });
            }
            node = parent;
        }
        false
    }
}
