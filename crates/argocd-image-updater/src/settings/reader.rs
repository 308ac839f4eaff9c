//! Where a setting comes from: its flag, its variable, its key, its default (spec 22 §2; 40 B5).

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use crate::line::duration::GoDuration;
use crate::line::flags::{self, Built, Flag, Kind};
use crate::line::value::{Value, Wrong};
use crate::line::{Line, retired};

/// Looks up environment variables. An empty value counts as unset.
pub struct Environment(Box<dyn Fn(&str) -> Option<String>>);

impl Environment {
    /// The process's own environment.
    pub fn of_process() -> Self {
        Self(Box::new(|name| std::env::var(name).ok()))
    }

    /// An environment of these variables alone.
    pub fn of<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let variables: BTreeMap<String, String> =
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self(Box::new(move |name| variables.get(name).cloned()))
    }

    /// A variable that is set to something.
    pub fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }
}

/// Reads settings, and keeps what is to be told about them.
pub struct Reader<'a> {
    line: &'a Line,
    env: &'a Environment,
    config_map: &'a BTreeMap<String, String>,
    warnings: Vec<String>,
}

/// Where a value was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Flag,
    Variable(&'static str),
    Key(&'static str),
}

impl<'a> Reader<'a> {
    /// A reader of these; `config_map` is that of a folder, else empty.
    pub fn new(
        line: &'a Line,
        env: &'a Environment,
        config_map: &'a BTreeMap<String, String>,
    ) -> Self {
        Self { line, env, config_map, warnings: Vec::new() }
    }

    /// What there is to tell.
    pub fn into_warnings(self) -> Vec<String> {
        self.warnings
    }

    /// Adds something to tell.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// The folder's own text under a key that is no flag.
    pub fn folder_text(&self, key: &str) -> Option<&'a str> {
        self.config_map.get(key).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// The text of a flag that was given, also an empty one.
    pub fn given(&self, name: &str) -> Option<&'a str> {
        self.line.given(name)
    }

    /// A variable of the system's own.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.env.text(name)
    }

    pub fn switch(&mut self, name: &str) -> Result<bool> {
        match self.value(name)? {
            Value::Switch(value) => Ok(value),
            other => unreachable!("--{name} is a switch, not {other:?}"),
        }
    }

    pub fn text(&mut self, name: &str) -> Result<String> {
        match self.value(name)? {
            Value::Text(value) => Ok(value),
            other => unreachable!("--{name} is a text, not {other:?}"),
        }
    }

    /// A text, if it is not empty.
    pub fn some_text(&mut self, name: &str) -> Result<Option<String>> {
        Ok(Some(self.text(name)?).filter(|text| !text.is_empty()))
    }

    pub fn number(&mut self, name: &str) -> Result<usize> {
        match self.value(name)? {
            Value::Number(value) => Ok(usize::try_from(value).unwrap_or(0)),
            other => unreachable!("--{name} is a number, not {other:?}"),
        }
    }

    pub fn duration(&mut self, name: &str) -> Result<GoDuration> {
        match self.value(name)? {
            Value::Duration(value) => Ok(value),
            other => unreachable!("--{name} is a duration, not {other:?}"),
        }
    }

    pub fn list(&mut self, name: &str) -> Result<Vec<String>> {
        let flag = flags::row(self.line.verb, name);
        let mut all = Vec::new();
        for text in self.line.all(name) {
            if let Ok(Value::List(mut items)) = Value::of(flag, text) {
                all.append(&mut items);
            }
        }
        if !all.is_empty() {
            return Ok(all);
        }
        match self.value(name)? {
            Value::List(items) => Ok(items.into_iter().filter(|item| !item.is_empty()).collect()),
            other => unreachable!("--{name} is a list, not {other:?}"),
        }
    }

    fn find(&self, flag: &Flag) -> Option<(String, Place)> {
        if let Some(text) = self.line.given(flag.name) {
            return Some((text.to_owned(), Place::Flag));
        }
        let variable = flag.env.iter().find_map(|name| Some((self.env.text(name)?, *name)));
        if let Some((text, name)) = variable {
            return Some((text, Place::Variable(name)));
        }
        let text = Some(flag.key).filter(|key| !key.is_empty());
        let text = text.and_then(|key| self.folder_text(key));
        text.map(|text| (text.to_owned(), Place::Key(flag.key)))
    }

    fn value(&mut self, name: &str) -> Result<Value> {
        let flag = flags::row(self.line.verb, name);
        let default = || Value::of(flag, flag.default).expect("defaults are values");
        let Some((text, place)) = self.find(flag) else { return Ok(default()) };
        if place == Place::Flag {
            return match Value::of(flag, &text) {
                Ok(value) => {
                    self.tell_size(flag, &value);
                    Ok(value)
                }
                Err(wrong) => bail!("{}", wrong.of_flag(name, &text)),
            };
        }
        match of_environment(flag, &text) {
            Ok(value) => {
                self.tell_kube_events(place, &value);
                Ok(value)
            }
            Err(Wrong::Choice { sentence }) => bail!("{sentence} (from {})", place.name()),
            Err(wrong) => {
                self.warn(told(flag, &wrong, &text, place));
                Ok(default())
            }
        }
    }

    /// A number above what the original's variables allow works, as its flag does there.
    fn tell_size(&mut self, flag: &Flag, value: &Value) {
        if let (Kind::Number { most, .. }, Value::Number(value)) = (flag.kind, value)
            && *value > most
        {
            self.warn(format!(
                "Value of --{} is {value}, which is greater than the {most} that variables allow",
                flag.name
            ));
        }
    }

    /// The established name says the opposite of what it does (spec 22 §14).
    fn tell_kube_events(&mut self, place: Place, value: &Value) {
        let is_misleading = place == Place::Key("kube.events")
            || place == Place::Variable("IMAGE_UPDATER_KUBE_EVENTS");
        if is_misleading && *value == Value::Switch(true) {
            self.warn(format!(
                "{}=true switches events off, in spite of its name; --disable-kube-events or \
                 IMAGE_UPDATER_DISABLE_KUBE_EVENTS says so plainly",
                place.name()
            ));
        }
    }

    /// Refuses what this version cannot honour and must not ignore; tells what it ignores.
    pub fn heed_what_is_missing(&mut self) -> Result<()> {
        for flag in flags::of(self.line.verb) {
            let Some(name) = self.changed(flag) else { continue };
            match flag.built {
                Built::Yes => {}
                Built::Without(sentence) => {
                    self.warn(format!("{name} has no effect in this version: {sentence}"));
                }
                Built::Refused(sentence) => {
                    bail!("{name} cannot be honoured by this version: {sentence}; leave it out")
                }
            }
        }
        Ok(())
    }

    /// Where another value than the default comes from.
    fn changed(&self, flag: &Flag) -> Option<String> {
        if flag.built == Built::Yes {
            return None;
        }
        let (text, place) = self.find(flag)?;
        let value = match place {
            Place::Flag => Value::of(flag, &text),
            _ => of_environment(flag, &text),
        };
        let is_changed = value.is_ok() && value != Value::of(flag, flag.default);
        is_changed.then(|| match place {
            Place::Flag => format!("--{}", flag.name),
            _ => place.name().to_owned(),
        })
    }

    /// Names, once, what is left of the 0.x line (spec 22 §10).
    pub fn tell_retired_keys(&mut self) {
        let is_key = |key: &str| self.folder_text(key).is_some();
        let is_variable = |name: &str| self.env.text(name).is_some();
        if let Some(sentence) = retired::keys(is_key, is_variable) {
            self.warn(sentence);
        }
    }
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Flag => "the command line",
            Self::Variable(name) | Self::Key(name) => name,
        }
    }
}

/// The value of a variable or key: other words than on the command line, and limits.
fn of_environment(flag: &Flag, text: &str) -> Result<Value, Wrong> {
    match flag.kind {
        Kind::Switch => match text.to_ascii_lowercase().as_str() {
            "true" => Ok(Value::Switch(true)),
            "false" => Ok(Value::Switch(false)),
            _ => Err(Wrong::Switch),
        },
        Kind::Number { least, most } => match text.parse::<i64>() {
            Err(_) => Err(Wrong::Number),
            Ok(value) if value < least => Err(Wrong::Below(least)),
            Ok(value) if value > most => Err(Wrong::Above(most)),
            Ok(value) => Ok(Value::Number(value)),
        },
        _ => Value::of(flag, text),
    }
}

/// What is told of a value that is none: the original's sentences, where it has one.
fn told(flag: &Flag, wrong: &Wrong, text: &str, place: Place) -> String {
    let (name, default) = (place.name(), flag.default);
    match wrong {
        Wrong::Duration(_) => {
            let what = if matches!(place, Place::Key(_)) { "key" } else { "environment variable" };
            format!(
                "Invalid duration format '{text}' for {what} '{name}'. Using default value: {default}"
            )
        }
        Wrong::Number if matches!(place, Place::Key(_)) => {
            format!("Could not parse '{text}' as a number from key {name}")
        }
        Wrong::Number => format!("Could not parse '{text}' as a number from environment {name}"),
        Wrong::Below(least) => {
            format!("Value in {name} is {text}, which is less than minimum {least} allowed")
        }
        Wrong::Above(most) => {
            format!("Value in {name} is {text}, which is greater than maximum {most} allowed")
        }
        Wrong::Switch | Wrong::Choice { .. } => format!(
            "Value in {name} is neither true nor false; it counts as not set, which means {default}"
        ),
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
