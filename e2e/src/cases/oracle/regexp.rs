//! Regular expressions, as Go's `regexp` takes them.

#[rustfmt::skip]
mod pieces;

use aiu_core::regexp::{GoRegexp, InvalidRegexp};
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
    refused: String,
    matches: Vec<bool>,
}

pub(super) fn subject() -> Result<Subject<Question, Answer>> {
    let expressions = vectors::inputs("regexp.json", &["expr"])?;
    let tags = vectors::inputs("regexp.json", &["tags"])?;
    let ask = move |random: &mut Random| {
        let Made { expression, text } = Made::new(random);
        let pattern = random.vary(expression, &expressions, pieces::ERRORS);
        let mut texts = vec![text.to_uppercase(), random.garble(&text, pieces::CHARACTERS), text];
        texts.push(random.garble("", pieces::CHARACTERS));
        texts.extend((0..3).map(|_| random.pick(&tags).clone()));
        Question { pattern, texts }
    };
    let agree = |_: &Question, ours: &Answer, theirs: &Answer| ours == theirs;
    Ok(Subject { name: "regexp", ask: Box::new(ask), answer, agree, excuse })
}

fn excuse(question: &Question, ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    let names_two_words = || {
        let name = question.pattern.replace(['_', '-', ' '], "").to_lowercase();
        name.contains("{olditalic}") || name.contains("{^olditalic}")
    };
    let mut differing = differing(&question.texts, &ours.matches, &theirs.matches);
    if !ours.refused.is_empty() && !theirs.refused.is_empty() {
        Some("both refuse; of two errors, each names another")
    } else if ours.refused.starts_with("expression too large") {
        Some("`\\pL{1000}`: ours gives it less memory")
    } else if theirs.refused == "invalid character class range" && names_two_words() {
        Some("`\\p{Old_Italic}`: Go 1.25 finds no script whose name has two words")
    } else if ours.refused == theirs.refused
        && question.pattern.contains("LC}")
        && differing.all(|text| text.contains('\u{345}'))
    {
        Some("`(?i)\\p{LC}`: Go does not fold it, and leaves out U+0345")
    } else {
        None
    }
}

fn answer(question: &Question) -> Answer {
    match GoRegexp::new(&question.pattern) {
        Ok(expression) => Answer {
            refused: String::new(),
            matches: question.texts.iter().map(|text| expression.is_match(text)).collect(),
        },
        Err(error) => Answer { refused: kind(&error), matches: vec![false; question.texts.len()] },
    }
}

/// The error without the place it quotes.
fn kind(error: &InvalidRegexp) -> String {
    error.to_string().split(": `").next().unwrap_or_default().to_owned()
}

/// An expression, and a text that it often finds.
#[derive(Default)]
struct Made {
    expression: String,
    text: String,
}

impl Made {
    fn new(random: &mut Random) -> Self {
        let mut made = Self::default();
        for (percent, pieces) in [(25, pieces::FLAGS), (30, pieces::STARTS)] {
            if random.percent(percent) {
                made.expression += random.word(pieces);
            }
        }
        made.alternatives(random, 3);
        if random.percent(30) {
            made.expression += random.word(pieces::ENDS);
        }
        made
    }

    fn alternatives(&mut self, random: &mut Random, depth: usize) {
        let before = self.text.len();
        self.sequence(random, depth);
        while random.percent(15) {
            self.expression.push('|');
            self.text.truncate(before);
            self.sequence(random, depth);
        }
    }

    fn sequence(&mut self, random: &mut Random, depth: usize) {
        for _ in 0..random.below(4) {
            let before = self.text.len();
            self.atom(random, depth);
            if random.percent(25) {
                self.repetition(random, before);
            }
        }
    }

    fn atom(&mut self, random: &mut Random, depth: usize) {
        match random.below(20) {
            0..7 => self.literal(random),
            7 | 8 => self.put(".", random.word(pieces::CHARACTERS)),
            9..12 => self.class(random),
            12 | 13 => self.pair(random, pieces::NAMED_CLASSES),
            14 => self.property(random),
            15 => self.pair(random, pieces::ESCAPES),
            16 => {
                let quoted = random.garble("a.b", pieces::CHARACTERS);
                let end = random.word(&["\\E", "\\E", ""]);
                self.put(&["\\Q", &quoted, end].concat(), &quoted);
            }
            17 => self.put(random.word(pieces::EMPTY), ""),
            _ if depth == 0 => self.literal(random),
            _ => {
                self.expression += random.word(pieces::OPENERS);
                self.alternatives(random, depth - 1);
                self.expression.push(')');
            }
        }
    }

    fn put(&mut self, expression: &str, text: &str) {
        self.expression += expression;
        self.text += text;
    }

    fn pair(&mut self, random: &mut Random, pairs: &[(&str, &str)]) {
        let (expression, text) = random.pick(pairs);
        self.put(expression, text);
    }

    fn literal(&mut self, random: &mut Random) {
        let character = random.word(pieces::CHARACTERS);
        self.put(character, character);
    }

    fn property(&mut self, random: &mut Random) {
        let (name, text) = random.pick(pieces::PROPERTIES);
        let open = random.word(pieces::PROPERTY_OPENERS);
        let close = if open.starts_with('[') { "}]" } else { "}" };
        if name.len() == 1 && random.percent(30) {
            self.put(&["\\p", name].concat(), text);
        } else {
            self.put(&[open, name, close].concat(), text);
        }
    }

    fn class(&mut self, random: &mut Random) {
        self.expression += if random.percent(25) { "[^" } else { "[" };
        let mut covered = "";
        for _ in 0..=random.below(3) {
            if random.percent(50) {
                let (range, text) = random.pick(pieces::RANGES);
                self.expression += range;
                covered = text;
            } else {
                covered = random.word(pieces::MEMBERS);
                self.expression += covered;
            }
        }
        self.expression.push(']');
        self.text += covered;
    }

    /// A repetition of what stands since `before` in the text.
    fn repetition(&mut self, random: &mut Random, before: usize) {
        let odd = random.percent(25);
        let (repetition, times) =
            random.pick(if odd { pieces::ODD_REPETITIONS } else { pieces::REPETITIONS });
        self.expression += repetition;
        let once = self.text.split_off(before);
        self.text += &once.repeat(*times);
    }
}
