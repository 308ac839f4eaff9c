//! Settings from an Application's annotations (spec 21 §5).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aiu_core::batch::{AppName, Author};
use aiu_core::image::{Alias, ConfiguredImage};
use aiu_core::report::{Finding, Severity};

use crate::PREFIX;
use crate::image_updater::{
    CommonUpdateSettings, GitConfig, ImageConfig, KustomizeTarget, ManifestTargets, TargetKeys,
    WriteBackConfig,
};

/// What the annotations of one Application say, in the shape a resource would say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotated {
    /// The images of `image-list`, in its order.
    pub images: Vec<ImageConfig>,
    /// Settings for all of them.
    pub settings: CommonUpdateSettings,
    /// Write-back.
    pub write_back: WriteBackConfig,
    /// Who is named as the author of commits.
    pub author: Option<Author>,
}

/// Why the annotations of an Application cannot be used. The texts are the reference's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnnotations {
    /// There is no list of images.
    #[error("{PREFIX}/image-list annotation not found on app {0}")]
    ImageListMissing(AppName),
    /// The list names nothing.
    #[error("{PREFIX}/image-list annotation is empty on app {0}")]
    ImageListEmpty(AppName),
    /// `alias=` with nothing behind it.
    #[error("empty image name in {PREFIX}/image-list annotation on app {0}")]
    EmptyImageName(AppName),
    /// `force-update` holds no boolean.
    #[error(
        "{}error parsing force update settings: '{value}' is neither true nor false",
        alias.as_ref().map(|a| format!("parse common update settings for alias {a:?}: ")).unwrap_or_default()
    )]
    ForceUpdate {
        /// The image's alias, for an image's own annotation.
        alias: Option<String>,
        /// What stands there.
        value: String,
    },
    /// A name or mail address that no commit can hold.
    #[error(
        "{PREFIX}/{key} cannot be the author of a commit: '{value}'; it may hold no line break, '<' or '>'"
    )]
    Author {
        /// Which.
        key: &'static str,
        /// What stands there, on one line.
        value: String,
    },
    /// Two ways to write one image.
    #[error(
        "parse manifest targets for alias {0:?}: both helm and kustomize manifest targets configured for alias {0:?}"
    )]
    TwoTargets(String),
}

impl InvalidAnnotations {
    /// Stable word (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::ImageListMissing(_) => "ImageListMissing",
            Self::Author { .. } => "WriteBackInvalid",
            _ => "ImageListInvalid",
        }
    }
}

/// Who is named as the author of commits: both, or neither (spec 40 B16).
const USER: &str = "git-user";
const EMAIL: &str = "git-email";

/// Keys that stand for a whole Application.
const WIDE_KEYS: [&str; 14] = [
    "image-list",
    "update-strategy",
    "force-update",
    "allow-tags",
    "ignore-tags",
    "pull-secret",
    "write-back-method",
    "write-back-target",
    "git-branch",
    "git-repository",
    USER,
    EMAIL,
    "refresh",
    "hint",
];

/// Keys that stand behind `<alias>.`.
const IMAGE_KEYS: [&str; 10] = [
    "update-strategy",
    "force-update",
    "allow-tags",
    "ignore-tags",
    "pull-secret",
    "platforms",
    "helm.image-name",
    "helm.image-tag",
    "helm.image-spec",
    "kustomize.image-name",
];

/// Reads the annotations of an Application.
pub fn read(
    app: &AppName,
    annotations: &BTreeMap<String, String>,
) -> Result<Annotated, InvalidAnnotations> {
    let keys = Keys { annotations };
    let list = keys.raw("image-list").ok_or(InvalidAnnotations::ImageListMissing(app.clone()))?;
    let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
    let images = items
        .map(|item| image(app, item, &keys))
        .collect::<Result<Vec<_>, InvalidAnnotations>>()?;
    if images.is_empty() {
        return Err(InvalidAnnotations::ImageListEmpty(app.clone()));
    }
    Ok(Annotated {
        images,
        settings: settings(None, &keys)?,
        write_back: write_back(&keys),
        author: author(&keys)?,
    })
}

/// Whether any annotation of ours is there.
pub fn any(annotations: &BTreeMap<String, String>) -> bool {
    Keys { annotations }.ours().next().is_some()
}

/// An annotation with our prefix that nothing reads, and what to write instead (spec 21 §5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The key, prefix included.
    pub key: String,
    /// Whether the part before the dot is an alias that the list does not have.
    pub unknown_alias: bool,
    /// What to do, ready to print.
    pub advice: String,
}

impl From<Unread> for Finding {
    fn from(Unread { key, unknown_alias, advice }: Unread) -> Self {
        Self {
            severity: Severity::Warning,
            reason: if unknown_alias { "AliasUnknown" } else { "UnknownAnnotation" },
            found: format!("nothing reads {key}"),
            fix: advice,
        }
    }
}

/// The keys that nothing reads.
pub fn unread(annotations: &BTreeMap<String, String>, images: &[ImageConfig]) -> Vec<Unread> {
    // Of an alias's spellings the last is the one that a key can hold.
    let aliases: BTreeSet<Arc<str>> = images
        .iter()
        .filter_map(|image| Alias::new(&image.alias)?.key_spellings().last())
        .collect();
    let keys = Keys { annotations };
    let unread = keys.ours().filter_map(|key| advice(key, &aliases));
    unread.chain(half_an_author(&keys)).collect()
}

/// A name without a mail address, or the other way round.
fn half_an_author(keys: &Keys<'_>) -> Option<Unread> {
    let (given, missing) = match (keys.text(USER), keys.text(EMAIL)) {
        (Some(_), None) => (USER, EMAIL),
        (None, Some(_)) => (EMAIL, USER),
        _ => return None,
    };
    let advice = format!("give {PREFIX}/{missing} as well: an author has both");
    Some(Unread { key: format!("{PREFIX}/{given}"), unknown_alias: false, advice })
}

fn advice(key: &str, aliases: &BTreeSet<Arc<str>>) -> Option<Unread> {
    let unread = |unknown_alias, advice| {
        Some(Unread { key: format!("{PREFIX}/{key}"), unknown_alias, advice })
    };
    if WIDE_KEYS.contains(&key) {
        return None;
    }
    let suffix = IMAGE_KEYS.iter().find(|suffix| {
        key.strip_suffix(*suffix).is_some_and(|alias| alias.ends_with('.') && alias.len() > 1)
    });
    if let Some(suffix) = suffix {
        let alias = Alias::new(&key[..key.len() - suffix.len() - 1])?;
        if alias.key_spellings().any(|spelling| aliases.contains(&spelling)) {
            return None;
        }
        let known: Vec<&str> = aliases.iter().map(AsRef::as_ref).collect();
        return unread(
            true,
            match known.as_slice() {
                [] => "give the image an alias in image-list: alias=image".to_owned(),
                known => format!("image-list has the aliases {}", known.join(", ")),
            },
        );
    }
    match key.rsplit_once('.') {
        Some((alias, "tag-match")) => unread(false, format!("use {PREFIX}/{alias}.allow-tags")),
        Some((alias, "sort-mode")) => {
            unread(false, format!("use {PREFIX}/{alias}.update-strategy"))
        }
        _ => unread(false, format!("the nearest known key is {}", nearest(key))),
    }
}

/// The known key that looks most like `key`.
fn nearest(key: &str) -> &'static str {
    let wanted = key.rsplit_once('.').map_or(key, |(_, last)| last);
    let known = WIDE_KEYS.iter().chain(&IMAGE_KEYS);
    known.min_by_key(|known| distance(wanted, known)).copied().unwrap_or("image-list")
}

/// Levenshtein's distance between two short texts.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Look-ups among the annotations with our prefix.
struct Keys<'a> {
    annotations: &'a BTreeMap<String, String>,
}

impl<'a> Keys<'a> {
    fn ours(&self) -> impl Iterator<Item = &'a str> {
        (self.annotations.keys())
            .filter_map(|key| key.strip_prefix(PREFIX).and_then(|key| key.strip_prefix('/')))
    }

    fn raw(&self, key: &str) -> Option<&'a str> {
        self.annotations.get(&format!("{PREFIX}/{key}")).map(String::as_str)
    }

    /// A value, trimmed; blank counts as unset.
    fn text(&self, key: &str) -> Option<String> {
        self.raw(key).map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// A key of one image, under the first spelling of its alias that is there.
    fn of_image(&self, alias: &Alias, key: &str) -> String {
        (alias.key_spellings().map(|spelling| format!("{spelling}.{key}")))
            .find(|key| self.raw(key).is_some())
            .unwrap_or_else(|| format!("{alias}.{key}"))
    }
}

fn image(app: &AppName, item: &str, keys: &Keys<'_>) -> Result<ImageConfig, InvalidAnnotations> {
    let (alias, image_name) = ConfiguredImage::split_alias(item);
    let (alias, image_name) = (alias.map(str::trim).and_then(Alias::new), image_name.trim());
    if image_name.is_empty() {
        return Err(InvalidAnnotations::EmptyImageName(app.clone()));
    }
    let Some(alias) = alias else {
        return Ok(ImageConfig { image_name: image_name.to_owned(), ..Default::default() });
    };
    let own = settings(Some(&alias), keys)?;
    Ok(ImageConfig {
        alias: alias.to_string(),
        image_name: image_name.to_owned(),
        common_update_settings: (own != CommonUpdateSettings::default()).then_some(own),
        images_verification: None,
        manifest_targets: targets(&alias, keys)?,
    })
}

/// The settings of the Application (`alias` is `None`) or of one image.
fn settings(
    alias: Option<&Alias>,
    keys: &Keys<'_>,
) -> Result<CommonUpdateSettings, InvalidAnnotations> {
    let key = |name: &str| match alias {
        Some(alias) => keys.of_image(alias, name),
        None => name.to_owned(),
    };
    let force_update = match keys.raw(&key("force-update")).map(str::trim) {
        None => None,
        Some("1" | "t" | "T" | "TRUE" | "true" | "True") => Some(true),
        Some("0" | "f" | "F" | "FALSE" | "false" | "False") => Some(false),
        Some(other) => {
            return Err(InvalidAnnotations::ForceUpdate {
                alias: alias.map(ToString::to_string),
                value: other.to_owned(),
            });
        }
    };
    let items = |text: &str| text.split(',').map(|item| item.trim().to_owned()).collect();
    // Platforms exist per image only (spec 10 §6.2); their empty items are dropped, while
    // those of ignore-tags are kept: a blank list overrides and ignores nothing.
    let platforms = alias.and_then(|_| keys.raw(&key("platforms"))).map(|text| {
        let all: Vec<String> = items(text);
        all.into_iter().filter(|item| !item.is_empty()).collect::<Vec<_>>()
    });
    Ok(CommonUpdateSettings {
        update_strategy: keys.text(&key("update-strategy")),
        force_update,
        allow_tags: keys.text(&key("allow-tags")),
        ignore_tags: keys.raw(&key("ignore-tags")).map(items),
        pull_secret: keys.text(&key("pull-secret")),
        platforms: platforms.filter(|list| !list.is_empty()),
    })
}

fn targets(alias: &Alias, keys: &Keys<'_>) -> Result<Option<ManifestTargets>, InvalidAnnotations> {
    let text = |key: &str| keys.text(&keys.of_image(alias, key));
    let helm = TargetKeys {
        name: text("helm.image-name"),
        tag: text("helm.image-tag"),
        spec: text("helm.image-spec"),
    };
    let helm = (helm != TargetKeys::default()).then_some(helm);
    let kustomize = text("kustomize.image-name").map(|name| KustomizeTarget { name });
    if helm.is_some() && kustomize.is_some() {
        return Err(InvalidAnnotations::TwoTargets(alias.to_string()));
    }
    Ok((helm.is_some() || kustomize.is_some()).then_some(ManifestTargets {
        helm,
        kustomize,
        plugin: None,
    }))
}

/// The author, if both its parts are there.
fn author(keys: &Keys<'_>) -> Result<Option<Author>, InvalidAnnotations> {
    let part = |key| match keys.text(key) {
        Some(text) if text.contains(['<', '>']) || text.contains(char::is_control) => {
            let value = text.replace(char::is_control, " ");
            Err(InvalidAnnotations::Author { key, value })
        }
        text => Ok(text),
    };
    let both = part(USER)?.zip(part(EMAIL)?);
    Ok(both.map(|(name, email)| Author { name: name.into(), email: email.into() }))
}

fn write_back(keys: &Keys<'_>) -> WriteBackConfig {
    let git = GitConfig {
        repository: keys.text("git-repository"),
        branch: keys.text("git-branch"),
        write_back_target: keys.text("write-back-target"),
        pull_request: None,
    };
    WriteBackConfig {
        method: keys.text("write-back-method"),
        git_config: (git != GitConfig::default()).then_some(git),
    }
}

#[cfg(test)]
mod tests;
