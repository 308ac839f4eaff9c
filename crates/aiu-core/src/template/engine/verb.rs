//! One value in the way that a verb of `printf` asks for.

use std::fmt::Write as _;

use super::escape;
use super::printf::MAX_OUTPUT;
use super::value::Value;

/// The flags, the width and the precision of a verb.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of Go's formats are independent")]
pub(super) struct Style {
    /// `+`: signs always.
    pub(super) plus: bool,
    /// `-`: to the left.
    pub(super) minus: bool,
    /// `#`: another form.
    pub(super) sharp: bool,
    /// A space where a sign could be.
    pub(super) space: bool,
    /// `0`: zeros instead of spaces.
    pub(super) zero: bool,
    /// `%+v`: names of fields.
    pub(super) field_names: bool,
    /// `%#v`: as it would stand in a Go program.
    pub(super) go_syntax: bool,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
}

impl Style {
    /// `+` and `#` have a meaning of their own before a `v`.
    pub(super) fn for_v(self) -> Self {
        Self { field_names: self.plus, go_syntax: self.sharp, plus: false, sharp: false, ..self }
    }
}

/// Appends a value as `verb` shows it.
pub(super) fn push_value(out: &mut String, value: &Value, verb: char, style: &Style) {
    if verb == 'T' {
        let name = value.type_name();
        let most = style.precision.unwrap_or(usize::MAX);
        return push_padded(out, &name.chars().take(most).collect::<String>(), style);
    }
    match value {
        // Verbs of Go's errors and pointers, which fit neither a whole nor its parts.
        value if matches!(verb, 'p' | 'w') => push_bad_verb(out, value, verb, style),
        Value::List(items) => {
            out.push_str(&brackets_before(value, style, "["));
            push_separated(out, items.iter(), style, |out, item| {
                push_value(out, item, verb, style);
            });
            out.push(if style.go_syntax { '}' } else { ']' });
        }
        Value::Map(entries) => {
            out.push_str(&brackets_before(value, style, "map["));
            push_separated(out, entries.iter(), style, |out, (key, value)| {
                push_value(out, &Value::text(key), verb, style);
                out.push(':');
                push_value(out, &Value::text(value), verb, style);
            });
            out.push(if style.go_syntax { '}' } else { ']' });
        }
        Value::Record(record) => {
            out.push_str(&brackets_before(value, style, "{"));
            push_separated(out, record.fields.iter(), style, |out, (name, value)| {
                if style.field_names || style.go_syntax {
                    out.push_str(name);
                    out.push(':');
                }
                push_value(out, value, verb, style);
            });
            out.push('}');
        }
        simple => match simple_value(simple, verb, style) {
            Some(Shown::Text(text)) => push_padded(out, &text, style),
            Some(Shown::Integer(text)) => push_padded(out, &text, &without_zeros(style)),
            Some(Shown::Float(text)) => push_float(out, &text, style),
            None => push_bad_verb(out, simple, verb, style),
        },
    }
}

/// What opens a composite value.
fn brackets_before(value: &Value, style: &Style, plain: &str) -> String {
    if style.go_syntax { format!("{}{{", value.type_name()) } else { plain.to_owned() }
}

fn push_separated<T>(
    out: &mut String,
    items: impl Iterator<Item = T>,
    style: &Style,
    mut push: impl FnMut(&mut String, T),
) {
    for (at, item) in items.enumerate() {
        if out.len() > MAX_OUTPUT {
            break;
        }
        if at > 0 {
            out.push_str(if style.go_syntax { ", " } else { " " });
        }
        push(out, item);
    }
}

/// A text that is not padded yet.
enum Shown {
    Text(String),
    /// Zeros that the width asks for are in it.
    Integer(String),
    /// Zeros that the width asks for go behind its sign.
    Float(String),
}

/// A value without parts; `None` if the verb is not for it.
fn simple_value(value: &Value, verb: char, style: &Style) -> Option<Shown> {
    match value {
        Value::Missing => (verb == 'v').then(|| Shown::Text("<nil>".to_owned())),
        Value::Bool(value) => matches!(verb, 't' | 'v').then(|| Shown::Text(value.to_string())),
        Value::Text(value) => text(value, verb, style).map(Shown::Text),
        Value::Integer(number) => integer(*number, verb, style),
        Value::Byte(byte) if verb == 'v' && style.go_syntax => {
            Some(Shown::Text(format!("{byte:#x}")))
        }
        Value::Byte(byte) => integer((*byte).into(), verb, style),
        Value::Float(number) => float(*number, verb, style).map(Shown::Float),
        Value::List(_) | Value::Map(_) | Value::Record(_) => None,
    }
}

fn text(value: &str, verb: char, style: &Style) -> Option<String> {
    let most = style.precision.unwrap_or(usize::MAX);
    let cut = match value.char_indices().nth(most) {
        Some((end, _)) => &value[..end],
        None => value,
    };
    match verb {
        'v' if style.go_syntax => Some(escape::quoted(cut, '"', false)),
        's' | 'v' => Some(cut.to_owned()),
        'q' if style.sharp && escape::fits_back_quotes(cut) => Some(format!("`{cut}`")),
        'q' => Some(escape::quoted(cut, '"', style.plus)),
        'x' | 'X' => Some(hexadecimal(&value.as_bytes()[..most.min(value.len())], verb, style)),
        _ => None,
    }
}

fn hexadecimal(bytes: &[u8], verb: char, style: &Style) -> String {
    let mut out = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        if at > 0 && style.space {
            out.push(' ');
        }
        if style.sharp && (at == 0 || style.space) {
            out.push('0');
            out.push(verb);
        }
        let _ = if verb == 'x' { write!(out, "{byte:02x}") } else { write!(out, "{byte:02X}") };
    }
    out
}

fn integer(number: i64, verb: char, style: &Style) -> Option<Shown> {
    let magnitude = number.unsigned_abs();
    let character = u32::try_from(number).ok().and_then(char::from_u32);
    let shown_character = || character.unwrap_or(char::REPLACEMENT_CHARACTER).to_string();
    let (digits, prefix) = match verb {
        'd' | 'v' => (magnitude.to_string(), ""),
        'b' => (format!("{magnitude:b}"), if style.sharp { "0b" } else { "" }),
        'o' => (format!("{magnitude:o}"), if style.sharp { "0" } else { "" }),
        'O' => (format!("{magnitude:o}"), "0o"),
        'x' => (format!("{magnitude:x}"), if style.sharp { "0x" } else { "" }),
        'X' => (format!("{magnitude:X}"), if style.sharp { "0X" } else { "" }),
        'c' => return Some(Shown::Text(shown_character())),
        'q' => {
            let quoted = escape::quoted(&shown_character(), '\'', style.plus);
            return Some(Shown::Text(quoted));
        }
        'U' => return Some(Shown::Integer(code_point(number, character, style))),
        _ => return None,
    };
    let sign = sign(number < 0, style);
    let digits = match style.precision {
        // A precision of zero shows a zero as nothing.
        Some(0) if number == 0 => return Some(Shown::Integer(String::new())),
        Some(least) => with_zeros(&digits, least),
        None if style.zero && !style.minus => {
            let least = style.width.unwrap_or(0).saturating_sub(sign.len());
            with_zeros(&digits, least)
        }
        None => digits,
    };
    let prefix = if prefix == "0" && digits.starts_with('0') { "" } else { prefix };
    Some(Shown::Integer(format!("{sign}{prefix}{digits}")))
}

/// Zeros up to a width. `format!` takes none above 65,535.
fn with_zeros(digits: &str, least: usize) -> String {
    "0".repeat(least.saturating_sub(digits.len())) + digits
}

/// How many decimals are to be asked for, and the zeros behind those.
fn decimals(wanted: usize) -> (usize, String) {
    /// No fraction has a digit that is not zero behind these.
    const MOST: usize = 1_100;
    (wanted.min(MOST), "0".repeat(wanted.saturating_sub(MOST)))
}

fn code_point(number: i64, character: Option<char>, style: &Style) -> String {
    let least = style.precision.unwrap_or(4).max(4);
    let mut out = format!("U+{}", with_zeros(&format!("{number:X}"), least));
    if style.sharp
        && let Some(character) = character
        && (character.is_ascii_graphic() || escape::is_printable(character))
    {
        let _ = write!(out, " '{character}'");
    }
    out
}

fn sign(negative: bool, style: &Style) -> &'static str {
    match (negative, style.plus, style.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn float(number: f64, verb: char, style: &Style) -> Option<String> {
    let magnitude = number.abs();
    let shown = match verb {
        'e' | 'E' => {
            let (precision, more) = decimals(style.precision.unwrap_or(6));
            exponential(&format!("{magnitude:.precision$e}").replace('e', &(more + "e")))
        }
        'f' | 'F' => {
            let (precision, more) = decimals(style.precision.unwrap_or(6));
            format!("{magnitude:.precision$}{more}")
        }
        'v' | 'g' | 'G' => general(magnitude, style.precision),
        _ => return None,
    };
    let shown = if style.sharp { with_point(&shown, verb, style.precision) } else { shown };
    let shown = if matches!(verb, 'E' | 'G') { shown.to_uppercase() } else { shown };
    Some(format!("{}{shown}", sign(number.is_sign_negative(), style)))
}

/// The other form of a fraction: with a point in any case, and where digits are counted, with
/// as many as there may be.
fn with_point(shown: &str, verb: char, precision: Option<usize>) -> String {
    let (mantissa, exponent) = shown.split_at(shown.find('e').unwrap_or(shown.len()));
    let significant = mantissa.trim_start_matches(['0', '.']).bytes();
    let count = significant.filter(u8::is_ascii_digit).count().max(usize::from(mantissa == "0"));
    let wanted = if matches!(verb, 'v' | 'g' | 'G') { precision.unwrap_or(6) } else { 0 };
    let point = if mantissa.contains('.') { "" } else { "." };
    format!("{mantissa}{point}{}{exponent}", "0".repeat(wanted.saturating_sub(count)))
}

/// `1.5e3` as `1.5e+03`.
fn exponential(shown: &str) -> String {
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((shown, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// With an exponent if that is shorter, and without trailing zeros.
fn general(magnitude: f64, precision: Option<usize>) -> String {
    let significant = precision.map(|digits| digits.max(1));
    let shown = match significant {
        Some(digits) => format!("{magnitude:.*e}", decimals(digits - 1).0),
        None => format!("{magnitude:e}"),
    };
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa = if mantissa.contains('.') {
        mantissa.trim_end_matches('0').trim_end_matches('.')
    } else {
        mantissa
    };
    let as_i32 = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let digits = as_i32(mantissa.bytes().filter(u8::is_ascii_digit).count());
    let limit = match significant.map(as_i32) {
        None => 6,
        Some(most) if most > digits && exponent < digits => digits,
        Some(most) => most,
    };
    if exponent < -4 || exponent >= limit {
        return exponential(&format!("{mantissa}e{exponent}"));
    }
    let decimals = usize::try_from(digits - 1 - exponent).unwrap_or(0);
    format!("{magnitude:.decimals$}")
}

/// Fills up to the width, in characters.
fn push_padded(out: &mut String, text: &str, style: &Style) {
    let missing = style.width.unwrap_or(0).saturating_sub(text.chars().count());
    let padding = if style.zero && !style.minus { "0" } else { " " }.repeat(missing);
    if style.minus {
        out.push_str(text);
        out.push_str(&padding);
    } else {
        out.push_str(&padding);
        out.push_str(text);
    }
}

fn without_zeros(style: &Style) -> Style {
    Style { zero: false, ..style.clone() }
}

/// As [`push_padded`], with zeros behind the sign.
fn push_float(out: &mut String, text: &str, style: &Style) {
    let unsigned = text.trim_start_matches(['+', '-', ' ']);
    let sign = &text[..text.len() - unsigned.len()];
    if style.zero && !style.minus && !sign.is_empty() {
        let width = style.width.unwrap_or(0).saturating_sub(sign.len());
        out.push_str(sign);
        out.push_str(&with_zeros(unsigned, width));
    } else {
        push_padded(out, text, style);
    }
}

/// Says that the verb is not for this value, and shows the value nevertheless.
fn push_bad_verb(out: &mut String, value: &Value, verb: char, style: &Style) {
    out.push_str("%!");
    out.push(verb);
    out.push('(');
    if let Value::Missing = value {
        out.push_str("<nil>");
    } else {
        out.push_str(&value.type_name());
        out.push('=');
        push_value(out, value, 'v', style);
    }
    out.push(')');
}
