//! Data as YAML, the same bytes every time: keys sorted, one way of quoting.

use std::collections::BTreeMap;

use serde_json::Value;

/// The text of a document, without a marker before it.
#[must_use]
pub fn yaml(value: &Value) -> String {
    let mut text = String::new();
    node(&mut text, value, 0);
    text
}

/// Writes what follows a key or a dash, up to and including the line's end.
fn inner(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            text.push('\n');
            node(text, value, indent + 2);
        }
        Value::Array(list) if !list.is_empty() => {
            text.push('\n');
            node(text, value, indent);
        }
        _ => {
            text.push(' ');
            text.push_str(&scalar(value));
            text.push('\n');
        }
    }
}

/// Writes a value on lines of its own.
fn node(text: &mut String, value: &Value, indent: usize) {
    let margin = " ".repeat(indent);
    match value {
        Value::Object(map) if !map.is_empty() => {
            let sorted: BTreeMap<_, _> = map.iter().collect();
            for (key, value) in sorted {
                text.push_str(&margin);
                text.push_str(&quoted(key));
                text.push(':');
                inner(text, value, indent);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for value in list {
                text.push_str(&margin);
                text.push('-');
                match value {
                    // The first key stands beside the dash.
                    Value::Object(map) if !map.is_empty() => {
                        let mut block = String::new();
                        node(&mut block, value, indent + 2);
                        text.push(' ');
                        text.push_str(block.trim_start());
                    }
                    _ => inner(text, value, indent + 2),
                }
            }
        }
        _ => {
            text.push_str(&margin);
            text.push_str(&scalar(value));
            text.push('\n');
        }
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Object(_) => "{}".to_owned(),
        Value::Array(_) => "[]".to_owned(),
        other => other.to_string(),
    }
}

/// A string bare where every parser reads it as that string, else as JSON has it.
fn quoted(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || " .,-_/()`'".contains(c);
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text.chars().all(bare);
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if word && !reserved.contains(&text.to_lowercase().as_str()) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_read_back_as_what_it_was() {
        let value = json!({
            "plain": "some words, and more", "empty": "", "no": "yes", "number": "1.5", "hash": "a # b",
            "colon": "a: b", "quote": "say \"x\"", "lines": "a\nb", "dash": "- a", "list": [1, [2, "3"], {"b": {}, "a": []}, {"c": [{"d": null}]}],
            "truth": [true, false], "pattern": "^[a-z]\\.$", "space": "a ", "umlaut": "ä",
        });
        let text = yaml(&value);
        let read: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(read, value, "{text}");
    }

    #[test]
    fn keys_are_sorted_and_lists_stand_below_their_key() {
        let value = json!({"b": [{"z": 1, "x": [2]}], "a": {"c": "d"}});
        assert_eq!(yaml(&value), "a:\n  c: d\nb:\n- x:\n  - 2\n  z: 1\n");
    }
}
