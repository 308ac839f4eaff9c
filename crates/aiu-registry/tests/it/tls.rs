//! Certificates: which are trusted, and what is said of those that are not.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aiu_core::registries::{Endpoint, Tls};
use aiu_registry::{HttpSettings, Proxies, ScanRequest, Scanner, ScannerSettings, Variables};
use aiu_testkit::registry::clock::freeze;
use aiu_testkit::registry::{AUTHORITY, Registry};
use tempfile::TempDir;

use crate::{about, told};

/// The repository, at a registry with these TLS settings.
fn with_tls(registry: &Registry, tls: Tls) -> ScanRequest {
    let request = about(registry, "org/app");
    let endpoint = Endpoint { tls, ..(*request.endpoint).clone() };
    ScanRequest { endpoint: Arc::new(endpoint), ..request }
}

fn scanner(ca_folder: Option<&Path>) -> Scanner {
    let http = HttpSettings { proxies: Proxies::Off, ..HttpSettings::default() };
    let ca_folder = ca_folder.map(Path::to_owned);
    Scanner::new(ScannerSettings { http, ca_folder, variables: Variables::given([]) })
}

#[tokio::test]
async fn what_a_registry_entry_trusts() {
    let registry = Registry::start_tls().await;
    registry.repository("org/app").tags(["1.0"]);
    let folder = TempDir::new().unwrap();
    let file = |name: &str, content: &str| -> Arc<str> {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string().into()
    };
    let (good, bad) = (file("good.pem", AUTHORITY), file("bad.pem", "no certificate"));
    let missing: Arc<str> = folder.path().join("missing.pem").display().to_string().into();
    let directory: Arc<str> = folder.path().display().to_string().into();
    let tls = |ca_file: Option<&Arc<str>>, ca_data: Option<&str>, insecure| Tls {
        insecure,
        ca_file: ca_file.cloned(),
        ca_data: ca_data.map(Arc::from),
    };
    let unusable = "RegistryUnreachable: could not configure CA certificates for registry HOST, asked for 'org/app': ";
    #[rustfmt::skip]
    let rows = [
        // what the entry says (TLS-001 to TLS-009), what comes of it
        (tls(Some(&good), None, false),            "1.0".to_owned()),
        (tls(None, Some(AUTHORITY), false),        "1.0".to_owned()),
        (tls(Some(&good), Some(AUTHORITY), false), "1.0".to_owned()),
        (tls(None, None, true),                    "1.0".to_owned()),
        (tls(Some(&missing), Some("bad"), true),   "1.0".to_owned()),
        (tls(None, None, false),                   "RegistryUnreachable: HOST cannot be reached for 'org/app': no trusted TLS connection (invalid peer certificate: UnknownIssuer)".to_owned()),
        (tls(Some(&bad), None, false),             format!("{unusable}{bad} does not contain a valid PEM certificate")),
        (tls(None, Some("bad"), false),            format!("{unusable}ca_data does not contain a valid PEM certificate")),
        (tls(Some(&missing), None, false),         format!("{unusable}could not read CA file {missing}: no such file or directory")),
        (tls(Some(&directory), None, false),       format!("{unusable}could not read CA file {directory}: is a directory")),
    ];
    for (tls, expected) in rows {
        let told = told(&scanner(None), &with_tls(&registry, tls.clone()), &registry).await;
        let told = told.split("; ").next().unwrap();
        assert_eq!(told, expected, "{tls:?}");
    }
}

#[tokio::test]
async fn certificates_are_found_by_the_hosts_name_and_read_anew() {
    let clock = freeze();
    let registry = Registry::start_tls().await;
    registry.repository("org/app").tags(["1.0"]);
    let folder = TempDir::new().unwrap();
    let scanner = scanner(Some(folder.path()));
    let request = about(&registry, "org/app");
    let distrust = told(&scanner, &request, &registry).await;
    assert!(distrust.contains("UnknownIssuer"), "{distrust}");

    std::fs::write(folder.path().join("127.0.0.1"), AUTHORITY).unwrap();
    clock.advance(Duration::from_secs(31)).await;
    assert_eq!(told(&scanner, &request, &registry).await, "1.0", "without a restart");
}

/// Spec 11 G22, 40 B14: renewed certificates count at once, broken ones do not take the good ones
/// away, and a file that was never good is an error.
#[tokio::test]
async fn certificates_that_change_between_passes() {
    let registry = Registry::start_tls().await;
    registry.repository("org/app").tags(["1.0"]);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("ca.pem");
    let tls =
        Tls { insecure: false, ca_file: Some(path.display().to_string().into()), ca_data: None };
    let (scanner, request) = (scanner(None), with_tls(&registry, tls));
    #[rustfmt::skip]
    let versions = [
        (Some("no certificate"), false),
        (Some(AUTHORITY), true),
        (Some("no certificate"), true),
        (Some("no certificate"), true),
        (None, true),
        (Some(AUTHORITY), true),
    ];
    for (number, (content, works)) in versions.into_iter().enumerate() {
        match content {
            Some(content) => std::fs::write(&path, content).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let told = told(&scanner, &request, &registry).await;
        assert_eq!(told == "1.0", works, "version {number}: {told}");
    }
}
