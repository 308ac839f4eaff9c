//! Which level set each setting of an image: "why does it do that?" begins with a setting whose
//! place nobody remembers (spec 10 §6.2, 20 §2.1).

use std::collections::BTreeMap;

use crate::PREFIX;
use crate::image_updater::{CommonUpdateSettings, WriteBackConfig};

/// A setting as it counts for one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, as annotations spell it.
    pub name: &'static str,
    /// What it says; `None` where nothing is set and there is nothing by default.
    pub value: Option<String>,
    /// Which level says so.
    pub level: Level,
    /// Where exactly, unless it is the default.
    pub place: Option<String>,
}

/// Who may say something about an image, the most specific first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The image's own settings in an `ImageUpdater`.
    Image,
    /// The reference that matched the Application.
    Reference,
    /// The whole `ImageUpdater`.
    Resource,
    /// An annotation for this image.
    ImageAnnotation,
    /// An annotation for all images of the Application.
    Annotation,
    /// Nobody.
    Default,
}

impl Level {
    /// The level in one word, as data.
    pub fn word(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Reference => "reference",
            Self::Resource => "resource",
            Self::ImageAnnotation => "imageAnnotation",
            Self::Annotation => "annotation",
            Self::Default => "default",
        }
    }
}

/// What one level says.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) level: Level,
    pub(crate) settings: CommonUpdateSettings,
    pub(crate) write_back: WriteBackConfig,
}

impl Layer {
    pub(crate) fn new(
        level: Level,
        settings: Option<&CommonUpdateSettings>,
        write_back: Option<&WriteBackConfig>,
    ) -> Self {
        Self {
            level,
            settings: settings.cloned().unwrap_or_default(),
            write_back: write_back.cloned().unwrap_or_default(),
        }
    }
}

/// Where the levels stand: for the sentence "from …".
pub(crate) struct Places<'a> {
    /// The resource's name.
    pub(crate) updater: &'a str,
    /// The image's alias, if it has one.
    pub(crate) alias: &'a str,
    /// The Application's annotations.
    pub(crate) annotations: &'a BTreeMap<String, String>,
}

/// The settings that exist: name, default, and how a layer says it.
type Row = (&'static str, Option<&'static str>, fn(&Layer) -> Option<String>);

#[rustfmt::skip]
const ROWS: [Row; 10] = [
    ("update-strategy", Some("semver"), |l| l.settings.update_strategy.clone()),
    ("allow-tags", None, |l| l.settings.allow_tags.clone()),
    ("ignore-tags", None, |l| l.settings.ignore_tags.as_ref().map(|tags| tags.join(", "))),
    ("platforms", None, |l| l.settings.platforms.as_ref().map(|all| all.join(", "))),
    ("pull-secret", None, |l| l.settings.pull_secret.clone()),
    ("force-update", Some("false"), |l| l.settings.force_update.map(|force| force.to_string())),
    ("write-back-method", Some("argocd"), |l| l.write_back.method.clone()),
    ("write-back-target", None, |l| l.write_back.git_config.as_ref()?.write_back_target.clone()),
    ("git-branch", None, |l| l.write_back.git_config.as_ref()?.branch.clone()),
    ("git-repository", None, |l| l.write_back.git_config.as_ref()?.repository.clone()),
];

/// All settings of one image; `layers` begin with the most specific.
pub(crate) fn settings(layers: &[Layer], places: &Places<'_>) -> Vec<Setting> {
    let row = |&(name, default, read): &Row| {
        let said = layers.iter().find_map(|layer| Some((layer.level, read(layer)?)));
        let (level, value) = match said {
            Some((level, value)) => (level, Some(value)),
            None => (Level::Default, default.map(str::to_owned)),
        };
        Setting { name, value, level, place: places.of(level, name) }
    };
    ROWS.iter().map(row).collect()
}

impl Places<'_> {
    fn of(&self, level: Level, name: &str) -> Option<String> {
        let updater = self.updater;
        let block = match name {
            "write-back-method" | "write-back-target" | "git-branch" | "git-repository" => {
                "writeBackConfig"
            }
            _ => "commonUpdateSettings",
        };
        let refs = "spec.applicationRefs[]";
        Some(match level {
            Level::Default => return None,
            Level::Resource => format!("spec.{block} of the ImageUpdater {updater}"),
            Level::Reference => format!("{refs}.{block} of the ImageUpdater {updater}"),
            Level::Image => format!("{refs}.images[].{block} of the ImageUpdater {updater}"),
            Level::Annotation => format!("the annotation {PREFIX}/{name}"),
            Level::ImageAnnotation => format!("the annotation {}", self.own_key(name)),
        })
    }

    /// The key that is there: a `/` of the alias may be spelt `_` (spec 10 F18).
    fn own_key(&self, name: &str) -> String {
        let key = |alias: &str| format!("{PREFIX}/{alias}.{name}");
        let plain = key(&self.alias.replace('/', "_"));
        if self.annotations.contains_key(&plain) { plain } else { key(self.alias) }
    }
}
