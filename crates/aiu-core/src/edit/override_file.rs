//! `.argocd-source-<app>.yaml`: values that Argo CD lays over an Application's source
//! (spec 30 §4.4).

use super::source_block::{Dialect, List, Wanted, current};
use super::yaml::{self, Kind, NodeId, Plan, Tree, Value};
use super::{EditError, Edited, Keys, Problem, Wish};
use crate::image::{ImageReference, Repository};

const DIALECT: Dialect = Dialect { force_string: "forcestring", flags_all: true, sorted: true };

/// What the file says for one image.
pub(super) fn read(
    tree: &Tree<'_>,
    keys: &Keys,
    configured: &Repository,
) -> Result<Option<ImageReference>, EditError> {
    match root(tree)? {
        Some(root) => current(tree, root, keys, configured),
        None => Ok(None),
    }
}

/// Makes the file's list hold the wished entries, and each other list that something is wished
/// for; entries that nobody wishes stay.
///
/// The file's own list is made even if nothing is wished: `parameters: []` is what the reference
/// writes for a source whose images have no parameters (spec 32, A105). A caller that has
/// nothing to write asks for no edit.
pub(super) fn apply(text: Option<&str>, own: List, wishes: &[Wish]) -> Result<Edited, EditError> {
    let wanted = Wanted::of(wishes)?;
    let lists = List::ALL.into_iter().filter(|list| *list == own || wanted.has(*list));
    let text = text.unwrap_or_default();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let blocks = lists.map(|list| list.fresh(DIALECT, &wanted)).collect();
        return Ok(Edited::Changed(yaml::document(&Value::Mapping(blocks))));
    }
    let tree = Tree::parse(text)?;
    let mut plan = Plan::new(&tree);
    let root = root(&tree)?;
    for list in lists {
        if let Some(root) = root {
            list.plan(&mut plan, root, DIALECT, &wanted)?;
        } else {
            let (key, value) = list.fresh(DIALECT, &wanted);
            plan.put(None, &[&key], value)?;
        }
    }
    plan.finish()
}

/// The file's mapping. A file that is something else is not ours to replace (spec 32, A109).
fn root(tree: &Tree<'_>) -> Result<Option<NodeId>, EditError> {
    let Some(root) = tree.root(0)? else { return Ok(None) };
    if matches!(tree.kind(root), Kind::Mapping { .. }) {
        return Ok(Some(root));
    }
    let cause = "existing override file is not a mapping; refusing to replace it".to_owned();
    Err(tree.error(Problem::Key(cause), root))
}
