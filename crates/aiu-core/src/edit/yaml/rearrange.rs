//! Lists with new elements, or with their elements in another order.

use super::super::{EditError, Problem};
use super::plan::{Slot, is_append};
use super::splice::{Piece, Replacement, Splice};
use super::tree::{Kind, NodeId, Style, Tree};

impl Tree<'_> {
    pub(super) fn rearrange(
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
        // What belongs to an item is further in than its dash, and what comes behind the list
        // may begin in the dash's column.
        let indent = dash + 1;
        let steps = self.steps();
        let lines = |slots: &[Slot]| -> Vec<String> {
            let new = slots.iter().filter_map(|slot| match slot {
                Slot::New(value) => Some(value.item_lines(dash, steps)),
                Slot::Old(_) => None,
            });
            new.flatten().collect()
        };
        if is_append(slots, items.len()) {
            out.push(self.insert_lines(self.end(sequence), indent, &lines(&slots[items.len()..])));
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
        out.push(Splice { range: start..end, indent, text });
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
