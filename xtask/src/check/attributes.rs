//! A silenced lint says why: `#[expect(lint, reason = "…")]`, which also speaks up when the lint
//! no longer fires. Clippy asks for the reason too, but only in code that it compiles.

use super::code::{code_only, has_word};
use super::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        let code = code_only(text);
        for (at, attribute) in attributes(&code) {
            let silences = has_word(attribute, "allow") || has_word(attribute, "expect");
            if silences && !has_word(attribute, "reason") {
                let line = 1 + code[..at].matches('\n').count();
                let what = "a lint is silenced without a reason";
                let remedy = "write `#[expect(lint, reason = \"…\")]`, or mend what it found";
                findings.push(Finding::new(path, line, what, remedy));
            }
        }
    }
    findings
}

/// Every `#[…]` and `#![…]`, with the byte where it begins.
fn attributes(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices('#').filter_map(|(at, _)| {
        let body = code[at + 1..].trim_start_matches('!');
        if !body.starts_with('[') {
            return None;
        }
        let mut depth = 0_usize;
        let end = body.find(|c: char| {
            match c {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        Some((at, &body[..end]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silenced_lint_says_why() {
        let source = "\
#![allow(dead_code)]
#[allow(unused, reason = \"one platform has no use for it\")]
#[cfg_attr(windows,
    allow(unused))]
#[expect(clippy::exit)]
fn f() -> &'static str { x.expect(\"#[allow(x)]\") }
// #[allow(x)]
#[cfg_attr(test, derive(Debug))]
struct Allow;
";
        let found = check(&Tree::of(&[("src/lib.rs", source)]));
        assert_eq!(found.iter().map(|f| f.line).collect::<Vec<_>>(), [1, 3, 5]);
    }
}
