//! Regular expressions in RE2 syntax as Go reads it (spec 10 §5.3).
//!
//! The `regex` crate reads a different dialect: its `\d`, `\w`, `\s` and `\b` know all of
//! Unicode, it gives meaning to `[a&&b]`, takes `a**`, and refuses `{` and `\Q`. So the
//! text is read here, by Go's rules, into the crate's own form of a syntax tree; from there
//! on its engine does the matching, in time linear in the text.

mod class;
mod cursor;
mod escape;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{Hash, Hasher};

use regex::{Regex, RegexBuilder};

#[cfg(test)]
thread_local! {
    /// How many expressions this thread has compiled.
    pub(crate) static COMPILED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Longest expression that is read, in bytes. An annotation holds 256 KiB at most, and
/// nobody lists that many tags by hand.
const MAX_LENGTH: usize = 32 * 1024;
/// Memory that a compiled expression may take, in bytes.
const MAX_COMPILED: usize = 10 * 1024 * 1024;
/// Memory that one search may use to remember states, in bytes.
const MAX_CACHE: usize = 2 * 1024 * 1024;

/// A compiled expression. Two are equal when their texts are; clones are cheap.
#[derive(Clone, Debug)]
pub struct GoRegexp {
    text: Box<str>,
    compiled: Regex,
}

/// Why a text is not an expression, in Go's words, with what to do instead where people
/// regularly stumble.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRegexp {
    /// A `\` that introduces nothing known. Back-references are among these.
    #[error("invalid escape sequence: `{0}`")]
    Escape(String),
    /// The text ends in a `\`.
    #[error("trailing backslash at end of expression")]
    TrailingBackslash,
    /// A range that runs backwards, or a name of a class that is not known.
    #[error("invalid character class range: `{0}`")]
    ClassRange(String),
    /// A `[` without its `]`.
    #[error("missing closing ]: `{0}`")]
    OpenClass(String),
    /// A `(` without its `)`.
    #[error("missing closing ): `{0}`")]
    OpenGroup(String),
    /// A `)` without its `(`.
    #[error("unexpected )")]
    StrayParenthesis,
    /// `(?P<…>` without a proper name.
    #[error("invalid named capture: `{0}`")]
    CaptureName(String),
    /// `(?` and something RE2 leaves out.
    #[error(
        "invalid or unsupported Perl syntax: `{0}`; for look-around, exclude tags by ignore patterns instead"
    )]
    Perl(String),
    /// `*` and the like with nothing before it. Often a shell pattern where an expression
    /// belongs.
    #[error("missing argument to repetition operator: `{0}`; write `.*` for any text")]
    RepeatArgument(String),
    /// `a**`, `a++`.
    #[error("invalid nested repetition operator: `{0}`")]
    RepeatOperator(String),
    /// A count above 1000, also where nested counts multiply to more, or `{3,2}`.
    #[error("invalid repeat count: `{0}`")]
    RepeatSize(String),
    /// Groups inside groups inside groups.
    #[error("expression nests too deeply")]
    TooDeep,
    /// Longer than any expression that a person would write.
    #[error("expression too long: {0} bytes, at most {MAX_LENGTH} are read")]
    TooLong(usize),
    /// Short, but too much to compile, such as `(\pL{500}){2}`.
    #[error("expression too large: it would take too much memory to match")]
    TooLarge,
}

impl InvalidRegexp {
    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        "AllowTagsSyntax"
    }
}

/// The part of an expression that an error quotes, cut to a length that one can read.
fn excerpt(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl GoRegexp {
    /// Compiles an expression, within fixed limits of time and memory.
    pub fn new(text: &str) -> Result<Self, InvalidRegexp> {
        #[cfg(test)]
        COMPILED.set(COMPILED.get() + 1);
        if text.len() > MAX_LENGTH {
            return Err(InvalidRegexp::TooLong(text.len()));
        }
        let tree = parse::expression(text)?;
        // The crate takes text only; a printed tree is read back as the same tree.
        let compiled = RegexBuilder::new(&tree.to_string())
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_CACHE)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => InvalidRegexp::TooLarge,
                // All other syntax was judged while it was read; the nesting limit is left.
                _ => InvalidRegexp::TooDeep,
            })?;
        Ok(Self { text: text.into(), compiled })
    }

    /// Whether the expression is found anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        // Not the crate's `is_match`, which takes a `\B` inside of a character for the first match
        // and then looks behind it only.
        self.compiled.find(text).is_some()
    }

    /// The expression as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for GoRegexp {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for GoRegexp {}

impl Hash for GoRegexp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for GoRegexp {
    /// The expression as written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
