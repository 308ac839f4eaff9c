//! The structure of an expression: alternatives, groups, repetitions.
//!
//! Reads without recursion, so that depth costs no stack. Whether a repetition is greedy
//! and what a group captures is understood and dropped: only *whether* there is a match is
//! ever asked.

use regex_syntax::hir::{Capture, Class, ClassUnicode, Dot, Hir, HirKind, Look, Repetition};

use super::cursor::Cursor;
use super::{InvalidRegexp, class, escape, excerpt};

/// Highest count of a repetition, also where nested counts multiply (Go's limit).
const MAX_REPEAT: u32 = 1000;
/// Most groups that may be open at once (Go's limit).
const MAX_DEPTH: usize = 1000;
/// Most ranges that all classes together may have. `\pL` alone has some 650.
const MAX_RANGES: usize = 100_000;

/// Reads a whole expression.
pub(super) fn expression(text: &str) -> Result<Hir, InvalidRegexp> {
    let mut reader = Reader {
        cursor: Cursor::new(text),
        group: Group::within(Flags::default()),
        outer: Vec::new(),
        repetition: None,
        ranges: 0,
    };
    while reader.cursor.peek().is_some() {
        reader.step()?;
    }
    if reader.outer.is_empty() {
        Ok(reader.group.close().tree)
    } else {
        Err(InvalidRegexp::OpenGroup(excerpt(text)))
    }
}

/// The flags that change what is matched.
#[derive(Clone, Copy, Default)]
struct Flags {
    /// `i`
    fold_case: bool,
    /// `m`
    multi_line: bool,
    /// `s`
    dot_matches_line_break: bool,
}

/// A piece of the expression.
struct Item {
    tree: Hir,
    /// The largest product of nested counts inside.
    weight: u32,
}

impl Item {
    fn new(tree: Hir) -> Self {
        Self { tree, weight: 1 }
    }
}

/// A group that is being read; the whole expression is one, too.
struct Group {
    flags: Flags,
    /// What stands between the last `|` and the cursor.
    sequence: Vec<Item>,
    alternatives: Vec<Item>,
}

impl Group {
    fn within(flags: Flags) -> Self {
        Self { flags, sequence: Vec::new(), alternatives: Vec::new() }
    }

    fn end_alternative(&mut self) {
        let (trees, weight) = take_apart(std::mem::take(&mut self.sequence));
        self.alternatives.push(Item { tree: Hir::concat(trees), weight });
    }

    fn close(mut self) -> Item {
        self.end_alternative();
        let (trees, weight) = take_apart(self.alternatives);
        Item { tree: Hir::alternation(trees), weight }
    }
}

fn take_apart(items: Vec<Item>) -> (Vec<Hir>, u32) {
    let weight = items.iter().map(|item| item.weight).max().unwrap_or(1);
    (items.into_iter().map(|item| item.tree).collect(), weight)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    group: Group,
    /// The groups around it, outermost first.
    outer: Vec<Group>,
    /// Where the repetition began that stands right before the cursor, if one does.
    repetition: Option<Cursor<'t>>,
    /// Ranges of all classes so far.
    ranges: usize,
}

impl<'t> Reader<'t> {
    /// Reads one piece and the repetition behind it.
    fn step(&mut self) -> Result<(), InvalidRegexp> {
        let start = self.cursor;
        let Some(c) = self.cursor.next() else { return Ok(()) };
        let Flags { multi_line, dot_matches_line_break, .. } = self.group.flags;
        match c {
            '(' => self.open(start)?,
            ')' => self.close()?,
            '|' => self.group.end_alternative(),
            '^' => self.push(Hir::look(if multi_line { Look::StartLF } else { Look::Start })),
            '$' => self.push(Hir::look(if multi_line { Look::EndLF } else { Look::End })),
            '.' if dot_matches_line_break => self.push(Hir::dot(Dot::AnyChar)),
            '.' => self.push(Hir::dot(Dot::AnyCharExceptLF)),
            '[' => {
                let fold_case = self.group.flags.fold_case;
                let class = class::bracketed(&mut self.cursor, start, fold_case)?;
                self.push_class(class)?;
            }
            '\\' => self.backslash(start)?,
            '*' => return self.repeat(0, None, start),
            '+' => return self.repeat(1, None, start),
            '?' => return self.repeat(0, Some(1), start),
            '{' => match self.count() {
                Some((min, max)) => return self.counted(min, max, start),
                None => self.push_character('{'.into())?,
            },
            literal => self.push_character(literal.into())?,
        }
        self.repetition = None;
        Ok(())
    }

    fn push(&mut self, tree: Hir) {
        self.group.sequence.push(Item::new(tree));
    }

    fn push_character(&mut self, character: escape::CodePoint) -> Result<(), InvalidRegexp> {
        self.push_class(class::of_character(character, self.group.flags.fold_case))
    }

    fn push_class(&mut self, class: ClassUnicode) -> Result<(), InvalidRegexp> {
        self.ranges += class.ranges().len();
        if self.ranges > MAX_RANGES {
            return Err(InvalidRegexp::TooLarge);
        }
        self.push(Hir::class(Class::Unicode(class)));
        Ok(())
    }

    /// Behind a `(`: a group, or flags.
    fn open(&mut self, start: Cursor<'t>) -> Result<(), InvalidRegexp> {
        let flags = self.group.flags;
        if !self.cursor.eat("?") {
            return self.nest(flags);
        }
        if self.cursor.eat("P<") || self.cursor.eat("<") {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            return match self.cursor.until(">") {
                Some(name) if !name.is_empty() && name.chars().all(is_word) => self.nest(flags),
                Some(_) => Err(InvalidRegexp::CaptureName(excerpt(self.cursor.since(start)))),
                None => Err(InvalidRegexp::CaptureName(excerpt(start.rest()))),
            };
        }
        match self.flags(flags) {
            Some((flags, ':')) => self.nest(flags),
            Some((flags, _)) => {
                self.group.flags = flags;
                Ok(())
            }
            None => Err(InvalidRegexp::Perl(excerpt(self.cursor.since(start)))),
        }
    }

    /// Reads `i`, `m`, `s`, `U`, then `-` and those to switch off, up to `:` or `)`.
    fn flags(&mut self, mut flags: Flags) -> Option<(Flags, char)> {
        let mut on = true;
        let mut any = false;
        loop {
            match self.cursor.next()? {
                'i' => flags.fold_case = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_matches_line_break = on,
                // Greediness does not change whether there is a match.
                'U' => {}
                '-' if on => {
                    (on, any) = (false, false);
                    continue;
                }
                end @ (':' | ')') if on || any => return Some((flags, end)),
                _ => return None,
            }
            any = true;
        }
    }

    fn nest(&mut self, flags: Flags) -> Result<(), InvalidRegexp> {
        if self.outer.len() >= MAX_DEPTH {
            return Err(InvalidRegexp::TooDeep);
        }
        self.outer.push(std::mem::replace(&mut self.group, Group::within(flags)));
        Ok(())
    }

    fn close(&mut self) -> Result<(), InvalidRegexp> {
        let Some(outer) = self.outer.pop() else { return Err(InvalidRegexp::StrayParenthesis) };
        let inner = std::mem::replace(&mut self.group, outer);
        self.group.sequence.push(inner.close());
        Ok(())
    }

    fn backslash(&mut self, start: Cursor<'t>) -> Result<(), InvalidRegexp> {
        let look = [
            ("A", Look::Start),
            ("z", Look::End),
            ("b", Look::WordAscii),
            ("B", Look::WordAsciiNegate),
        ];
        if let Some((_, look)) = look.into_iter().find(|(letter, _)| self.cursor.eat(letter)) {
            self.push(Hir::look(look));
            return Ok(());
        }
        if self.cursor.eat("Q") {
            return self.quoted();
        }
        let fold_case = self.group.flags.fold_case;
        if let Some(class) = class::escaped(&mut self.cursor, start, fold_case)? {
            return self.push_class(class);
        }
        let character = escape::character(&mut self.cursor, start)?;
        self.push_character(character)
    }

    /// Behind a `\Q`: all is literal up to `\E` or the end.
    fn quoted(&mut self) -> Result<(), InvalidRegexp> {
        while self.cursor.peek().is_some() && !self.cursor.eat("\\E") {
            if let Some(c) = self.cursor.next() {
                self.push_character(c.into())?;
            }
        }
        Ok(())
    }

    /// Behind a `{`: `n}`, `n,}` or `n,m}`. Anything else means that the brace is literal,
    /// and nothing is read.
    fn count(&mut self) -> Option<(u32, Option<u32>)> {
        let mut ahead = self.cursor;
        let min = number(&mut ahead)?;
        let max = if !ahead.eat(",") {
            Some(min)
        } else if ahead.peek() == Some('}') {
            None
        } else {
            Some(number(&mut ahead)?)
        };
        if !ahead.eat("}") {
            return None;
        }
        self.cursor = ahead;
        Some((min, max))
    }

    fn counted(
        &mut self,
        min: u32,
        max: Option<u32>,
        start: Cursor<'t>,
    ) -> Result<(), InvalidRegexp> {
        let too_large = || InvalidRegexp::RepeatSize(excerpt(self.cursor.since(start)));
        let most = max.unwrap_or(min);
        if min > MAX_REPEAT || most > MAX_REPEAT || min > most {
            return Err(too_large());
        }
        // What never occurs has no weight; `{0,}` repeats as `*` does.
        if let Some(item) = self.group.sequence.last_mut() {
            item.weight = if max == Some(0) { 1 } else { item.weight * most.max(1) };
            if most >= 2 && item.weight > MAX_REPEAT {
                return Err(too_large());
            }
        }
        self.repeat(min, max, start)
    }

    /// Applies the repetition that was read since `start` to the piece before it.
    fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        start: Cursor<'t>,
    ) -> Result<(), InvalidRegexp> {
        let Some(Item { tree, weight }) = self.group.sequence.pop() else {
            return Err(InvalidRegexp::RepeatArgument(excerpt(self.cursor.since(start))));
        };
        self.cursor.eat("?");
        if let Some(earlier) = self.repetition.replace(start) {
            return Err(InvalidRegexp::RepeatOperator(excerpt(self.cursor.since(earlier))));
        }
        let sub = Box::new(grouped_if_repeated(tree));
        let repetition = Repetition { min, max, greedy: true, sub };
        self.group.sequence.push(Item { tree: Hir::repetition(repetition), weight });
        Ok(())
    }
}

/// The crate prints a repetition of a repetition without parentheses, and `(a+)?` would be read
/// back as a lazy `a+?`.
fn grouped_if_repeated(tree: Hir) -> Hir {
    if matches!(tree.kind(), HirKind::Repetition(_)) {
        Hir::capture(Capture { index: 1, name: None, sub: Box::new(tree) })
    } else {
        tree
    }
}

/// A decimal number without leading zeros. One that is too large stays too large.
fn number(cursor: &mut Cursor<'_>) -> Option<u32> {
    let start = *cursor;
    let mut value: Option<u32> = None;
    while let Some(digit) = cursor.peek().and_then(|c| c.to_digit(10)) {
        cursor.next();
        value = Some(value.unwrap_or(0).saturating_mul(10).saturating_add(digit));
    }
    let digits = cursor.since(start);
    value.filter(|_| digits.len() == 1 || !digits.starts_with('0'))
}
