//! Sets of characters: `[…]`, `\d` and its kind, `\p{…}`.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::cursor::Cursor;
use super::escape::{self, CodePoint};
use super::{InvalidRegexp, excerpt};

/// Reads a class in brackets; `cursor` stands behind the `[` at `start`.
pub(super) fn bracketed(
    cursor: &mut Cursor<'_>,
    start: Cursor<'_>,
    fold_case: bool,
) -> Result<ClassUnicode, InvalidRegexp> {
    let negated = cursor.eat("^");
    let mut class = ClassUnicode::empty();
    let mut first = true;
    while first || !cursor.eat("]") {
        // A `]` in the first place is meant literally.
        first = false;
        let item = *cursor;
        if let Some(named) = named(cursor, fold_case)? {
            class.union(&named);
        } else if cursor.eat("\\")
            && let Some(set) = escaped(cursor, item, fold_case)?
        {
            class.union(&set);
        } else {
            *cursor = item;
            let low = member(cursor, start)?;
            push(&mut class, low, range_end(cursor, item, start, low)?);
        }
    }
    Ok(finish(class, fold_case, negated))
}

/// What stands behind the `-` of a range, or `low` again if there is no range.
fn range_end(
    cursor: &mut Cursor<'_>,
    item: Cursor<'_>,
    start: Cursor<'_>,
    low: CodePoint,
) -> Result<CodePoint, InvalidRegexp> {
    let rest = cursor.rest();
    // A `-` before the `]` is meant literally.
    if rest.len() < 2 || !rest.starts_with('-') || rest.starts_with("-]") {
        return Ok(low);
    }
    cursor.next();
    let high = member(cursor, start)?;
    if high < low { Err(InvalidRegexp::ClassRange(excerpt(cursor.since(item)))) } else { Ok(high) }
}

/// One character of a class, escaped or not.
fn member(cursor: &mut Cursor<'_>, start: Cursor<'_>) -> Result<CodePoint, InvalidRegexp> {
    let before = *cursor;
    match cursor.next() {
        None => Err(InvalidRegexp::OpenClass(excerpt(start.rest()))),
        Some('\\') => escape::character(cursor, before),
        Some(c) => Ok(c.into()),
    }
}

/// A set named by a letter behind the `\` at `start`: `\d`, `\pL`. `None` if the letter
/// names none; then nothing was read.
pub(super) fn escaped(
    cursor: &mut Cursor<'_>,
    start: Cursor<'_>,
    fold_case: bool,
) -> Result<Option<ClassUnicode>, InvalidRegexp> {
    let Some(letter) = cursor.peek() else { return Ok(None) };
    let ranges: &[(char, char)] = match letter.to_ascii_lowercase() {
        'd' => &[('0', '9')],
        's' => &[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')],
        'w' => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        'p' => return unicode(cursor, start, fold_case).map(Some),
        _ => return Ok(None),
    };
    cursor.next();
    Ok(Some(finish(of_ranges(ranges), fold_case, letter.is_ascii_uppercase())))
}

/// `[:alpha:]` and its kind inside of brackets, `[:^alpha:]` for the opposite.
fn named(cursor: &mut Cursor<'_>, fold_case: bool) -> Result<Option<ClassUnicode>, InvalidRegexp> {
    let mut ahead = *cursor;
    if !ahead.eat("[:") {
        return Ok(None);
    }
    let negated = ahead.eat("^");
    let Some(name) = ahead.until(":]") else { return Ok(None) };
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return Err(InvalidRegexp::ClassRange(excerpt(ahead.since(*cursor)))),
    };
    *cursor = ahead;
    Ok(Some(finish(of_ranges(ranges), fold_case, negated)))
}

/// `\pL`, `\p{Greek}`, `\P{^Greek}`; `cursor` stands behind the `\` at `start`.
fn unicode(
    cursor: &mut Cursor<'_>,
    start: Cursor<'_>,
    fold_case: bool,
) -> Result<ClassUnicode, InvalidRegexp> {
    let mut negated = cursor.next() == Some('P');
    let name = if cursor.eat("{") {
        negated ^= cursor.eat("^");
        cursor.until("}")
    } else {
        let rest = cursor.rest();
        cursor.next().map(|letter| &rest[..letter.len_utf8()])
    };
    match name.and_then(by_property) {
        Some(class) => Ok(finish(class, fold_case, negated)),
        None => Err(InvalidRegexp::ClassRange(excerpt(cursor.since(start)))),
    }
}

/// The characters of a general category or of a script, by names as Go 1.25 takes them:
/// case, spaces, `_` and `-` do not count.
fn by_property(name: &str) -> Option<ClassUnicode> {
    /// All scripts whose full name has four letters. Others of that length are short codes
    /// (`Latn`), which Go does not know.
    const SHORT_SCRIPTS: [&str; 8] =
        ["ahom", "cham", "kawi", "lisu", "modi", "newa", "thai", "toto"];

    let name: String = name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).collect();
    let name = name.to_ascii_lowercase();
    // `is` in front is ignored by the crate, but not by Go.
    if name.is_empty() || name.starts_with("is") || !name.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    if matches!(&*name, "cs" | "surrogate") {
        return Some(ClassUnicode::empty());
    }
    let is_script = name.len() != 4 || SHORT_SCRIPTS.contains(&&*name);
    lookup("gc", &name).or_else(|| if is_script { lookup("sc", &name) } else { None })
}

/// Asks the crate's tables.
fn lookup(property: &str, value: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(&format!(r"\p{{{property}={value}}}")).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        // A category of one character (`\p{Zl}`).
        HirKind::Literal(literal) => {
            let only = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(of_ranges(&[(only, only)]))
        }
        _ => None,
    }
}

/// Both cases if asked, then the opposite if asked; in this order, as in Go.
fn finish(mut class: ClassUnicode, fold_case: bool, negated: bool) -> ClassUnicode {
    if fold_case {
        class.case_fold_simple();
    }
    if negated {
        join_across_surrogates(&mut class);
        class.negate();
    }
    class
}

/// Makes one range of two that meet where the surrogates would be. The crate takes them for
/// apart, and its negation then holds the characters on both sides of the gap.
fn join_across_surrogates(class: &mut ClassUnicode) {
    let (below, above) = ('\u{d7ff}', '\u{e000}');
    if class.iter().any(|range| range.end() == below)
        && class.iter().any(|range| range.start() == above)
    {
        class.push(ClassUnicodeRange::new(below, above));
    }
}

/// The class of one character.
pub(super) fn of_character(character: CodePoint, fold_case: bool) -> ClassUnicode {
    let mut class = ClassUnicode::empty();
    push(&mut class, character, character);
    finish(class, fold_case, false)
}

fn of_ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(low, high)| ClassUnicodeRange::new(low, high)))
}

/// Adds a range, less the surrogates in it.
fn push(class: &mut ClassUnicode, low: CodePoint, high: CodePoint) {
    const BELOW_SURROGATES: CodePoint = 0xd7ff;
    const ABOVE_SURROGATES: CodePoint = 0xe000;
    for (low, high) in [(low, high.min(BELOW_SURROGATES)), (low.max(ABOVE_SURROGATES), high)] {
        if low <= high
            && let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high))
        {
            class.push(ClassUnicodeRange::new(low, high));
        }
    }
}
