//! Tokens and passwords: shown where they are wanted, fetched once, renewed when refused.

use std::time::Duration;

use aiu_testkit::registry::clock::freeze;
use aiu_testkit::registry::{Access, Fault, Kind, Registry};
use tokio::task::JoinSet;

use crate::{about, list, scanner, signed_in, told};

async fn registry(access: Access) -> Registry {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(["1.0"]);
    registry.repository("org/job").tags(["2.0"]);
    registry.require(access);
    registry
}

/// `requests: listings + tokens + pings` so far.
fn counted(registry: &Registry) -> String {
    let counts = registry.counts();
    format!("{}: {} + {} + {}", counts.all, counts.listings, counts.tokens, counts.pings)
}

#[tokio::test]
async fn what_is_wanted_is_shown_and_learned() {
    let bearer = |login: bool, oauth_key, offer_basic| Access::Bearer {
        login: login.then(|| ("user".to_owned(), "pass".to_owned())),
        lifetime: Duration::from_mins(5),
        oauth_key,
        offer_basic,
    };
    #[rustfmt::skip]
    let rows = [
        // what it wants, requests for one repository, for a second one on top
        (Access::Open,                  "1: 1 + 0 + 0", "2: 2 + 0 + 0"),
        (Access::basic("user", "pass"), "2: 2 + 0 + 0", "3: 3 + 0 + 0"),
        (bearer(false, false, false),   "3: 2 + 1 + 0", "5: 3 + 2 + 0"),
        (bearer(true, false, false),    "3: 2 + 1 + 0", "5: 3 + 2 + 0"),
        (bearer(true, true, false),     "3: 2 + 1 + 0", "5: 3 + 2 + 0"),
        (bearer(true, false, true),     "3: 2 + 1 + 0", "5: 3 + 2 + 0"),
    ];
    for (access, one, two) in rows {
        let registry = registry(access.clone()).await;
        let scanner = scanner();
        let about = |path| signed_in(about(&registry, path), "user", "pass");
        assert_eq!(told(&scanner, &about("org/app"), &registry).await, "1.0", "{access:?}");
        assert_eq!(counted(&registry), one, "{access:?}");
        assert_eq!(told(&scanner, &about("org/job"), &registry).await, "2.0", "{access:?}");
        assert_eq!(counted(&registry), two, "{access:?}");
    }
}

#[tokio::test]
async fn refused_credentials_are_named_and_never_shown() {
    let anonymous = "RegistryUnauthorized: HOST does not show 'org/app' without credentials (";
    let refused =
        "RegistryUnauthorized: HOST does not show 'org/app' to the credentials from 'env:user' (";
    #[rustfmt::skip]
    let rows = [
        // what it wants, who asks, what comes of it
        (Access::basic("user", "pass"), None, anonymous, "no basic auth credentials"),
        (Access::basic("user", "pass"), Some("S3CRET"), refused, "unauthorized: authentication required"),
        (Access::basic("user", "pass"), Some(""), refused, "no basic auth credentials"),
        (Access::bearer_for("user", "pass"), None, anonymous, "unauthorized: incorrect login"),
        (Access::bearer_for("user", "pass"), Some("S3CRET"), refused, "unauthorized: incorrect login"),
    ];
    for (access, password, start, said) in rows {
        let registry = registry(access.clone()).await;
        let mut request = about(&registry, "org/app");
        if let Some(password) = password {
            request = signed_in(request, "user", password);
        }
        let told = told(&scanner(), &request, &registry).await;
        assert!(told.starts_with(&format!("{start}{said})")), "{access:?}: {told}");
        assert!(!told.contains("S3CRET") && !format!("{request:?}").contains("S3CRET"), "{told}");
    }
}

#[tokio::test]
async fn a_token_serves_until_it_expires() {
    let clock = freeze();
    let access = Access::Bearer {
        login: None,
        lifetime: Duration::from_secs(3001),
        oauth_key: false,
        offer_basic: false,
    };
    let registry = registry(access).await;
    let scanner = scanner();
    for (number, tokens) in [1, 1, 1, 1, 2].into_iter().enumerate() {
        list(&scanner, &about(&registry, "org/app")).await.unwrap();
        assert_eq!(registry.counts().tokens, tokens, "request {number}, every 1000 seconds");
        clock.advance(Duration::from_millis(999_990)).await;
    }
    assert_eq!(registry.counts().unauthorized, 1, "nothing expired is ever shown");
}

#[tokio::test]
async fn a_short_life_is_taken_for_a_minute() {
    let clock = freeze();
    let access = Access::Bearer {
        login: None,
        lifetime: Duration::from_secs(1),
        oauth_key: false,
        offer_basic: false,
    };
    let registry = registry(access).await;
    let scanner = scanner();
    list(&scanner, &about(&registry, "org/app")).await.unwrap();
    clock.advance(Duration::from_secs(30)).await;
    list(&scanner, &about(&registry, "org/app")).await.unwrap();
    let counts = registry.counts();
    assert_eq!((counts.tokens, counts.unauthorized), (2, 2), "shown, refused, renewed");
}

#[tokio::test]
async fn revoked_tokens_are_renewed_once_for_all_who_notice() {
    let registry = registry(Access::bearer()).await;
    let scanner = std::sync::Arc::new(scanner());
    list(&scanner, &about(&registry, "org/app")).await.unwrap();
    registry.revoke_tokens();
    registry.reset_counts();
    let mut callers = JoinSet::new();
    for _ in 0..20 {
        let (scanner, request) = (scanner.clone(), about(&registry, "org/app"));
        // Each wants a listing of its own.
        callers.spawn(async move { list(&scanner, &request).await.is_ok() });
    }
    assert!(callers.join_all().await.into_iter().all(|ok| ok));
    assert_eq!(registry.counts().tokens, 1);
}

#[tokio::test]
async fn a_registry_that_hides_what_is_private_is_asked_how_to_sign_in() {
    // Without credentials it serves what is public, and denies that there is more.
    let registry = registry(Access::basic("user", "pass")).await;
    let denial = Fault::answer(404, "application/json", r#"{"errors":[{"code":"NAME_UNKNOWN"}]}"#);
    registry.inject(denial.on(Kind::Listing).times(1));
    let request = signed_in(about(&registry, "org/app"), "user", "pass");
    assert_eq!(told(&scanner(), &request, &registry).await, "1.0");
    assert_eq!(counted(&registry), "3: 2 + 0 + 1");
}

#[tokio::test]
async fn a_host_that_was_redirected_to_gets_no_credentials() {
    let (registry, other) =
        (registry(Access::bearer()).await, registry(Access::bearer_for("user", "pass")).await);
    let target = format!("{}/v2/org/app/tags/list", other.url());
    registry.inject(Fault::redirect(&target).on(Kind::Listing));
    let request = signed_in(about(&registry, "org/app"), "user", "pass");
    let told = told(&scanner(), &request, &registry).await;
    assert!(told.starts_with("RegistryUnauthorized"), "{told}");
    let shown: Vec<_> = other.requests().into_iter().map(|r| (r.kind, r.authorization)).collect();
    assert_eq!(shown, [(Kind::Listing, None)]);
}

#[tokio::test]
async fn what_one_repository_wants_is_not_held_against_the_next() {
    let registry = registry(Access::Open).await;
    let refusal = Fault::status(401).header("www-authenticate", "Basic realm=\"private\"");
    registry.inject(refusal.on(Kind::Listing).repository("org/job"));
    let scanner = scanner();
    let job = told(&scanner, &about(&registry, "org/job"), &registry).await;
    assert!(job.starts_with("RegistryUnauthorized"), "{job}");
    assert_eq!(told(&scanner, &about(&registry, "org/app"), &registry).await, "1.0");
}

#[tokio::test]
async fn an_unusable_answer_of_the_token_server_is_told() {
    #[rustfmt::skip]
    let rows = [
        (Fault::body("{}"), "RegistryAnswerInvalid", "authorization server did not include a token in the response"),
        (Fault::body("<html>"), "RegistryAnswerInvalid", "the authorization server's answer is no JSON object"),
        (Fault::status(403), "RegistryUnauthorized", "denied:"),
        (Fault::status(501), "RegistryUnreachable", "received unexpected HTTP status: 501 Not Implemented"),
        (Fault::too_many_requests(100), "RegistryRateLimited", "left alone for 100s"),
    ];
    for (fault, reason, cause) in rows {
        let registry = registry(Access::bearer()).await;
        registry.inject(fault.clone().on(Kind::Token));
        let told = told(&scanner(), &about(&registry, "org/app"), &registry).await;
        assert!(told.starts_with(reason) && told.contains(cause), "{fault:?}: {told}");
    }
}

/// Report B95: a token that may list and no more is refused what is usually asked for.
#[tokio::test]
async fn a_narrow_token_is_asked_for_what_the_registry_names() {
    let registry = registry(Access::Narrow { action: "metadata_read".to_owned() }).await;
    let scanner = scanner();
    assert_eq!(told(&scanner, &about(&registry, "org/app"), &registry).await, "1.0");
    assert_eq!(counted(&registry), "4: 2 + 2 + 0", "refused, asked as usual, asked as named");
    assert_eq!(told(&scanner, &about(&registry, "org/app"), &registry).await, "1.0");
    assert_eq!(counted(&registry), "5: 3 + 2 + 0", "and kept");
}
