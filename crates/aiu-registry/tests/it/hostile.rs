//! Answers and programs made to hurt: each ends, with one reason, and costs a bounded number of
//! requests.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use aiu_core::decide::Inspection;
use aiu_core::registries::CredentialSource;
use aiu_registry::{Detail, Freshness, Kept, Keyring};
use aiu_testkit::registry::clock::freeze;
use aiu_testkit::registry::{AUTHORITY, Access, Fault, Image, Kind, Registry};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::Instant;

use crate::{about, scanner, told};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";

#[tokio::test]
async fn an_index_ten_levels_deep_is_no_image() {
    let registry = Registry::start().await;
    let web = registry.repository("org/app");
    let mut below = web.push("image", &Image::new());
    for level in 0..10 {
        let child = json!({
            "digest": below,
            "mediaType": INDEX,
            "platform": { "os": "linux", "architecture": "amd64" },
        });
        let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [child] });
        below = web.push_raw(&format!("level-{level}"), INDEX, &index.to_string());
    }
    let (request, tag) = (about(&registry, "org/app"), "level-9".parse().unwrap());
    let wanted = ["linux/amd64".parse().unwrap()];
    let seen = scanner().inspect(&request, &tag, Detail::Config, &wanted, Instant::now()).await;
    assert_eq!(seen.unwrap(), Inspection::NoManifest);
    assert!(registry.counts().all <= 5, "{:?}", registry.counts());
}

#[tokio::test]
async fn an_index_that_holds_itself_many_times_is_looked_at_once() {
    let registry = Registry::start().await;
    let web = registry.repository("org/app");
    let mut below = web.push("image", &Image::new());
    for level in 0..3 {
        let child =
            json!({ "digest": below, "platform": { "os": "linux", "architecture": "amd64" } });
        let index = json!({ "manifests": vec![child; 8] });
        below = web.push_raw(&format!("level-{level}"), INDEX, &index.to_string());
    }
    let (request, tag) = (about(&registry, "org/app"), "level-2".parse().unwrap());
    let seen = scanner().inspect(&request, &tag, Detail::Config, &[], Instant::now()).await;
    assert!(matches!(seen.unwrap(), Inspection::Image(_)));
    assert!(registry.counts().all <= 5, "{:?}", registry.counts());
}

#[tokio::test]
async fn redirects_in_circles_end_with_one_reason() {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(["1.0"]);
    registry.inject(Fault::redirect("/v2/org/app/tags/list").on(Kind::Listing));
    let told = told(&scanner(), &about(&registry, "org/app"), &registry).await;
    assert!(told.starts_with("RegistryAnswerInvalid: "), "{told}");
    assert!(told.contains("redirects more than 10 times"), "{told}");
    assert_eq!(registry.counts().all, 11);
}

/// Two gibibytes that no length announces: no more is taken than a page may have.
#[tokio::test]
async fn a_body_without_an_end_in_sight_is_cut() {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(["1.0"]);
    registry.inject(Fault::flood(2 << 30).on(Kind::Listing));
    let told = told(&scanner(), &about(&registry, "org/app"), &registry).await;
    assert!(told.starts_with("RegistryAnswerInvalid: "), "{told}");
    assert!(told.contains("has more than"), "{told}");
    assert_eq!(registry.counts().all, 1, "it is not asked for again");
    assert!(registry.flooded() < 64 << 20, "{} bytes were taken", registry.flooded());
}

/// A byte a second is an answer that never comes: the call's deadline ends it.
#[tokio::test]
async fn a_body_that_trickles_ends_with_the_calls_deadline() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.repository("org/app").tags(["1.0"]);
    registry.inject(Fault::trickle(Duration::from_secs(1)).on(Kind::Listing));
    let started = Instant::now();
    let (scanner, request) = (scanner(), about(&registry, "org/app"));
    let task = tokio::spawn(async move { crate::list(&scanner, &request).await });
    let error = clock.finish(task).await.unwrap_err();
    assert_eq!(error.reason(), "RegistryUnreachable", "{error}");
    assert!(error.to_string().contains("60s"), "{error}");
    assert!(started.elapsed() < Duration::from_mins(2), "{:?}", started.elapsed());
    assert_eq!(registry.counts().all, 1);
}

#[tokio::test]
async fn a_script_that_floods_its_output_is_refused_and_not_shown() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("flood");
    fs::write(&path, "#!/bin/sh\nexec head -c 5000000 /dev/zero | tr '\\0' 'S'\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let source: CredentialSource = format!("ext:{}", path.display()).parse().unwrap();
    let freshness = Freshness { kept: Kept::OnePass, pass_started: Instant::now() };
    let endpoint = crate::at("https://r.test", "org/app").endpoint;
    let error = Keyring::new().credentials(&source, &endpoint, freshness).await.unwrap_err();
    assert_eq!(error.reason(), "CredentialScriptFailed");
    let told = error.to_string();
    assert!(told.len() < 1000 && !told.contains("SSSS"), "{} bytes", told.len());
}

/// Report B103: the token server is trusted like the registry that names it.
#[tokio::test]
async fn a_token_server_elsewhere_may_show_a_certificate_of_the_same_authority() {
    let (registry, tokens) = (Registry::start_tls().await, Registry::start_tls().await);
    registry.repository("org/app").tags(["1.0"]);
    tokens.require(Access::bearer());
    let challenge = format!("Bearer realm=\"{}/token\",service=\"testkit\"", tokens.url());
    let refusal = Fault::status(401).header("www-authenticate", &challenge);
    registry.inject(refusal.on(Kind::Listing).times(1));
    let mut request = about(&registry, "org/app");
    let mut endpoint = (*request.endpoint).clone();
    endpoint.tls.ca_data = Some(AUTHORITY.into());
    request.endpoint = endpoint.into();
    assert_eq!(told(&scanner(), &request, &registry).await, "1.0");
    assert_eq!((tokens.counts().tokens, registry.counts().listings), (1, 2));
}
