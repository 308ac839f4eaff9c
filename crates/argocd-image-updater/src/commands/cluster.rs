//! `run` against a Kubernetes API: from the settings to the running controller (spec 21 §1, 22 §3).

mod access;
mod servers;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::Arc;

use aiu_controller::cluster::api::{Api, Scope};
use aiu_controller::controller::{Controller, ControllerSettings, Interval as Passes};
use aiu_controller::leader::{Contender, Leadership};
use aiu_controller::registries::RegistriesFile;
use aiu_controller::unlock::Keys;
use anyhow::{Result, anyhow};
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::Answer;
use super::session::{self, Services, services};
use super::signals::Signals;
use crate::line::Line;
use crate::line::duration::GoDuration;
use crate::logging;
use crate::settings::{self, Commits, Environment, Interval, Note, Reader, Settings, WatchScope};

use servers::Sources;

/// Where a pod finds its own namespace.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// Runs the controller until it is stopped.
pub(super) fn run(line: &Line, env: &Environment, settings: Settings) -> Result<Answer> {
    logging::init(settings.logging.level, settings.logging.format);
    for warning in &settings.warnings {
        warn!("{warning}");
    }
    tell_start(&settings);
    let no_config_map = BTreeMap::new();
    let mut reader = Reader::new(line, env, &no_config_map);
    let (commits, note) = Commits::read(&settings, &mut reader)?;
    note.iter().for_each(tell);
    tracing::debug!(logger = "controller-setup", "Successfully parsed commit message template");
    let (registries, note) = settings::registries(&mut reader)?;
    note.iter().for_each(tell);
    for notice in registries.notices() {
        warn!("{notice}");
    }
    let registries = match settings::registries_path(&mut reader)? {
        Some(path) => RegistriesFile::at(&path, registries),
        None => RegistriesFile::from(registries),
    };
    session::install_tls()?;
    let runtime = session::runtime()?;
    let answer = runtime.block_on(async {
        let config = client_config(settings.kubeconfig.as_deref(), env).await?;
        let place = Place::of(&settings, &config, env)?;
        let settings = Settings { argocd_namespace: Some(place.argocd.clone()), ..settings };
        let keys = Keys::of_nobody();
        let services = services(registries, &settings, &commits, keys, settings.dry_run)?;
        Box::pin(serve(settings, services, config, place)).await
    });
    // What a child or a call still holds must not keep the process.
    runtime.shutdown_background();
    answer
}

fn tell_start(settings: &Settings) {
    let level = settings.logging.level.to_string();
    info!(
        logger = "controller-setup",
        setAppLogLevel = level.to_uppercase(),
        "Controller runtime logger initialized."
    );
    let interval = match settings.interval {
        Interval::Never => "never".to_owned(),
        Interval::Once => "once".to_owned(),
        Interval::Every(time) => GoDuration::from(time).to_string(),
    };
    let health = settings.servers.probes.as_ref();
    info!(
        logger = "controller-setup",
        app = super::version::headline(),
        loglevel = %settings.logging.level.to_string().to_uppercase(),
        interval,
        healthPort = health.map_or_else(|| "off".to_owned(), |address| address.port().to_string()),
        argocdNamespace = settings.argocd_namespace.as_deref(),
        "starting"
    );
    if let Interval::Every(time) = settings.interval
        && time.as_secs() < 60
    {
        warn!(
            logger = "controller-setup",
            "Warning: Check interval is very low. It is not recommended to run below 1m0s"
        );
    }
}

/// Which parts run, in the words of the original (spec 22 §3).
fn tell_parts(settings: &Settings) {
    info!(logger = "controller-setup", "Adding cache warmer to the manager.");
    if !settings.warm_up {
        info!(logger = "controller-setup", "Cache warm-up disabled, skipping cache warmer");
    }
    // Webhooks are not received yet, whatever the flag says.
    info!(
        logger = "controller-setup",
        "webhook server is disabled, skip adding webhook server runnable to manager"
    );
}

fn tell(note: &Note) {
    let path = note.path.as_ref().map(|path| path.display().to_string());
    info!(logger = "controller-setup", path, "{}", note.text);
}

/// The client: the flag's file, else the usual rules (spec 22 §5, §14: one for all calls).
pub(super) async fn client_config(kubeconfig: Option<&Path>, env: &Environment) -> Result<Config> {
    let options = KubeConfigOptions::default();
    let config = match kubeconfig {
        Some(path) => {
            let file = Kubeconfig::read_from(path).map_err(|error| {
                let why = first_line(&error);
                anyhow!("could not create K8s client: --kubeconfig {}: {why}", path.display())
            })?;
            Config::from_custom_kubeconfig(file, &options).await.map_err(|error| first_line(&error))
        }
        None if env.text("KUBECONFIG").is_some() => {
            Config::from_kubeconfig(&options).await.map_err(|error| first_line(&error))
        }
        None if env.text("KUBERNETES_SERVICE_HOST").is_some() => {
            Config::incluster().map_err(|error| first_line(&error))
        }
        None => Config::from_kubeconfig(&options).await.map_err(|error| first_line(&error)),
    };
    let mut config = config.map_err(|why| anyhow!("could not create K8s client: {why}; give --kubeconfig, or --manifests DIR to work on a folder without a cluster"))?;
    let text = |name: &str| env.text(name).or_else(|| env.text(&name.to_lowercase()));
    let of_environment = [text("HTTPS_PROXY"), text("HTTP_PROXY")];
    // The client would compare NO_PROXY with the proxy's own address.
    let is_of_environment = config.proxy_url.as_ref().is_some_and(|url| {
        let url = url.to_string();
        of_environment
            .iter()
            .flatten()
            .any(|of| of.trim_end_matches('/') == url.trim_end_matches('/'))
    });
    let host = config.cluster_url.host().unwrap_or_default();
    if is_of_environment && text("NO_PROXY").is_some_and(|list| is_exempt(host, &list)) {
        config.proxy_url = None;
    }
    Ok(config)
}

/// Whether `NO_PROXY` names this host, or a domain that it belongs to.
fn is_exempt(host: &str, list: &str) -> bool {
    list.split([',', ' ']).map(|entry| entry.trim().trim_start_matches('.')).any(|entry| {
        let below = || host.strip_suffix(entry).is_some_and(|rest| rest.ends_with('.'));
        entry == "*" || (!entry.is_empty() && (host == entry || below()))
    })
}

/// What follows the first line of such an error shows the file, in which tokens stand.
fn first_line(error: &dyn std::error::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// The namespaces that matter.
struct Place {
    /// Of Argo CD.
    argocd: String,
    /// What is seen.
    scope: Scope,
    /// Of the lease, if there is an election.
    lease: Option<String>,
}

impl Place {
    fn of(settings: &Settings, config: &Config, env: &Environment) -> Result<Self> {
        let argocd = settings.argocd_namespace.clone();
        let argocd = argocd.unwrap_or_else(|| config.default_namespace.clone());
        let pod = pod_namespace(env);
        let lease = match (settings.leader_election, &settings.leader_election_namespace) {
            (false, _) => None,
            (true, Some(given)) => Some(given.clone()),
            (true, None) => {
                let (namespace, _) = pod.clone().ok_or_else(|| {
                    anyhow!("unable to find leader election namespace: not running in-cluster, please specify --leader-election-namespace, or --leader-election=false for a single replica")
                })?;
                Some(namespace)
            }
        };
        let scope = scope(&settings.watch, pod, &argocd);
        Ok(Self { argocd, scope, lease })
    }
}

/// The pod's own namespace, and where it was found (spec 21 §1).
fn pod_namespace(env: &Environment) -> Option<(String, &'static str)> {
    if let Some(name) = env.text("POD_NAMESPACE") {
        return Some((name, "POD_NAMESPACE"));
    }
    let text = std::fs::read_to_string(NAMESPACE_FILE).ok()?;
    let name = text.trim();
    (!name.is_empty()).then(|| (name.to_owned(), "service account token"))
}

fn scope(watch: &WatchScope, pod: Option<(String, &'static str)>, client: &str) -> Scope {
    match watch {
        WatchScope::All => {
            info!(logger = "controller-setup", "Watching all namespaces (cluster-scoped)");
            Scope::All
        }
        WatchScope::Own => {
            let (namespace, found) =
                pod.unwrap_or_else(|| (client.to_owned(), "kubeconfig context"));
            info!(
                logger = "controller-setup",
                namespace, "Resolved controller namespace from {found}"
            );
            info!(logger = "controller-setup", namespace, "Watching controller namespace only");
            Scope::Namespaces(vec![namespace.into()])
        }
        WatchScope::These(names) => {
            let namespaces = names.join(",");
            info!(logger = "controller-setup", namespaces, "Watching specific namespaces");
            let mut names: Vec<Arc<str>> = names.iter().map(|name| name.as_str().into()).collect();
            names.sort();
            names.dedup();
            Scope::Namespaces(names)
        }
    }
}

/// Starts what listens and the controller, and waits for the end. With `--once` there is something
/// to print.
async fn serve(
    settings: Settings,
    services: Services,
    config: Config,
    place: Place,
) -> Result<Answer> {
    let counts = Arc::default();
    let client = servers::client(config, &counts)?;
    let leadership = match place.lease {
        Some(_) => Leadership::contended(),
        None => Leadership::without_election(),
    };
    let api = Arc::new(Api::new(client.clone(), &place.scope, leadership.clone()));
    let sources = Sources {
        metrics: Arc::default(),
        scanner: services.session.scanner(),
        mirrors: services.mirrors,
        api: counts,
        leadership: leadership.clone(),
    };
    let controller = Arc::new(Controller::new(
        api,
        services.session,
        controller_settings(&settings),
        leadership.clone(),
        Some(sources.observer()),
    ));
    let stop = CancellationToken::new();
    let servers = servers::listen(&settings, sources, &controller, &client, &stop).await?;
    let contender =
        place.lease.map(|namespace| Contender::new(client, &namespace, identity(), leadership));
    tokio::spawn(Signals::catch()?.stop(stop.clone()));
    tell_parts(&settings);
    info!(logger = "controller-setup", "starting manager");
    let ended = controller.run(contender, &stop).await;
    stop.cancel();
    servers.join_all().await;
    let failed = ended.inspect_err(|error| {
        error!(logger = "controller-setup", error = %error, "problem running manager");
    })?;
    let once = settings.once.then(|| controller.report());
    let text = once.map(|report| super::run::printed(&report, &[], &settings));
    Ok(Answer::new(text.unwrap_or_default(), failed))
}

fn controller_settings(settings: &Settings) -> ControllerSettings {
    ControllerSettings {
        interval: match settings.interval {
            Interval::Never => Passes::Never,
            Interval::Once => Passes::Once,
            Interval::Every(time) => Passes::Every(time),
        },
        once: settings.once,
        warm_up: settings.warm_up,
        concurrent_reconciles: settings.concurrent_reconciles,
        annotation_mode: settings.annotation_mode,
        events: settings.events,
    }
}

/// A name that no other replica has, as client-go makes it: host and a random part.
fn identity() -> String {
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let random = || RandomState::new().hash_one(std::process::id());
    format!("{}_{:016x}{:016x}", host.trim(), random(), random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_without_a_proxy_are_named_whole_or_by_their_domain() {
        #[rustfmt::skip]
        let rows = [
            ("api.example.com", "example.com", true),
            ("api.example.com", "other.net, .example.com", true),
            ("api.example.com", "api.example.com", true),
            ("api.example.com", "*", true),
            ("api.example.com", "ample.com", false),
            ("10.0.0.1", "10.0.0.1", true),
            ("api.example.com", "", false),
        ];
        for (host, list, expected) in rows {
            assert_eq!(is_exempt(host, list), expected, "{host} {list}");
        }
    }

    /// Spec 21 §1, table; the parsing of the list is `settings`'s.
    #[test]
    fn an_empty_scope_is_the_pods_own_namespace_or_the_clients() {
        let pod = || Some(("my-ns".to_owned(), "POD_NAMESPACE"));
        let these =
            |names: &[&str]| Scope::Namespaces(names.iter().map(|name| (*name).into()).collect());
        let list = || ["qa", "argocd", "qa"].map(str::to_owned).to_vec();
        assert_eq!(scope(&WatchScope::Own, pod(), "fallback-ns"), these(&["my-ns"]));
        assert_eq!(scope(&WatchScope::Own, None, "fallback-ns"), these(&["fallback-ns"]));
        assert_eq!(scope(&WatchScope::All, pod(), "fallback-ns"), Scope::All);
        assert_eq!(scope(&WatchScope::These(list()), pod(), "x"), these(&["argocd", "qa"]));
    }
}
