//! Which tags take part at all: `allowTags` and `ignoreTags` (spec 10 §5.3).
//!
//! A broken expression allows nothing and a broken pattern ignores nothing, as in the
//! original; both are kept, so that findings can name them (spec 10 F17).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Reason;
use crate::glob::{Glob, InvalidGlob};
use crate::image::Tag;
use crate::regexp::GoRegexp;

/// The tags that are allowed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AllowTags {
    /// Nothing written, or `any`.
    Any,
    /// `regexp:EXPR`: those in which the expression matches anywhere.
    Matching(Expression),
    /// Something else: none.
    Broken(AllowFault),
}

/// A compiled expression. Two are equal when their texts are.
#[derive(Clone, Debug)]
pub struct Expression {
    text: Arc<str>,
    regexp: Arc<GoRegexp>,
}

/// Why a value of `allowTags` allows nothing. Prints as the original's warning (spec 21 §7.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AllowFault {
    /// The whole value: neither `any` nor a word and a colon.
    Syntax(Arc<str>),
    /// The word before the colon is not `regexp`.
    Function {
        /// That word.
        word: Arc<str>,
        /// What stands behind the colon.
        argument: Arc<str>,
    },
    /// The expression does not compile.
    Expression {
        /// The expression.
        text: Arc<str>,
        /// The compiler's words.
        cause: Arc<str>,
    },
}

/// One item of `ignoreTags`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IgnorePattern {
    /// Ignores the tags it covers.
    Covering(Glob),
    /// The text of a malformed pattern, which covers nothing.
    Broken(Arc<str>),
}

/// What a tag must pass before any strategy sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TagFilter {
    /// The tags that are allowed.
    pub allow: AllowTags,
    /// Those among them that are left out all the same.
    pub ignore: Vec<IgnorePattern>,
}

impl AllowTags {
    /// Reads a value of `allowTags`, trimmed (spec 10 F22); absent or empty allows all.
    pub fn new(value: Option<&str>) -> Self {
        let value = value.unwrap_or_default().trim();
        if value.is_empty() || value.eq_ignore_ascii_case("any") {
            return Self::Any;
        }
        let Some((word, argument)) = value.split_once(':') else {
            return Self::Broken(AllowFault::Syntax(value.into()));
        };
        if !word.eq_ignore_ascii_case("regexp") {
            let (word, argument) = (word.into(), argument.into());
            return Self::Broken(AllowFault::Function { word, argument });
        }
        match Expression::new(argument) {
            Ok(expression) => Self::Matching(expression),
            Err(fault) => Self::Broken(fault),
        }
    }

    /// Whether a tag of this text is allowed.
    pub fn allows(&self, tag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Matching(expression) => expression.regexp.is_match(tag),
            Self::Broken(_) => false,
        }
    }
}

impl Expression {
    fn new(text: &str) -> Result<Self, AllowFault> {
        let broken =
            |cause: String| AllowFault::Expression { text: text.into(), cause: cause.into() };
        let regexp = GoRegexp::new(text).map_err(|error| broken(error.to_string()))?;
        Ok(Self { text: text.into(), regexp: regexp.into() })
    }

    /// The expression as written, without its prefix.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Expression {}

impl Hash for Expression {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for AllowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(value) => write!(f, "Invalid match option syntax '{value}', ignoring"),
            Self::Function { word, .. } => write!(f, "Unknown match function: {word}"),
            Self::Expression { text, .. } => write!(f, "Could not compile regexp '{text}'"),
        }
    }
}

impl IgnorePattern {
    /// Reads one item of `ignoreTags`, untrimmed (FLT-031).
    pub fn new(pattern: &str) -> Self {
        Glob::new(pattern).map_or_else(|_| Self::Broken(pattern.into()), Self::Covering)
    }

    /// Whether a tag of this text is left out.
    pub fn ignores(&self, tag: &str) -> bool {
        matches!(self, Self::Covering(glob) if glob.matches(tag))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Covering(glob) => glob.as_str(),
            Self::Broken(text) => text,
        }
    }

    /// What is wrong with a broken pattern.
    pub fn fault(&self) -> Option<InvalidGlob> {
        match self {
            Self::Covering(_) => None,
            Self::Broken(text) => Glob::new(text).err(),
        }
    }
}

impl TagFilter {
    /// Reads the values of `allowTags` and `ignoreTags`. Nothing is refused here.
    pub fn new<'a>(allow: Option<&str>, ignore: impl IntoIterator<Item = &'a str>) -> Self {
        let ignore = ignore.into_iter().map(IgnorePattern::new).collect();
        Self { allow: AllowTags::new(allow), ignore }
    }

    /// Whether `tag` passes, and if not, what stopped it.
    pub fn judge(&self, tag: &Tag) -> Result<(), Reason> {
        let tag = tag.as_str();
        if !self.allow.allows(tag) {
            Err(Reason::NotAllowed)
        } else if self.ignore.iter().any(|pattern| pattern.ignores(tag)) {
            Err(Reason::Ignored)
        } else {
            Ok(())
        }
    }
}
