//! What many askers cost: the numbers that registries see.

use std::sync::Arc;
use std::time::Duration;

use aiu_core::decide::TagList;
use aiu_core::image::Tag;
use aiu_registry::{ScanError, ScanRequest, Scanner};
use aiu_testkit::registry::clock::{freeze, settle, until};
use aiu_testkit::registry::{Access, Fault, Kind, Registry};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::{about, scanner};

type Answer = Result<Arc<TagList>, Arc<ScanError>>;

/// As many callers as requests, all at once, of one pass.
fn pass(scanner: &Arc<Scanner>, requests: Vec<ScanRequest>) -> JoinHandle<Vec<Answer>> {
    let not_before = Instant::now();
    let mut callers = JoinSet::new();
    for request in requests {
        let scanner = Arc::clone(scanner);
        callers.spawn(async move { scanner.list_tags(&request, not_before).await });
    }
    tokio::spawn(callers.join_all())
}

async fn with_repositories(count: usize) -> Registry {
    let registry = Registry::start().await;
    for number in 0..count {
        registry.repository(&format!("org/app{number}")).tags(["1.0", "1.1"]);
    }
    registry
}

fn asked_about(registry: &Registry, repositories: usize, callers: usize) -> Vec<ScanRequest> {
    let path = |caller: usize| format!("org/app{}", caller % repositories);
    (0..callers).map(|caller| about(registry, &path(caller))).collect()
}

#[tokio::test]
async fn callers_of_one_repository_cost_one_request() {
    let registry = with_repositories(1).await;
    let scanner = Arc::new(scanner());
    let answers = pass(&scanner, asked_about(&registry, 1, 200)).await.unwrap();
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 200);
    assert_eq!(registry.counts().all, 1);
}

#[tokio::test]
async fn callers_of_sixty_repositories_cost_sixty() {
    let registry = with_repositories(60).await;
    let scanner = Arc::new(scanner());
    let answers = pass(&scanner, asked_about(&registry, 60, 200)).await.unwrap();
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 200);
    assert_eq!((registry.counts().all, registry.counts().listings), (60, 60));
    for number in 0..60 {
        assert_eq!(registry.counts_of(&format!("org/app{number}")).all, 1);
    }
}

#[tokio::test]
async fn whoever_wants_newer_answers_shares_one_newer_request() {
    let registry = with_repositories(1).await;
    let scanner = Arc::new(scanner());
    let early = Instant::now();
    let request = about(&registry, "org/app0");
    scanner.list_tags(&request, early).await.unwrap();
    registry.repository("org/app0").tags(["2.0"]);

    assert_eq!(scanner.list_tags(&request, early).await.unwrap().len(), 2, "old is good enough");
    let answers = pass(&scanner, vec![request; 50]).await.unwrap();
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|tags| tags.len() == 3)));
    assert_eq!(registry.counts().all, 2);
}

#[tokio::test]
async fn a_second_pass_over_unchanged_repositories_moves_nothing() {
    let registry = with_repositories(20).await;
    registry.require(Access::bearer());
    registry.offer_etags();
    let scanner = Arc::new(scanner());
    let first = pass(&scanner, asked_about(&registry, 20, 20)).await.unwrap();
    registry.reset_counts();
    let second = pass(&scanner, asked_about(&registry, 20, 20)).await.unwrap();
    let counts = registry.counts();
    assert_eq!((counts.all, counts.not_modified, counts.tokens), (20, 20, 0));
    for (first, second) in first.into_iter().zip(second) {
        assert_eq!(first.unwrap(), second.unwrap());
    }

    registry.repository("org/app0").tags(["2.0"]);
    let third = pass(&scanner, asked_about(&registry, 1, 1)).await.unwrap();
    assert_eq!(third[0].as_ref().unwrap().len(), 3);
}

/// Long lists are kept between passes; without an `ETag` they are sent again, but not kept again.
#[tokio::test]
async fn what_is_listed_again_is_kept_once() {
    let registry = Registry::start().await;
    let app = registry.repository("org/app");
    app.tags(["1.0", "1.1", "no tag", "1.2"]);
    let (scanner, request) = (scanner(), about(&registry, "org/app"));
    let lists = async || crate::list(&scanner, &request).await.unwrap();
    let first = lists().await;
    let second = lists().await;
    assert_eq!(first, second);
    let text = |list: &TagList, at: usize| list.as_slice()[at].as_str().as_ptr();
    assert_eq!(text(&first, 2), text(&second, 2), "a name that is no tag does not hinder it");

    app.remove("no tag").remove("1.1").tags(["2.0"]);
    let third = lists().await;
    let names: Vec<&str> = third.as_slice().iter().map(Tag::as_str).collect();
    assert_eq!(names, ["1.0", "1.2", "2.0"]);
    assert_eq!([text(&third, 0), text(&third, 1)], [text(&first, 0), text(&first, 2)]);
    let fourth = lists().await;
    assert!(Arc::ptr_eq(&third, &fourth), "nothing has changed");
}

#[tokio::test]
async fn a_cancelled_caller_costs_the_others_nothing() {
    let clock = freeze();
    let registry = with_repositories(1).await;
    registry.inject(Fault::delay(Duration::from_secs(5)));
    let scanner = Arc::new(scanner());
    let first = pass(&scanner, asked_about(&registry, 1, 1));
    until(|| registry.counts().all == 1).await;
    let others = pass(&scanner, asked_about(&registry, 1, 50));
    first.abort();
    let answers = clock.finish(others).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(registry.counts().all, 2);
}

#[tokio::test]
async fn a_demanded_pause_is_kept_by_every_repository() {
    let clock = freeze();
    let registry = with_repositories(40).await;
    registry.inject(Fault::too_many_requests(30).times(1));
    let scanner = Arc::new(scanner());
    let first = pass(&scanner, asked_about(&registry, 1, 1));
    until(|| registry.requests().first().is_some_and(|request| request.status == 429)).await;
    settle().await;
    let paused = Instant::now();
    let rest = pass(&scanner, asked_about(&registry, 40, 200));
    let answers = clock.finish(rest).await;
    assert!(answers.iter().chain(&clock.finish(first).await).all(Result::is_ok));
    let during =
        registry.requests().into_iter().skip(1).filter(|r| r.at - paused < Duration::from_secs(29));
    assert_eq!(during.count(), 0, "nothing is asked while the registry wants to be left alone");
    assert_eq!(registry.counts_of("org/app39").all, 1);
}

#[tokio::test]
async fn a_dead_registry_fails_alone_and_within_its_deadline() {
    let clock = freeze();
    let (dead, healthy) = (with_repositories(30).await, with_repositories(30).await);
    dead.inject(Fault::hang());
    let scanner = Arc::new(scanner());
    let mut requests = asked_about(&dead, 30, 30);
    for request in &mut requests {
        // Another registry by name, as it would be in the registries file.
        let mut endpoint = (*request.endpoint).clone();
        endpoint.prefix = "dead.test".into();
        request.endpoint = Arc::new(endpoint);
    }
    let started = Instant::now();
    let failing = pass(&scanner, requests);
    until(|| dead.counts().all == 1).await;
    let answers = pass(&scanner, asked_about(&healthy, 30, 30)).await.unwrap();
    assert!(answers.iter().all(Result::is_ok), "the healthy one answers meanwhile");

    let answers = clock.finish(failing).await;
    assert!(answers.iter().all(|answer| {
        answer.as_ref().is_err_and(|error| error.reason() == "RegistryUnreachable")
    }));
    assert!(started.elapsed() < Duration::from_secs(62), "one deadline for all of them");
    assert_eq!(dead.counts().all, 1, "those that waited learn it from the one that asked");
}

#[tokio::test]
async fn tenants_do_not_answer_for_each_other() {
    let registry = with_repositories(1).await;
    registry.require(Access::basic("good", "pass"));
    let scanner = Arc::new(scanner());
    let good = crate::signed_in(about(&registry, "org/app0"), "good", "pass");
    let bad = crate::signed_in(about(&registry, "org/app0"), "bad", "pass");
    let early = Instant::now();
    assert!(scanner.list_tags(&good, early).await.is_ok());
    assert!(scanner.list_tags(&bad, early).await.is_err());
    assert!(scanner.list_tags(&about(&registry, "org/app0"), early).await.is_err());
    let shown: Vec<_> =
        registry.requests().into_iter().map(|r| (r.authorization, r.status)).collect();
    let basic = || Some("Basic".to_owned());
    let asked = [(None, 401), (basic(), 200), (None, 401), (basic(), 401), (None, 401)];
    assert_eq!(shown, asked, "each asks for itself");
}

#[tokio::test]
async fn a_plan_is_listed_in_its_order() {
    let registry = with_repositories(3).await;
    registry.repository("org/app1").tags(["9.9"]);
    registry.inject(Fault::status(400).on(Kind::Listing).repository("org/app2"));
    let requests = asked_about(&registry, 3, 6);
    let scanner = scanner();
    let plan = async move { scanner.list_many(&requests, Instant::now(), 2).await };
    let answers = tokio::spawn(plan).await.unwrap();
    let told: Vec<usize> =
        answers.iter().map(|a| a.as_ref().map_or(0, |tags| tags.len())).collect();
    assert_eq!(told, [2, 3, 0, 2, 3, 0]);
}
