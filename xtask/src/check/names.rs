//! Names that say nothing: a module is called after what it is for.

use super::code::{code_only, is_part_of_a_name};
use super::{Finding, Graph, Tree};

/// House rule 17.
const EMPTY_NAMES: [&str; 4] = ["util", "utils", "common", "misc"];

const REMEDY: &str = "name it after what it is for, or move its parts to those who use them";

pub(super) fn check(tree: &Tree, graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        for (at, line) in code_only(text).lines().enumerate() {
            if let Some(name) = declared_module(line).filter(|name| EMPTY_NAMES.contains(name)) {
                let what = format!("module `{name}` has a name that says nothing");
                findings.push(Finding::new(path, at + 1, what, REMEDY));
            }
        }
    }
    for package in &graph.packages {
        if package.name.rsplit('-').next().is_some_and(|last| EMPTY_NAMES.contains(&last)) {
            let what = format!("crate `{}` has a name that says nothing", package.name);
            findings.push(Finding::new(&package.manifest, 1, what, REMEDY));
        }
    }
    findings
}

/// The name in `mod NAME;` or `mod NAME {`, whatever stands before `mod`.
fn declared_module(line: &str) -> Option<&str> {
    let mut words = line.split(|c: char| !is_part_of_a_name(c));
    words.by_ref().find(|&word| word == "mod")?;
    words.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_called_after_what_it_is_for() {
        let source =
            "mod tags;\npub(crate) mod utils;\n// mod misc;\nmod common {\n}\nmod commonly;";
        let graph = Graph::parse(
            br#"{"workspace_root": "/w", "packages": [
                {"name": "aiu-common", "manifest_path": "/w/crates/aiu-common/Cargo.toml", "dependencies": []}
            ]}"#,
        );
        let found = check(&Tree::of(&[("src/lib.rs", source)]), &graph.unwrap());
        let places: Vec<_> = found.iter().map(|f| (f.path.as_str(), f.line)).collect();
        assert_eq!(
            places,
            [("src/lib.rs", 2), ("src/lib.rs", 4), ("crates/aiu-common/Cargo.toml", 1)]
        );
    }
}
