//! A flag's text, as what it means (spec 22 §2).

use super::duration::GoDuration;
use super::flags::{Flag, Kind};

/// A value that its flag takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Switch(bool),
    Text(String),
    Number(i64),
    Duration(GoDuration),
    List(Vec<String>),
}

/// Why a text is none of the values that a flag takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    Switch,
    Number,
    Below(i64),
    Above(i64),
    Duration(String),
    /// None of the words; the sentence is the original's where it has one.
    Choice {
        sentence: String,
    },
}

impl Value {
    /// The value that a text on the command line stands for.
    pub fn of(flag: &Flag, text: &str) -> Result<Self, Wrong> {
        Ok(match flag.kind {
            Kind::Switch => Self::Switch(go_bool(text).ok_or(Wrong::Switch)?),
            Kind::Text | Kind::Secret => Self::Text(text.to_owned()),
            Kind::Repeated => Self::List(vec![text.to_owned()]),
            Kind::List => Self::List(elements(text)),
            Kind::Number { least, most } => Self::Number(number(text, least, most, flag)?),
            Kind::Duration => {
                Self::Duration(text.parse().map_err(|error| Wrong::Duration(format!("{error}")))?)
            }
            Kind::Choice(_) if text == flag.default => Self::Text(text.to_owned()),
            Kind::Choice(words) => Self::Text(choice(flag.name, words, text)?),
        })
    }
}

fn number(text: &str, least: i64, most: i64, flag: &Flag) -> Result<i64, Wrong> {
    let value: i64 = text.parse().map_err(|_| Wrong::Number)?;
    match value {
        _ if value < least => Err(Wrong::Below(least)),
        // More than is wise is the user's business (the original takes any number); a port is not.
        _ if value > most && flag.name.ends_with("-port") => Err(Wrong::Above(most)),
        _ => Ok(value),
    }
}

/// Without empty ones.
fn elements(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// The words that Go takes for a boolean.
fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn choice(name: &str, words: &[&str], text: &str) -> Result<String, Wrong> {
    let text = if name == "loglevel" { text.to_lowercase() } else { text.to_owned() };
    if words.contains(&text.as_str()) {
        return Ok(text);
    }
    let sentence = match (name, text.as_str()) {
        // An empty method is the default one (spec 22 §3).
        ("git-commit-method", "") => return Ok("git".to_owned()),
        ("git-commit-method", _) => {
            format!("invalid value {text:?} for --git-commit-method: must be 'git' or 'api'")
        }
        ("loglevel", "warning") => return Ok("warn".to_owned()),
        ("loglevel", "fatal" | "panic") => {
            format!("invalid loglevel: {text}; use trace, debug, info, warn or error")
        }
        ("loglevel", _) => format!(
            "could not parse log level: {text:?} is none of trace, debug, info, warn and error"
        ),
        ("logformat", _) => format!("invalid log format '{text}'; use text or json"),
        _ => format!("invalid value {text:?} for --{name}: use {}", or(words)),
    };
    Err(Wrong::Choice { sentence })
}

fn or(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.join(""),
    }
}

impl Wrong {
    /// What is wrong with a flag of the command line.
    pub fn of_flag(&self, name: &str, text: &str) -> String {
        let fix = match self {
            Self::Choice { sentence } => return sentence.clone(),
            Self::Switch => "use true or false".to_owned(),
            Self::Number => "use a whole number".to_owned(),
            Self::Below(least) => format!("use {least} or more"),
            Self::Above(most) => format!("use {most} or less"),
            Self::Duration(why) => why.clone(),
        };
        format!("invalid argument {text:?} for \"--{name}\" flag: {fix}")
    }
}
