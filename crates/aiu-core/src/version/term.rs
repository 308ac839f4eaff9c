//! One comparison inside a constraint: an operator and a pattern (spec 10 §4.3, item 4 on).

use super::Version;

/// How a term compares. Other spellings (`=>`, `=<`, `~>`) are the same operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// None written, or `=`.
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Tilde,
    Caret,
}

/// How many segments of a pattern are meant; the others are wildcards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// `*`
    Nothing,
    /// `1`, `1.x`
    Major,
    /// `1.2`, `1.2.x`
    Minor,
    /// `1.2.3`
    Patch,
}

/// One comparison.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) operator: Operator,
    pub(super) precision: Precision,
    /// The pattern, completed by zeros.
    pub(super) pattern: Version,
}

impl Term {
    /// Whether `version` satisfies this comparison. The pre-release gate is not asked here.
    pub(super) fn holds(&self, version: &Version) -> bool {
        let pattern = &self.pattern;
        match self.operator {
            Operator::Equal if self.precision == Precision::Patch => version == pattern,
            Operator::Equal | Operator::Tilde => self.tilde(version),
            Operator::NotEqual => self.differs(version),
            Operator::Greater => self.is_exceeded_by(version),
            Operator::GreaterOrEqual => version >= pattern,
            Operator::Less => version < pattern,
            Operator::LessOrEqual => self.is_upper_bound_of(version),
            Operator::Caret => self.caret(version),
        }
    }

    /// At least the pattern, and the same in all segments written but the last.
    fn tilde(&self, version: &Version) -> bool {
        let pattern = &self.pattern;
        if version < pattern {
            return false;
        }
        match self.precision {
            Precision::Nothing => true,
            Precision::Major => version.major() == pattern.major(),
            // The field's parser reads `~0.0.0` as "anything".
            Precision::Patch if pattern.numbers() == [0, 0, 0] => true,
            Precision::Minor | Precision::Patch => same_minor(version, pattern),
        }
    }

    /// At least the pattern, and the same up to the first segment that is not zero.
    fn caret(&self, version: &Version) -> bool {
        let pattern = &self.pattern;
        if version < pattern || version.major() != pattern.major() {
            return false;
        }
        if pattern.major() > 0 || self.precision == Precision::Major {
            return true;
        }
        if version.minor() != pattern.minor() {
            return false;
        }
        pattern.minor() > 0
            || self.precision == Precision::Minor
            || version.patch() == pattern.patch()
    }

    fn differs(&self, version: &Version) -> bool {
        let pattern = &self.pattern;
        match self.precision {
            Precision::Nothing | Precision::Patch => version != pattern,
            Precision::Major => version.major() != pattern.major(),
            Precision::Minor => {
                !same_minor(version, pattern) || version.pre_release() != pattern.pre_release()
            }
        }
    }

    fn is_exceeded_by(&self, version: &Version) -> bool {
        let pattern = &self.pattern;
        match self.precision {
            Precision::Nothing | Precision::Patch => version > pattern,
            Precision::Major => version.major() > pattern.major(),
            Precision::Minor => major_minor(version) > major_minor(pattern),
        }
    }

    fn is_upper_bound_of(&self, version: &Version) -> bool {
        let pattern = &self.pattern;
        match self.precision {
            Precision::Patch => version <= pattern,
            Precision::Major => version.major() <= pattern.major(),
            // A lone wildcard counts as `0.0.x` here.
            Precision::Nothing | Precision::Minor => major_minor(version) <= major_minor(pattern),
        }
    }
}

fn major_minor(version: &Version) -> (u64, u64) {
    (version.major(), version.minor())
}

fn same_minor(left: &Version, right: &Version) -> bool {
    major_minor(left) == major_minor(right)
}
