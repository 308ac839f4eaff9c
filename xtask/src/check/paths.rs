//! Paths of one person's machine: they work for nobody else, and tell who wrote them.

use super::{Finding, Tree};

/// Folders that people work in. A slash is split off so that this file passes its own rule.
const PERSONAL: [&str; 4] =
    [concat!("/", "home/"), concat!("/", "Users/"), concat!("/", "root/"), concat!("/", "work/")];

/// Names that stand for whoever reads: examples, not leaks.
const ANYBODY: [&str; 4] = ["argocd", "me", "user", "you"];

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
/// path or an address, and with somebody's name after it.
fn begins_a_path(line: &str, folder: &str) -> bool {
    let inside_a_path = |c: char| c.is_alphanumeric() || "._-~/*)}>]".contains(c);
    line.match_indices(folder).any(|(at, _)| {
        let after = &line[at + folder.len()..];
        let name = after.split(|c: char| !(c.is_alphanumeric() || "._-".contains(c))).next();
        !line[..at].ends_with(inside_a_path)
            && name.is_some_and(|name| !name.is_empty() && !ANYBODY.contains(&name))
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
            ("HOME is ~home/me, or ~home/you", false),
            ("~home/me and ~home/ada",         true),
        ];
        for (line, expected) in rows {
            let line = line.replace('~', "/");
            let found = check(&Tree::of(&[("a.md", &line)]));
            assert_eq!(!found.is_empty(), expected, "given {line}");
        }
    }
}
