//! One log line: its fields, and what it looks like.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde_json::Value;
use tracing::Level;
use tracing::field::{Field, Visit};

/// Fields on every line of a command.
pub(super) type Standing = [(&'static str, &'static str)];

/// An event's message and its other fields, sorted by name.
#[derive(Debug, Default)]
pub(super) struct Fields {
    message: String,
    others: BTreeMap<&'static str, Value>,
    is_fatal: bool,
}

impl Fields {
    #[cfg(test)]
    pub(super) fn of(message: &str, others: &[(&'static str, &str)]) -> Self {
        let others = others.iter().map(|(name, value)| (*name, (*value).into())).collect();
        Self { message: message.to_owned(), others, is_fatal: false }
    }

    /// Takes over the fields of a span.
    pub(super) fn extend(&mut self, around: &Self) {
        self.others.extend(around.others.iter().map(|(name, value)| (*name, value.clone())));
    }

    /// The word of the line's level. `tracing` knows none above error.
    pub(super) fn level(&self, level: Level) -> &'static str {
        match level {
            _ if self.is_fatal => "fatal",
            Level::TRACE => "trace",
            Level::DEBUG => "debug",
            Level::INFO => "info",
            Level::WARN => "warning",
            Level::ERROR => "error",
        }
    }

    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        match field.name() {
            "message" => {
                let value = value.into();
                self.message = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            }
            "fatal" => self.is_fatal = true,
            name => {
                self.others.insert(name, value.into());
            }
        }
    }

    /// All fields by name, the standing ones too.
    fn all<'a>(&'a self, standing: &'a Standing) -> BTreeMap<&'a str, Value> {
        let standing = standing.iter().map(|(name, value)| (*name, Value::from(*value)));
        standing.chain(self.others.iter().map(|(name, value)| (*name, value.clone()))).collect()
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }
}

/// The time of a line: whole seconds.
pub(super) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `time="…" level=info msg="…" key=value`.
pub(super) fn text(now: &str, level: &str, fields: &Fields, standing: &Standing) -> String {
    let mut line = format!("time=\"{now}\" level={level} msg=");
    quoted(&mut line, &fields.message);
    for (name, value) in fields.all(standing) {
        let _ = write!(line, " {name}=");
        quoted(&mut line, &shown(&value));
    }
    line.push('\n');
    line
}

/// `INFO[0002] message padded to 44  key=value`, for eyes.
pub(super) fn colored(seconds: u64, level: &str, fields: &Fields, standing: &Standing) -> String {
    let color = match level {
        "trace" | "debug" => 37,
        "info" => 36,
        "warning" => 33,
        _ => 31,
    };
    let word: String = level.to_ascii_uppercase().chars().take(4).collect();
    let mut message = String::new();
    escaped(&mut message, &fields.message, false);
    let mut line = format!("\x1b[{color}m{word}\x1b[0m[{seconds:04}] {message:<44} ");
    for (name, value) in fields.all(standing) {
        let _ = write!(line, " \x1b[{color}m{name}\x1b[0m=");
        quoted(&mut line, &shown(&value));
    }
    line.push('\n');
    line
}

/// One object, its keys sorted. A field that has the name of one of the line's own goes under
/// another, as in the original.
pub(super) fn json(now: &str, level: &str, fields: &Fields, standing: &Standing) -> String {
    let mut object: BTreeMap<String, Value> = BTreeMap::new();
    for (name, value) in fields.all(standing) {
        let is_own = matches!(name, "level" | "msg" | "time");
        object.insert(if is_own { format!("fields.{name}") } else { name.to_owned() }, value);
    }
    object.insert("level".to_owned(), level.into());
    object.insert("msg".to_owned(), fields.message.as_str().into());
    object.insert("time".to_owned(), now.into());
    let mut line = serde_json::to_string(&object).unwrap_or_default();
    line.push('\n');
    line
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Bare if made only of letters, digits and `-._/@^+`, else quoted as Go does.
fn quoted(line: &mut String, value: &str) {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-._/@^+".contains(c);
    if value.chars().all(bare) {
        line.push_str(value);
        return;
    }
    line.push('"');
    escaped(line, value, true);
    line.push('"');
}

/// What could not be read, or would do something to a terminal, as Go writes it.
fn escaped(line: &mut String, value: &str, in_quotes: bool) {
    for c in value.chars() {
        let short = match c {
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\u{b}' => "\\v",
            '\u{c}' => "\\f",
            '"' if in_quotes => "\\\"",
            '\\' if in_quotes => "\\\\",
            _ => "",
        };
        let _ = match c {
            _ if !short.is_empty() => write!(line, "{short}"),
            c if c.is_ascii_control() => write!(line, "\\x{:02x}", u32::from(c)),
            c if c.is_control() || is_direction_mark(c) => {
                write!(line, "\\u{:04x}", u32::from(c))
            }
            c => write!(line, "{c}"),
        };
    }
}

/// Marks that reorder text: a tag may not hold them, but other people's messages may.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
