//! The scanner against a real registry on the loopback interface.

mod clouds;
mod credentials;
mod hostile;
mod inspecting;
mod listing;
mod refusals;
mod renewal;
mod sharing;
mod sign_in;
mod signatures;
mod tls;
mod vectors;

use std::sync::Arc;

use aiu_core::decide::TagList;
use aiu_core::registries::Registries;
use aiu_registry::{
    Credentials, CredentialsId, HttpSettings, Proxies, ScanError, ScanRequest, Scanner,
    ScannerSettings, Variables,
};
use aiu_testkit::registry::Registry;
use tokio::time::Instant;

fn scanner() -> Scanner {
    let http = HttpSettings { proxies: Proxies::Off, ..HttpSettings::default() };
    Scanner::new(ScannerSettings { http, ca_folder: None, variables: Variables::given([]) })
}

/// A repository of `registry`, asked about anonymously and without a limit.
fn about(registry: &Registry, path: &str) -> ScanRequest {
    at(&registry.url(), path)
}

/// A repository below an API's URL.
fn at(api_url: &str, path: &str) -> ScanRequest {
    let file =
        format!("registries: [{{ name: test, prefix: r.test, api_url: '{api_url}', limit: 0 }}]");
    let registries = Registries::parse(&file).expect("a good file");
    let image = "r.test/any".parse().expect("a good name");
    ScanRequest {
        endpoint: registries.endpoint_for(&image),
        path: path.into(),
        credentials: Credentials::Anonymous,
    }
}

fn signed_in(request: ScanRequest, user: &str, password: &str) -> ScanRequest {
    let credentials = Credentials::Basic {
        source: CredentialsId::new(&format!("env:{user}")),
        user: user.to_owned(),
        password: password.into(),
        origin: None,
    };
    ScanRequest { credentials, ..request }
}

/// Lists now, whatever was listed before.
async fn list(scanner: &Scanner, request: &ScanRequest) -> Result<Arc<TagList>, Arc<ScanError>> {
    scanner.list_tags(request, Instant::now()).await
}

/// The tags as a user would write them down, or the error.
async fn told(scanner: &Scanner, request: &ScanRequest, registry: &Registry) -> String {
    match list(scanner, request).await {
        Ok(tags) => {
            let tags: Vec<&str> =
                tags.as_slice().iter().map(aiu_core::image::Tag::as_str).collect();
            tags.join(" ")
        }
        Err(error) => format!("{}: {error}", error.reason()).replace(&registry.host(), "HOST"),
    }
}
