//! Byte ranges of a text and what takes their place.

use std::cmp::Reverse;
use std::ops::Range;

use super::tree::Tree;

/// One cut: the range goes, the text comes. An empty range is an insertion.
#[derive(Debug)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    /// Of two insertions at one place the more indented one comes first: it belongs to what
    /// stands before.
    pub(super) indent: usize,
    pub(super) text: Replacement,
}

/// What takes the place of a range.
#[derive(Debug)]
pub(super) enum Replacement {
    Text(String),
    /// Parts of the range in another order, with new ones among them.
    Pieces {
        pieces: Vec<Piece>,
        /// In block lists the pieces are lines, separated by this line break.
        line_break: Option<&'static str>,
    },
}

/// A part of a rearranged range.
#[derive(Debug)]
pub(super) enum Piece {
    /// Old text, with the splices inside it applied.
    Old(Range<usize>),
    New(String),
}

impl Splice {
    pub(super) fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, indent: 0, text: Replacement::Text(text.into()) }
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at..at, text)
    }

    /// Whether this begins before `at`, or is inserted there: what is inserted at the end of a
    /// piece belongs to it, not to the next one.
    fn reaches(&self, at: usize) -> bool {
        self.range.start < at || self.range == (at..at)
    }
}

/// The new text.
pub(super) fn apply(tree: &Tree<'_>, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| {
        let Range { start, end } = splice.range;
        (start, start != end, Reverse(end), Reverse(splice.indent))
    });
    let mut out = String::with_capacity(tree.text.len() + 256);
    copy(tree.text, 0..tree.text.len(), &splices, &mut out);
    out
}

/// Copies a range, with the splices inside it, which are sorted.
fn copy(text: &str, range: Range<usize>, splices: &[Splice], out: &mut String) {
    let mut at = range.start;
    let mut rest = splices;
    while let Some((splice, behind)) = rest.split_first() {
        // Two splices never overlap; should they, the guard refuses what comes of it.
        let start = splice.range.start.max(at);
        out.push_str(&text[at..start]);
        at = splice.range.end.max(start);
        rest = behind;
        match &splice.text {
            Replacement::Text(text) => out.push_str(text),
            Replacement::Pieces { pieces, line_break } => {
                let end = splice.range.end;
                let inside = |s: &Splice| {
                    s.range.start < end || s.range == (end..end) && s.indent > splice.indent
                };
                let (inner, outer) = rest.split_at(rest.partition_point(inside));
                join(text, pieces, inner, *line_break, out);
                if let Some(line_break) = line_break
                    && text[..end].ends_with(['\n', '\r'])
                {
                    out.push_str(line_break);
                }
                rest = outer;
            }
        }
    }
    out.push_str(&text[at..range.end.max(at)]);
}

fn join(
    text: &str,
    pieces: &[Piece],
    splices: &[Splice],
    line_break: Option<&str>,
    out: &mut String,
) {
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 {
            out.push_str(line_break.unwrap_or_default());
        }
        let start = out.len();
        match piece {
            Piece::Old(range) => {
                let from = splices.partition_point(|s| s.reaches(range.start));
                let to = splices.partition_point(|s| s.reaches(range.end));
                copy(text, range.clone(), &splices[from..to.max(from)], out);
            }
            Piece::New(text) => out.push_str(text),
        }
        if line_break.is_some() {
            let content = out[start..].trim_end_matches(['\n', '\r']).len();
            out.truncate(start + content);
        }
    }
}
