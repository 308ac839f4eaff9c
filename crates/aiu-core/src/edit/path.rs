//! Paths into a values file: `image.tag`, `images[1].tag`, or one literal key with dots in it.
//!
//! The grammar and its errors are those of spec 30 §4.5; nothing can be escaped. One spelling
//! more is understood, which the reference refuses: `images.1.tag`.

use super::yaml::{Kind, NodeId, Tree};
use super::{EditError, Problem};

/// What stands under a path.
#[derive(Debug)]
pub(super) enum Found<'p> {
    /// A scalar; where the path went through an alias, the anchored one.
    Scalar(NodeId),
    /// Nothing: these keys are missing below this mapping (`None`: the document is empty).
    Missing(Option<NodeId>, Vec<&'p str>),
    /// Nothing, and it cannot be made: the path wants an element of a list that is not there.
    NoList(String),
}

/// One part of a path: a key, and an index if the key holds a list.
#[derive(Clone, Copy)]
struct Part<'p> {
    text: &'p str,
    key: &'p str,
    index: Option<&'p str>,
}

impl<'p> Part<'p> {
    /// `^(.*)\[(.*)\]$`, as greedy as that: one index per part.
    fn parse(text: &'p str) -> Self {
        let inside = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
        match inside {
            Some((key, index)) => Self { text, key, index: Some(index) },
            None => Self { text, key: text, index: None },
        }
    }

    /// Whether it can be an index: behind a list, `1` is what `[1]` is.
    fn is_number(&self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// Walks a path from the root of a document. What the nested keys do not hold is looked for
/// under the whole path as one key of the root: nested first, always (spec 32, fault 4).
pub(super) fn locate<'p>(
    tree: &Tree<'_>,
    document: usize,
    path: &'p str,
) -> Result<Found<'p>, EditError> {
    let Some(root) = tree.root(document)? else {
        return walk(tree, None, path);
    };
    if !matches!(tree.kind(root), Kind::Mapping { .. }) {
        let cause = format!("unexpected type {} for root", tree.kind_name(root));
        return Err(tree.error(Problem::Key(cause), root));
    }
    let found = walk(tree, Some(root), path);
    if matches!(found, Ok(Found::Scalar(_) | Found::NoList(_))) || !path.contains('.') {
        return found;
    }
    match tree.get(root, path).map(|literal| tree.follow(literal)) {
        Some(literal) if tree.text_of(literal).is_some() => Ok(Found::Scalar(literal)),
        Some(literal) => {
            let cause = format!("literal key \"{path}\" found but is not a scalar value");
            Err(tree.error(Problem::Key(cause), literal))
        }
        None => found,
    }
}

fn walk<'p>(tree: &Tree<'_>, root: Option<NodeId>, path: &'p str) -> Result<Found<'p>, EditError> {
    let parts: Vec<Part<'p>> = path.split('.').map(Part::parse).collect();
    let (mut mapping, mut rest) = (root, parts.as_slice());
    while let [part, behind @ ..] = rest {
        let Some(value) = mapping.and_then(|mapping| tree.get(mapping, part.key)) else {
            return missing(mapping, rest, path);
        };
        let mut node = element(tree, tree.follow(value), part)?;
        rest = behind;
        if let (Kind::Sequence { .. }, None, [next, behind @ ..]) =
            (tree.kind(node), part.index, rest)
            && next.is_number()
        {
            node = element(tree, node, &Part { index: Some(next.text), ..*part })?;
            rest = behind;
        }
        let is_last = rest.is_empty();
        match tree.kind(node) {
            Kind::Scalar { .. } if is_last => return Ok(Found::Scalar(node)),
            Kind::Mapping { .. } if !is_last => mapping = Some(node),
            Kind::Sequence { .. } if part.index.is_none() => {
                let cause = format!("no id provided for yaml array \"{}\"", part.text);
                return Err(tree.error(Problem::Key(cause), node));
            }
            _ => {
                let kind = tree.kind_name(node);
                let cause = format!("unexpected type {kind} for key {}", part.text);
                return Err(tree.error(Problem::Key(cause), node));
            }
        }
    }
    missing(mapping, &[], path)
}

/// The keys that would have to be made; a list cannot be.
fn missing<'p>(
    mapping: Option<NodeId>,
    parts: &[Part<'p>],
    path: &str,
) -> Result<Found<'p>, EditError> {
    for part in parts {
        if let Some(index) = part.index {
            parse_index(index)?;
            let list = part.key;
            return Ok(Found::NoList(format!("key {path}: list \"{list}\" does not exist")));
        }
    }
    Ok(Found::Missing(mapping, parts.iter().map(|part| part.key).collect()))
}

/// The element that the part's index means, or the node itself if it has none.
fn element(tree: &Tree<'_>, node: NodeId, part: &Part<'_>) -> Result<NodeId, EditError> {
    let Some(index) = part.index else { return Ok(node) };
    let index = parse_index(index)?;
    let Kind::Sequence { items, .. } = tree.kind(node) else {
        let cause = format!("id {index} provided when \"{}\" is not an yaml array", part.key);
        return Err(tree.error(Problem::Key(cause), node));
    };
    let item = usize::try_from(index).ok().and_then(|index| items.get(index));
    item.map(|&item| tree.follow(item)).ok_or_else(|| {
        let cause = format!("id {index} is out of range [0, {})", items.len());
        tree.error(Problem::Key(cause), node)
    })
}

fn parse_index(index: &str) -> Result<i64, EditError> {
    index.parse().map_err(|_| {
        EditError::key(format!("id \"{index}\" in yaml array must match pattern ^(.*)\\[(.*)\\]$"))
    })
}
