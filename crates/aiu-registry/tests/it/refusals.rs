//! What users are told when a registry does not answer as it should.

use std::time::Duration;

use aiu_core::outcome::Remedy;
use aiu_testkit::registry::clock::freeze;
use aiu_testkit::registry::{Fault, Kind, Registry};

use crate::{about, at, list, scanner, told};

#[tokio::test]
async fn each_failure_has_its_reason_and_its_way_out() {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(["1.0"]);
    let host = registry.host();
    let nobody = "x".repeat(64);
    #[rustfmt::skip]
    let rows = [
        (about(&registry, "org/none"), None,
         "RepositoryNotFound: HOST has no repository 'org/none' (name unknown: repository name not known to registry); check the name, or whether these credentials may see it"),
        (about(&registry, "org/app"), Some(Fault::status(404).on(Kind::Listing)),
         "RepositoryNotFound: HOST has no repository 'org/app' (unknown:); check the name, or whether these credentials may see it"),
        (about(&registry, "org/app"), Some(Fault::status(404)),
         "RegistryApiUrlWrong: HOST does not seem to be a valid v2 Docker Registry API, asked for 'org/app' (received HTTP code 404 for GET http://HOST/v2/); correct api_url: it is the part before /v2/"),
        (at(&format!("http://{host}/v2"), "org/app"), None,
         "RegistryApiUrlWrong: HOST does not seem to be a valid v2 Docker Registry API, asked for 'org/app' (received HTTP code 404 for GET http://HOST/v2/v2/); correct api_url: it is the part before /v2/"),
        (about(&registry, "test@test"), None,
         "RepositoryNotFound: HOST cannot have a repository 'test@test' (invalid reference format: 'test@test' in 'test@test' is not a valid part of a repository name: lower-case letters, digits and single separators only); correct the name"),
        (about(&registry, "org/app"), Some(Fault::answer(403, "text/plain", "go\naway")),
         "RegistryUnauthorized: HOST does not show 'org/app' without credentials (denied: go away); check the name, or give credentials for this registry"),
        (about(&registry, "org/app"), Some(Fault::status(501)),
         "RegistryUnreachable: HOST cannot serve 'org/app' (received unexpected HTTP status: 501 Not Implemented); this may pass, it is asked again"),
        (about(&registry, "org/app"), Some(Fault::too_many_requests(90)),
         "RegistryRateLimited: HOST is asked too often for 'org/app' and wants to be left alone for 90s; sign in for a higher limit, or check less often"),
        (at(&format!("https://{host}"), "org/app"), None,
         "RegistryUnreachable: HOST cannot be reached for 'org/app': no trusted TLS connection (received corrupt message of type InvalidContentType); give its CA as ca_file or ca_data, or check that it speaks TLS on this port"),
        (at(&format!("http://{nobody}"), "org/app"), None,
         &*format!("RegistryUnreachable: {nobody} cannot be reached for 'org/app': its name does not resolve (failed to lookup address information: Name or service not known); check the name of the host and the cluster's DNS")),
        (at("r.test", "org/app"), None,
         "RegistryApiUrlWrong: r.test does not seem to be a valid v2 Docker Registry API, asked for 'org/app' (unsupported protocol scheme in 'r.test': api_url begins with http:// or https://); correct api_url: it is the part before /v2/"),
    ];
    let clock = freeze();
    for (request, fault, expected) in rows {
        registry.heal();
        if let Some(fault) = fault {
            registry.inject(fault);
        }
        let scanner = std::sync::Arc::new(scanner());
        let task = {
            let (scanner, request) = (scanner.clone(), request.clone());
            tokio::spawn(async move { list(&scanner, &request).await })
        };
        clock.finish(task).await.unwrap_err();
        // The failure is remembered or comes again; either way these are its words.
        let told = told(&scanner, &request, &registry).await;
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn a_failure_is_remembered_as_long_as_its_remedy_says() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.repository("org/app").tags(["1.0"]);
    let scanner = scanner();
    let request = about(&registry, "org/app");

    registry.inject(Fault::too_many_requests(100).times(1));
    let error = list(&scanner, &request).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::RetryAfter(Duration::from_secs(100)));
    for _ in 0..9 {
        clock.advance(Duration::from_secs(10)).await;
        list(&scanner, &request).await.unwrap_err();
    }
    assert_eq!(registry.counts().all, 1);
    clock.advance(Duration::from_secs(10)).await;
    list(&scanner, &request).await.unwrap();

    clock.advance(Duration::from_secs(1)).await;
    registry.inject(Fault::status(404).on(Kind::Listing).times(1));
    let error = list(&scanner, &request).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::AwaitChange);
    clock.advance(Duration::from_secs(1)).await;
    list(&scanner, &request).await.unwrap();
}
