//! `/metrics`: a page that is made when it is asked for.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::middleware::{Next, from_fn};
use axum::routing::get;

use crate::Guard;

/// Makes the page, in the text format of Prometheus.
pub type Page = Arc<dyn Fn() -> String + Send + Sync>;

/// The version of the format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The page, for everyone, or for whom the guard lets in.
pub fn metrics(page: Page, guard: Option<Guard>) -> Router {
    let answer = async move || ([(CONTENT_TYPE, TEXT), (CACHE_CONTROL, "no-store")], page());
    let routes = Router::new().route("/metrics", get(answer));
    match guard {
        None => routes,
        Some(guard) => routes.layer(from_fn(move |request: Request, next: Next| {
            let guard = guard.clone();
            async move { guard.pass(request, next).await }
        })),
    }
}
