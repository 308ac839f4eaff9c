//! Shell-style patterns with the meaning of Go's `path.Match` (spec 10 §5.3, 21 §3.2).
//!
//! `*` is any run of characters except `/`, `?` one character except `/`, `[a-c]` and
//! `[^a-c]` one character (even `/`) of a set or not of it, `\` takes the next character
//! literally. There is no `**`, no `{a,b}`, and `!` negates nothing.
//!
//! A pattern is judged as a whole before anything is matched. The original only notices an
//! error when matching arrives there, so that `app-*[` silently matches nothing.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// A pattern for tags (`ignoreTags`) or names of Applications (`namePattern`).
///
/// Matching takes at most `pattern × text` steps, whatever the pattern.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    /// The pattern cut at its stars: the first chunk stands at the start of the text, the
    /// last at its end. There is always at least one.
    chunks: Vec<Vec<Piece>>,
}

/// One character of a pattern that is no star.
#[derive(Clone, Debug)]
enum Piece {
    Literal(char),
    AnyCharacter,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// A pattern that breaks off in the middle or holds a malformed set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{pattern}': syntax error in pattern: {problem}")]
pub struct InvalidGlob {
    /// The whole pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub problem: GlobProblem,
}

/// What can be wrong with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobProblem {
    /// `[` without its `]`.
    #[error("a '[' is not closed")]
    UnclosedSet,
    /// `[]`, or a `-` with nothing on one of its sides.
    #[error("a set needs a character before ']' and on both sides of '-'; write '\\' before one that is meant literally")]
    MissingCharacter,
    /// A `\` at the end.
    #[error("a '\\' at the end escapes nothing")]
    DanglingEscape,
}

impl Glob {
    /// Reads a pattern to its end.
    pub fn new(pattern: &str) -> Result<Self, InvalidGlob> {
        match chunks(pattern) {
            Ok(chunks) => Ok(Self { text: pattern.to_owned(), chunks }),
            Err(problem) => Err(InvalidGlob { pattern: pattern.to_owned(), problem }),
        }
    }

    /// Whether the pattern covers the whole of `text`.
    pub fn matches(&self, text: &str) -> bool {
        let Some(((first, last), between)) = ends(&self.chunks) else {
            return self.chunks.iter().all(|only| match_chunk(only, text) == Some(""));
        };
        let Some(mut rest) = match_chunk(first, text) else { return false };
        for chunk in between {
            match find_chunk(chunk, rest) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        starts(rest).any(|start| match_chunk(last, start) == Some(""))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// First and last chunk and those between, if there is a star at all.
#[expect(clippy::type_complexity, reason = "named parts of a slice, used once")]
fn ends(chunks: &[Vec<Piece>]) -> Option<((&[Piece], &[Piece]), &[Vec<Piece>])> {
    match chunks {
        [first, between @ .., last] => Some(((first, last), between)),
        _ => None,
    }
}
