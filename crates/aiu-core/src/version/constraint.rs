use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use super::Version;
use super::parse;
use super::scan::{self, RawPattern, RawTerm};
use super::term::{Operator, Precision, Term};

/// Which versions are wanted, such as `~1.2 || >=2.0 <3` (spec 10 §4.3).
///
/// Parsed once; clones share the result. Two constraints are equal when their texts are,
/// which is what policies are compared and hashed by.
#[derive(Clone, Debug)]
pub struct VersionConstraint {
    text: Arc<str>,
    alternatives: Arc<[Alternative]>,
}

/// Terms that must all hold.
#[derive(Clone, Debug)]
struct Alternative {
    terms: Box<[Term]>,
    /// Whether pre-releases are considered: some term names one.
    admits_pre_releases: bool,
}

/// Why a text is not a constraint. The texts begin as the field's parser words them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConstraint {
    /// The text, or one of its alternatives, has not the shape of a constraint.
    #[error("improper constraint: {0}")]
    Improper(String),
    /// The shape is right, but a pattern's segment is no number, exceeds 64 bits, or its
    /// pre-release has a number with a leading zero.
    #[error("constraint parser error: '{0}' is not a version")]
    Pattern(String),
}

impl InvalidConstraint {
    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        "ConstraintInvalid"
    }
}

impl VersionConstraint {
    /// `*`: every version that is no pre-release. What an image without constraint has.
    pub fn any() -> Self {
        let everything = Term {
            operator: Operator::Equal,
            precision: Precision::Nothing,
            pattern: Version::new([0, 0, 0], None),
        };
        Self { text: "*".into(), alternatives: [Alternative::new(vec![everything])].into() }
    }

    /// Whether `version` satisfies one of the alternatives.
    pub fn admits(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|alternative| alternative.admits(version))
    }

    /// Whether this names one version in full, such as `1.2.3` or `=1.2.3-alpine`: mostly a
    /// tag that was pasted where a range was meant (spec 00 §6, `ConstraintFromTag`).
    pub fn is_exact(&self) -> bool {
        let [Alternative { terms, .. }] = &*self.alternatives else { return false };
        matches!(**terms, [Term { operator: Operator::Equal, precision: Precision::Patch, .. }])
    }

    /// The constraint as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Alternative {
    fn new(terms: Vec<Term>) -> Self {
        let admits_pre_releases = terms.iter().any(|term| term.pattern.pre_release().is_some());
        Self { terms: terms.into(), admits_pre_releases }
    }

    fn admits(&self, version: &Version) -> bool {
        (self.admits_pre_releases || version.pre_release().is_none())
            && self.terms.iter().all(|term| term.holds(version))
    }
}

impl FromStr for VersionConstraint {
    type Err = InvalidConstraint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let alternatives = text.split("||").map(read_alternative).collect::<Result<_, _>>()?;
        Ok(Self { text: text.into(), alternatives })
    }
}

fn read_alternative(text: &str) -> Result<Alternative, InvalidConstraint> {
    let terms =
        scan::alternative(text).ok_or_else(|| InvalidConstraint::Improper(text.to_owned()))?;
    Ok(Alternative::new(terms.into_iter().map(read_term).collect::<Result<_, _>>()?))
}

fn read_term(raw: RawTerm<'_>) -> Result<Term, InvalidConstraint> {
    let RawTerm { operator, pattern } = raw;
    let (precision, version) = read_pattern(&pattern)
        .ok_or_else(|| InvalidConstraint::Pattern(pattern.text.to_owned()))?;
    Ok(Term { operator, precision, pattern: version })
}

/// Everything right of the first wildcard is ignored, except the pre-release.
fn read_pattern(raw: &RawPattern<'_>) -> Option<(Precision, Version)> {
    const BY_COUNT: [Precision; 4] =
        [Precision::Nothing, Precision::Major, Precision::Minor, Precision::Patch];
    let written = raw.segments.iter().map_while(|segment| segment.filter(|s| !is_wildcard(s)));
    let mut numbers = [0; 3];
    let mut count = 0;
    for segment in written {
        numbers[count] = parse::number(segment)?;
        count += 1;
    }
    if !raw.pre_release.is_none_or(parse::is_pre_release) {
        return None;
    }
    Some((BY_COUNT[count], Version::new(numbers, raw.pre_release)))
}

fn is_wildcard(segment: &str) -> bool {
    matches!(segment, "x" | "X" | "*")
}

impl PartialEq for VersionConstraint {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for VersionConstraint {}

impl Hash for VersionConstraint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for VersionConstraint {
    /// The constraint as written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
