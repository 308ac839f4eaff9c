//! A file that nobody can read at one sitting is two files.

use super::{Finding, Tree};

/// House rule 17: 400 lines are normal, this is the limit.
const LIMIT: usize = 600;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_extension("rs")
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|&(_, lines)| lines > LIMIT)
        .map(|(path, lines)| {
            let what = format!("{lines} lines, the limit is {LIMIT}");
            Finding::new(path, LIMIT + 1, what, "split it by what its parts are for")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        let (full, over) = ("x\n".repeat(LIMIT), "x\n".repeat(LIMIT + 1));
        let tree = Tree::of(&[("full.rs", &full), ("over.rs", &over), ("over.md", &over)]);
        let found: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            ["over.rs:601: 601 lines, the limit is 600; split it by what its parts are for"]
        );
    }
}
