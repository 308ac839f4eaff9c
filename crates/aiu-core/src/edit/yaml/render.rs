//! From a plan's changes to the byte ranges that they touch.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::{EditError, Problem};
use super::layout::BLANKS;
use super::plan::{Change, Plan, Slot, is_append};
use super::print::{Steps, Value};
use super::scalar;
use super::splice::{Piece, Replacement, Splice};
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
        if let Some((document, entries)) = &self.root {
            out.push(self.tree.begin(*document, entries));
        }
        Ok(out)
    }
}

/// Scalars.
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
    fn replace_token(&self, node: NodeId, token: String) -> Splice {
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

/// Collections that were null or empty.
impl Tree<'_> {
    /// In block context the collection takes lines of its own, also where `[]` stood.
    fn fill(&self, node: NodeId, value: &Value, out: &mut Vec<Splice>) {
        let lines = match self[node].place {
            Place::Value { mapping, .. } if !self.is_flow(mapping) => {
                value.lines_below(self.indent(mapping), self.steps())
            }
            _ => Vec::new(),
        };
        if lines.is_empty() {
            out.push(self.replace_token(node, value.flow(self.in_flow(node), self.in_json(node))));
            return;
        }
        let end = self.end(node);
        if !self.is_blank(node) {
            let from = self.text[..self[node].span.start].trim_end_matches(BLANKS).len();
            out.push(Splice::replace(from..end, ""));
        }
        let indent = lines[0].len() - lines[0].trim_start().len();
        out.push(self.insert_lines(end, indent, &lines));
    }

    /// The first keys of a document that holds nothing but comments.
    fn begin(&self, document: usize, entries: &[(String, Value)]) -> Splice {
        let lines = Value::mapping_lines(entries, 0, self.steps());
        let end = self.documents.get(document).map_or(self.text.len(), |document| document.end);
        let content = self.text[..end].trim_end_matches(['\n', '\r', ' ', '\t']).len();
        self.insert_lines(content, 0, &lines)
    }

    /// Inserts whole lines below the line that `end` is on.
    fn insert_lines(&self, end: usize, indent: usize, lines: &[String]) -> Splice {
        let at = self.line_after(end);
        let line_break = self.line_break(at);
        let text = lines.join(line_break);
        let open_line =
            at == self.text.len() && !self.text.is_empty() && !self.text.ends_with(['\n', '\r']);
        let text =
            if open_line { format!("{line_break}{text}") } else { format!("{text}{line_break}") };
        Splice { indent, ..Splice::insert(at, text) }
    }

    /// The steps that this text uses; two blanks and un-indented dashes where it shows none.
    fn steps(&self) -> Steps {
        *self.steps.get_or_init(|| self.find_steps())
    }

    fn find_steps(&self) -> Steps {
        let below = |node: NodeId| match self[node].place {
            Place::Value { mapping, .. } if !self.is_flow(mapping) => Some(self.indent(mapping)),
            _ => None,
        };
        let step = |wanted: fn(&Kind<'_>) -> bool| {
            let all = (0..self.nodes.len()).map(|at| NodeId(u32::try_from(at).unwrap_or(u32::MAX)));
            let mut of_kind = all.filter(|&node| wanted(&self[node].kind));
            of_kind.find_map(|node| {
                let outer = below(node)?;
                self.indent(node).checked_sub(outer)
            })
        };
        let mapping = step(|kind| matches!(kind, Kind::Mapping { flow: false, .. }));
        let dash = step(|kind| matches!(kind, Kind::Sequence { flow: false, .. }));
        Steps { mapping: mapping.filter(|&step| step > 0).unwrap_or(2), dash: dash.unwrap_or(0) }
    }
}

/// Keys of mappings.
impl Tree<'_> {
    fn add_entries(
        &self,
        mapping: NodeId,
        added: &[(String, Value)],
        out: &mut Vec<Splice>,
    ) -> Result<(), EditError> {
        let Kind::Mapping { flow, entries } = &self[mapping].kind else { return Ok(()) };
        if added.is_empty() {
            return Ok(());
        }
        if *flow {
            out.push(self.add_in_braces(mapping, entries, added)?);
            return Ok(());
        }
        let indent = self.indent(mapping);
        let lines = Value::mapping_lines(added, indent, self.steps());
        out.push(self.insert_lines(self.end(mapping), indent, &lines));
        Ok(())
    }

    fn add_in_braces(
        &self,
        mapping: NodeId,
        entries: &[(NodeId, NodeId)],
        added: &[(String, Value)],
    ) -> Result<Splice, EditError> {
        let span = self[mapping].span.clone();
        if !self.text[span.clone()].starts_with('{') {
            let cause = "a pair without braces cannot be extended".to_owned();
            return Err(self.error(Problem::Key(cause), mapping));
        }
        let json =
            entries.first().map_or_else(|| self.in_json(mapping), |_| self.in_json(entries[0].1));
        let texts: Vec<_> = added.iter().map(|(key, value)| value.flow_entry(key, json)).collect();
        let Some(&(key, value)) = entries.last() else {
            let inside = span.start + 1..span.end - 1;
            let blank = self.text[inside.clone()].trim().is_empty();
            let range = if blank { inside } else { span.end - 1..span.end - 1 };
            return Ok(Splice::replace(range, texts.join(", ")));
        };
        Ok(self.append_in_flow(self.start(key), self.end(value), &texts))
    }

    /// Puts elements behind the last one of a flow collection, on lines of their own if that
    /// one has its own.
    fn append_in_flow(&self, last_start: usize, last_end: usize, texts: &[String]) -> Splice {
        let gap = if self.starts_line(last_start) {
            let margin = &self.text[self.line_start(last_start)..last_start];
            format!("{}{margin}", self.line_break(last_start))
        } else {
            " ".to_owned()
        };
        let joined = texts.join(&format!(",{gap}"));
        let next = self.significant(last_end);
        if self.text[next..].starts_with(',') {
            Splice::insert(next + 1, format!("{gap}{joined}"))
        } else {
            Splice::insert(last_end, format!(",{gap}{joined}"))
        }
    }

    /// Cuts entries, each with its line; runs of them in one piece.
    fn drop_entries(
        &self,
        mapping: NodeId,
        dropped: &BTreeSet<usize>,
        out: &mut Vec<Splice>,
    ) -> Result<(), EditError> {
        let Kind::Mapping { flow, entries } = &self[mapping].kind else { return Ok(()) };
        if !dropped.is_empty() && dropped.len() == entries.len() {
            let cause = "nothing would be left of the mapping".to_owned();
            return Err(self.error(Problem::Key(cause), mapping));
        }
        let mut rest = dropped.iter().copied().peekable();
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if_eq(&(last + 1)) {
                last = next;
            }
            let range = if *flow {
                self.flow_run(entries, first, last)
            } else {
                self.block_run(entries, first, last)
            };
            out.push(Splice::replace(range, ""));
        }
        Ok(())
    }

    fn flow_run(&self, entries: &[(NodeId, NodeId)], first: usize, last: usize) -> Range<usize> {
        match (entries.get(last + 1), first.checked_sub(1)) {
            (Some(&(next, _)), _) => self.start(entries[first].0)..self.start(next),
            (None, Some(before)) => self.end(entries[before].1)..self.end(entries[last].1),
            (None, None) => self.start(entries[first].0)..self.end(entries[last].1),
        }
    }

    fn block_run(&self, entries: &[(NodeId, NodeId)], first: usize, last: usize) -> Range<usize> {
        let start = self.start(entries[first].0);
        let end = self.end(entries[last].1);
        let line = self.line_start(start);
        let before = self.text[line..start].trim_matches(BLANKS);
        if before.is_empty() || before == "?" {
            let next = self.line_after(end);
            let ends_text = next == self.text.len() && !self.text.ends_with(['\n', '\r']);
            // The line break before goes in place of the one that the text does not end with.
            let from = if ends_text { self.break_before(line) } else { line };
            return from..next;
        }
        // The entry shares its line with a dash, which stays; so do comments on lines below.
        let next = entries.get(last + 1).map(|&(key, _)| self.start(key));
        match next.filter(|&next| !self.text[self.line_end(end)..next].contains('#')) {
            Some(next) => start..next,
            None => {
                line + self.text[line..start].trim_end_matches(BLANKS).len()..self.line_end(end)
            }
        }
    }

    /// The start of the line break in front of a line.
    fn break_before(&self, line: usize) -> usize {
        let text = &self.text[..line];
        text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r'])).unwrap_or(text).len()
    }
}

/// Elements of lists.
impl Tree<'_> {
    fn rearrange(
        &self,
        sequence: NodeId,
        slots: &[Slot],
        out: &mut Vec<Splice>,
    ) -> Result<(), EditError> {
        let Kind::Sequence { flow, items } = &self[sequence].kind else { return Ok(()) };
        if *flow {
            self.rearrange_in_brackets(items, slots, out);
            return Ok(());
        }
        let dash = self.indent(sequence);
        let steps = self.steps();
        let lines = |slots: &[Slot]| -> Vec<String> {
            let new = slots.iter().filter_map(|slot| match slot {
                Slot::New(value) => Some(value.item_lines(dash, steps)),
                Slot::Old(_) => None,
            });
            new.flatten().collect()
        };
        if is_append(slots, items.len()) {
            out.push(self.insert_lines(self.end(sequence), dash, &lines(&slots[items.len()..])));
            return Ok(());
        }
        let first = self.dash(sequence, 0);
        if !self.starts_line(first) {
            let cause = "a list that shares its first line cannot be reordered".to_owned();
            return Err(self.error(Problem::Key(cause), sequence));
        }
        let bounds = self.item_lines(items, first);
        let (start, end) = (bounds[0], bounds[items.len()]);
        let line_break = self.line_break(end);
        let piece = |slot: &Slot| match slot {
            Slot::Old(at) => Piece::Old(bounds[*at]..bounds[at + 1]),
            Slot::New(value) => Piece::New(value.item_lines(dash, steps).join(line_break)),
        };
        let pieces = slots.iter().map(piece).collect();
        let text = Replacement::Pieces { pieces, line_break: Some(line_break) };
        out.push(Splice { range: start..end, indent: dash, text });
        Ok(())
    }

    /// Where the lines of each item begin, and where those of the last end. Comments above an
    /// item move with it, but for those above the first.
    fn item_lines(&self, items: &[NodeId], first_dash: usize) -> Vec<usize> {
        let ends = items.iter().map(|&item| self.line_after(self.end(item)));
        std::iter::once(self.line_start(first_dash)).chain(ends).collect()
    }

    /// Each old place takes the element that now belongs there; more come behind the last.
    fn rearrange_in_brackets(&self, items: &[NodeId], slots: &[Slot], out: &mut Vec<Splice>) {
        let json = items.first().is_some_and(|&item| self.in_json_item(item));
        let range = |item: NodeId| self.start(item)..self.end(item);
        let Some((&first, &last)) = items.first().zip(items.last()) else { return };
        if is_append(slots, items.len()) {
            let new = slots[items.len()..].iter().filter_map(|slot| match slot {
                Slot::New(value) => Some(value.flow(true, json)),
                Slot::Old(_) => None,
            });
            out.push(self.append_in_flow(
                self.start(last),
                self.end(last),
                &new.collect::<Vec<_>>(),
            ));
            return;
        }
        let mut pieces = Vec::new();
        for (at, slot) in slots.iter().enumerate() {
            if at > 0 {
                let between = items.get(at).map(|&item| self.end(items[at - 1])..self.start(item));
                pieces.push(between.map_or_else(|| Piece::New(", ".to_owned()), Piece::Old));
            }
            pieces.push(match slot {
                Slot::Old(old) => Piece::Old(range(items[*old])),
                Slot::New(value) => Piece::New(value.flow(true, json)),
            });
        }
        let text = Replacement::Pieces { pieces, line_break: None };
        out.push(Splice { range: self.start(first)..self.end(last), indent: 0, text });
    }

    fn in_json_item(&self, item: NodeId) -> bool {
        match &self[item].kind {
            Kind::Mapping { flow: true, entries } => {
                entries.first().is_some_and(|&(_, value)| self.in_json(value))
            }
            Kind::Scalar { style, .. } => *style == Style::Double,
            _ => self.in_json(item),
        }
    }
}
