//! Which tags take part at all: `allowTags` and `ignoreTags` (spec 10 §5.3).
//!
//! A broken expression allows nothing and a broken pattern ignores nothing, as in the
//! original; both are kept, so that findings can name them (spec 10 F17).
//!
//! A filter is its texts. What they mean is found out when the first tag is judged, so that
//! reading resources compiles nothing; who shares a filter shares what was compiled.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use super::Reason;
use crate::glob::{Glob, InvalidGlob};
use crate::image::Tag;
use crate::regexp::GoRegexp;
use crate::report::{Finding, Severity};

/// The word before the colon of an expression.
const REGEXP: &str = "regexp";

/// The tags that are allowed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AllowTags {
    /// Nothing written, or `any`.
    Any,
    /// `regexp:EXPR`: those in which the expression matches anywhere.
    Matching(GoRegexp),
    /// Something else: none.
    Broken(AllowFault),
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
    /// What stands behind `regexp:` does not compile.
    Expression(Arc<str>),
}

/// One item of `ignoreTags`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IgnorePattern {
    /// Ignores the tags it covers.
    Covering(Glob),
    /// The text of a malformed pattern, which covers nothing.
    Broken(Arc<str>),
}

/// What a tag must pass before any strategy sees it. Two filters are equal when their texts are.
#[derive(Clone)]
pub struct TagFilter {
    /// The value of `allowTags`, trimmed (spec 10 F22); `None` where it allows all.
    allow: Option<Box<str>>,
    /// The items of `ignoreTags`.
    ignore: Box<[Box<str>]>,
    compiled: OnceLock<Compiled>,
}

/// What the texts of a filter mean.
#[derive(Clone)]
struct Compiled {
    allow: AllowTags,
    ignore: Vec<IgnorePattern>,
}

impl AllowTags {
    /// Reads a value of `allowTags`, trimmed; absent or empty allows all.
    pub fn new(value: Option<&str>) -> Self {
        let Some(value) = restriction(value) else { return Self::Any };
        let Some((word, argument)) = value.split_once(':') else {
            return Self::Broken(AllowFault::Syntax(value.into()));
        };
        if !word.eq_ignore_ascii_case(REGEXP) {
            let (word, argument) = (word.into(), argument.into());
            return Self::Broken(AllowFault::Function { word, argument });
        }
        GoRegexp::new(argument).map_or_else(
            |_| Self::Broken(AllowFault::Expression(argument.into())),
            AllowTags::Matching,
        )
    }

    /// Whether a tag of this text is allowed.
    pub fn allows(&self, tag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Matching(expression) => expression.is_match(tag),
            Self::Broken(_) => false,
        }
    }
}

impl fmt::Display for AllowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(value) => write!(f, "Invalid match option syntax '{value}', ignoring"),
            Self::Function { word, .. } => write!(f, "Unknown match function: {word}"),
            Self::Expression(text) => write!(f, "Could not compile regexp '{text}'"),
        }
    }
}

impl AllowFault {
    /// The expression that was probably meant, where there is one.
    fn corrected(&self) -> Option<GoRegexp> {
        match self {
            Self::Syntax(text) | Self::Function { argument: text, .. } => GoRegexp::new(text).ok(),
            Self::Expression(_) => None,
        }
    }

    /// What to write instead.
    fn fix<'a>(&self, listed: impl Iterator<Item = &'a Tag> + Clone) -> String {
        if let Some(expression) = self.corrected() {
            let all = listed.clone().count();
            let admitted = listed.filter(|tag| expression.is_match(tag.as_str())).count();
            let expression = expression.as_str();
            return format!(
                "allowTags: 'regexp:{expression}' (admits {admitted} of {all} listed tags)"
            );
        }
        let text = match self {
            Self::Syntax(text) | Self::Expression(text) | Self::Function { argument: text, .. } => {
                text
            }
        };
        let cause = GoRegexp::new(text).err().map(|error| format!(": {error}"));
        format!(
            "write 'any', or 'regexp:' and an expression that compiles{}",
            cause.unwrap_or_default()
        )
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

    /// Whether it is an expression as `allowTags` takes them. No tag can hold the colon, so as a
    /// shell pattern it covers nothing.
    fn is_expression(&self) -> bool {
        self.as_str().split_once(':').is_some_and(|(word, _)| word.eq_ignore_ascii_case(REGEXP))
    }

    /// What is wrong with a broken pattern.
    pub fn fault(&self) -> Option<InvalidGlob> {
        match self {
            Self::Covering(_) => None,
            Self::Broken(text) => Glob::new(text).err(),
        }
    }
}

/// What a value of `allowTags` says, unless it says that all tags are allowed.
fn restriction(value: Option<&str>) -> Option<&str> {
    let value = value.unwrap_or_default().trim();
    (!value.is_empty() && !value.eq_ignore_ascii_case("any")).then_some(value)
}

impl TagFilter {
    /// Takes the values of `allowTags` and `ignoreTags`. Nothing is refused, since nothing is
    /// understood yet.
    pub fn new<'a>(allow: Option<&str>, ignore: impl IntoIterator<Item = &'a str>) -> Self {
        let allow = restriction(allow).map(Box::from);
        let ignore = ignore.into_iter().map(Box::from).collect();
        Self { allow, ignore, compiled: OnceLock::new() }
    }

    /// The tags that are allowed.
    pub fn allow(&self) -> &AllowTags {
        &self.compiled().allow
    }

    /// Those among them that are left out all the same.
    pub fn ignore(&self) -> &[IgnorePattern] {
        &self.compiled().ignore
    }

    /// Whether every tag passes.
    pub fn admits_all(&self) -> bool {
        self.allow.is_none() && self.ignore.is_empty()
    }

    /// Whether this filter has been used.
    pub fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| Compiled {
            allow: AllowTags::new(self.allow.as_deref()),
            ignore: self.ignore.iter().map(|pattern| IgnorePattern::new(pattern)).collect(),
        })
    }

    /// Whether `tag` passes, and if not, what stopped it.
    pub fn judge(&self, tag: &Tag) -> Result<(), Reason> {
        let (tag, Compiled { allow, ignore }) = (tag.as_str(), self.compiled());
        if !allow.allows(tag) {
            Err(Reason::NotAllowed)
        } else if ignore.iter().any(|pattern| pattern.ignores(tag)) {
            Err(Reason::Ignored)
        } else {
            Ok(())
        }
    }

    /// What is broken in the filter, loudest first, and what to write instead. The listed tags
    /// show what a correction would come to.
    pub fn findings<'a>(&self, listed: impl Iterator<Item = &'a Tag> + Clone) -> Vec<Finding> {
        let allow = match self.allow() {
            AllowTags::Broken(fault) => Some(Finding {
                severity: Severity::Error,
                reason: "AllowTagsSyntax",
                found: format!("{fault}: no tag is allowed"),
                fix: fault.fix(listed),
            }),
            AllowTags::Any | AllowTags::Matching(_) => None,
        };
        allow.into_iter().chain(self.ignore().iter().filter_map(useless)).collect()
    }

    fn texts(&self) -> (Option<&str>, &[Box<str>]) {
        (self.allow.as_deref(), &self.ignore)
    }
}

impl PartialEq for TagFilter {
    fn eq(&self, other: &Self) -> bool {
        self.texts() == other.texts()
    }
}

impl Eq for TagFilter {}

impl Hash for TagFilter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.texts().hash(state);
    }
}

impl fmt::Debug for TagFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (allow, ignore) = self.texts();
        f.debug_struct("TagFilter").field("allow", &allow).field("ignore", &ignore).finish()
    }
}

/// What keeps a pattern from ignoring anything, ever.
fn useless(pattern: &IgnorePattern) -> Option<Finding> {
    let (found, fix) = match pattern.fault() {
        Some(fault) => (
            format!("in ignoreTags, {fault}: it ignores nothing"),
            "correct the pattern: '*' and '?' are wildcards, '[a-c]' is a set",
        ),
        None if pattern.is_expression() => (
            format!(
                "in ignoreTags, '{}' is taken for a shell pattern, which no tag matches",
                pattern.as_str()
            ),
            "write patterns such as '*-rc*', or say by allowTags what to keep",
        ),
        None => return None,
    };
    let (severity, fix) = (Severity::Warning, fix.to_owned());
    Some(Finding { severity, reason: "IgnoreTagsSyntax", found, fix })
}
