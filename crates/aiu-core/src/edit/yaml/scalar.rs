//! How a text is written as a scalar, and what readers make of a plain one.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use super::tree::Style;

/// Plain scalars that YAML 1.1 or the core schema of YAML 1.2 reads as something other than a
/// string: Go's readers, Helm 2's and Python's are of the first kind, Rust's of the second.
static NOT_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^(?:
            | ~ | null | Null | NULL | << | =
            | (?i: y | yes | n | no | on | off | true | false )
            # integers: decimal with separators, octal (017, 0o17), binary, hexadecimal
            | [-+]? [0-9] [0-9_]* | [-+]? 0o [0-7_]+ | [-+]? 0b [01_]+ | [-+]? 0x [0-9a-fA-F_]+
            # floats
            | [-+]? (?: [0-9][0-9_]* (?: \. [0-9_]* )? | \. [0-9][0-9_]* ) (?: [eE] [-+]? [0-9]+ )?
            | [-+]? \. (?i: inf ) | \. (?i: nan )
            # base 60, as in 1:30
            | [-+]? [0-9][0-9_]* (?: : [0-5]? [0-9] )+ (?: \. [0-9_]* )?
            # dates, with or without a time
            | [0-9]{4} - [0-9]{1,2} - [0-9]{1,2} (?: [Tt\ \t] .* )?
        )$",
    )
    .expect("the pattern is constant")
});

/// Whether every reader takes this plain scalar for a string.
pub(in crate::edit) fn reads_as_text(plain: &str) -> bool {
    !NOT_TEXT.is_match(plain)
}

/// Writes `text` in the given style, or double-quoted where that style cannot hold it.
/// `is_text` says that a tag already makes it a string.
pub(super) fn print(text: &str, style: Style, flow: bool, is_text: bool) -> String {
    match style {
        Style::Plain if fits_plain(text, flow) && (is_text || reads_as_text(text)) => {
            text.to_owned()
        }
        Style::Single if !text.contains(is_special) => format!("'{}'", text.replace('\'', "''")),
        _ => double(text),
    }
}

/// Whether the grammar of plain scalars admits the text, in both versions of YAML.
fn fits_plain(text: &str, flow: bool) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    let indicator = match first {
        '-' => chars.next().is_none_or(|second| second == ' ' || ",[]{}".contains(second)),
        _ => "?:,[]{}#&*!|>'\"%@`".contains(first),
    };
    let marker = text.starts_with("---") || text.starts_with("...");
    !(indicator
        || marker
        || text.trim() != text
        || text.ends_with(':')
        || text.contains(": ")
        || text.contains(" #")
        || text.contains(is_special)
        || flow && text.contains([',', '[', ']', '{', '}']))
}

/// Characters that only escapes can carry safely.
fn is_special(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // JSON knows this form as well.
            c if is_special(c) => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes every write");
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
