//! Which entry of a list is replaced and what is appended: the rules alone, over plain values.
//!
//! The lists of an Application's spec (spec 21 §8.1) and of override files (spec 30 §4.4) are
//! merged alike, whether the result becomes bytes of a file or operations of a JSON Patch.

use std::fmt;
use std::sync::{Arc, LazyLock};

use super::{HelmKeys, PluginKeys};
use crate::image::{ImageReference, Registry, Repository};

/// A Helm parameter or a plugin's variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: Arc<str>,
    /// Its value, a string whatever it looks like.
    pub value: String,
}

/// An entry of `kustomize.images`: `[name=]reference`, understood. What a kustomization file
/// makes of such an entry is [`KustomizeImage`](crate::image::KustomizeImage).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedImage {
    /// What the manifests call the image, if that is not its own name.
    pub name: Option<Arc<str>>,
    /// The image.
    pub image: ImageReference,
}

/// One entry of a list after the merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry<T> {
    /// The entry at this index, as it is.
    Kept(usize),
    /// The entry at this index has a new content.
    Replaced(usize, T),
    /// A new one.
    Added(T),
}

impl<T> Entry<T> {
    /// Where the entry was before the merge.
    pub fn origin(&self) -> Option<usize> {
        match self {
            Self::Kept(at) | Self::Replaced(at, _) => Some(*at),
            Self::Added(_) => None,
        }
    }
}

impl Setting {
    fn new(name: &str, value: String) -> Self {
        Self { name: name.trim().into(), value }
    }

    /// The parameters that hold an image. A tag that is not known has none: what stands there
    /// is never blanked (spec 30 §4.3).
    pub fn of_helm(keys: &HelmKeys, image: &ImageReference) -> Vec<Self> {
        match keys {
            HelmKeys::Spec(spec) => vec![Self::new(spec, image.to_string())],
            HelmKeys::NameAndTag { name, tag } => {
                Self::pair(name.as_deref(), tag.as_deref(), image)
            }
        }
    }

    /// The variables that hold an image.
    pub fn of_plugin(keys: &PluginKeys, image: &ImageReference) -> Vec<Self> {
        match keys {
            PluginKeys::Spec(spec) => vec![Self::new(spec, image.to_string())],
            PluginKeys::NameAndTag { name, tag } => {
                Self::pair(name.as_deref(), tag.as_deref(), image)
            }
        }
    }

    /// Whether Helm's `--set` reads the value as something else than text unless it is told not
    /// to: truth values, null, and whole numbers without a leading zero.
    pub fn needs_force_string(&self) -> bool {
        let value = self.value.as_str();
        value.is_empty()
            || ["true", "false", "null"].iter().any(|word| value.eq_ignore_ascii_case(word))
            || value == "0"
            || (!value.starts_with('0') && value.parse::<i64>().is_ok())
    }

    fn pair(name: Option<&str>, tag: Option<&str>, image: &ImageReference) -> Vec<Self> {
        let name = name.map(|name| Self::new(name, image.repository.to_string()));
        let tag = tag.zip(image.tag.as_ref());
        let tag = tag.map(|(name, tag)| Self::new(name, tag.as_tag_value()));
        name.into_iter().chain(tag).collect()
    }
}

impl NamedImage {
    /// Reads an entry; `None` if its reference is none that we know.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, reference) = match text.split_once('=') {
            Some((name, reference)) => (Some(name.into()), reference),
            None => (None, text),
        };
        Some(Self { name, image: reference.trim().parse().ok()? })
    }

    /// Whether both name one repository; no registry is Docker Hub (spec 10 §3.2).
    fn is_same_repository(&self, other: &Self) -> bool {
        is_same_repository(&self.image.repository, &other.image.repository)
    }

    /// Whether `new` says more than this entry does: it has a tag, and not the same one.
    fn gives_way_to(&self, new: &Self) -> bool {
        if !self.is_same_repository(new) {
            return true;
        }
        match (&self.image.tag, &new.image.tag) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(old), Some(new)) => !old.same_as(new),
        }
    }
}

impl fmt::Display for NamedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}=")?;
        }
        write!(f, "{}", self.image)
    }
}

/// Whether two names mean one place to Kustomize and to the runtime.
pub(super) fn is_same_repository(a: &Repository, b: &Repository) -> bool {
    static DOCKER_HUB: LazyLock<Registry> = LazyLock::new(Registry::docker_hub);
    a.same_as(b, &DOCKER_HUB)
}

/// Replaces settings by name, every one of that name, and appends what is missing.
pub fn merge_settings(existing: &[Option<&str>], wanted: &[Setting]) -> Vec<Entry<Setting>> {
    let mut merged: Vec<_> = (0..existing.len()).map(Entry::Kept).collect();
    for setting in wanted {
        let mut found = false;
        for entry in &mut merged {
            if setting_name(entry, existing) == Some(&*setting.name) {
                found = true;
                *entry = match entry.origin() {
                    Some(at) => Entry::Replaced(at, setting.clone()),
                    None => Entry::Added(setting.clone()),
                };
            }
        }
        if !found {
            merged.push(Entry::Added(setting.clone()));
        }
    }
    merged
}

/// Orders settings by the bytes of their names, as override files keep them (spec 30 §4.4).
pub fn sort_settings(entries: &mut [Entry<Setting>], existing: &[Option<&str>]) {
    entries.sort_by(|a, b| setting_name(a, existing).cmp(&setting_name(b, existing)));
}

fn setting_name<'a>(entry: &'a Entry<Setting>, existing: &[Option<&'a str>]) -> Option<&'a str> {
    match entry {
        Entry::Kept(at) | Entry::Replaced(at, _) => existing[*at],
        Entry::Added(setting) => Some(&setting.name),
    }
}

/// Replaces the entries that mean the wished images and appends what is missing.
pub fn merge_images(existing: &[&str], wanted: &[NamedImage]) -> Vec<Entry<NamedImage>> {
    let parsed: Vec<_> = existing.iter().map(|text| NamedImage::parse(text)).collect();
    let mut merged: Vec<Entry<NamedImage>> = (0..existing.len()).map(Entry::Kept).collect();
    for new in wanted {
        let meant = meant(&merged, &parsed, new);
        for &at in &meant {
            let old = content(&merged[at], &parsed);
            if old.is_some_and(|old| old.gives_way_to(new)) {
                merged[at] = match merged[at].origin() {
                    Some(origin) => Entry::Replaced(origin, new.clone()),
                    None => Entry::Added(new.clone()),
                };
            }
        }
        if meant.is_empty() {
            merged.push(Entry::Added(new.clone()));
        }
    }
    merged
}

/// What an entry says; `None` for what could not be read.
fn content<'a>(
    entry: &'a Entry<NamedImage>,
    parsed: &'a [Option<NamedImage>],
) -> Option<&'a NamedImage> {
    match entry {
        Entry::Kept(at) => parsed[*at].as_ref(),
        Entry::Replaced(_, image) | Entry::Added(image) => Some(image),
    }
}

/// The entries that a wish means: those under its very name, whatever they say (without a name,
/// those of its repository without one); else those that need no name to be called so; else
/// those of its repository whose name is not another one (spec 21 §8.1; registry and port
/// count, spec 30 F14).
fn meant(
    merged: &[Entry<NamedImage>],
    parsed: &[Option<NamedImage>],
    new: &NamedImage,
) -> Vec<usize> {
    let exact = |old: &NamedImage| {
        old.name == new.name && (new.name.is_some() || old.is_same_repository(new))
    };
    let called_so = |old: &NamedImage| {
        let name = new.name.as_ref().filter(|_| old.name.is_none());
        name.is_some_and(|name| name.parse().as_ref() == Ok(&old.image.repository))
    };
    let loose = |old: &NamedImage| {
        old.is_same_repository(new) && (old.name.is_none() || new.name.is_none())
    };
    let rules: [&dyn Fn(&NamedImage) -> bool; 3] = [&exact, &called_so, &loose];
    let under = |rule: &dyn Fn(&NamedImage) -> bool| {
        let entries = merged.iter().enumerate();
        let meant = entries.filter(|(_, entry)| content(entry, parsed).is_some_and(rule));
        meant.map(|(at, _)| at).collect::<Vec<_>>()
    };
    rules.into_iter().map(under).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The index of the entry that holds an image, by the same rule.
pub fn find_image(existing: &[&str], name: Option<&str>, repository: &Repository) -> Option<usize> {
    let image = ImageReference { repository: repository.clone(), tag: None };
    let wanted = NamedImage { name: name.map(Arc::from), image };
    let parsed: Vec<_> = existing.iter().map(|text| NamedImage::parse(text)).collect();
    let entries: Vec<_> = (0..existing.len()).map(Entry::Kept).collect();
    meant(&entries, &parsed, &wanted).first().copied()
}
