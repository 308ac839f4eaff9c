//! Writing text so that other languages read it back as it was.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

/// For HTML, as Go's `html`.
pub(super) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => escaped.push('\u{fffd}'),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// For a string of JavaScript, as Go's `js`.
pub(super) fn js(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '\'' | '"' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '<' | '>' | '&' | '=' => push_code(&mut escaped, "\\u", c, 4),
            c if c < ' ' || !(c.is_ascii() || is_printable(c)) => {
                push_code(&mut escaped, "\\u", c, 4);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// For the query of a URL, as Go's `urlquery`: a space is a plus.
pub(super) fn url_query(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => escaped.push('+'),
            b'-' | b'_' | b'.' | b'~' => escaped.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => escaped.push(byte.into()),
            byte => {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
    }
    escaped
}

/// A string literal of Go, in double quotes, or in single ones for a character.
pub(super) fn quoted(text: &str, quote: char, ascii_only: bool) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push(quote);
    for c in text.chars() {
        push_quoted(&mut quoted, c, quote, ascii_only);
    }
    quoted.push(quote);
    quoted
}

fn push_quoted(quoted: &mut String, c: char, quote: char, ascii_only: bool) {
    let simple = match c {
        '\x07' => 'a',
        '\x08' => 'b',
        '\x0c' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x0b' => 'v',
        '\\' => '\\',
        c if c == quote => quote,
        c if c.is_ascii_graphic() || c == ' ' => return quoted.push(c),
        c if !c.is_ascii() && !ascii_only && is_printable(c) => return quoted.push(c),
        c if c < ' ' || c == '\x7f' => {
            let _ = write!(quoted, "\\x{:02x}", u32::from(c));
            return;
        }
        c if u32::from(c) < 0x1_0000 => {
            let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            return;
        }
        c => {
            let _ = write!(quoted, "\\U{:08x}", u32::from(c));
            return;
        }
    };
    quoted.push('\\');
    quoted.push(simple);
}

fn push_code(escaped: &mut String, prefix: &str, c: char, digits: usize) {
    let _ = write!(escaped, "{prefix}{:0digits$X}", u32::from(c));
}

/// Whether a back-quoted literal can hold the text.
pub(super) fn fits_back_quotes(text: &str) -> bool {
    !text.chars().any(|c| (c < ' ' && c != '\t') || matches!(c, '`' | '\x7f' | '\u{feff}'))
}

/// Letters, marks, numbers, punctuation and symbols: what Go's `unicode.IsPrint` accepts
/// beyond ASCII.
pub(super) fn is_printable(c: char) -> bool {
    static PRINTABLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[\pL\pM\pN\pP\pS ]$").expect("the expression is a constant that compiles")
    });
    PRINTABLE.is_match(c.encode_utf8(&mut [0; 4]))
}
