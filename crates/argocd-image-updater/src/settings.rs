//! Settings: flags, then the environment, then the folder's ConfigMap, then defaults
//! (spec 22 §2; 40 B5). Read once, checked, and handed down by value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aiu_controller::cycle::AnnotationMode;
use aiu_core::registries::Registries;
use aiu_core::template::{DEFAULT_COMMIT_MESSAGE, Template};
use anyhow::{Context, Result, bail};
use tracing_subscriber::filter::LevelFilter;

use crate::args::{Annotations, Run, Shared};
use crate::logging::{self, Format};

/// Looks up environment variables. An empty value counts as unset.
pub struct Environment(Box<dyn Fn(&str) -> Option<String>>);

impl Environment {
    /// The process's own environment.
    pub fn of_process() -> Self {
        Self(Box::new(|name| std::env::var(name).ok()))
    }

    fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    /// A number within limits; anything else is the default, with a warning to log
    /// (spec 22 §2, "number env").
    fn number(
        &self,
        name: &str,
        least: usize,
        most: usize,
        warnings: &mut Vec<String>,
    ) -> Option<usize> {
        let text = self.text(name)?;
        match text.parse::<i64>() {
            Err(_) => {
                warnings
                    .push(format!("Could not parse '{text}' as a number from environment {name}"));
                None
            }
            Ok(value) => {
                match usize::try_from(value) {
                    Ok(value) if value > most => {
                        warnings.push(format!("Value in {name} is {text}, which is greater than maximum {most} allowed"));
                        None
                    }
                    Ok(value) if value >= least => Some(value),
                    _ => {
                        warnings.push(format!(
                            "Value in {name} is {text}, which is less than minimum {least} allowed"
                        ));
                        None
                    }
                }
            }
        }
    }

    /// `true` or `false` in any case; anything else is the default (spec 22 §2, "bool env").
    fn switch(&self, name: &str, default: bool) -> bool {
        match self.text(name).map(|value| value.to_ascii_lowercase()).as_deref() {
            Some("true") => true,
            Some("false") => false,
            _ => default,
        }
    }
}

/// How the program logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logging {
    pub level: LevelFilter,
    pub format: Format,
}

/// What every pass needs to know, checked.
#[derive(Clone)]
pub struct Settings {
    pub manifests: PathBuf,
    pub namespace: String,
    pub concurrency: usize,
    pub allow_downgrade: bool,
    pub annotation_mode: AnnotationMode,
    pub require_live: bool,
    pub cache_dir: PathBuf,
    /// What to log once logging is on.
    pub warnings: Vec<String>,
}

/// How log lines look; known before anything else, so that everything else can be logged.
pub fn logging(shared: &Shared, env: &Environment) -> Result<Logging> {
    let level = shared.loglevel.clone().or_else(|| env.text("IMAGE_UPDATER_LOGLEVEL"));
    let format = shared.logformat.clone().or_else(|| env.text("IMAGE_UPDATER_LOGFORMAT"));
    let level = level.as_deref().unwrap_or("info");
    let Some(level) = logging::level(level) else {
        bail!("invalid loglevel: {level}; use trace, debug, info, warn or error")
    };
    let format = match format.as_deref().unwrap_or("text") {
        "text" => Format::Text,
        "json" => Format::Json,
        other => bail!("invalid log format '{other}'; use text or json"),
    };
    Ok(Logging { level, format })
}

impl Settings {
    /// Defaults over these folders.
    pub fn for_folder(manifests: PathBuf, cache_dir: PathBuf) -> Self {
        Self {
            manifests,
            namespace: "argocd".to_owned(),
            concurrency: 10,
            allow_downgrade: false,
            annotation_mode: AnnotationMode::Auto,
            require_live: true,
            cache_dir,
            warnings: Vec::new(),
        }
    }

    /// Merges what flags and environment say.
    pub fn read(shared: &Shared, env: &Environment) -> Result<Self> {
        let mut warnings = Vec::new();
        let manifests = (shared.manifests.clone())
            .or_else(|| env.text("IMAGE_UPDATER_MANIFESTS").map(PathBuf::from))
            .context("this version works on a folder of manifests: give --manifests DIR")?;
        let concurrency = (shared.max_concurrent_apps)
            .or_else(|| env.number("MAX_CONCURRENT_APPS", 1, 100, &mut warnings))
            .unwrap_or(10)
            .max(1);
        let cache_dir = (shared.cache_dir.clone())
            .or_else(|| env.text("IMAGE_UPDATER_CACHE_DIR").map(PathBuf::from))
            .unwrap_or_else(|| default_cache_dir(env));
        // git runs elsewhere, so a relative folder would be another one for it.
        let cache_dir = std::path::absolute(&cache_dir)
            .with_context(|| format!("--cache-dir {}", cache_dir.display()))?;
        Ok(Self {
            manifests,
            namespace: (shared.argocd_namespace.clone())
                .or_else(|| env.text("ARGOCD_NAMESPACE"))
                .unwrap_or_else(|| "argocd".to_owned()),
            concurrency,
            allow_downgrade: shared.allow_downgrade
                || env.switch("IMAGE_UPDATER_ALLOW_DOWNGRADE", false),
            annotation_mode: annotation_mode(shared, env)?,
            require_live: (shared.require_live)
                .unwrap_or_else(|| env.switch("IMAGE_UPDATER_REQUIRE_LIVE", true)),
            cache_dir,
            warnings,
        })
    }
}

fn annotation_mode(shared: &Shared, env: &Environment) -> Result<AnnotationMode> {
    let text = env.text("IMAGE_UPDATER_ANNOTATION_MODE");
    Ok(match (shared.annotation_mode, text.as_deref()) {
        (Some(Annotations::Auto), _) | (None, None | Some("auto")) => AnnotationMode::Auto,
        (Some(Annotations::Always), _) | (None, Some("always")) => AnnotationMode::Always,
        (Some(Annotations::Never), _) | (None, Some("never")) => AnnotationMode::Never,
        (None, Some(other)) => {
            bail!("IMAGE_UPDATER_ANNOTATION_MODE is '{other}'; use auto, always or never")
        }
    })
}

/// The user's cache folder by the XDG rules, else the system's temporary folder.
fn default_cache_dir(env: &Environment) -> PathBuf {
    let base = (env.text("XDG_CACHE_HOME").map(PathBuf::from))
        .filter(|path| path.is_absolute())
        .or_else(|| env.text("HOME").map(|home| PathBuf::from(home).join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("argocd-image-updater")
}

/// Where the registries file is mounted.
pub const REGISTRIES_CONF: &str = "/app/config/registries.conf";

/// The registries: the file that a flag names, else the folder's ConfigMap, else the file at
/// the default path if it exists, else the built-in set (spec 11 §1.1; 40 B5).
pub fn registries(
    path: Option<&Path>,
    config_map: &BTreeMap<String, String>,
) -> Result<Arc<Registries>> {
    let default = Path::new(REGISTRIES_CONF);
    let from_file = |path: &Path| {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the registries file {}", path.display()))?;
        parse_registries(&text, path.display().to_string())
    };
    let found = match (path, config_map.get("registries.conf")) {
        (Some(path), _) if path.as_os_str().is_empty() => Registries::builtin(),
        (Some(path), _) => from_file(path)?,
        (None, Some(text)) => {
            let name = "registries.conf in ConfigMap argocd-image-updater-config";
            parse_registries(text, name.to_owned())?
        }
        (None, None) if default.is_file() => from_file(default)?,
        (None, None) => Registries::builtin(),
    };
    Ok(Arc::new(found))
}

fn parse_registries(text: &str, name: String) -> Result<Registries> {
    Registries::parse(text).map_err(anyhow::Error::new).context(name)
}

/// Who commits where nobody is named (spec 30 §5.2).
const COMMIT_USER: &str = "argocd-image-updater";
const COMMIT_EMAIL: &str = "noreply@argoproj.io";

/// How commits are made.
#[derive(Clone)]
pub struct Commits {
    pub user: String,
    pub email: String,
    pub message: Arc<Template>,
}

impl Commits {
    /// The defaults, for commands that make no commits.
    pub fn defaults() -> Result<Self> {
        Ok(Self {
            user: COMMIT_USER.to_owned(),
            email: COMMIT_EMAIL.to_owned(),
            message: Arc::new(Template::parse(DEFAULT_COMMIT_MESSAGE)?),
        })
    }
}

/// Identity and message of commits (spec 30 §5.1, §5.2).
pub fn commits(
    run: &Run,
    env: &Environment,
    config_map: &BTreeMap<String, String>,
) -> Result<Commits> {
    let text = |flag: &Option<String>, variable: &str, key: &str, default: &str| {
        (flag.clone())
            .or_else(|| env.text(variable))
            .or_else(|| config_map.get(key).cloned())
            .filter(|value| !value.is_empty())
            .unwrap_or_else(|| default.to_owned())
    };
    Ok(Commits {
        user: text(&run.git_commit_user, "GIT_COMMIT_USER", "git.user", COMMIT_USER),
        email: text(&run.git_commit_email, "GIT_COMMIT_EMAIL", "git.email", COMMIT_EMAIL),
        message: Arc::new(message(run, config_map)?),
    })
}

fn message(run: &Run, config_map: &BTreeMap<String, String>) -> Result<Template> {
    let default = Path::new("/app/config/commit.template");
    let path = run.git_commit_message_path.as_deref().unwrap_or(default);
    let from_file = match std::fs::read_to_string(path) {
        Ok(text) => Some(text),
        // A missing file is the default message, wherever it was looked for (spec 30 §5.1).
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            return Err(error).with_context(|| {
                format!("could not read commit message template {}", path.display())
            });
        }
    };
    let text = from_file
        .or_else(|| config_map.get("git.commit-message-template").cloned())
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| DEFAULT_COMMIT_MESSAGE.to_owned());
    Template::parse(&text).context("could not parse commit message template")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &'static [(&str, &str)]) -> Environment {
        Environment(Box::new(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        }))
    }

    /// Spec 22 §2, conformance table of `MAX_CONCURRENT_APPS`.
    #[test]
    fn numbers_out_of_range_are_the_default_with_a_warning() {
        #[rustfmt::skip]
        let rows: [(&'static [(&str, &str)], Option<usize>, usize); 9] = [
            (&[], None, 0),
            (&[("N", "")], None, 0),
            (&[("N", "0")], None, 1),
            (&[("N", "-1")], None, 1),
            (&[("N", "101")], None, 1),
            (&[("N", "abc")], None, 1),
            (&[("N", "5.5")], None, 1),
            (&[("N", "1")], Some(1), 0),
            (&[("N", "100")], Some(100), 0),
        ];
        for (pairs, expected, warned) in rows {
            let mut warnings = Vec::new();
            let found = environment(pairs).number("N", 1, 100, &mut warnings);
            assert_eq!((found, warnings.len()), (expected, warned), "{pairs:?}");
        }
    }

    #[test]
    fn switches_know_two_words_in_any_case_and_else_the_default() {
        let rows = [
            ("true", Some(true)),
            ("TRUE", Some(true)),
            ("False", Some(false)),
            ("1", None),
            ("", None),
        ];
        for (value, known) in rows {
            let env = Environment(Box::new(move |_| Some(value.to_owned())));
            for default in [true, false] {
                assert_eq!(env.switch("X", default), known.unwrap_or(default), "{value}");
            }
        }
    }
}
