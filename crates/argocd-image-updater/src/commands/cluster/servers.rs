//! What listens under `run`: probes and metrics, and where their answers come from.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aiu_controller::controller::{Controller, Happened, Observer};
use aiu_controller::leader::Leadership;
use aiu_controller::metrics::{Measured, Metrics};
use aiu_git::Mirrors;
use aiu_registry::Scanner;
use aiu_web::{Certificates, Check, Guard, Limits, Page, Transport};
use anyhow::{Context as _, Result};
use kube::client::{ClientBuilder, DynBody};
use kube::{Client, Config};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::util::MapResultLayer;
use tracing::info;

use super::access;
use crate::settings::Settings;

/// Requests to the API server, and those that failed.
#[derive(Debug, Default)]
pub(super) struct ApiCounts {
    requests: AtomicU64,
    errors: AtomicU64,
}

type Answered = Result<http::Response<Box<DynBody>>, tower::BoxError>;

impl ApiCounts {
    fn count(&self, is_error: bool) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if is_error {
            self.errors.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A client that counts what it asks.
pub(super) fn client(config: Config, counts: &Arc<ApiCounts>) -> Result<Client> {
    let counts = Arc::clone(counts);
    let count = move |answered: Answered| {
        let failed = |answer: &http::Response<_>| {
            answer.status().is_client_error() || answer.status().is_server_error()
        };
        counts.count(answered.as_ref().map_or(true, failed));
        answered
    };
    let builder = ClientBuilder::try_from(config).context("could not create K8s client")?;
    Ok(builder.with_layer(&MapResultLayer::new(count)).build())
}

/// Everything that metrics are read from.
pub(super) struct Sources {
    pub(super) metrics: Arc<Metrics>,
    pub(super) scanner: Arc<Scanner>,
    pub(super) mirrors: Arc<Mirrors>,
    pub(super) api: Arc<ApiCounts>,
    pub(super) leadership: Leadership,
}

impl Sources {
    /// Tells metrics what happened.
    pub(super) fn observer(&self) -> Observer {
        let metrics = Arc::clone(&self.metrics);
        Arc::new(move |happened: Happened<'_>| match happened {
            Happened::Passed { unit, report, took, dry_run } => {
                metrics.passed(unit, report, took, dry_run);
            }
            Happened::Gone(unit) => metrics.gone(unit),
        })
    }

    fn page(self, controller: Arc<Controller>) -> Page {
        Arc::new(move || {
            let measured = Measured {
                registries: self.scanner.stats(),
                pushes: self.mirrors.pushes().into_iter().map(Into::into).collect(),
                queues: vec![("passes", controller.waiting())],
                api_requests: self.api.requests.load(Ordering::Relaxed),
                api_errors: self.api.errors.load(Ordering::Relaxed),
                leads: self.leadership.is_contended().then(|| self.leadership.is_leader()),
            };
            self.metrics.page(&measured)
        })
    }
}

/// Starts probes and metrics. A port that cannot be had is told before anything else starts.
pub(super) async fn listen(
    settings: &Settings,
    sources: Sources,
    controller: &Arc<Controller>,
    client: &Client,
    stop: &CancellationToken,
) -> Result<JoinSet<()>> {
    let mut servers = JoinSet::new();
    let wanted = &settings.servers;
    if let Some(address) = &wanted.probes {
        let bound = aiu_web::bind(address).await.context("--health-probe-bind-address")?;
        let addr = bound.address().to_string();
        info!(logger = "controller-setup", name = "health probe", addr, "starting server");
        let (alive, ready) = (controller.health(), controller.health());
        let live = vec![Check::new("healthz", move || alive.alive())];
        let ready = vec![Check::new("warmup-check", move || ready.ready())];
        let routes = aiu_web::probes(live, ready);
        let transport = Transport::Plain;
        servers.spawn(aiu_web::serve(bound, routes, transport, Limits::default(), stop.clone()));
    }
    if let Some(address) = &wanted.metrics {
        let bound = aiu_web::bind(address).await.context("--metrics-bind-address")?;
        let (at, secure) = (bound.address().to_string(), wanted.metrics_secure);
        info!(logger = "controller-setup", bindAddress = at, secure, "Serving metrics server");
        let (guard, transport) = if wanted.metrics_secure {
            if !wanted.http2 {
                info!(logger = "controller-setup", "Disabling HTTP/2 support");
            }
            let certificates = match &wanted.metrics_cert_dir {
                Some(folder) => Certificates::of_folder(folder).context("--metrics-cert-dir")?,
                None => Certificates::self_signed()?,
            };
            let guard = Guard::new(access::ask(client.clone()));
            (Some(guard), Transport::Tls { certificates, http2: wanted.http2 })
        } else {
            (None, Transport::Plain)
        };
        let routes = aiu_web::metrics(sources.page(Arc::clone(controller)), guard);
        servers.spawn(aiu_web::serve(bound, routes, transport, Limits::default(), stop.clone()));
    }
    Ok(servers)
}
