//! What comes back from one call: statuses, sizes, redirects, errors in words.

use aiu_http::header::{AUTHORIZATION, HeaderValue};
use aiu_http::{Call, TlsProfile};
use aiu_testkit::registry::{Fault, Kind, Registry};

use crate::{get, http, ping, told};

#[tokio::test]
async fn an_answer_is_an_answer_whatever_its_status() {
    let registry = Registry::start().await;
    for status in [200, 204, 400, 404, 418, 501] {
        registry.heal();
        registry.inject(Fault::status(status));
        let outcome = http().send(&ping(&registry)).await;
        assert_eq!(told(&outcome, &registry), status.to_string());
    }
    assert_eq!(registry.counts().all, 6, "none of these is worth a repetition");
}

#[tokio::test]
async fn errors_name_the_host_the_cause_and_no_secret() {
    let registry = Registry::start().await;
    let host = registry.host();
    let long_label = "x".repeat(64);
    registry.inject(Fault::body(&"x".repeat(2000)).on(Kind::Ping));
    registry.inject(Fault::redirect("/again?sig=secret").on(Kind::Other));
    #[rustfmt::skip]
    let rows = [
        (get(&format!("http://user:secret@{host}/v2/?sig=secret")).max_body(1000),
         "the answer of http://HOST/v2/ has more than 1000 bytes".to_owned()),
        (get(&format!("http://user:secret@{host}/loop?sig=secret")),
         "http://HOST/loop redirects more than 10 times".to_owned()),
        (get(&format!("https://user:secret@{host}/v2/")),
         "HOST cannot be reached: no trusted TLS connection (received corrupt message of type InvalidContentType)".to_owned()),
        (get("ftp://user:secret@h.example/v2/"),
         "unsupported protocol scheme in 'ftp://h.example/v2/': a URL here begins with http:// or https://".to_owned()),
        (get(&format!("http://{long_label}/v2/")),
         format!("{long_label} cannot be reached: its name does not resolve (failed to lookup address information: Name or service not known)")),
    ];
    for (call, expected) in rows {
        let outcome = http().send(&call).await;
        assert_eq!(told(&outcome, &registry), expected);
    }
}

#[tokio::test]
async fn redirects_lose_the_authorization_when_the_host_changes() {
    let (registry, other) = (Registry::start().await, Registry::start().await);
    let secret = HeaderValue::from_static("Bearer secret");
    let asks = |registry: &Registry| ping(registry).header(AUTHORIZATION, secret.clone());

    registry.inject(Fault::redirect("/elsewhere").on(Kind::Ping).times(1));
    http().send(&asks(&registry)).await.unwrap();
    registry.inject(Fault::redirect(&format!("{}/v2/", other.url())).on(Kind::Ping));
    let answer = http().send(&asks(&registry)).await.unwrap();

    assert_eq!(answer.url.as_str(), format!("{}/v2/", other.url()));
    let sent = |registry: &Registry| -> Vec<Option<String>> {
        registry.requests().into_iter().map(|request| request.authorization).collect()
    };
    assert_eq!(sent(&registry), vec![Some("Bearer".to_owned()); 3]);
    assert_eq!(sent(&other), [None]);
}

#[tokio::test]
async fn a_post_is_sent_once_and_followed_nowhere() {
    let registry = Registry::start().await;
    registry.inject(Fault::redirect("/elsewhere").times(1));
    registry.inject(Fault::status(503));
    let url = format!("{}/token", registry.url()).parse().unwrap();
    let call = Call::post_form(url, vec![("grant_type".into(), "refresh_token".into())]);
    assert_eq!(http().send(&call).await.unwrap().status, 307);
    assert_eq!(http().send(&call).await.unwrap().status, 503);
    assert_eq!(registry.counts().all, 2);
}

#[test]
fn certificates_are_checked_when_they_are_given() {
    for text in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA"] {
        let error = TlsProfile::with_roots(text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "does not contain a valid PEM certificate", "{text}");
    }
}
