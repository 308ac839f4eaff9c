//! Cutting the text of a template into tokens.

use super::{Fault, InvalidTemplate};

/// A token and where it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    /// As it is written.
    pub(super) text: &'t str,
    /// 1-based line.
    pub(super) line: usize,
}

/// What a token is. Spaces count inside of actions: `.A.B` is one operand, `.A .B` two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    /// Text outside of actions, trimmed as the markers around it ask.
    Text(&'t str),
    /// `{{`
    Open,
    /// `}}`
    Close,
    Space,
    /// `|`
    Pipe,
    /// `=`
    Assign,
    /// `:=`
    Declare,
    /// `(`
    Enter,
    /// `)`
    Leave,
    /// `.` alone.
    Dot,
    /// `.Name`, here without the dot.
    Field(&'t str),
    /// `$name`, `$` included.
    Variable(&'t str),
    /// A function, or a keyword such as `range`.
    Word(&'t str),
    Number(&'t str),
    /// `'a'`, quotes included.
    Character(&'t str),
    /// `"…"`, quotes included.
    Quoted(&'t str),
    /// What stands between back quotes.
    Raw(&'t str),
    /// Any other character.
    Other(char),
}

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// All tokens of a template.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, InvalidTemplate> {
    let mut lexer = Lexer { text, at: 0, line: 1, line_counted_to: 0, tokens: Vec::new() };
    match lexer.template() {
        Ok(()) => Ok(lexer.tokens),
        Err(fault) => Err(fault.at(lexer.current_line())),
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// The line that holds byte `line_counted_to`.
    line: usize,
    line_counted_to: usize,
    tokens: Vec<Token<'t>>,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Reads characters while they are `wanted`.
    fn run(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn current_line(&mut self) -> usize {
        let passed = &self.text[self.line_counted_to..self.at];
        self.line += passed.bytes().filter(|&b| b == b'\n').count();
        self.line_counted_to = self.at;
        self.line
    }

    fn push(&mut self, kind: Kind<'t>, text: &'t str) {
        let line = self.current_line();
        self.tokens.push(Token { kind, text, line });
    }

    fn template(&mut self) -> Result<(), Fault> {
        let mut trim_start = false;
        loop {
            let rest = self.rest();
            let (text, is_last) = match rest.find(OPEN) {
                Some(end) => (&rest[..end], false),
                None => (rest, true),
            };
            let opens = &rest[text.len()..];
            let trim_end = opens.strip_prefix(OPEN).is_some_and(begins_with_trim_marker);
            let mut shown = text;
            if trim_start {
                shown = shown.trim_start_matches(is_space);
            }
            if trim_end {
                shown = shown.trim_end_matches(is_space);
            }
            if !shown.is_empty() {
                self.push(Kind::Text(shown), shown);
            }
            self.at += text.len();
            if is_last {
                return Ok(());
            }
            self.at += OPEN.len() + if trim_end { "- ".len() } else { 0 };
            trim_start =
                if self.rest().starts_with("/*") { self.comment()? } else { self.action()? };
        }
    }

    /// A comment fills its action alone. Tells whether the text behind it is to be trimmed.
    fn comment(&mut self) -> Result<bool, Fault> {
        // The star that opens it does not end it: `/*/` goes on.
        self.at += "/*".len();
        let Some(end) = self.rest().find("*/") else { return Err(Fault::new("unclosed comment")) };
        self.at += end + "*/".len();
        match self.close() {
            Some(trim) => Ok(trim),
            None => Err(Fault::new("comment ends before closing delimiter")),
        }
    }

    /// Reads the end of an action, if it comes next.
    fn close(&mut self) -> Option<bool> {
        if self.eat(CLOSE) {
            return Some(false);
        }
        let marked = self.rest().strip_prefix(is_space)?.strip_prefix('-')?.strip_prefix(CLOSE)?;
        self.at = self.text.len() - marked.len();
        Some(true)
    }

    /// What stands behind `{{`, up to `}}`. Tells whether the text behind is to be trimmed.
    fn action(&mut self) -> Result<bool, Fault> {
        self.push(Kind::Open, OPEN);
        let mut depth = 0_usize;
        loop {
            if let Some(trim) = self.close() {
                if depth > 0 {
                    return Err(Fault::new("unclosed left paren"));
                }
                self.push(Kind::Close, CLOSE);
                return Ok(trim);
            }
            let start = self.at;
            let kind = self.inside_action()?;
            match kind {
                Kind::Enter => depth += 1,
                Kind::Leave if depth == 0 => return Err(Fault::new("unexpected right paren")),
                Kind::Leave => depth -= 1,
                _ => {}
            }
            self.push(kind, &self.text[start..self.at]);
        }
    }

    fn inside_action(&mut self) -> Result<Kind<'t>, Fault> {
        let Some(next) = self.peek() else { return Err(Fault::new("unclosed action")) };
        match next {
            c if is_space(c) => {
                // The space before a trim marker belongs to the marker.
                while self.peek().is_some_and(is_space) && !self.rest()[1..].starts_with("-}}") {
                    self.at += 1;
                }
                Ok(Kind::Space)
            }
            '.' if !self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                self.at += 1;
                let name = self.name()?;
                Ok(if name.is_empty() { Kind::Dot } else { Kind::Field(name) })
            }
            '$' => {
                let start = self.rest();
                self.at += 1;
                let name = self.name()?;
                Ok(Kind::Variable(&start[..=name.len()]))
            }
            '+' | '-' | '.' | '0'..='9' => self.number(),
            c if is_alphanumeric(c) => self.name().map(Kind::Word),
            '"' => self.quoted('"').map(Kind::Quoted),
            '\'' => self.quoted('\'').map(Kind::Character),
            '`' => self.raw(),
            _ => self.sign(next),
        }
    }

    fn sign(&mut self, sign: char) -> Result<Kind<'t>, Fault> {
        self.at += sign.len_utf8();
        match sign {
            '|' => Ok(Kind::Pipe),
            '=' => Ok(Kind::Assign),
            ':' if self.eat("=") => Ok(Kind::Declare),
            ':' => Err(Fault::new("expected :=")),
            '(' => Ok(Kind::Enter),
            ')' => Ok(Kind::Leave),
            c if c.is_ascii_graphic() => Ok(Kind::Other(c)),
            c => Err(Fault::new(format!("unrecognized character in action: {c:?}"))),
        }
    }

    /// Letters and digits up to something that may end a name.
    fn name(&mut self) -> Result<&'t str, Fault> {
        let name = self.run(is_alphanumeric);
        match self.peek() {
            None | Some('.' | ',' | '|' | ':' | '(' | ')') => Ok(name),
            Some(c) if is_space(c) || self.rest().starts_with(CLOSE) => Ok(name),
            Some(c) => Err(Fault::new(format!("bad character {c:?}"))),
        }
    }

    /// The shape of a number; its value is asked later.
    fn number(&mut self) -> Result<Kind<'t>, Fault> {
        let start = self.rest();
        self.eat_one(&['+', '-']);
        let prefix = self.rest().get(..2).unwrap_or_default().to_ascii_lowercase();
        let (radix, exponent): (u32, &[char]) = match &*prefix {
            "0x" => (16, &['p', 'P']),
            "0o" => (8, &[]),
            "0b" => (2, &[]),
            _ => (10, &['e', 'E']),
        };
        if radix != 10 {
            self.at += prefix.len();
        }
        let is_digit = |c: char| c == '_' || c.is_digit(radix);
        self.run(is_digit);
        self.eat_one(&['.']);
        self.run(is_digit);
        if self.eat_one(exponent) {
            self.eat_one(&['+', '-']);
            self.run(|c| c == '_' || c.is_ascii_digit());
        }
        let number = &start[..start.len() - self.rest().len()];
        match self.peek() {
            Some(c) if is_alphanumeric(c) || matches!(c, '+' | '-') => {
                Err(Fault::new(format!("bad number syntax: {:?}", format!("{number}{c}"))))
            }
            _ => Ok(Kind::Number(number)),
        }
    }

    fn eat_one(&mut self, wanted: &[char]) -> bool {
        let found = self.peek().filter(|c| wanted.contains(c));
        self.at += found.map_or(0, char::len_utf8);
        found.is_some()
    }

    /// From one quote to the next that is not escaped, on one line.
    fn quoted(&mut self, quote: char) -> Result<&'t str, Fault> {
        let start = self.rest();
        let mut escaped = true;
        for (at, c) in start.char_indices() {
            match c {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == quote => {
                    self.at += at + 1;
                    return Ok(&start[..=at]);
                }
                _ => {}
            }
        }
        Err(Fault::new(match quote {
            '"' => "unterminated quoted string",
            _ => "unterminated character constant",
        }))
    }

    fn raw(&mut self) -> Result<Kind<'t>, Fault> {
        self.at += 1;
        let rest = self.rest();
        let Some(end) = rest.find('`') else {
            return Err(Fault::new("unterminated raw quoted string"));
        };
        self.at += end + 1;
        Ok(Kind::Raw(&rest[..end]))
    }
}

/// `{{- `: a minus right behind the braces, with space after it; `{{-3}}` is a number.
fn begins_with_trim_marker(action: &str) -> bool {
    action.strip_prefix('-').is_some_and(|rest| rest.starts_with(is_space))
}

/// What Go's templates take for space.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
