//! Edits: what is asked, in the words of `crates/aiu-core/tests/edit/README.md`, and what must hold
//! of every answer.

use std::sync::Arc;

use aiu_core::edit::{
    EditError, Edited, FileKind, HelmKeys, Keys, PluginKeys, SourceRef, Wish, apply, apply_in_spec,
    current, current_in_spec,
};
use aiu_core::image::{Digest, ImageReference, TagRef};

use crate::content::{Step, differences, documents};
use crate::{is_taken_for_a_host, parts};

/// What is edited.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    File(FileKind),
    Application { source: SourceRef, document: usize },
}

/// Reads an input (the lines of an `edit` file, NUL, the text), makes the edit and checks the laws.
/// `target` says what the first line means; `may_differ`, below which path of a document the edit
/// may change anything.
pub fn check_edit(
    data: &[u8],
    target: fn(&[&str]) -> Option<Target>,
    may_differ: fn(&[Step]) -> bool,
) {
    let Some([asked, text]) = parts::<2>(data) else { return };
    let mut lines = asked.lines();
    let words: Vec<_> = lines.next().unwrap_or_default().split(' ').collect();
    let (Some(target), Some(wishes)) = (target(&words), wishes(lines)) else { return };
    if wishes.iter().enumerate().any(|(at, wish)| is_odd(wish, &wishes[..at])) {
        return;
    }
    for wish in &wishes {
        let _ = target.current(text, wish);
    }
    check_edit_of(text, |text| target.edit(text, &wishes), may_differ);
    if let Target::File(kind) = target {
        let _ = apply(kind, None, &wishes);
    }
}

/// Makes an edit and checks the laws that hold of each.
pub fn check_edit_of(
    before: &str,
    edit: impl Fn(&str) -> Result<Edited, EditError>,
    may_differ: impl Fn(&[Step]) -> bool,
) {
    let Ok(Edited::Changed(after)) = edit(before) else { return };
    assert_ne!(before, after, "what is changed differs");
    assert_eq!(
        edit(&after),
        Ok(Edited::Unchanged),
        "asked again, nothing changes; after:\n{after}"
    );
    // Anchors carry a change to other places, which is meant.
    let (Some(left), false) = (documents(before), before.contains(['&', '*'])) else { return };
    let right = documents(&after).unwrap_or_else(|| panic!("no YAML any more:\n{after}"));
    // The other parser counts no empty documents, and one of those may have been filled.
    if left.len() != right.len() {
        return;
    }
    for path in differences(&left.into(), &right.into()) {
        let inside = path.get(1..).is_none_or(&may_differ);
        assert!(inside, "{path:?} differs; after:\n{after}");
    }
}

/// Wishes that never come: for a place that another one holds, and for an image that no registry can
/// hold or whose short form names another one.
fn is_odd(wish: &Wish, others: &[Wish]) -> bool {
    let Wish { keys, image: ImageReference { repository, tag } } = wish;
    let mut taken: Vec<&str> = others.iter().flat_map(|other| names(&other.keys)).collect();
    let overlaps = names(keys).any(|name| {
        let found = taken.iter().any(|taken| overlap(name, taken));
        taken.push(name);
        found
    });
    let is_named = matches!(keys, Keys::Kustomize { name: Some(_) });
    let same_entry = |other: &Wish| {
        other.image.repository.path() == repository.path()
            || (is_named && other.keys == *keys)
            || is_called(keys, &other.image)
            || is_called(&other.keys, &wish.image)
    };
    let digest = tag.as_ref().and_then(TagRef::pinned_digest);
    overlaps
        || (names(keys).next().is_none() && others.iter().any(same_entry))
        || !digest.is_none_or(Digest::is_well_formed)
        || repository.irregularity().is_some()
        || is_taken_for_a_host(repository)
}

/// Whether a wish under a kustomize name takes the place of this image.
fn is_called(keys: &Keys, image: &ImageReference) -> bool {
    matches!(keys, Keys::Kustomize { name: Some(name) } if name.parse().as_ref() == Ok(&image.repository))
}

/// Whether one path is the other, or leads there.
fn overlap(left: &str, right: &str) -> bool {
    let leads = |long: &str, short: &str| {
        long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    leads(left.trim(), right.trim()) || leads(right.trim(), left.trim())
}

/// The keys that hold a parameter.
fn names(keys: &Keys) -> impl Iterator<Item = &str> {
    let (first, second) = match keys {
        Keys::Helm(HelmKeys::Spec(key)) | Keys::Plugin(PluginKeys::Spec(key)) => (Some(key), None),
        Keys::Helm(HelmKeys::NameAndTag { name, tag })
        | Keys::Plugin(PluginKeys::NameAndTag { name, tag }) => (name.as_ref(), tag.as_ref()),
        Keys::Kustomize { .. } | Keys::Manifest => (None, None),
    };
    first.into_iter().chain(second).map(|key| &**key)
}

impl Target {
    fn edit(self, text: &str, wishes: &[Wish]) -> Result<Edited, EditError> {
        match self {
            Self::File(kind) => apply(kind, Some(text), wishes),
            Self::Application { source, document } => apply_in_spec(text, document, source, wishes),
        }
    }

    fn current(self, text: &str, wish: &Wish) -> Result<Option<ImageReference>, EditError> {
        let repository = &wish.image.repository;
        match self {
            Self::File(kind) => current(kind, text, &wish.keys, repository),
            Self::Application { source, document } => {
                current_in_spec(text, document, source, &wish.keys, repository)
            }
        }
    }
}

/// `None` if a line asks for nothing.
fn wishes<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Vec<Wish>> {
    let mut wishes = Vec::new();
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        let words: Vec<_> = line.split(' ').collect();
        let (keys, image) = match words[..] {
            ["image", entry] => {
                let (name, image) = match entry.split_once('=') {
                    Some((name, image)) => (Some(name.into()), image),
                    None => (None, entry),
                };
                (Keys::Kustomize { name }, image.parse().ok()?)
            }
            ["manifest", image] => (Keys::Manifest, image.parse().ok()?),
            ["spec", key, image] => (Keys::Helm(HelmKeys::Spec(key.into())), image.parse().ok()?),
            ["env-spec", key, image] => {
                (Keys::Plugin(PluginKeys::Spec(key.into())), image.parse().ok()?)
            }
            [word @ ("name" | "env-name"), key, repository] => {
                let tag = lines.next_if(|line| line.starts_with(&word.replace("name", "tag")));
                pair(word, Some(key), repository, tag)?
            }
            [word @ ("tag" | "env-tag"), ..] => pair(word, None, "any", Some(line))?,
            _ => return None,
        };
        wishes.push(Wish { keys, image });
    }
    Some(wishes)
}

/// An image under two keys, of which one may be missing.
fn pair(
    word: &str,
    name: Option<&str>,
    repository: &str,
    tag: Option<&str>,
) -> Option<(Keys, ImageReference)> {
    let (tag_key, tag) = match tag.map(|line| line.split(' ').collect::<Vec<_>>()).as_deref() {
        None => (None, None),
        Some([_, key, tag]) => (Some(Arc::from(*key)), Some(tag.parse::<TagRef>().ok()?)),
        Some(_) => return None,
    };
    let name = name.map(Arc::from);
    let keys = if word.starts_with("env") {
        Keys::Plugin(PluginKeys::NameAndTag { name, tag: tag_key })
    } else {
        Keys::Helm(HelmKeys::NameAndTag { name, tag: tag_key })
    };
    Some((keys, ImageReference { repository: repository.parse().ok()?, tag }))
}
