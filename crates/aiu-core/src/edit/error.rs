//! Why a target was not read or not edited.

use std::fmt;

/// Why a target was not read or not edited. The text was left as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct EditError {
    /// What is wrong.
    pub problem: Problem,
    /// 1-based line in the text, where known.
    pub line: Option<usize>,
}

/// The kinds of refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The text is no YAML; the parser's words.
    Unreadable(String),
    /// Template actions (`{{ … }}`) outside of scalars: the file is rendered before it is YAML.
    Templated,
    /// The same key twice in one mapping.
    DuplicateKey(String),
    /// The target must hold exactly one document, this one holds more or none.
    SeveralDocuments,
    /// The file must exist and does not.
    Missing,
    /// The wished key cannot be reached or made; the reference's words (spec 30 §4.5).
    Key(String),
    /// Two wished keys of one file are one place, or one lies within the other.
    Overlap(String, String),
    /// After the edit something else than the wished values would differ; what.
    Guard(String),
}

impl EditError {
    /// A text that is no YAML.
    pub(super) fn unreadable(cause: impl Into<String>, line: Option<usize>) -> Self {
        Self { problem: Problem::Unreadable(cause.into()), line }
    }

    /// A key that cannot be reached or made.
    pub(super) fn key(cause: impl Into<String>) -> Self {
        Self { problem: Problem::Key(cause.into()), line: None }
    }

    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self.problem {
            Problem::Templated => "ManifestTemplated",
            Problem::Missing => "TargetMissing",
            Problem::Key(_) => "MissingKey",
            Problem::Overlap(..) => "KeyContested",
            Problem::Unreadable(_)
            | Problem::DuplicateKey(_)
            | Problem::SeveralDocuments
            | Problem::Guard(_) => "ManifestUnreadable",
        }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        match &self.problem {
            Problem::Unreadable(cause) => write!(f, "not readable as YAML: {cause}"),
            Problem::Templated => f.write_str(
                "the file holds template actions ({{ … }}); name a file that is plain YAML as the target",
            ),
            Problem::DuplicateKey(key) => {
                write!(f, "the key '{key}' stands twice in one mapping; remove one of them")
            }
            Problem::SeveralDocuments => {
                f.write_str("target parameter file should contain a single YAML document")
            }
            Problem::Missing => f.write_str("the file does not exist"),
            Problem::Key(cause) => f.write_str(cause),
            Problem::Overlap(one, other) => write!(
                f,
                "the keys '{one}' and '{other}' mean one place, which cannot hold two values; give each image keys of its own"
            ),
            Problem::Guard(path) => write!(
                f,
                "the edit would also change {path}; nothing was written, please report this file"
            ),
        }
    }
}
