//! Versions and their constraints, as `github.com/Masterminds/semver/v3` takes them.

use aiu_core::version::{InvalidConstraint, Version, VersionConstraint};
use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::random::Random;
use super::{Subject, vectors};

#[derive(Serialize)]
pub(super) struct Question {
    constraint: String,
    versions: Vec<String>,
}

/// Its fields are told in `e2e/oracle/main.go`.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Answer {
    refused: String,
    canonical: Vec<String>,
    matches: Vec<bool>,
    order: Vec<i32>,
}

pub(super) fn subject() -> Result<Subject<Question, Answer>> {
    let constraints = vectors::inputs("semver_constraints.json", &["constraint"])?;
    let mut versions = vectors::inputs("semver_parse.json", &["text"])?;
    versions.extend(vectors::inputs("semver_pick.json", &["tags"])?);
    let ask = move |random: &mut Random| {
        let made = constraint(random);
        let constraint = random.vary(made, &constraints, PIECES);
        let version = |_| {
            let made = version(random, false);
            random.vary(made, &versions, PIECES)
        };
        Question { constraint, versions: (0..10).map(version).collect() }
    };
    let agree = |_: &Question, ours: &Answer, theirs: &Answer| ours == theirs;
    Ok(Subject { name: "semver", ask: Box::new(ask), answer, agree, excuse })
}

fn excuse(question: &Question, ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    if range_touches_bars(&question.constraint) {
        return Some("`1 - 2||3 - 4`: Go looks for ranges before it splits at `||`, bars included");
    }
    let huge = |at: usize| question.versions.get(at).is_some_and(|text| has_huge_number(text));
    let all_huge = (0..question.versions.len()).all(|at| {
        let matched = ours.matches[at] == theirs.matches[at]
            || has_huge_number(&question.constraint)
            || huge(at);
        let ordered = ours.order[at] == theirs.order[at] || huge(at) || huge(at.wrapping_sub(1));
        matched && ordered
    });
    let others_agree = ours.refused == theirs.refused && ours.canonical == theirs.canonical;
    (all_huge && others_agree)
        .then_some("`1-99999999999999999999`: Go compares numbers above 64 bits as texts")
}

/// Whether some digits in a row are more than 64 bits hold.
fn has_huge_number(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    numbers.into_iter().any(|digits| digits.parse::<u64>().is_err())
}

/// Whether a hyphen range and a `||` stand without space between them.
fn range_touches_bars(constraint: &str) -> bool {
    let outside = |c: char| c.is_whitespace() || c == ',';
    constraint.match_indices('-').any(|(at, _)| {
        let (before, after) = (&constraint[..at], &constraint[at + 1..]);
        let (from, to) = (before.trim_end(), after.trim_start());
        let spread = from.len() < before.len() && to.len() < after.len();
        let sides = [from.rsplit(outside).next(), to.split(outside).next()];
        spread && sides.into_iter().flatten().any(|side| side.contains("||"))
    })
}

fn answer(question: &Question) -> Answer {
    let constraint = question.constraint.parse::<VersionConstraint>();
    let refused = match &constraint {
        Ok(_) => "",
        Err(InvalidConstraint::Improper(_)) => "improper constraint",
        Err(InvalidConstraint::Pattern(_)) => "constraint parser error",
    };
    let versions: Vec<_> = question.versions.iter().map(|text| Version::parse(text)).collect();
    let admitted = |version: &Version| constraint.as_ref().is_ok_and(|c| c.admits(version));
    let order = versions.iter().enumerate().map(|(at, version)| {
        let before = versions[..at].last()?.as_ref()?;
        Some(version.as_ref()?.cmp(before) as i32)
    });
    Answer {
        refused: refused.to_owned(),
        canonical: versions
            .iter()
            .map(|version| version.as_ref().map(Version::to_string).unwrap_or_default())
            .collect(),
        matches: versions.iter().map(|version| version.as_ref().is_some_and(admitted)).collect(),
        order: order.map(Option::unwrap_or_default).collect(),
    }
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "0", "1", "9", "x", "X", "*", "v", "V", ".", "..", "-", "--", "+", "_", "=", ">", "<", "!",
    "~", "^", "|", "||", ",", ", ", " ", "  ", " - ", "\t", "\n", "\u{b}", "\u{a0}", "é", "٣", "a",
    "Z", "rc", "18446744073709551616", "e7", "0x1", "/", ":", "@", "\0",
];

fn constraint(random: &mut Random) -> String {
    let mut text = alternative(random);
    while random.percent(25) {
        text += random.mostly(&["||", " || ", " ||", "|| ", "  ||  "], &[" | ", "|", "||||"]);
        text += &alternative(random);
    }
    if random.percent(10) { [" ", &text, "\t "].concat() } else { text }
}

fn alternative(random: &mut Random) -> String {
    let mut text = term(random);
    while random.percent(30) {
        let usual = [" ", " ", ", ", ",", " ,", " , ", "  ", "\n", ",\t"];
        text += random.mostly(&usual, &["", ",,", "\u{a0}", ";", " and "]);
        text += &term(random);
    }
    text
}

fn term(random: &mut Random) -> String {
    if random.percent(15) {
        let hyphen = random.mostly(&[" - ", "  -  ", "\t-\t"], &[" -", "- ", "-", " – "]);
        return [&version(random, true), hyphen, &version(random, true)].concat();
    }
    let operators = ["", "", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"];
    let operator = random.mostly(&operators, &["==", "<>", "~=", "!", ">>", "^^", "v"]);
    let space = random.mostly(&["", "", "", "", " "], &["  ", "\t", "\u{a0}"]);
    [operator, space, &version(random, true)].concat()
}

/// A version, or a pattern with wildcards.
fn version(random: &mut Random, wildcards: bool) -> String {
    let mut text = random.mostly(&["", "", "", "v"], &["V", "vv", "-"]).to_owned();
    let count = if random.percent(2) { 4 } else { *random.pick(&[1, 2, 2, 3, 3, 3, 3, 3, 3]) };
    for at in 0..count {
        if at > 0 {
            text.push('.');
        }
        let wild = wildcards && random.percent(12);
        text += if wild { random.word(&["x", "X", "*"]) } else { number(random) };
    }
    for (introducer, percent) in [('-', 25), ('+', 10)] {
        if random.percent(percent) {
            text.push(introducer);
            text += &identifiers(random);
        }
    }
    text
}

/// Mostly from the same few, so that versions meet constraints.
fn number(random: &mut Random) -> &'static str {
    const USUAL: &[&str] = &["0", "0", "0", "1", "1", "1", "2", "2", "2", "3", "10", "01"];
    #[rustfmt::skip]
    const ODD: &[&str] = &[
        "4", "9", "12", "00", "007", "2024", "20240115", "4294967296", "18446744073709551615",
        "18446744073709551616", "018446744073709551615", "99999999999999999999999", "",
    ];
    random.mostly(USUAL, ODD)
}

fn identifiers(random: &mut Random) -> String {
    #[rustfmt::skip]
    const USUAL: &[&str] = &[
        "alpha", "beta", "rc", "rc1", "rc2", "RC1", "0", "1", "2", "10", "0a", "-", "--", "a-b", "x",
        "alpine", "r0",
    ];
    const ODD: &[&str] =
        &["00", "01", "99999999999999999999", "100000000000000000000", "", "é", "a_b"];
    let mut text = random.mostly(USUAL, ODD).to_owned();
    while random.percent(30) {
        text.push('.');
        text += random.mostly(USUAL, ODD);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An excuse that covers more than it says would hide what is looked for.
    #[test]
    fn excuses_are_narrow() {
        for text in ["1 - 2||3 - 4", "1||2 - 3", "0 || 1 - 2||3"] {
            assert!(range_touches_bars(text), "{text}");
        }
        for text in ["1 - 2 || 3 - 4", "1||2", "1 -2||3", "1 - 2 ||3", "1-rc||2 - 3 || 4"] {
            assert_eq!(range_touches_bars(text), text.contains("||2 - 3"), "{text}");
        }
        assert!(has_huge_number("1.2.3-18446744073709551616"));
        assert!(!has_huge_number("1.2.3-18446744073709551615.1"));
    }
}
