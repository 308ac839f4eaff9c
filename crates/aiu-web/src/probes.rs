//! `/healthz` and `/readyz`, as the kubelet asks for them (spec 21 §2.4).

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

/// Something that must hold, and how to ask whether it does.
#[derive(Clone)]
pub struct Check {
    name: &'static str,
    ask: Arc<dyn Fn() -> Result<(), String> + Send + Sync>,
}

impl Check {
    /// A check; `ask` answers at once, with the reason where it fails.
    pub fn new(
        name: &'static str,
        ask: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self { name, ask: Arc::new(ask) }
    }
}

/// The two probes. What is alive or ready is the checks' business.
pub fn probes(live: Vec<Check>, ready: Vec<Check>) -> Router {
    Router::new().merge(probe("healthz", live)).merge(probe("readyz", ready))
}

fn probe(name: &'static str, checks: Vec<Check>) -> Router {
    let checks: Arc<[Check]> = checks.into();
    let mut routes = Router::new();
    for check in checks.iter().cloned() {
        let path = format!("/{name}/{}", check.name);
        let one: Arc<[Check]> = Arc::new([check]);
        routes = routes.route(&path, get(async move |query| answer(name, &one, query)));
    }
    routes.route(&format!("/{name}"), get(async move |query| answer(name, &checks, query)))
}

/// `ok`, or each check with its result: where one fails, or with `?verbose`.
fn answer(name: &str, checks: &[Check], RawQuery(query): RawQuery) -> Response {
    let is_verbose = query.is_some_and(|query| query.split('&').any(|q| q.starts_with("verbose")));
    let mut lines = String::new();
    let mut failed = false;
    for check in checks {
        let _ = match (check.ask)() {
            Ok(()) => writeln!(lines, "[+]{} ok", check.name),
            Err(reason) => {
                failed = true;
                writeln!(lines, "[-]{} failed: {reason}", check.name)
            }
        };
    }
    let (status, text) = match (failed, is_verbose) {
        (true, _) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{lines}{name} check failed\n")),
        (false, true) => (StatusCode::OK, format!("{lines}{name} check passed\n")),
        (false, false) => (StatusCode::OK, "ok".to_owned()),
    };
    (status, [(CACHE_CONTROL, "no-store")], text).into_response()
}
