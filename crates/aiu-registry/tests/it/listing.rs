//! All pages of a listing, whatever the registry's habits.

use aiu_testkit::registry::{Access, Fault, Kind, Links, Paging, Registry};

use crate::{about, list, scanner, told};

const FIVE: [&str; 5] = ["1.0", "1.1", "1.2", "latest", "1.3"];

#[tokio::test]
async fn every_way_to_link_pages_is_followed() {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(FIVE);
    for links in [Links::Relative, Links::Absolute, Links::Decorated, Links::Bare] {
        registry.paging(Paging { page_size: 2, links: links.clone() });
        registry.reset_counts();
        let told = told(&scanner(), &about(&registry, "org/app"), &registry).await;
        assert_eq!(told, "1.0 1.1 1.2 latest 1.3", "{links:?}");
        assert_eq!(registry.counts().all, 3, "{links:?}");
    }
}

#[tokio::test]
async fn five_thousand_tags_are_fifty_requests_and_none_is_lost() {
    let registry = Registry::start().await;
    let names: Vec<String> = (0..5_000).map(|n| format!("1.{}.{}", n / 100, n % 100)).collect();
    registry.repository("org/app").tags(&names);
    registry.paging(Paging { page_size: 100, links: Links::Relative });
    let tags = list(&scanner(), &about(&registry, "org/app")).await.unwrap();
    assert_eq!(registry.counts().all, 50);
    let listed: Vec<&str> = tags.as_slice().iter().map(aiu_core::image::Tag::as_str).collect();
    assert_eq!(listed, names, "all of them, each once, in the registry's order");
}

#[tokio::test]
async fn a_token_that_expires_between_pages_is_renewed_once() {
    let registry = Registry::start().await;
    let names: Vec<String> = (0..1_000).map(|n| format!("1.0.{n}")).collect();
    registry.repository("org/app").tags(&names);
    registry.paging(Paging { page_size: 100, links: Links::Absolute });
    registry.require(Access::bearer());
    registry.inject(Fault::revoke_tokens().on(Kind::Listing).after(5).times(1));
    let tags = list(&scanner(), &about(&registry, "org/app")).await.unwrap();
    let listed: Vec<&str> = tags.as_slice().iter().map(aiu_core::image::Tag::as_str).collect();
    assert_eq!(listed, names);
    let counts = registry.counts();
    assert_eq!((counts.tokens, counts.unauthorized), (2, 2), "the first, and one renewal");
    assert_eq!(counts.listings, 12, "ten pages, and two that were refused");
}

#[tokio::test]
async fn names_that_are_no_tags_are_left_out_and_counted() {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(["1.0", "no tag", "-1", "", "2.0", "1.0"]);
    let request = about(&registry, "org/app");
    let scanner = scanner();
    assert_eq!(told(&scanner, &request, &registry).await, "1.0 2.0");
    let listing = scanner.listing(&request, tokio::time::Instant::now()).await.unwrap();
    assert_eq!(listing.invalid, 3);
}

#[tokio::test]
async fn odd_answers_are_all_the_tags_or_an_error() {
    #[rustfmt::skip]
    let rows = [
        (Fault::body(r#"{"name":"org/app","tags":null}"#), ""),
        (Fault::body(r#"{"name":"org/app"}"#), ""),
        (Fault::content_type("text/plain"), "1.0 1.1 1.2 latest 1.3"),
        (Fault::body(r#"{"tags":["1.0","#),
         "RegistryAnswerInvalid: HOST gave an answer about 'org/app' that cannot be used: its page of tags cannot be read (EOF while parsing a value at line 1 column 15); this is a fault of the registry or of a proxy before it"),
        (Fault::body(r#"{"tags":["1.0",7]}"#),
         "RegistryAnswerInvalid: HOST gave an answer about 'org/app' that cannot be used: its page of tags cannot be read (invalid type: integer `7`, expected a string at line 1 column 16); this is a fault of the registry or of a proxy before it"),
        (Fault::answer(200, "text/html", "<html>sign in</html>"),
         "RegistryApiUrlWrong: HOST does not seem to be a valid v2 Docker Registry API, asked for 'org/app' (it answers with a web page for GET http://HOST/v2/org/app/tags/list); correct api_url: it is the part before /v2/"),
        (Fault::status(204),
         "RegistryAnswerInvalid: HOST gave an answer about 'org/app' that cannot be used: received unexpected HTTP status: 204 No Content; this is a fault of the registry or of a proxy before it"),
    ];
    let registry = Registry::start().await;
    registry.repository("org/app").tags(FIVE);
    for (fault, expected) in rows {
        registry.heal();
        registry.inject(fault.clone().on(Kind::Listing));
        let told = told(&scanner(), &about(&registry, "org/app"), &registry).await;
        assert_eq!(told, expected, "{fault:?}");
    }
}

#[tokio::test]
async fn a_page_that_fails_fails_the_listing() {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(FIVE);
    registry.paging(Paging { page_size: 2, links: Links::Relative });
    registry.inject(Fault::status(400).on(Kind::Listing).after(1));
    let told = told(&scanner(), &about(&registry, "org/app"), &registry).await;
    assert!(told.starts_with("RegistryAnswerInvalid: HOST"), "{told}");
}

#[tokio::test]
async fn pages_that_go_in_circles_end() {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(FIVE);
    registry.paging(Paging { page_size: 2, links: Links::Loop });
    let told = told(&scanner(), &about(&registry, "org/app"), &registry).await;
    assert!(told.contains("its pages of tags go round in circles"), "{told}");
    assert_eq!(registry.counts().all, 1);
}

#[tokio::test]
async fn a_registry_that_refuses_page_sizes_is_asked_without() {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(FIVE);
    registry.refuse_page_size();
    registry.offer_etags();
    let (scanner, request) = (scanner(), about(&registry, "org/app"));
    for listings in [2, 3] {
        assert_eq!(told(&scanner, &request, &registry).await, "1.0 1.1 1.2 latest 1.3");
        assert_eq!(registry.counts().listings, listings, "what it refuses is tried once");
    }
    assert_eq!(registry.counts().not_modified, 1);
}

#[tokio::test]
async fn a_registry_that_cuts_at_the_page_size_and_does_not_say_so_is_asked_without() {
    let registry = Registry::start().await;
    let names: Vec<String> = (0..1_500).map(|n| format!("1.0.{n}")).collect();
    registry.repository("org/app").tags(&names);
    registry.paging(Paging { page_size: usize::MAX, links: Links::Missing });
    let tags = list(&scanner(), &about(&registry, "org/app")).await.unwrap();
    assert_eq!(tags.len(), 1_500);
    assert_eq!(registry.counts().listings, 2);
}

#[tokio::test]
async fn a_page_on_another_host_is_shown_no_credentials() {
    let (registry, other) = (Registry::start().await, Registry::start().await);
    registry.repository("org/app").tags(FIVE);
    other.repository("org/app").tags(FIVE);
    registry.require(Access::bearer());
    registry.paging(Paging { page_size: 2, links: Links::Elsewhere(other.url()) });
    let told = told(&scanner(), &about(&registry, "org/app"), &registry).await;
    assert_eq!(told, "1.0 1.1 1.2 latest 1.3");
    let shown: Vec<_> = other.requests().into_iter().map(|request| request.authorization).collect();
    assert_eq!(shown, [None, None]);
}
