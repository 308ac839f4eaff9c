//! What no compiler checks: the rules of `ARCHITECTURE.md` that a reviewer should not have to
//! look for. One file per rule, each a function from the tree to its findings; this file runs
//! them all and prints what they found.

mod attributes;
mod code;
mod fences;
mod graph;
mod lengths;
mod links;
mod names;
mod paths;
mod purity;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;

use anyhow::{Result, ensure};

use crate::cargo;
use graph::Graph;
use tree::Tree;

/// One place that breaks a rule, said so that the reader knows what to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// Relative to the root, with `/`.
    path: String,
    /// Counted from 1.
    line: usize,
    what: String,
    remedy: &'static str,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>, remedy: &'static str) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), remedy }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.path, self.line, self.what, self.remedy)
    }
}

/// Checks the workspace; prints a line per finding and fails if there is one.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::load(&cargo::workspace()?)?;
    let graph = Graph::load()?;
    let findings = findings(&tree, &graph);
    for finding in &findings {
        println!("{finding}");
    }
    ensure!(findings.is_empty(), "{} broken rule(s), listed above", findings.len());
    println!("{} files keep the rules", tree.len());
    Ok(())
}

fn findings(tree: &Tree, graph: &Graph) -> Vec<Finding> {
    let mut findings = [
        fences::check(tree, graph),
        purity::check(tree),
        lengths::check(tree),
        links::check(tree),
        names::check(tree, graph),
        attributes::check(tree),
        paths::check(tree),
    ]
    .concat();
    findings.sort();
    findings
}
