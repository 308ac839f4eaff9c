use std::sync::Arc;

use aiu_api::plan::Dropped;
use aiu_core::batch::ImageChange;
use aiu_core::decide::{Decision, Needs, Shortlist};
use aiu_core::image::{ImageReference, TagRef};
use aiu_core::outcome::{Failure, Stage};
use aiu_core::report::Finding;
use aiu_registry::Quota;

use super::*;

fn app(name: &str) -> AppName {
    AppName { namespace: "argocd".into(), name: name.into() }
}

fn updater(name: &str, namespace: &str) -> AppName {
    AppName { namespace: namespace.into(), name: name.into() }
}

/// An image that shall go to a tag, and what came of it.
fn image(alias: &str, tag: &str, outcome: Outcome) -> ImageReport {
    let empty = Shortlist { candidates: Vec::new(), rejected: Vec::new(), needs: Needs::Nothing };
    let verdict = Verdict::UpdateTo(TagRef::tag(tag.parse().unwrap()));
    let decision = Decision { shortlist: Arc::new(empty), chosen: tag.parse().ok(), verdict };
    ImageReport {
        settings: std::sync::Arc::default(),
        key: ImageKey { application: app("shop"), image: alias.into() },
        configured: format!("{alias}=ghcr.test/acme/{alias}"),
        repository: format!("ghcr.test/acme/{alias}"),
        current: None,
        decision: Some(decision),
        findings: Vec::new(),
        outcome,
    }
}

fn updated(tag: &str) -> Outcome {
    let to = ImageReference {
        repository: "ghcr.test/acme/web".parse().unwrap(),
        tag: Some(TagRef::tag(tag.parse().unwrap())),
    };
    Outcome::Updated(ImageChange { alias: None, from: None, to, labels: BTreeMap::new() })
}

fn failed(stage: Stage) -> Outcome {
    let message = "the server of 10.0.0.1 said: secret".to_owned();
    Outcome::Failed(Failure { stage, reason: "GitUnreachable", message })
}

/// A report of as many images as considered, of which some were updated and some failed.
fn report(considered: usize, updates: usize, errors: usize) -> CycleReport {
    let outcome = |number: usize| match number {
        _ if number < updates => updated("2.0.0"),
        _ if number < updates + errors => failed(Stage::Scanned),
        _ => Outcome::UpToDate,
    };
    let images = (0..considered).map(|n| image(&format!("image-{n}"), "2.0.0", outcome(n)));
    CycleReport { applications: considered, images: images.collect(), ..CycleReport::default() }
}

const SECOND: Duration = Duration::from_secs(1);

/// The lines about resources, and nothing of the process.
fn lines(metrics: &Metrics, start: &str) -> Vec<String> {
    let page = metrics.page(&Measured::default());
    let start = format!("argocd_image_updater_{start}");
    page.lines().filter_map(|line| line.strip_prefix(start.as_str())).map(str::to_owned).collect()
}

/// Spec 21 §10, conformance: series for two resources, one of which goes.
#[test]
fn series_come_and_go_with_their_resource() {
    let metrics = Metrics::default();
    metrics.passed(&updater("cr1", "ns1"), &report(10, 3, 1), SECOND, false);
    metrics.passed(&updater("cr2", "ns2"), &report(20, 6, 3), SECOND, false);
    let names = ["applications_watched", "images_watched", "images_updated", "images_errors"];
    for (name, first, second) in
        [(names[0], 10, 20), (names[1], 10, 20), (names[2], 3, 6), (names[3], 1, 3)]
    {
        let labels = |n: u8| {
            format!("{{image_updater_cr_name=\"cr{n}\",image_updater_cr_namespace=\"ns{n}\"}}")
        };
        let expected = [format!("{} {first}", labels(1)), format!("{} {second}", labels(2))];
        assert_eq!(lines(&metrics, &format!("{name}_total")), expected);
    }
    metrics.gone(&updater("cr1", "ns1"));
    for (name, value) in [(names[0], 20), (names[1], 20), (names[2], 6), (names[3], 3)] {
        let labels = "{image_updater_cr_name=\"cr2\",image_updater_cr_namespace=\"ns2\"}";
        assert_eq!(lines(&metrics, &format!("{name}_total")), [format!("{labels} {value}")]);
    }
}

/// Spec 21 §10: the columns "Changes".
#[test]
fn gauges_are_set_counters_add_and_dry_runs_update_nothing() {
    let metrics = Metrics::default();
    let of = updater("cr", "ns");
    let value = |name: &str| {
        lines(&metrics, &format!("{name}_total{{"))[0].rsplit(' ').next().unwrap().to_owned()
    };
    let values =
        || ["applications_watched", "images_watched", "images_updated", "images_errors"].map(value);
    metrics.passed(&of, &report(5, 0, 0), SECOND, false);
    assert_eq!(values(), ["5", "5", "0", "0"], "series exist from the first pass on");
    metrics.passed(&of, &report(4, 2, 1), SECOND, false);
    assert_eq!(values(), ["4", "4", "2", "1"]);
    metrics.passed(&of, &report(4, 2, 1), SECOND, true);
    assert_eq!(values(), ["4", "4", "2", "2"]);
    // A resource that could not be worked on at all keeps what it had.
    let broken = CycleReport {
        failed_updaters: vec![(of.clone(), "bad pattern".to_owned())],
        ..CycleReport::default()
    };
    metrics.passed(&of, &broken, SECOND, false);
    assert_eq!(values(), ["4", "4", "2", "2"]);
}

/// Spec 21 §10: names, kinds and help texts, exactly.
#[test]
fn families_are_named_and_explained_as_in_the_reference() {
    let metrics = Metrics::default();
    metrics.passed(&updater("cr", "ns"), &report(1, 0, 1), SECOND, false);
    let measured = Measured {
        registries: vec![
            HostStats { host: "ghcr.test".into(), requests: 7, ..Default::default() },
            HostStats {
                host: "hub.test".into(),
                quota: Quota { limit: Some(100), remaining: Some(76), window: None },
                ..Default::default()
            },
        ],
        pushes: vec![PushCounts { host: "git.test".into(), pushes: 2, races: 1 }],
        queues: vec![("passes", 3)],
        api_requests: 5,
        api_errors: 1,
        leads: Some(true),
    };
    let page = metrics.page(&measured);
    #[rustfmt::skip]
    let rows = [
        ("applications_watched_total", "gauge", "The total number of applications watched by Argo CD Image Updater CR"),
        ("images_watched_total", "gauge", "Number of images watched by Argo CD Image Updater CR"),
        ("images_updated_total", "counter", "Number of images updated by Argo CD Image Updater CR"),
        ("images_errors_total", "counter", "Number of errors reported by Argo CD Image Updater CR"),
        ("registry_requests_total", "counter", "The total number of requests to this endpoint"),
        ("registry_requests_failed_total", "counter", "The number of failed requests to this endpoint"),
        ("k8s_api_requests_total", "counter", "The total number of K8S API requests performed by the Argo CD Image Updater"),
        ("k8s_api_errors_total", "counter", "The total number of K8S API requests resulting in error"),
    ];
    for (name, kind, help) in rows {
        let name = format!("argocd_image_updater_{name}");
        let head = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name}");
        assert!(page.contains(&head), "{head}\nis not in\n{page}");
    }
    // What this program adds.
    for line in [
        "registry_requests_total{registry=\"ghcr.test\"} 7",
        "registry_retries_total{registry=\"ghcr.test\"} 0",
        "registry_rate_limited_total{registry=\"ghcr.test\"} 0",
        "registry_throttled_seconds_total{registry=\"ghcr.test\"} 0",
        "registry_paused_seconds{registry=\"ghcr.test\"} 0",
        "registry_quota_requests{registry=\"hub.test\"} 100",
        "registry_quota_remaining_requests{registry=\"hub.test\"} 76",
        "git_pushes_total{host=\"git.test\"} 2",
        "git_push_races_total{host=\"git.test\"} 1",
        "findings{reason=\"GitUnreachable\",severity=\"error\"} 1",
        "queue_depth{queue=\"passes\"} 3",
        "k8s_api_requests_total 5",
        "leads 1",
        "update_delay_seconds_count 0",
        "pass_duration_seconds_bucket{le=\"1\"} 1",
        "pass_duration_seconds_sum 1",
    ] {
        assert!(page.contains(&format!("\nargocd_image_updater_{line}\n")), "{line}: {page}");
    }
    assert!(page.contains("argocd_image_updater_scan_age_seconds{registry=\"ghcr.test\"} "));
    assert!(page.contains("\nprocess_resident_memory_bytes "), "{page}");
    assert!(!page.contains("registry_quota_requests{registry=\"ghcr.test"), "what is unsaid");
    assert!(!page.contains("registry_quota_window_seconds"), "{page}");
    assert!(!page.contains("secret"), "messages are no labels");
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let value = line.rsplit(' ').next().unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_delay_counts_from_the_first_sight_of_a_tag() {
    let metrics = Metrics::default();
    let of = updater("cr", "ns");
    let pass = async |tag: &str, outcome: Outcome, dry_run: bool| {
        tokio::time::advance(Duration::from_secs(100)).await;
        let report = CycleReport {
            applications: 1,
            images: vec![image("web", tag, outcome)],
            ..CycleReport::default()
        };
        metrics.passed(&of, &report, SECOND, dry_run);
        let found = lines(&metrics, "update_delay_seconds_");
        let end = |name: &str| {
            let line = found.iter().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().to_owned()
        };
        (end("count "), end("sum "))
    };
    let shown = |count: &str, sum: &str| (count.to_owned(), sum.to_owned());
    // Written in the pass that sees it: as long as the pass took.
    assert_eq!(pass("1.1.0", updated("1.1.0"), false).await, shown("1", "1"));
    // Seen, not written twice, then written.
    assert_eq!(pass("1.2.0", failed(Stage::Written), false).await, shown("1", "1"));
    assert_eq!(pass("1.2.0", updated("1.2.0"), true).await, shown("1", "1"));
    assert_eq!(pass("1.2.0", updated("1.2.0"), false).await, shown("2", "202"));
    // A newer tag is seen for the first time.
    assert_eq!(pass("1.3.0", failed(Stage::Written), false).await, shown("2", "202"));
    assert_eq!(pass("1.4.0", updated("1.4.0"), false).await, shown("3", "203"));
    // What goes takes with it what it waited for.
    pass("1.5.0", failed(Stage::Written), false).await;
    metrics.gone(&of);
    assert!(metrics.0.lock().awaited.is_empty());
    pass("1.5.0", failed(Stage::Written), false).await;
    metrics.passed(&of, &CycleReport::default(), SECOND, false);
    assert!(metrics.0.lock().awaited.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_age_of_answers_grows_until_a_registry_answers_again() {
    let metrics = Metrics::default();
    let of = updater("cr", "ns");
    metrics.passed(&of, &report(1, 0, 0), SECOND, false);
    tokio::time::advance(Duration::from_secs(90)).await;
    let age = || lines(&metrics, "scan_age_seconds");
    assert_eq!(age(), ["{registry=\"ghcr.test\"} 90"]);
    let mut silent = report(1, 0, 1);
    silent.images[0].decision = None;
    metrics.passed(&of, &silent, SECOND, false);
    assert_eq!(age(), ["{registry=\"ghcr.test\"} 90"]);
    metrics.passed(&of, &report(1, 0, 0), SECOND, false);
    assert_eq!(age(), ["{registry=\"ghcr.test\"} 0"]);
}

#[test]
fn findings_are_those_of_the_last_pass_of_each_resource() {
    let metrics = Metrics::default();
    let finding = |severity| Finding {
        severity,
        reason: "MutableTag",
        found: "latest".to_owned(),
        fix: "x".to_owned(),
    };
    let mut found = report(2, 0, 1);
    found.images[1].findings = vec![finding(Severity::Note)];
    found.findings = vec![(app("shop"), finding(Severity::Warning))];
    let failure =
        Failure { stage: Stage::Selected, reason: "WriteBackInvalid", message: String::new() };
    found.dropped = vec![Dropped { application: app("shop"), image: None, failure }];
    metrics.passed(&updater("a", "ns"), &found, SECOND, false);
    metrics.passed(&updater("b", "ns"), &found, SECOND, false);
    let shown = |count: u8, reason: &str, severity: &str| {
        format!("{{reason=\"{reason}\",severity=\"{severity}\"}} {count}")
    };
    let expected = |count| {
        [
            shown(count, "GitUnreachable", "error"),
            shown(count, "MutableTag", "note"),
            shown(count, "MutableTag", "warning"),
            shown(count, "WriteBackInvalid", "warning"),
        ]
    };
    assert_eq!(lines(&metrics, "findings"), expected(2));
    metrics.passed(&updater("b", "ns"), &report(2, 0, 0), SECOND, false);
    assert_eq!(lines(&metrics, "findings"), expected(1));
}
