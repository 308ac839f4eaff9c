//! Paths of one person's machine: they work for nobody else, and tell who wrote them.

use super::{Finding, Tree};

/// Folders that people work in. A slash is split off so that this file passes its own rule.
const PERSONAL: [&str; 4] =
    [concat!("/", "home/"), concat!("/", "Users/"), concat!("/", "root/"), concat!("/", "work/")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        for (at, line) in text.lines().enumerate() {
            if let Some(found) = PERSONAL.into_iter().find(|&folder| begins_a_path(line, folder)) {
                let what = format!("`{found}…` is a path of one machine");
                let remedy = "write it relative to the root, or take it from the environment";
                findings.push(Finding::new(path, at + 1, what, remedy));
            }
        }
    }
    findings
}

/// Whether the folder stands in the line as the start of an absolute path: not within a longer
/// path or an address, and with a name after it.
fn begins_a_path(line: &str, folder: &str) -> bool {
    let inside_a_path = |c: char| c.is_alphanumeric() || "._-~/*)}>]".contains(c);
    line.match_indices(folder).any(|(at, _)| {
        !line[..at].ends_with(inside_a_path)
            && line[at + folder.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_paths_of_people_are_found() {
        #[rustfmt::skip]
        let rows = [
            // line (with ~ for the slash that opens the path), found
            ("see ~home/ada/notes",            true),
            ("KEY=~root/.ssh/id",              true),
            ("`~Users/ada`",                   true),
            ("cd ~work/main",                  true),
            ("https://host.test~home/page",    false),
            ("docs~work/plan.md",              false),
            ("${HOME}~work/x",                 false),
            ("the folder ~home/ of a system",  false),
        ];
        for (line, expected) in rows {
            let line = line.replace('~', "/");
            let found = check(&Tree::of(&[("a.md", &line)]));
            assert_eq!(!found.is_empty(), expected, "given {line}");
        }
    }
}
