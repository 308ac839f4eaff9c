//! An Application's own spec, where it stands as text in a file (spec 21 §8).

use super::source_block::{self, Dialect, List, Wanted};
use super::yaml::{Kind, NodeId, Plan, Tree};
use super::{EditError, Edited, Keys, Problem, Wish};
use crate::image::{ImageReference, Repository};

const DIALECT: Dialect = Dialect { force_string: "forceString", flags_all: false, sorted: false };

/// Which source of an Application is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceRef {
    /// `spec.source`.
    Single,
    /// An element of `spec.sources`.
    Multi(usize),
    /// `spec.sourceHydrator.drySource`.
    DrySource,
}

/// What the source says for one image.
pub(super) fn read(
    text: &str,
    document: usize,
    source: SourceRef,
    keys: &Keys,
    configured: &Repository,
) -> Result<Option<ImageReference>, EditError> {
    let tree = Tree::parse(text)?;
    let source = find(&tree, document, source)?;
    source_block::current(&tree, source, keys, configured)
}

/// Makes the source hold the wished entries: those that are there are replaced in place, others
/// appended, a missing block is made.
pub(super) fn apply(
    text: &str,
    document: usize,
    source: SourceRef,
    wishes: &[Wish],
) -> Result<Edited, EditError> {
    let tree = Tree::parse(text)?;
    let source = find(&tree, document, source)?;
    let wanted = Wanted::of(wishes)?;
    let mut plan = Plan::new(&tree);
    for list in List::ALL.into_iter().filter(|list| wanted.has(*list)) {
        list.plan(&mut plan, source, DIALECT, &wanted)?;
    }
    plan.finish()
}

fn find(tree: &Tree<'_>, document: usize, source: SourceRef) -> Result<NodeId, EditError> {
    let Some(root) = tree.root(document)? else {
        return Err(EditError::key(format!("document {} is empty", document + 1)));
    };
    let (path, index): (&[&str], _) = match source {
        SourceRef::Single => (&["spec", "source"], None),
        SourceRef::Multi(index) => (&["spec", "sources"], Some(index)),
        SourceRef::DrySource => (&["spec", "sourceHydrator", "drySource"], None),
    };
    let mut node = Some(root);
    for key in path {
        node = node.and_then(|node| tree.get(node, key)).map(|node| tree.follow(node));
    }
    if let Some(index) = index {
        let item = node.and_then(|node| tree.items(node).get(index));
        node = item.map(|&item| tree.follow(item));
    }
    let name = path.join(".") + &index.map(|index| format!("[{index}]")).unwrap_or_default();
    match node {
        Some(node) if matches!(tree.kind(node), Kind::Mapping { .. }) => Ok(node),
        Some(node) => Err(tree.error(Problem::Key(format!("{name} is not a mapping")), node)),
        None => Err(tree.error(Problem::Key(format!("{name} does not exist")), root)),
    }
}
