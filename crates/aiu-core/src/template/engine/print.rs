//! Values as text, in the way of Go's `fmt`.

use super::value::Value;
use super::verb::{self, Style};

/// As an action shows it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Missing => "<no value>".to_owned(),
        value => plain(value),
    }
}

/// As `%v` shows it.
fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        value => {
            let mut out = String::new();
            verb::push_value(&mut out, value, 'v', &Style::default());
            out
        }
    }
}

/// One after the other, with a space between two of which neither is a text.
pub(super) fn joined(values: &[Value]) -> String {
    join(values, |value| matches!(value, Value::Text(_)), plain)
}

/// With a space between any two, and a line feed at the end.
pub(super) fn line(values: &[Value]) -> String {
    let shown: Vec<String> = values.iter().map(plain).collect();
    format!("{}\n", shown.join(" "))
}

/// As `joined`, for the functions that escape: what is missing is shown as a text there.
pub(super) fn joined_for_escape(values: &[Value]) -> String {
    join(values, |value| matches!(value, Value::Text(_) | Value::Missing), shown)
}

fn join(
    values: &[Value],
    is_text: impl Fn(&Value) -> bool,
    show: impl Fn(&Value) -> String,
) -> String {
    let mut out = String::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 && !is_text(value) && !is_text(&values[at - 1]) {
            out.push(' ');
        }
        out.push_str(&show(value));
    }
    out
}
