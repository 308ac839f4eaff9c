//! What may stand behind a `\`, apart from classes and assertions.

use super::cursor::Cursor;
use super::{InvalidRegexp, excerpt};

/// A code point as Go sees it: it may be a surrogate, which no text contains.
pub(super) type CodePoint = u32;

const MAX_CODE_POINT: CodePoint = char::MAX as u32;

/// Reads one character behind the `\` at `start`; `cursor` stands behind that `\`.
pub(super) fn character(
    cursor: &mut Cursor<'_>,
    start: Cursor<'_>,
) -> Result<CodePoint, InvalidRegexp> {
    let Some(introducer) = cursor.next() else { return Err(InvalidRegexp::TrailingBackslash) };
    let read = match introducer {
        // One digit alone would be a back-reference.
        '1'..='7' if !cursor.peek().is_some_and(is_octal) => None,
        '0'..='7' => Some(octal(introducer, cursor)),
        'x' => hexadecimal(cursor),
        'a' => Some(0x07),
        'f' => Some(0x0c),
        'n' => Some(0x0a),
        'r' => Some(0x0d),
        't' => Some(0x09),
        'v' => Some(0x0b),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(c.into()),
        _ => None,
    };
    read.ok_or_else(|| InvalidRegexp::Escape(excerpt(cursor.since(start))))
}

fn is_octal(c: char) -> bool {
    matches!(c, '0'..='7')
}

/// Up to three digits.
fn octal(first: char, cursor: &mut Cursor<'_>) -> CodePoint {
    let mut value = u32::from(first) - u32::from('0');
    for _ in 0..2 {
        let Some(digit) = cursor.next_if(is_octal) else { break };
        value = value * 8 + (u32::from(digit) - u32::from('0'));
    }
    value
}

/// Two digits, or any number of them in braces.
fn hexadecimal(cursor: &mut Cursor<'_>) -> Option<CodePoint> {
    if !cursor.eat("{") {
        let (high, low) = (cursor.next()?.to_digit(16)?, cursor.next()?.to_digit(16)?);
        return Some(high * 16 + low);
    }
    let mut value = None;
    while !cursor.eat("}") {
        let next = value.unwrap_or(0) * 16 + cursor.next()?.to_digit(16)?;
        value = Some(next).filter(|&next| next <= MAX_CODE_POINT);
        value?;
    }
    value
}
