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
use std::iter::Peekable;
use std::str::Chars;

/// A pattern for tags (`ignoreTags`) or for names of Applications (`namePattern`).
///
/// Matching takes at most pattern × text steps, whatever the pattern. Two patterns are
/// equal when their texts are.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    /// What stands before the first star: the beginning of every text that matches.
    head: Chunk,
    /// What stands behind each star.
    after_stars: Vec<Chunk>,
}

/// A run of pieces without a star.
type Chunk = Vec<Piece>;

/// Stands for exactly one character.
#[derive(Clone, Debug)]
enum Piece {
    Literal(char),
    AnyCharacter,
    Set { negated: bool, ranges: Vec<(char, char)> },
}

/// A malformed pattern.
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
    #[error("a '[' is not closed by ']'")]
    OpenSet,
    /// `[]`, or a `-` with nothing on one of its sides.
    #[error("']' or '-' stands where a set needs a character; write '\\' before it if it is meant")]
    MissingCharacter,
    /// A `\` at the end.
    #[error("'\\' at the end escapes nothing")]
    DanglingEscape,
}

impl Glob {
    /// Reads a pattern to its end.
    pub fn new(pattern: &str) -> Result<Self, InvalidGlob> {
        let mut reader = Reader { rest: pattern.chars().peekable() };
        let chunks = reader.chunks();
        let (head, after_stars) =
            chunks.map_err(|problem| InvalidGlob { pattern: pattern.to_owned(), problem })?;
        Ok(Self { text: pattern.to_owned(), head, after_stars })
    }

    /// Whether the pattern covers the whole of `text`, case included.
    pub fn matches(&self, text: &str) -> bool {
        let Some(mut rest) = match_chunk(&self.head, text) else { return false };
        let Some((last, inner)) = self.after_stars.split_last() else { return rest.is_empty() };
        for chunk in inner {
            // The first place that fits decides, as in Go; that keeps the steps bounded.
            match reach_of_star(rest).find_map(|start| match_chunk(chunk, start)) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        reach_of_star(rest).any(|start| match_chunk(last, start) == Some(""))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// How specific an application reference is: the most specific one owns the Application
/// (spec 21 §3.3). `label_selectors` holds the numbers of labels and of expressions, if the
/// reference selects by labels at all.
pub fn specificity(name_pattern: &str, label_selectors: Option<(usize, usize)>) -> u64 {
    const NAMES_ONE_APPLICATION: u64 = 1_000_000;
    const SELECTS_BY_LABELS: u64 = 10_000;
    const PER_REQUIREMENT: u64 = 100;

    let mut score = literal_bytes(name_pattern);
    if !name_pattern.contains(['*', '?', '[', ']']) {
        score += NAMES_ONE_APPLICATION;
    }
    if let Some((labels, expressions)) = label_selectors {
        score += SELECTS_BY_LABELS + PER_REQUIREMENT * (labels + expressions) as u64;
    }
    score
}

/// Bytes left after deleting every `[…]`, then every `*` and `?`.
fn literal_bytes(mut pattern: &str) -> u64 {
    let mut literals = 0;
    let mut count = |text: &str| literals += text.replace(['*', '?'], "").len() as u64;
    while let Some((before, set)) = pattern.split_once('[')
        && let Some((_, after)) = set.split_once(']')
    {
        count(before);
        pattern = after;
    }
    count(pattern);
    literals
}

/// Where the text behind a star may begin: anywhere up to the next `/`.
fn reach_of_star(text: &str) -> impl Iterator<Item = &str> {
    let end = text.find('/').unwrap_or(text.len());
    (0..=end).filter(|&at| text.is_char_boundary(at)).map(|at| &text[at..])
}

/// What is left of `text` behind the chunk, if it begins with it.
fn match_chunk<'t>(chunk: &[Piece], text: &'t str) -> Option<&'t str> {
    let mut rest = text.chars();
    chunk.iter().all(|piece| rest.next().is_some_and(|c| piece.covers(c))).then_some(rest.as_str())
}

impl Piece {
    fn covers(&self, c: char) -> bool {
        match self {
            Self::Literal(literal) => c == *literal,
            Self::AnyCharacter => c != '/',
            Self::Set { negated, ranges } => {
                ranges.iter().any(|&(low, high)| (low..=high).contains(&c)) != *negated
            }
        }
    }
}

struct Reader<'p> {
    rest: Peekable<Chars<'p>>,
}

impl Reader<'_> {
    fn chunks(&mut self) -> Result<(Chunk, Vec<Chunk>), GlobProblem> {
        let (mut head, mut after_stars) = (Chunk::new(), Vec::new());
        while let Some(c) = self.rest.next() {
            let piece = match c {
                '*' => {
                    after_stars.push(Chunk::new());
                    continue;
                }
                '?' => Piece::AnyCharacter,
                '[' => self.set()?,
                '\\' => Piece::Literal(self.escaped()?),
                literal => Piece::Literal(literal),
            };
            after_stars.last_mut().unwrap_or(&mut head).push(piece);
        }
        Ok((head, after_stars))
    }

    /// The rest of a set, behind its `[`.
    fn set(&mut self) -> Result<Piece, GlobProblem> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut ranges = Vec::new();
        while ranges.is_empty() || self.rest.next_if_eq(&']').is_none() {
            let low = self.member()?;
            let high = if self.rest.next_if_eq(&'-').is_some() { self.member()? } else { low };
            ranges.push((low, high));
        }
        Ok(Piece::Set { negated, ranges })
    }

    fn member(&mut self) -> Result<char, GlobProblem> {
        match self.rest.next() {
            None => Err(GlobProblem::OpenSet),
            Some(']' | '-') => Err(GlobProblem::MissingCharacter),
            Some('\\') => self.escaped(),
            Some(c) => Ok(c),
        }
    }

    fn escaped(&mut self) -> Result<char, GlobProblem> {
        self.rest.next().ok_or(GlobProblem::DanglingEscape)
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl Hash for Glob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for Glob {
    /// The pattern as written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec 10 §5.3 and 21 §3.2; the vectors hold the long list.
    #[test]
    fn patterns_cover_whole_texts() {
        #[rustfmt::skip]
        let rows = [
            ("tag?",           "tag1",          true),
            ("tag?",           "tag10",         false),
            ("*",              "anything",      true),
            ("*",              "a/b",           false),
            ("v1.*",           "v1",            false),
            ("*-rc*",          "1.0-rc1",       true),
            ("[^a-c]*",        "beta",          false),
            ("[!a-c]*",        "beta",          true),
            ("{a,b}",          "a",             false),
            (r"\*",            "*",             true),
            ("Latest",         "latest",        false),
            ("color-[rbg]ed",  "color-red",     true),
            ("a[^x]b",         "a/b",           true),
            ("prod-?",         "prod-é",        true),
            ("a*b*c",          "aXbYbZc",       true),
            ("a*b*c",          "aXbYbZ",        false),
            ("*/*",            "a/b/c",         false),
            ("",               "",              true),
        ];
        for (pattern, text, matched) in rows {
            assert_eq!(Glob::new(pattern).unwrap().matches(text), matched, "'{pattern}' on {text}");
        }
    }

    #[test]
    fn broken_patterns_are_refused_wherever_they_break() {
        #[rustfmt::skip]
        let rows = [
            ("[",       GlobProblem::OpenSet),
            ("app-*[",  GlobProblem::OpenSet),
            ("[a",      GlobProblem::OpenSet),
            ("[]a]",    GlobProblem::MissingCharacter),
            ("[a-]",    GlobProblem::MissingCharacter),
            ("[-a]",    GlobProblem::MissingCharacter),
            (r"a\",     GlobProblem::DanglingEscape),
            (r"[a\",    GlobProblem::DanglingEscape),
        ];
        for (pattern, problem) in rows {
            assert_eq!(Glob::new(pattern).unwrap_err().problem, problem, "'{pattern}'");
        }
        assert_eq!(
            Glob::new("app-[").unwrap_err().to_string(),
            "'app-[': syntax error in pattern: a '[' is not closed by ']'"
        );
    }

    #[test]
    fn hostile_patterns_are_matched_in_pattern_times_text_steps() {
        let glob = Glob::new(&format!("{}b", "a*".repeat(500))).unwrap();
        assert!(!glob.matches(&"a".repeat(5_000)));
    }

    /// Spec 21 §3.3.
    #[test]
    fn the_more_specific_reference_scores_higher() {
        #[rustfmt::skip]
        let rows = [
            ("app-one",    None,         1_000_007),
            ("app-*",      None,         4),
            ("app-prod-*", None,         9),
            ("app-v?",     None,         5),
            ("app-[abc]",  None,         4),
            ("*",          None,         0),
            ("app-one",    Some((0, 0)), 1_010_007),
            ("app-one",    Some((1, 0)), 1_010_107),
            ("app-*",      Some((0, 1)), 10_104),
            ("app-*",      Some((2, 1)), 10_304),
            ("",           None,         1_000_000),
        ];
        for (pattern, selectors, score) in rows {
            assert_eq!(specificity(pattern, selectors), score, "'{pattern}' {selectors:?}");
        }
    }
}
