//! Taking the text of a constraint apart (spec 10 §4.3, items 1–5).
//!
//! What is judged here is the shape alone; whether a pattern's segments are numbers is
//! asked once the whole alternative has the right shape, as the field's parser does.

use super::parse::is_identifier_byte;
use super::term::Operator;

/// An operator and a pattern, borrowing from the text.
pub(super) struct RawTerm<'t> {
    pub(super) operator: Operator,
    pub(super) pattern: RawPattern<'t>,
}

/// A pattern before its segments are understood.
pub(super) struct RawPattern<'t> {
    /// All of it, for messages.
    pub(super) text: &'t str,
    /// Missing ones are `None`; only the first is always there.
    pub(super) segments: [Option<&'t str>; 3],
    pub(super) pre_release: Option<&'t str>,
}

/// What stands between two `||`: terms that must all hold. `None` if the shape is wrong.
pub(super) fn alternative(text: &str) -> Option<Vec<RawTerm<'_>>> {
    let mut scanner = Scanner { rest: text };
    let mut terms = Vec::new();
    // A hyphen range needs a clean start: `!=1.5.0 1 - 2` is refused (the vectors say so).
    let mut range_may_start = true;
    scanner.spaces();
    loop {
        let range = if range_may_start { scanner.range() } else { None };
        let was_range = range.is_some();
        match range {
            Some(bounds) => terms.extend(bounds),
            None => terms.push(scanner.term()?),
        }
        let spaced = scanner.spaces();
        if scanner.rest.is_empty() {
            return Some(terms);
        }
        let comma = scanner.eat(",");
        scanner.spaces();
        if !(spaced || comma || was_range) {
            return None;
        }
        range_may_start = comma || was_range;
    }
}

struct Scanner<'t> {
    rest: &'t str,
}

impl<'t> Scanner<'t> {
    /// `A - B`, with space on both sides of the hyphen: at least A, at most B.
    fn range(&mut self) -> Option<[RawTerm<'t>; 2]> {
        let start = self.rest;
        let bounds = self.range_bounds();
        if bounds.is_none() {
            self.rest = start;
        }
        let [from, to] = bounds?;
        Some([
            RawTerm { operator: Operator::GreaterOrEqual, pattern: from },
            RawTerm { operator: Operator::LessOrEqual, pattern: to },
        ])
    }

    fn range_bounds(&mut self) -> Option<[RawPattern<'t>; 2]> {
        let from = self.pattern()?;
        let spread = self.spaces() && self.eat("-") && self.spaces();
        if spread { Some([from, self.pattern()?]) } else { None }
    }

    fn term(&mut self) -> Option<RawTerm<'t>> {
        let operator = self.operator();
        self.spaces();
        Some(RawTerm { operator, pattern: self.pattern()? })
    }

    fn operator(&mut self) -> Operator {
        const SPELLINGS: [(&str, Operator); 11] = [
            // Longer ones first.
            ("!=", Operator::NotEqual),
            (">=", Operator::GreaterOrEqual),
            ("=>", Operator::GreaterOrEqual),
            ("<=", Operator::LessOrEqual),
            ("=<", Operator::LessOrEqual),
            ("~>", Operator::Tilde),
            ("=", Operator::Equal),
            (">", Operator::Greater),
            ("<", Operator::Less),
            ("~", Operator::Tilde),
            ("^", Operator::Caret),
        ];
        let found = SPELLINGS.into_iter().find(|(spelling, _)| self.eat(spelling));
        found.map_or(Operator::Equal, |(_, operator)| operator)
    }

    fn pattern(&mut self) -> Option<RawPattern<'t>> {
        let start = self.rest;
        self.eat("v");
        let first = self.run(is_segment_byte)?;
        let segments = [Some(first), self.segment(), self.segment()];
        let pre_release = self.identifiers("-");
        self.identifiers("+");
        let text = &start[..start.len() - self.rest.len()];
        Some(RawPattern { text, segments, pre_release })
    }

    /// A dot and a segment, or nothing.
    fn segment(&mut self) -> Option<&'t str> {
        let start = self.rest;
        let segment = if self.eat(".") { self.run(is_segment_byte) } else { None };
        if segment.is_none() {
            self.rest = start;
        }
        segment
    }

    /// `introducer` and a dotted list of identifiers, or nothing.
    fn identifiers(&mut self, introducer: &str) -> Option<&'t str> {
        let mut ahead = Self { rest: self.rest.strip_prefix(introducer)? };
        let list = ahead.rest;
        ahead.run(is_identifier_byte)?;
        loop {
            self.rest = ahead.rest;
            if !ahead.eat(".") || ahead.run(is_identifier_byte).is_none() {
                return Some(&list[..list.len() - self.rest.len()]);
            }
        }
    }

    /// At least one byte of a kind.
    fn run(&mut self, wanted: impl Fn(u8) -> bool) -> Option<&'t str> {
        let end = self.rest.bytes().position(|b| !wanted(b)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!run.is_empty()).then_some(run)
    }

    fn spaces(&mut self) -> bool {
        self.run(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')).is_some()
    }

    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

/// A lone `|` belongs to a segment, which then is no number (spec 10, CON-045).
fn is_segment_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'x' | b'X' | b'*' | b'|')
}
