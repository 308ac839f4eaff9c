//! The pure half computes and never talks (house rule 1): its sources name no clock, file, socket,
//! process or environment. Clippy bans the calls in `aiu-core` by its own `clippy.toml`; this rule
//! also covers `aiu-api`, sees code that clippy does not compile, and watches that the bans stay.

use super::code::{code_only, name_at, without_tests};
use super::{Finding, Tree};

const PURE_SOURCES: [&str; 2] = ["crates/aiu-core/src/", "crates/aiu-api/src/"];

const CLIPPY: &str = "crates/aiu-core/clippy.toml";

/// Parts of the standard library that talk to the world.
const WORLD: [&str; 5] = ["env", "fs", "net", "process", "thread"];

/// What `clippy.toml` must ban at least one path of.
const BANNED: [&str; 6] =
    ["std::env::", "std::fs::", "std::net::", "std::process::", "std::thread::", "::now"];

const REMEDY: &str =
    "take the value as an argument, leave the asking to an adapter (addresses are in `core::net`)";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = missing_bans(tree);
    for (path, text) in tree.with_extension("rs") {
        if PURE_SOURCES.iter().any(|folder| path.starts_with(folder)) {
            findings.extend(scan(path, text));
        }
    }
    findings
}

fn missing_bans(tree: &Tree) -> Vec<Finding> {
    let bans = tree.text(CLIPPY).unwrap_or_default();
    let missing = BANNED.into_iter().filter(|banned| {
        !bans.lines().any(|line| line.trim_start().starts_with('{') && line.contains(banned))
    });
    missing
        .map(|banned| {
            let what = format!("nothing of `{banned}` is banned in the core");
            Finding::new(CLIPPY, 1, what, "put the ban back")
        })
        .collect()
}

fn scan(path: &str, text: &str) -> Vec<Finding> {
    let code = code_only(text);
    let in_pure_code = |code: &str, at: usize, what: String| {
        Finding::new(path, 1 + code[..at].matches('\n').count(), what, REMEDY)
    };
    let mut findings = Vec::new();
    for (at, part) in std_parts(&code).into_iter().filter(|(_, part)| WORLD.contains(part)) {
        // Tests may read fixture files, and nothing else of the world.
        if part != "fs" {
            findings.push(in_pure_code(&code, at, format!("`std::{part}` in the pure half")));
        }
    }
    if !is_test_file(path) {
        let shipped = without_tests(&code);
        for (at, _) in std_parts(&shipped).into_iter().filter(|&(_, part)| part == "fs") {
            findings.push(in_pure_code(&shipped, at, "`std::fs` in the pure half".to_owned()));
        }
    }
    for (at, _) in code.match_indices("::now") {
        if name_at(&code, at + 2) == "now" {
            findings.push(in_pure_code(&code, at, "a clock is read in the pure half".to_owned()));
        }
    }
    findings.sort();
    findings.dedup();
    findings
}

fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// Every `NAME` of `std::NAME` and `std::{NAME, NAME::…}`, with its byte.
fn std_parts(code: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    for (at, found) in code.match_indices("std::") {
        let start = at + found.len();
        if code[start..].starts_with('{') {
            parts.extend(group(code, start));
        } else {
            parts.push((start, name_at(code, start)));
        }
    }
    parts
}

/// The names at the top of the group of imports whose brace is at `start`.
fn group(code: &str, start: usize) -> Vec<(usize, &str)> {
    let (mut names, mut depth, mut expected) = (Vec::new(), 0_usize, false);
    for (offset, c) in code[start..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            c if expected && !c.is_whitespace() => {
                names.push((start + offset, name_at(code, start + offset)));
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        expected = depth == 1 && (matches!(c, '{' | ',') || expected && c.is_whitespace());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const BANS: &str = r#"
  { path = "std::env::var" }, { path = "std::fs::read" }, { path = "std::net::TcpStream" },
  { path = "std::process::Command" }, { path = "std::thread::spawn" }, { path = "x::now" },
"#;

    fn found(path: &str, source: &str) -> Vec<String> {
        let findings = check(&Tree::of(&[(CLIPPY, BANS), (path, source)]));
        findings.iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
    }

    #[test]
    fn the_pure_half_names_nothing_of_the_world() {
        #[rustfmt::skip]
        let rows = [
            // source, what is found
            ("use std::collections::BTreeMap;",                 vec![]),
            ("// std::fs\nconst A: &str = \"std::env\";",       vec![]),
            ("fn f(now: Instant) { g::now_or_never(now) }",     vec![]),
            ("use std::{fmt, collections::{fs, net}};",         vec![]),
            ("use std::{\n    fmt,\n    fs,\n};",               vec!["3: `std::fs` in the pure half"]),
            ("use std::{env::var, fmt};",                       vec!["1: `std::env` in the pure half"]),
            ("\nlet x = std::fs::read(p);",                     vec!["2: `std::fs` in the pure half"]),
            ("let s: std::net::TcpStream;",                     vec!["1: `std::net` in the pure half"]),
            ("std::process::exit(1)",                           vec!["1: `std::process` in the pure half"]),
            ("let t = Instant::now();",                         vec!["1: a clock is read in the pure half"]),
            ("t.unwrap_or_else(Timestamp::now)",                vec!["1: a clock is read in the pure half"]),
            ("#[cfg(test)]\nmod tests { use std::fs; }",        vec![]),
            ("#[cfg(test)]\nmod tests { use std::net; }",       vec!["2: `std::net` in the pure half"]),
        ];
        for (source, expected) in rows {
            assert_eq!(found("crates/aiu-core/src/decide/mod.rs", source), expected, "{source}");
        }
    }

    #[test]
    fn it_is_asked_of_the_pure_half_alone_and_its_tests_read_fixtures() {
        let source = "use std::fs;";
        assert_eq!(found("crates/aiu-api/src/lib.rs", source).len(), 1);
        assert_eq!(found("crates/aiu-git/src/lib.rs", source), [""; 0]);
        assert_eq!(found("crates/aiu-core/src/edit/tests.rs", source), [""; 0]);
        assert_eq!(found("crates/aiu-core/tests/it/main.rs", source), [""; 0]);
    }

    #[test]
    fn a_ban_that_is_gone_is_missed() {
        let bans = BANS.replace("std::net", "std::ten").replace("  { path = \"std::env", "# {\"");
        let found = check(&Tree::of(&[(CLIPPY, &bans)]));
        let missed: Vec<_> = found.iter().map(|f| f.what.as_str()).collect();
        assert_eq!(
            missed,
            [
                "nothing of `std::env::` is banned in the core",
                "nothing of `std::fs::` is banned in the core",
                "nothing of `std::net::` is banned in the core"
            ]
        );
    }
}
