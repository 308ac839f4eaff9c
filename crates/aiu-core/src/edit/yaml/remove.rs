//! Keys that go, each with its line.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::{EditError, Problem};
use super::layout::BLANKS;
use super::splice::Splice;
use super::tree::{Kind, NodeId, Tree};

impl Tree<'_> {
    /// Cuts entries, each with its line; runs of them in one piece.
    pub(super) fn drop_entries(
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
