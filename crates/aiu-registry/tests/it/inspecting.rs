//! Images behind tags: dates, labels, platforms, digests, and what it costs to know them.

use std::sync::Arc;
use std::time::Duration;

use aiu_core::decide::{Inspection, Metadata, Needs};
use aiu_core::image::{Platform, Tag};
use aiu_registry::{Detail, ScanError, ScanRequest, Scanner};
use aiu_testkit::registry::clock::freeze;
use aiu_testkit::registry::{Access, Fault, Image, Kind, Registry};
use tokio::time::Instant;

use crate::{about, scanner};

fn tag(text: &str) -> Tag {
    text.parse().expect("a tag that a test wrote")
}

fn platforms(text: &str) -> Vec<Platform> {
    let names = text.split_whitespace();
    names.map(|name| name.parse().expect("a platform that a test wrote")).collect()
}

/// What is known of a tag's image, as a person would say it.
fn told(inspection: &Inspection) -> String {
    match inspection {
        Inspection::WrongPlatform => "wrong platform".to_owned(),
        Inspection::NoManifest => "no manifest".to_owned(),
        Inspection::Image(image) => {
            let created = image.created.map_or("undated".to_owned(), |at| at.to_string());
            let labels = image.labels.iter().map(|(key, value)| format!(" {key}={value}"));
            created + &labels.collect::<String>()
        }
    }
}

async fn look(registry: &Registry, name: &str, detail: Detail, wanted: &str) -> String {
    let request = about(registry, "org/app");
    let answer =
        scanner().inspect(&request, &tag(name), detail, &platforms(wanted), Instant::now()).await;
    match answer {
        Ok(inspection) => told(&inspection),
        Err(error) => error.reason().to_owned(),
    }
}

async fn dates(
    scanner: &Scanner,
    request: &ScanRequest,
    tags: &[Tag],
) -> Result<Metadata, Arc<ScanError>> {
    let needs = Needs::Dates(tags.into());
    scanner.inspect_needs(request, &needs, &platforms("linux/amd64"), Instant::now()).await
}

/// `HEADs + GETs of manifests + blobs` so far.
fn cost(registry: &Registry) -> (usize, usize, usize) {
    let counts = registry.counts();
    assert_eq!(counts.all, counts.manifest_heads + counts.manifest_gets + counts.blobs);
    (counts.manifest_heads, counts.manifest_gets, counts.blobs)
}

#[tokio::test]
async fn images_and_indexes_are_read_for_the_wanted_platforms() {
    let registry = Registry::start().await;
    let app = registry.repository("org/app");
    let first = "2024-05-01T10:00:00.123456789Z";
    let (amd, arm) = (Image::new().created(first), Image::new().platform("linux/arm64/v8"));
    app.push("single", &amd.clone().label("rev", "7"));
    app.push("docker", &amd.clone().docker());
    app.push("undated", &Image::new().undated());
    app.push("misdated", &Image::new().created("invalid"));
    app.push("placeless", &Image::new().platform("/"));
    let arm = arm.created("2024-05-02T00:00:00Z").label("cpu", "arm");
    let unknown = Image::new().platform("unknown/unknown");
    app.push_index("index", &[amd.clone().label("cpu", "amd"), arm.clone(), unknown]);
    app.push_index("list", &[amd.clone().docker(), arm.clone().docker()]);
    app.push_index("half-dated", &[amd.clone(), arm.clone().undated()]);
    app.push_raw("schema1", "application/vnd.docker.distribution.manifest.v1+json", "{}");
    app.push_raw("empty", "application/vnd.oci.image.index.v1+json", r#"{"manifests":[]}"#);
    let nowhere = format!("sha256:{}", "0".repeat(64));
    let manifest = format!(r#"{{"config":{{"digest":"{nowhere}"}},"layers":[]}}"#);
    app.push_raw("no-config", "application/vnd.oci.image.manifest.v1+json", &manifest);
    let index = format!(
        r#"{{"manifests":[{{"digest":"{nowhere}","platform":{{"os":"linux","architecture":"amd64"}}}}]}}"#
    );
    app.push_raw("no-child", "application/vnd.oci.image.index.v1+json", &index);
    let text = app.push_blob(b"text");
    let manifest = format!(r#"{{"config":{{"digest":"{text}"}},"layers":[]}}"#);
    app.push_raw("no-image", "application/vnd.oci.image.manifest.v1+json", &manifest);

    #[rustfmt::skip]
    let rows = [
        // tag, wanted platforms, what is known of it
        ("single",     "linux/amd64",             "2024-05-01T10:00:00.123456789Z rev=7"),
        ("single",     "",                        "2024-05-01T10:00:00.123456789Z rev=7"),
        ("single",     "linux/arm64",             "wrong platform"),
        ("docker",     "linux/amd64",             "2024-05-01T10:00:00.123456789Z"),
        ("undated",    "linux/amd64",             "undated"),
        ("misdated",   "linux/amd64",             "undated"),
        ("placeless",  "linux/amd64",             "wrong platform"),
        ("placeless",  "",                        "2024-01-01T00:00:00Z"),
        ("index",      "linux/amd64",             "2024-05-01T10:00:00.123456789Z cpu=amd"),
        ("index",      "linux/arm64",             "2024-05-02T00:00:00Z cpu=arm"),
        ("index",      "linux/arm64/v7",          "wrong platform"),
        ("index",      "linux/amd64 linux/arm64", "2024-05-02T00:00:00Z cpu=arm"),
        ("index",      "",                        "2024-05-02T00:00:00Z cpu=arm"),
        ("list",       "linux/amd64",             "2024-05-01T10:00:00.123456789Z"),
        ("half-dated", "linux/amd64",             "2024-05-01T10:00:00.123456789Z"),
        ("half-dated", "",                        "undated"),
        ("schema1",    "",                        "no manifest"),
        ("empty",      "",                        "no manifest"),
        ("no-config",  "",                        "no manifest"),
        ("no-child",   "linux/amd64",             "no manifest"),
        ("no-image",   "",                        "no manifest"),
        ("gone",       "",                        "no manifest"),
    ];
    for (name, wanted, expected) in rows {
        let seen = look(&registry, name, Detail::Config, wanted).await;
        assert_eq!(seen, expected.trim_end(), "{name} for '{wanted}'");
    }
    for (name, wanted, expected) in [
        ("index", "linux/arm64", "undated"),
        ("index", "windows/amd64", "wrong platform"),
        ("gone", "", "no manifest"),
    ] {
        let seen = look(&registry, name, Detail::Digest, wanted).await;
        assert_eq!(seen, expected, "the digest alone: {name} for '{wanted}'");
    }
}

#[tokio::test]
async fn the_digest_is_that_of_what_the_tag_names() {
    let registry = Registry::start().await;
    let app = registry.repository("org/app");
    app.push("single", &Image::new());
    app.push_index("index", &[Image::new(), Image::new().platform("linux/arm64")]);
    for hide in [false, true] {
        if hide {
            registry.hide_digests();
        }
        for (name, wanted) in [("single", ""), ("index", ""), ("index", "linux/arm64")] {
            let (request, wanted) = (about(&registry, "org/app"), platforms(wanted));
            let (detail, now) = (Detail::Digest, Instant::now());
            let seen = scanner().inspect(&request, &tag(name), detail, &wanted, now).await.unwrap();
            let Inspection::Image(image) = seen else { panic!("{name} is an image") };
            let digest = image.digest.map(|digest| digest.to_string());
            assert_eq!(digest, app.digest_of(name), "{name}, digests hidden: {hide}");
        }
    }
}

#[tokio::test]
async fn the_digest_strategy_asks_once_per_pass() {
    let clock = freeze();
    let registry = Registry::start().await;
    let app = registry.repository("org/app");
    app.push("latest", &Image::new());
    let (scanner, request) = (scanner(), about(&registry, "org/app"));
    let needs = Needs::Digest(tag("latest"));
    let wanted = platforms("linux/amd64");
    let mut costs = Vec::new();
    for pass in 0..4 {
        if pass == 3 {
            app.push("latest", &Image::new().label("new", "yes"));
        }
        clock.advance(Duration::from_mins(2)).await;
        let started = Instant::now();
        for _ in 0..50 {
            scanner.inspect_needs(&request, &needs, &wanted, started).await.unwrap();
        }
        costs.push(cost(&registry));
        registry.reset_counts();
    }
    assert_eq!(costs, [(0, 1, 1), (1, 0, 0), (1, 0, 0), (1, 1, 1)]);
}

#[tokio::test]
async fn known_tags_are_asked_about_once_an_hour_and_their_images_never_again() {
    let clock = freeze();
    let registry = Registry::start().await;
    let app = registry.repository("org/app");
    let names: Vec<String> = (0..60).map(|number| format!("build-{number}")).collect();
    for name in &names {
        app.push(name, &Image::new().label("name", name));
    }
    let tags: Vec<Tag> = names.iter().map(|name| tag(name)).collect();
    let (scanner, request) = (scanner(), about(&registry, "org/app"));

    assert_eq!(dates(&scanner, &request, &tags).await.unwrap().len(), 60);
    assert_eq!(cost(&registry), (0, 60, 60));
    registry.reset_counts();
    for _ in 0..14 {
        clock.advance(Duration::from_mins(2)).await;
        dates(&scanner, &request, &tags).await.unwrap();
    }
    assert_eq!(cost(&registry), (0, 0, 0), "half an hour costs nothing");

    let mut busiest = 0;
    for _ in 0..16 {
        let before = registry.counts().all;
        clock.advance(Duration::from_mins(2)).await;
        dates(&scanner, &request, &tags).await.unwrap();
        busiest = busiest.max(registry.counts().all - before);
    }
    let (heads, gets, blobs) = cost(&registry);
    assert_eq!((gets, blobs), (0, 0), "nothing has changed");
    assert!((60..=70).contains(&heads), "each once within the hour: {heads}");
    assert!(busiest <= 20, "not all at once: {busiest}");
}

#[tokio::test]
async fn a_tag_that_is_pushed_again_is_noticed_within_the_hour() {
    let clock = freeze();
    let registry = Registry::start().await;
    let app = registry.repository("org/app");
    app.push("nightly", &Image::new().created("2024-01-01T00:00:00Z"));
    let (scanner, request) = (scanner(), about(&registry, "org/app"));
    let tags = [tag("nightly")];
    let before = dates(&scanner, &request, &tags).await.unwrap();
    app.push("nightly", &Image::new().created("2024-05-05T00:00:00Z"));
    let mut minutes = 0;
    while dates(&scanner, &request, &tags).await.unwrap() == before {
        clock.advance(Duration::from_mins(2)).await;
        minutes += 2;
        assert!(minutes <= 62, "{before:?} still after {minutes} minutes");
    }
    let after = dates(&scanner, &request, &tags).await.unwrap();
    assert!(format!("{after:?}").contains("2024-05-05"), "{after:?}");
    let counts = registry.counts();
    assert_eq!((counts.manifest_heads, counts.manifest_gets, counts.blobs), (1, 2, 2));
}

#[tokio::test]
async fn one_tag_without_an_answer_fails_them_all() {
    let clock = freeze();
    let tags = [tag("1"), tag("2"), tag("3")];
    #[rustfmt::skip]
    let rows = [
        (Fault::hang().on(Kind::Blob).after(2),         "RegistryUnreachable"),
        (Fault::status(500).on(Kind::ManifestGet).after(1), "RegistryUnreachable"),
        (Fault::too_many_requests(90).on(Kind::Blob),   "RegistryRateLimited"),
        (Fault::body("other").on(Kind::Blob),           "RegistryAnswerInvalid"),
    ];
    for (fault, reason) in rows {
        let registry = Registry::start().await;
        registry.repository("org/app").push("1", &Image::new());
        registry.repository("org/app").push("2", &Image::new().label("a", "b"));
        registry.repository("org/app").push("3", &Image::new().label("c", "d"));
        registry.inject(fault.clone());
        let (scanner, request, tags) = (scanner(), about(&registry, "org/app"), tags.clone());
        let task = tokio::spawn(async move { dates(&scanner, &request, &tags).await });
        assert_eq!(clock.finish(task).await.unwrap_err().reason(), reason, "{fault:?}");
    }
}

#[tokio::test]
async fn images_are_seen_with_the_same_token_as_the_listing() {
    let registry = Registry::start().await;
    registry.repository("org/app").push("1", &Image::new());
    registry.require(Access::bearer());
    let (scanner, request) = (scanner(), about(&registry, "org/app"));
    scanner.list_tags(&request, Instant::now()).await.unwrap();
    dates(&scanner, &request, &[tag("1")]).await.unwrap();
    let counts = registry.counts();
    assert_eq!((counts.tokens, counts.unauthorized, counts.all), (1, 1, 5));
}
