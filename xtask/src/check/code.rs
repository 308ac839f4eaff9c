//! Rust source as the rules read it: comments and literals blanked, lines kept.
//!
//! Not a parser. The rules look for words; this module makes sure that a word in a comment, a
//! message or a test is not taken for code.

/// The text with every comment, string and character literal replaced by spaces.
///
/// Line breaks stay where they are, so a line number of the result is one of the source.
pub(super) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, opaque) = match opaque(rest) {
            Some(length) => (length, true),
            None => (word(rest).unwrap_or(first.len_utf8()), false),
        };
        let (lexeme, after) = rest.split_at(length);
        if opaque {
            code.extend(lexeme.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        } else {
            code.push_str(lexeme);
        }
        rest = after;
    }
    code
}

/// The code (of [`code_only`]) with every item under `#[cfg(test)]` blanked as well.
pub(super) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        let item = &rest[at + MARK.len()..];
        let (hidden, after) = item.split_at(item_length(item));
        kept.push_str(&rest[..at]);
        kept.extend(hidden.chars().filter(|&c| c == '\n'));
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// Whether `word` stands in the code as a word of its own, and not as a part of a longer one.
pub(super) fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word)
        .any(|(at, _)| !code[..at].ends_with(is_part_of_a_name) && name_at(code, at) == word)
}

/// The name that begins at this byte; empty where none does.
pub(super) fn name_at(code: &str, at: usize) -> &str {
    let rest = &code[at..];
    &rest[..word(rest).unwrap_or(0)]
}

/// The length of the comment or literal that the text begins with.
fn opaque(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|&prefix| {
        text.strip_prefix(prefix).is_some_and(|body| body.starts_with(['"', '\'', '#']))
    })?;
    let body = &text[prefix.len()..];
    let literal = if prefix.ends_with('r') {
        raw_string(body)
    } else if body.starts_with('"') {
        Some(quoted(body, '"'))
    } else if body.starts_with('\'') && is_character(body) {
        Some(quoted(body, '\''))
    } else {
        None
    };
    Some(prefix.len() + literal?)
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of `#…#"…"#…#`; nothing if it is a raw identifier.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let body = text[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", &text[..hashes]);
    Some(body.find(&end).map_or(text.len(), |at| hashes + 1 + at + end.len()))
}

/// The length of a literal from its opening quote past its closing one.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        if c == '\\' {
            characters.next();
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

/// Tells `'a'` and `'\n'` from the lifetime `'a`.
fn is_character(text: &str) -> bool {
    let mut inside = text.chars().skip(1);
    match inside.next() {
        Some('\\') => true,
        Some(_) => inside.next() == Some('\''),
        None => false,
    }
}

/// The length of the name or number that the text begins with, so that the `r` of `for` does not
/// open a raw string.
fn word(text: &str) -> Option<usize> {
    let length = text.find(|c| !is_part_of_a_name(c)).unwrap_or(text.len());
    (length > 0).then_some(length)
}

pub(super) fn is_part_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of an item: to the brace that closes its body, or to its semicolon.
fn item_length(code: &str) -> usize {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (at, c) in code.char_indices() {
        match c {
            '{' => braces += 1,
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            '}' if braces <= 1 => return at + 1,
            '}' => braces -= 1,
            ';' if braces == 0 && brackets == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blank_and_code_stays() {
        #[rustfmt::skip]
        let rows = [
            // source, what is left of it without its spaces
            ("a(); // std::fs",                 "a();"),
            ("/* x /* y */ z */ b",             "b"),
            (r#"f("std::fs \" more", 'x')"#,    "f(,)"),
            (r##"g(r#"one " two"#, b"x")"##,    "g(,)"),
            (r"h('\'', '\\', b'\n')",           "h(,,)"),
            ("fn k<'a>(x: &'a str) {}",         "fnk<'a>(x:&'astr){}"),
            ("for x in r#type {}",              "forxinr#type{}"),
            ("let colour = \"ä\"; // ö",        "letcolour=;"),
        ];
        for (source, expected) in rows {
            let left: String = code_only(source).split_whitespace().collect();
            assert_eq!(left, expected, "given {source}");
        }
    }

    #[test]
    fn lines_keep_their_numbers() {
        let source = "one /* a\nb */\n\"c\nd\" two\n#[cfg(test)]\nmod tests {\n  x;\n}\nthree";
        let code = without_tests(&code_only(source));
        assert_eq!(code.lines().count(), source.lines().count());
        assert_eq!(code.lines().nth(3).map(str::trim), Some("two"));
        assert_eq!(code.lines().nth(8), Some("three"));
        assert!(!code.contains('x'));
    }

    #[test]
    fn only_the_item_under_the_mark_is_a_test() {
        let code = "#[cfg(test)] mod tests; #[cfg(test)] fn f(a: [u8; 2]) { { g } } fn h() {}";
        assert_eq!(without_tests(code).trim(), "fn h() {}");
    }

    #[test]
    fn a_word_is_not_a_part_of_a_longer_one() {
        assert!(has_word("allow(x)", "allow"));
        assert!(has_word("a::now(", "now"));
        assert!(!has_word("disallow(x)", "allow"));
        assert!(!has_word("allowed", "allow"));
    }
}
