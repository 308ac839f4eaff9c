//! Plain manifests: image fields of pods, wherever a pod's template stands (spec 40 B3).

use std::collections::BTreeSet;

use super::lists::is_same_repository;
use super::yaml::{Kind, NodeId, Plan, Tree};
use super::{EditError, Edited, Problem};
use crate::image::{ImageReference, Repository};

/// Keys of a pod's spec whose elements have an `image`.
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// One image field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// 1-based line in the text.
    pub line: usize,
    /// What it says.
    pub image: ImageReference,
}

/// All image fields that name a repository, in the order of the text. They may differ in tag.
///
/// # Errors
///
/// A text that cannot be read, if the repository's name occurs in it at all;
/// [`Problem::Templated`] if the only fields that hold the name are templates.
pub fn places(text: &str, repository: &Repository) -> Result<Vec<Place>, EditError> {
    if !text.contains(repository.path()) {
        return Ok(Vec::new());
    }
    let tree = Tree::parse(text)?;
    let fields = fields(&tree, &[repository.path()])?;
    let place = |&node: &NodeId| {
        let image: ImageReference = tree.text_of(node)?.parse().ok()?;
        is_same_repository(&image.repository, repository)
            .then(|| Place { line: tree.line(node), image })
    };
    let places: Vec<Place> = fields.iter().filter_map(place).collect();
    let is_template = |&&node: &&NodeId| {
        let names = |text: &str| text.contains("{{") && text.contains(repository.path());
        tree.text_of(node).is_some_and(names)
    };
    match fields.iter().find(is_template) {
        Some(&node) if places.is_empty() => Err(tree.error(Problem::Templated, node)),
        _ => Ok(places),
    }
}

/// Gives every field of a wished repository the wished tag. The name stays as it is written.
pub(super) fn apply(text: &str, wishes: &[&ImageReference]) -> Result<Edited, EditError> {
    let paths: Vec<_> = wishes.iter().map(|image| image.repository.path()).collect();
    if !paths.iter().any(|path| text.contains(path)) {
        return Ok(Edited::Unchanged);
    }
    let tree = Tree::parse(text)?;
    let mut plan = Plan::new(&tree);
    for node in fields(&tree, &paths)? {
        let Some(written) = tree.text_of(node) else { continue };
        let Ok(present) = written.parse::<ImageReference>() else { continue };
        // The last wish for one repository holds, as everywhere.
        let wish =
            wishes.iter().rfind(|image| is_same_repository(&image.repository, &present.repository));
        if let Some(tag) = wish.and_then(|image| image.tag.as_ref()) {
            // Where a digest stands alone, a new digest takes its place (spec 40, B3-4).
            let pinned = present.tag.as_ref().is_some_and(|tag| tag.name().is_none());
            let text = match tag.pinned_digest().filter(|_| pinned) {
                Some(digest) => format!("{}@{digest}", name(written)),
                None => format!("{}{tag}", name(written)),
            };
            plan.set(node, &text)?;
        }
    }
    plan.finish()
}

/// The scalars of all image fields; each once, also if aliases lead to it twice. Documents that
/// hold none of the names are not looked at: they may be templates.
fn fields(tree: &Tree<'_>, names: &[&str]) -> Result<BTreeSet<NodeId>, EditError> {
    let mut fields = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for document in 0..tree.documents() {
        let text = tree.document_text(document);
        if !names.iter().any(|name| text.contains(name)) {
            continue;
        }
        tree.root(document)?;
        for node in tree.nodes_of(document) {
            for (key, value) in tree.entries(node) {
                let Some(key) = tree.text_of(key) else { continue };
                let list = tree.follow(value);
                let is_volumes = key == "volumes";
                if !is_volumes && !CONTAINERS.contains(&key) || !seen.insert((list, is_volumes)) {
                    continue;
                }
                let images = tree.items(list).iter().filter_map(|&item| {
                    let image = tree.get(tree.follow(item), "image")?;
                    let image =
                        if is_volumes { tree.get(tree.follow(image), "reference")? } else { image };
                    Some(tree.follow(image))
                });
                fields
                    .extend(images.filter(|&node| matches!(tree.kind(node), Kind::Scalar { .. })));
            }
        }
    }
    Ok(fields)
}

/// The part before tag and digest.
fn name(written: &str) -> &str {
    let written = written.split_once('@').map_or(written, |(name, _)| name);
    let last = written.rfind('/').map_or(0, |at| at + 1);
    written[last..].find(':').map_or(written, |at| &written[..last + at])
}
