//! A filter guessed from one tag, for people to paste and correct.

/// An expression for `allowTags` that matches this tag and those like it: numbers and hashes
/// may differ, words may not. `main-7f3a9c2-17` gives `^main-[0-9a-f]+-[0-9]+$`.
pub(super) fn expression_like(tag: &str) -> String {
    let mut expression = String::from("^");
    let mut rest = tag;
    while !rest.is_empty() {
        let word = rest.find(['.', '-', '_']).unwrap_or(rest.len());
        push_word(&mut expression, &rest[..word]);
        rest = &rest[word..];
        if let Some(separator) = rest.chars().next() {
            if separator == '.' {
                expression.push('\\');
            }
            expression.push(separator);
            rest = &rest[separator.len_utf8()..];
        }
    }
    expression.push('$');
    expression
}

fn push_word(expression: &mut String, word: &str) {
    if is_hash(word) {
        expression.push_str("[0-9a-f]+");
        return;
    }
    let mut in_number = false;
    for c in word.chars() {
        if !c.is_ascii_digit() {
            expression.push(c);
        } else if !in_number {
            expression.push_str("[0-9]+");
        }
        in_number = c.is_ascii_digit();
    }
}

/// Short for a commit's name: seven hex digits or more, of both kinds.
fn is_hash(word: &str) -> bool {
    word.len() >= 7
        && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_lowercase())
}
