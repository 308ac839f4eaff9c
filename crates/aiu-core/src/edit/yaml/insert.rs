//! New keys, and collections where there was nothing.

use super::super::{EditError, Problem};
use super::layout::BLANKS;
use super::print::{Steps, Value};
use super::splice::Splice;
use super::tree::{Kind, NodeId, Place, Tree};

impl Tree<'_> {
    /// In block context the collection takes lines of its own, also where `[]` stood.
    pub(super) fn fill(&self, node: NodeId, value: &Value, out: &mut Vec<Splice>) {
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
        // Dashes may stand in the column of the key that follows them.
        out.push(self.insert_lines(end, indent + 1, &lines));
    }

    /// The first keys of a document that holds nothing but comments.
    pub(super) fn begin(&self, entries: &[(String, Value)]) -> Splice {
        let lines = Value::mapping_lines(entries, 0, self.steps());
        let end = self.documents.first().map_or(self.text.len(), |document| document.end);
        let content = self.text[..end].trim_end_matches(['\n', '\r', ' ', '\t']).len();
        self.insert_lines(content, 0, &lines)
    }

    /// Inserts whole lines below the line that `end` is on.
    pub(super) fn insert_lines(&self, end: usize, indent: usize, lines: &[String]) -> Splice {
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
    pub(super) fn steps(&self) -> Steps {
        *self.steps.get_or_init(|| self.find_steps())
    }

    fn find_steps(&self) -> Steps {
        let step = |is_wanted: fn(&Kind<'_>) -> bool| {
            let mut nodes = (0..).map(NodeId).take(self.nodes.len());
            nodes.find_map(|node| match self[node].place {
                Place::Value { mapping, .. } if is_wanted(&self[node].kind) => {
                    self.indent(node).checked_sub(self.indent(mapping))
                }
                _ => None,
            })
        };
        let mapping = step(|kind| matches!(kind, Kind::Mapping { flow: false, .. }));
        let dash = step(|kind| matches!(kind, Kind::Sequence { flow: false, .. }));
        Steps { mapping: mapping.unwrap_or(2), dash: dash.unwrap_or(0) }
    }
}

impl Tree<'_> {
    /// Appends keys to a mapping.
    pub(super) fn add_entries(
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
    pub(super) fn append_in_flow(
        &self,
        last_start: usize,
        last_end: usize,
        texts: &[String],
    ) -> Splice {
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
}
