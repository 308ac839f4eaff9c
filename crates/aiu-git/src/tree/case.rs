//! Paths that differ from wanted ones in upper and lower case alone.
//!
//! Such a file is not the wanted one, and to make another beside it would do harm: on disks
//! that do not tell the two apart nobody could check the branch out any more. Only letters of
//! ASCII are compared.

use std::collections::{BTreeSet, HashMap};

use aiu_core::batch::FilePath;

use super::folders;

/// How the wanted paths, and the folders on the way to them, are spelled in a tree.
pub(super) struct Spellings<'a> {
    /// By their lower-case form.
    known: HashMap<String, Known<'a>>,
    buffer: String,
}

#[derive(Default)]
struct Known<'a> {
    /// As they are wanted, and whether the tree has them so.
    wanted: Vec<(&'a str, bool)>,
    /// The first other one in the tree.
    other: Option<String>,
}

impl<'a> Spellings<'a> {
    pub(super) fn of(wanted: &'a BTreeSet<FilePath>) -> Self {
        let mut known: HashMap<String, Known<'a>> = HashMap::new();
        for path in wanted {
            for step in steps(path.as_str()) {
                let spellings = &mut known.entry(step.to_ascii_lowercase()).or_default().wanted;
                if spellings.iter().all(|(it, _)| *it != step) {
                    spellings.push((step, false));
                }
            }
        }
        Self { known, buffer: String::new() }
    }

    /// Takes note of a file of the tree.
    pub(super) fn see(&mut self, path: &str) {
        self.buffer.clear();
        self.buffer.push_str(path);
        self.buffer.make_ascii_lowercase();
        for step in steps(path) {
            let Some(known) = self.known.get_mut(&self.buffer[..step.len()]) else { continue };
            match known.wanted.iter_mut().find(|(wanted, _)| *wanted == step) {
                Some((_, seen)) => *seen = true,
                None if known.other.is_none() => known.other = Some(step.to_owned()),
                None => {}
            }
        }
    }

    /// What the tree has in place of a wanted path that it lacks: the path itself spelled another
    /// way, else the last missing folder on the way that is.
    pub(super) fn other(&self, path: &str) -> Option<&str> {
        let steps: Vec<&str> = steps(path).collect();
        let known = |step: &str| self.known.get(&step.to_ascii_lowercase());
        let missing = steps.into_iter().rev().map_while(|step| {
            let Known { wanted, other } = known(step)?;
            let is_there = wanted.iter().any(|(wanted, seen)| *wanted == step && *seen);
            // Somebody else may want what is there.
            let wanted = wanted.iter().find(|(wanted, seen)| *wanted != step && *seen);
            (!is_there).then(|| other.as_deref().or(wanted.map(|(wanted, _)| *wanted)))
        });
        missing.flatten().next()
    }
}

/// The folders above a path, outermost first, and the path itself.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    folders(path).chain(std::iter::once(path))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use aiu_core::batch::FilePath;

    use super::Spellings;

    #[test]
    fn what_is_spelled_another_way_is_told_where_the_own_way_is_missing() {
        #[rustfmt::skip]
        let rows: [(&str, &[&str], Option<&str>); 9] = [
            // wanted, what the tree has, what is there instead
            ("a/values.yaml", &["a/Values.yaml"],                    Some("a/Values.yaml")),
            ("a/values.yaml", &["A/values.yaml"],                    Some("A/values.yaml")),
            ("a/values.yaml", &["A/x.yaml"],                         Some("A")),
            ("a/values.yaml", &["a/x.yaml", "A/x.yaml"],             None),
            ("a/values.yaml", &["a/x.yaml", "A/Values.yaml"],        Some("A/Values.yaml")),
            ("a/b/c.yaml",    &["a/x.yaml", "a/B/x.yaml"],           Some("a/B")),
            ("a/values.yaml", &["b/values.yaml", "a/values.yml"],    None),
            ("ü/x.yaml",      &["Ü/x.yaml"],                         None),
            ("x.yaml",        &[],                                   None),
        ];
        for (wanted, tree, expected) in rows {
            let wanted = BTreeSet::from([FilePath::join("", wanted).unwrap()]);
            let mut spellings = Spellings::of(&wanted);
            for path in tree {
                spellings.see(path);
            }
            let path = wanted.first().unwrap().as_str();
            assert_eq!(spellings.other(path), expected, "{path} in {tree:?}");
        }
    }
}
