//! New values: the one thing of a file that is printed rather than kept.

use super::scalar;
use super::tree::Style;

/// A value that a file shall hold and does not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::edit) enum Value {
    /// A string, whatever it looks like.
    Text(String),
    /// `true` or `false`.
    Flag(bool),
    /// Keys and values in this order.
    Mapping(Vec<(String, Value)>),
    /// A list.
    Sequence(Vec<Value>),
}

/// How far a file indents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// From a key to the keys below it.
    pub(super) mapping: usize,
    /// From a key to the dashes below it.
    pub(super) dash: usize,
}

impl Value {
    pub(in crate::edit) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The lines of `key: value` in a block mapping whose keys stand at `indent`.
    pub(super) fn entry_lines(&self, key: &str, indent: usize, steps: Steps) -> Vec<String> {
        // Not by the formatter's width, which ends at 65,535.
        let key = " ".repeat(indent) + &scalar::print(key, Style::Plain, false, false) + ":";
        let mut lines = match self.as_short() {
            Some(short) => return vec![format!("{key} {short}")],
            None => vec![key],
        };
        lines.extend(self.lines_below(indent, steps));
        lines
    }

    /// The lines below a key that stands at `indent`; none for what stands beside its key.
    pub(super) fn lines_below(&self, indent: usize, steps: Steps) -> Vec<String> {
        match self {
            Self::Mapping(entries) => Self::mapping_lines(entries, indent + steps.mapping, steps),
            Self::Sequence(items) => {
                items.iter().flat_map(|item| item.item_lines(indent + steps.dash, steps)).collect()
            }
            Self::Text(_) | Self::Flag(_) => Vec::new(),
        }
    }

    pub(super) fn mapping_lines(
        entries: &[(String, Self)],
        indent: usize,
        steps: Steps,
    ) -> Vec<String> {
        entries.iter().flat_map(|(key, value)| value.entry_lines(key, indent, steps)).collect()
    }

    /// The lines of a list item whose dash stands at `dash`.
    pub(super) fn item_lines(&self, dash: usize, steps: Steps) -> Vec<String> {
        if let Some(short) = self.as_short() {
            return vec![format!("{}- {short}", " ".repeat(dash))];
        }
        let inner = Steps { mapping: 2, dash: 2 };
        let mut lines = match self {
            Self::Mapping(entries) => Self::mapping_lines(entries, dash + 2, steps),
            _ => self.lines_below(dash, inner),
        };
        if let Some(first) = lines.first_mut() {
            first.replace_range(dash..=dash, "-");
        }
        lines
    }

    /// What fits beside a key or dash.
    fn as_short(&self) -> Option<String> {
        match self {
            Self::Mapping(entries) if !entries.is_empty() => None,
            Self::Sequence(items) if !items.is_empty() => None,
            short => Some(short.flow(false, false)),
        }
    }

    /// In one line, as it stands inside braces (`flow`), or in a JSON text (`json`).
    pub(super) fn flow(&self, flow: bool, json: bool) -> String {
        let scalar = |text: &str| {
            let style = if json { Style::Double } else { Style::Plain };
            scalar::print(text, style, flow, false)
        };
        match self {
            Self::Text(text) => scalar(text),
            Self::Flag(flag) => flag.to_string(),
            Self::Mapping(entries) => {
                let entries: Vec<_> =
                    entries.iter().map(|(key, value)| value.flow_entry(key, json)).collect();
                format!("{{{}}}", entries.join(", "))
            }
            Self::Sequence(items) => {
                let items: Vec<_> = items.iter().map(|item| item.flow(true, json)).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }

    pub(super) fn flow_entry(&self, key: &str, json: bool) -> String {
        let style = if json { Style::Double } else { Style::Plain };
        format!("{}: {}", scalar::print(key, style, true, false), self.flow(true, json))
    }
}

/// A whole new text: two blanks a level, dashes not indented (spec 30 §4.4).
pub(in crate::edit) fn document(value: &Value) -> String {
    let Value::Mapping(entries) = value else { return value.flow(false, false) + "\n" };
    let mut text = Value::mapping_lines(entries, 0, Steps { mapping: 2, dash: 0 }).join("\n");
    text.push('\n');
    text
}

/// Puts a value under nested keys; the name of the key that already holds a text, if one does.
pub(super) fn nest(
    mut entries: &mut Vec<(String, Value)>,
    keys: &[&str],
    value: Value,
) -> Result<(), String> {
    let Some((&last, parents)) = keys.split_last() else { return Ok(()) };
    for &key in parents {
        let Value::Mapping(inner) = entry(entries, key) else { return Err(key.to_owned()) };
        entries = inner;
    }
    *entry(entries, last) = value;
    Ok(())
}

fn entry<'e>(entries: &'e mut Vec<(String, Value)>, key: &str) -> &'e mut Value {
    let at = entries.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
        entries.push((key.to_owned(), Value::Mapping(Vec::new())));
        entries.len() - 1
    });
    &mut entries[at].1
}
