//! Patterns, as Go's `path.Match` takes them.

use aiu_core::glob::Glob;
use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::random::Random;
use super::{Subject, differing, vectors};

#[derive(Serialize)]
pub(super) struct Question {
    pattern: String,
    texts: Vec<String>,
}

/// Its fields are told in `e2e/oracle/main.go`.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Answer {
    malformed: Vec<bool>,
    matches: Vec<bool>,
}

pub(super) fn subject() -> Result<Subject<Question, Answer>> {
    let patterns = vectors::inputs("glob.json", &["pattern"])?;
    let names = vectors::inputs("glob.json", &["names"])?;
    let ask = move |random: &mut Random| {
        let (made, covered) = made(random);
        let pattern = random.vary(made, &patterns, PIECES);
        let mut texts = vec![random.garble(&covered, PIECES), random.garble(&covered, PIECES)];
        texts.extend([covered, random.garble("", PIECES), String::new()]);
        texts.extend((0..3).map(|_| random.pick(&names).clone()));
        Question { pattern, texts }
    };
    let agree = |_: &Question, ours: &Answer, theirs: &Answer| ours == theirs;
    Ok(Subject { name: "glob", ask: Box::new(ask), answer, agree, excuse })
}

fn excuse(question: &Question, ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    let mut differing = differing(&question.texts, &ours.matches, &theirs.matches);
    let bytes = ours.malformed == theirs.malformed
        && question.pattern.contains('*')
        && differing.all(|text| !text.is_ascii());
    bytes.then_some("`*?` on `é`: Go's star may end inside of a character")
}

fn answer(question: &Question) -> Answer {
    let glob = Glob::new(&question.pattern);
    let matches = |text: &String| glob.as_ref().is_ok_and(|glob| glob.matches(text));
    Answer {
        malformed: vec![glob.is_err(); question.texts.len()],
        matches: question.texts.iter().map(matches).collect(),
    }
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "*", "**", "?", "[", "]", "[]", "[^", "[^]", "^", "-", "!", "\\", "\\\\", "\\*", "/", "a", "b",
    "c", "a-c", "c-a", "[a-c]", "[a-]", "{a,b}", "é", "日", "😀", "\u{301}", "\u{fffd}", ".", "1",
    "\n", "\0", "\u{7f}", "\u{10ffff}",
];

/// A pattern, and a text that it covers unless one of its sets is empty.
fn made(random: &mut Random) -> (String, String) {
    let (mut pattern, mut text) = (String::new(), String::new());
    for _ in 0..random.below(9) {
        match random.below(10) {
            0..3 => {
                pattern.push('*');
                for _ in 0..random.below(4) {
                    text += random.word(CHARACTERS);
                }
            }
            3 => {
                pattern.push('?');
                text += random.word(CHARACTERS);
            }
            4 | 5 => set(random, &mut pattern, &mut text),
            6 => {
                let literal = random.word(&["*", "?", "[", "]", "\\", "-", "^", "a", "é", "/"]);
                pattern.push('\\');
                pattern += literal;
                text += literal;
            }
            _ => {
                let literal = random.word(CHARACTERS);
                pattern += literal;
                text += literal;
            }
        }
    }
    (pattern, text)
}

const CHARACTERS: &[&str] =
    &["a", "b", "c", "ab", "A", "1", ".", "-", "!", "^", "]", "{", "/", "é", "日", "😀", " "];

fn set(random: &mut Random, pattern: &mut String, text: &mut String) {
    const MEMBERS: &[&str] =
        &["a", "b", "c", "z", "0", "9", "é", "日", "^", "!", "[", "/", "\\]", "\\-", "\\\\", "\\a"];
    pattern.push('[');
    let negated = random.percent(25);
    if negated {
        pattern.push('^');
    }
    let mut covered = "q";
    for _ in 0..=random.below(3) {
        let low = random.word(MEMBERS);
        covered = low.trim_start_matches('\\');
        *pattern += low;
        if random.percent(30) {
            pattern.push('-');
            *pattern += random.word(MEMBERS);
        }
    }
    pattern.push(']');
    *text += if negated { "q" } else { covered };
}
