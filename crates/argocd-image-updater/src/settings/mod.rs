//! Settings: flags, then the environment, then the folder's ConfigMap, then defaults
//! (spec 22 §2; 40 B5). Read once, checked, and handed down by value.

mod files;
mod git;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use aiu_controller::cycle::AnnotationMode;
use aiu_core::registries::OperatorsSource;
use aiu_git::{Signing, SigningMethod};
use aiu_web::Address;
use anyhow::{Context as _, Result, bail};
use secrecy::SecretString;
use tracing_subscriber::filter::LevelFilter;

use crate::line::duration::GoDuration;
use crate::line::{Line, Verb};
use crate::logging::{self, Format};

pub use files::{Commits, Note, REGISTRIES_CONF, registries, registries_at, registries_path};
pub use git::GitSurroundings;
pub use reader::{Environment, Reader};

/// How the program logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logging {
    pub level: LevelFilter,
    pub format: Format,
}

/// The form of an answer on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A table for people.
    Text,
    /// One JSON document.
    Json,
}

/// Which namespaces are seen (spec 21 §1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchScope {
    /// The controller's own.
    Own,
    All,
    These(Vec<String>),
}

/// When passes are made (spec 22 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Never: only finalizers are seen to.
    Never,
    /// Once for each generation of an `ImageUpdater`.
    Once,
    Every(Duration),
}

/// Everything that was asked for, checked. For commands that lack a flag its variable and its
/// default hold.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Settings {
    pub logging: Logging,
    pub output: Output,
    /// The folder that stands for the cluster.
    pub manifests: Option<PathBuf>,
    pub kubeconfig: Option<PathBuf>,
    /// `--argocd-namespace`; where it is not given, see [`Settings::folder_namespace`].
    pub argocd_namespace: Option<String>,
    pub watch: WatchScope,
    pub leader_election: bool,
    pub leader_election_namespace: Option<String>,
    /// Whether events are sent.
    pub events: bool,
    pub dry_run: bool,
    pub once: bool,
    pub interval: Interval,
    pub warm_up: bool,
    /// `--max-concurrent-apps`: requests and patches of one `ImageUpdater` at once.
    pub concurrency: usize,
    /// `ImageUpdater`s at once.
    pub concurrent_reconciles: usize,
    pub annotation_mode: AnnotationMode,
    pub require_live: bool,
    pub allow_downgrade: bool,
    pub hold_reverted: bool,
    /// Sources of credentials that resources may name besides Secrets (spec 40 B7).
    pub image_sources: BTreeSet<OperatorsSource>,
    pub commits: CommitSettings,
    pub servers: Servers,
    pub webhook: Webhook,
    pub cache_dir: PathBuf,
    pub git: GitSurroundings,
    /// What to log once logging is on.
    pub warnings: Vec<String>,
}

/// How commits are made (spec 30 §5).
#[derive(Clone)]
pub struct CommitSettings {
    pub user: String,
    pub email: String,
    /// Id of a `GnuPG` key, or path of an SSH key.
    pub signing_key: Option<String>,
    pub signing_method: SigningMethod,
    pub sign_off: bool,
    pub method: CommitMethod,
    /// All Applications of a branch share a commit.
    pub one_per_branch: bool,
    pub close_superseded_requests: bool,
}

impl CommitSettings {
    /// With what commits are signed, if a key is set.
    pub fn signing(&self) -> Option<Signing> {
        let key = self.signing_key.clone()?;
        Some(Signing { method: self.signing_method, key })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitMethod {
    Git,
    Api,
}

/// What listens besides webhooks; `None` for what does not.
#[derive(Clone)]
pub struct Servers {
    pub probes: Option<Address>,
    pub metrics: Option<Address>,
    /// HTTPS, and only for accounts that the cluster allows.
    pub metrics_secure: bool,
    /// Folder of `tls.crt` and `tls.key`; without it a certificate is made at start.
    pub metrics_cert_dir: Option<PathBuf>,
    pub ui: Option<Address>,
    pub http2: bool,
}

/// Webhooks (spec 23).
#[derive(Clone)]
pub struct Webhook {
    pub enabled: bool,
    pub port: u16,
    pub require_secret: bool,
    /// By type of event, those that are set.
    pub secrets: BTreeMap<&'static str, SecretString>,
    /// Events allowed in an hour.
    pub rate_limit: Option<usize>,
    pub tls: bool,
    pub tls_min: String,
    pub tls_max: String,
    pub tls_ciphers: Vec<String>,
    /// `--max-concurrent-updaters`.
    pub concurrent_updaters: usize,
}

/// The types of events that have a secret of their own.
const WEBHOOK_TYPES: [&str; 7] =
    ["docker", "ghcr", "quay", "harbor", "aliyun-acr", "acr", "cloudevents"];

impl Settings {
    /// Defaults over these folders.
    pub fn for_folder(manifests: PathBuf, cache_dir: PathBuf) -> Self {
        let (line, none) = (Line::bare(Verb::Run), BTreeMap::new());
        let settings = Self::read(&line, &Environment::of([]), &none);
        let settings = settings.expect("defaults are settings");
        Self { manifests: Some(manifests), cache_dir, ..settings }
    }

    /// What a command line, the environment and a folder's ConfigMap say together.
    pub fn read(
        line: &Line,
        env: &Environment,
        config_map: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let mut reader = Reader::new(line, env, config_map);
        let r = &mut reader;
        r.heed_what_is_missing()?;
        let once = r.switch("once")?;
        let mut settings = Self {
            logging: logging(r)?,
            output: output(r)?,
            manifests: r.some_text("manifests")?.map(PathBuf::from),
            kubeconfig: r.some_text("kubeconfig")?.map(PathBuf::from),
            argocd_namespace: r.some_text("argocd-namespace")?,
            watch: watch_scope(&r.text("watch-namespaces")?)?,
            leader_election: r.switch("leader-election")?,
            leader_election_namespace: r.some_text("leader-election-namespace")?,
            events: !r.switch("disable-kube-events")?,
            dry_run: r.switch("dry-run")?,
            once,
            interval: Interval::of(r.duration("interval")?),
            warm_up: r.switch("warmup-cache")?,
            concurrency: r.number("max-concurrent-apps")?,
            concurrent_reconciles: r.number("max-concurrent-reconciles")?,
            annotation_mode: annotation_mode(&r.text("annotation-mode")?),
            require_live: r.switch("require-live")?,
            allow_downgrade: r.switch("allow-downgrade")?,
            hold_reverted: r.switch("hold-reverted")?,
            image_sources: image_sources(r)?,
            commits: commit_settings(r)?,
            servers: servers(r)?,
            webhook: webhook(r)?,
            cache_dir: cache_dir(r)?,
            git: GitSurroundings::of(env, r),
            warnings: Vec::new(),
        };
        if once {
            // Whatever else was given (spec 21 §2.3).
            settings.interval = Interval::Once;
            settings.servers.probes = None;
            settings.warm_up = true;
        }
        r.tell_retired_keys();
        settings.warnings = reader.into_warnings();
        Ok(settings)
    }

    /// The namespace of manifests that name none, and of Applications with the short override
    /// file name.
    pub fn folder_namespace(&self) -> &str {
        self.argocd_namespace.as_deref().unwrap_or("argocd")
    }
}

fn image_sources(r: &mut Reader<'_>) -> Result<BTreeSet<OperatorsSource>> {
    const NAME: &str = "allow-image-credential-sources";
    OperatorsSource::list(&r.list(NAME)?.join(",")).context(NAME)
}

impl Interval {
    fn of(duration: GoDuration) -> Self {
        match duration.positive() {
            None => Self::Never,
            Some(Duration::ZERO) => Self::Once,
            Some(time) => Self::Every(time),
        }
    }
}

fn logging(r: &mut Reader<'_>) -> Result<Logging> {
    let level = logging::level(&r.text("loglevel")?).unwrap_or(LevelFilter::INFO);
    let is_json = r.text("logformat")? == "json";
    Ok(Logging { level, format: if is_json { Format::Json } else { Format::Text } })
}

fn output(r: &mut Reader<'_>) -> Result<Output> {
    Ok(if r.text("output")? == "json" { Output::Json } else { Output::Text })
}

fn watch_scope(text: &str) -> Result<WatchScope> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    match text.trim() {
        "" => Ok(WatchScope::Own),
        "*" => Ok(WatchScope::All),
        _ if names.is_empty() => {
            bail!("--watch-namespaces flag provided but no valid namespaces specified")
        }
        _ => Ok(WatchScope::These(names)),
    }
}

fn annotation_mode(word: &str) -> AnnotationMode {
    match word {
        "always" => AnnotationMode::Always,
        "never" => AnnotationMode::Never,
        _ => AnnotationMode::Auto,
    }
}

fn commit_settings(r: &mut Reader<'_>) -> Result<CommitSettings> {
    let is = |text: String, word: &str| text == word;
    Ok(CommitSettings {
        user: r.text("git-commit-user")?,
        email: r.text("git-commit-email")?,
        signing_key: r.some_text("git-commit-signing-key")?,
        signing_method: if is(r.text("git-commit-signing-method")?, "ssh") {
            SigningMethod::Ssh
        } else {
            SigningMethod::OpenPgp
        },
        sign_off: r.switch("git-commit-sign-off")?,
        method: if is(r.text("git-commit-method")?, "api") {
            CommitMethod::Api
        } else {
            CommitMethod::Git
        },
        one_per_branch: is(r.text("commit-per")?, "branch"),
        close_superseded_requests: r.switch("close-superseded-requests")?,
    })
}

fn servers(r: &mut Reader<'_>) -> Result<Servers> {
    Ok(Servers {
        probes: address(r, "health-probe-bind-address")?,
        metrics: address(r, "metrics-bind-address")?,
        metrics_secure: r.switch("metrics-secure")?,
        metrics_cert_dir: r.some_text("metrics-cert-dir")?.map(PathBuf::from),
        ui: address(r, "ui-bind-address")?,
        http2: r.switch("enable-http2")?,
    })
}

/// An address to listen at; `0` and nothing mean that nobody listens.
fn address(r: &mut Reader<'_>, name: &str) -> Result<Option<Address>> {
    match r.text(name)?.as_str() {
        "" | "0" => Ok(None),
        text => text.parse().map(Some).with_context(|| format!("--{name}")),
    }
}

fn webhook(r: &mut Reader<'_>) -> Result<Webhook> {
    let mut secrets = BTreeMap::new();
    for kind in WEBHOOK_TYPES {
        if let Some(secret) = r.some_text(&format!("{kind}-webhook-secret"))? {
            secrets.insert(kind, SecretString::from(secret));
        }
    }
    let ciphers = r.text("tlsciphers")?;
    Ok(Webhook {
        enabled: r.switch("enable-webhook")?,
        port: u16::try_from(r.number("webhook-port")?).unwrap_or(0),
        require_secret: r.switch("webhook-require-secret")?,
        secrets,
        rate_limit: Some(r.number("webhook-ratelimit-allowed")?).filter(|limit| *limit > 0),
        tls: !r.switch("disable-tls")?,
        tls_min: r.text("tlsminversion")?,
        tls_max: r.text("tlsmaxversion")?,
        tls_ciphers: ciphers.split(':').filter(|c| !c.is_empty()).map(str::to_owned).collect(),
        concurrent_updaters: r.number("max-concurrent-updaters")?,
    })
}

/// git runs elsewhere, so a relative folder would be another one for it.
fn cache_dir(r: &mut Reader<'_>) -> Result<PathBuf> {
    let given = r.some_text("cache-dir")?.map(PathBuf::from);
    let folder = given.unwrap_or_else(|| default_cache_dir(r));
    std::path::absolute(&folder).with_context(|| format!("--cache-dir {}", folder.display()))
}

/// The user's cache folder by the XDG rules, else the system's temporary folder.
fn default_cache_dir(r: &Reader<'_>) -> PathBuf {
    let base = (r.variable("XDG_CACHE_HOME").map(PathBuf::from))
        .filter(|path| path.is_absolute())
        .or_else(|| r.variable("HOME").map(|home| PathBuf::from(home).join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("argocd-image-updater")
}
