//! What numbers, characters and strings in a template mean (Go's rules for constants).

use super::Fault;
use super::tree::Operand;

/// A number of any base, or one with a fraction or an exponent.
pub(super) fn number(text: &str) -> Result<Operand, Fault> {
    let illegal = || Fault::new(format!("illegal number syntax: {text:?}"));
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") if !lower.contains(['.', 'p']) => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ if lower.contains(['.', 'e', 'p']) => return float(text).ok_or_else(illegal),
        // As in C, a leading zero means octal.
        _ if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, &*lower),
    };
    if !separators_are_between_digits(digits, radix != 10) {
        return Err(illegal());
    }
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(illegal());
    }
    match i128::from_str_radix(&digits, radix).map(|value| i64::try_from(sign * value)) {
        Ok(Ok(value)) => Ok(Operand::Integer(value)),
        _ => Err(Fault::new(format!("integer overflow: {text:?}"))),
    }
}

/// `1_000`: each `_` has a digit behind it, and one before it or the base's prefix.
fn separators_are_between_digits(digits: &str, prefixed: bool) -> bool {
    !digits.ends_with('_') && !digits.contains("__") && (prefixed || !digits.starts_with('_'))
}

/// A decimal number with fraction or exponent. Hexadecimal ones are not read.
fn float(text: &str) -> Option<Operand> {
    let is_decimal = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-' | '_');
    // Each `_` stands between two digits.
    let runs = || text.split(|c: char| c != '_' && !c.is_ascii_digit());
    if !text.chars().all(is_decimal) || runs().any(|run| !separators_are_between_digits(run, false))
    {
        return None;
    }
    let value: f64 = text.replace('_', "").parse().ok()?;
    value.is_finite().then_some(Operand::Float(value))
}

/// A character in single quotes, which is a number.
pub(super) fn character(quoted: &str) -> Result<Operand, Fault> {
    let text = unquoted(quoted)?;
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => Ok(Operand::Integer(u32::from(only).into())),
        _ => Err(Fault::new(format!("malformed character constant: {quoted}"))),
    }
}

/// What stands between two quotes of either kind, its escapes resolved.
pub(super) fn unquoted(quoted: &str) -> Result<String, Fault> {
    let invalid = || Fault::new(format!("invalid syntax in {quoted}"));
    let quote = quoted.chars().next().ok_or_else(invalid)?;
    let inner = &quoted[1..quoted.len() - 1];
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        rest = unescape(escape, quote, &mut bytes).ok_or_else(invalid)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).map_err(|_| Fault::new(format!("{quoted} is not valid UTF-8")))
}

/// Resolves the escape behind a `\` and gives what stands behind it.
fn unescape<'t>(escape: &'t str, quote: char, bytes: &mut Vec<u8>) -> Option<&'t str> {
    let mut characters = escape.chars();
    let simple = match characters.next()? {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        c if c == quote => u8::try_from(quote).ok()?,
        'x' => return numeric(escape, 1, 2, 16, bytes),
        'u' => return numeric(escape, 1, 4, 16, bytes),
        'U' => return numeric(escape, 1, 8, 16, bytes),
        '0'..='7' => return numeric(escape, 0, 3, 8, bytes),
        _ => return None,
    };
    bytes.push(simple);
    Some(characters.as_str())
}

/// `count` digits from byte `start` on. Two hexadecimal and three octal digits are a byte,
/// longer ones a character.
fn numeric<'t>(
    escape: &'t str,
    start: usize,
    count: usize,
    radix: u32,
    bytes: &mut Vec<u8>,
) -> Option<&'t str> {
    let digits = escape.get(start..start + count)?;
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = u32::from_str_radix(digits, radix).ok()?;
    if count < 4 {
        bytes.push(u8::try_from(value).ok()?);
    } else {
        bytes.extend_from_slice(char::from_u32(value)?.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(&escape[start + count..])
}
