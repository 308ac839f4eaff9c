//! How fast hosts are asked, and how their own demands are met.

use std::time::Duration;

use aiu_http::{Http, HttpSettings, Quota, Rate};
use aiu_testkit::registry::clock::{freeze, settle, until};
use aiu_testkit::registry::{Fault, Registry};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::{http, ping, settings, told};

fn pings(client: &Http, registry: &Registry, rate: Rate, count: usize) -> JoinHandle<usize> {
    let mut all = JoinSet::new();
    for _ in 0..count {
        let (client, call) = (client.clone(), ping(registry).rate(rate));
        all.spawn(async move { client.send(&call).await });
    }
    tokio::spawn(async move { all.join_all().await.into_iter().flatten().count() })
}

#[tokio::test]
async fn a_limit_is_kept_by_all_callers_together() {
    let clock = freeze();
    let registry = Registry::start().await;
    let client = http();
    let started = Instant::now();
    assert_eq!(clock.finish(pings(&client, &registry, Rate::PerSecond(10), 40)).await, 40);

    let late =
        |after: Duration| registry.requests().iter().filter(|r| r.at - started >= after).count();
    assert_eq!(registry.counts().all, 40);
    assert!(late(Duration::from_millis(2_900)) >= 1, "ten at once, thirty at 10/s: three seconds");
    assert!(late(Duration::from_secs(1)) >= 19, "no more than twenty in the first second");
    assert!(client.stats()[0].throttled >= Duration::from_secs(30), "each waiting call counts");
}

#[tokio::test]
async fn few_requests_are_open_at_once() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.inject(Fault::delay(Duration::from_secs(1)));
    let client = Http::new(HttpSettings { open_requests: 3, ..settings() });
    let task = pings(&client, &registry, Rate::Unlimited, 9);
    for asked in [3, 6, 9] {
        until(|| registry.counts().all == asked).await;
        settle().await;
        assert_eq!(registry.counts().all, asked);
        clock.advance(Duration::from_secs(1)).await;
    }
    assert_eq!(clock.finish(task).await, 9);
}

#[tokio::test]
async fn a_demanded_pause_holds_for_everyone() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.inject(Fault::too_many_requests(30).times(1));
    let client = http();
    let first = pings(&client, &registry, Rate::Unlimited, 1);
    until(|| registry.requests().first().is_some_and(|request| request.status == 429)).await;
    settle().await;

    let others = pings(&client, &registry, Rate::Unlimited, 50);
    for second in 0..30 {
        settle().await;
        assert_eq!(registry.counts().all, 1, "asked {second}s into a pause of 30s");
        clock.advance(Duration::from_secs(1)).await;
    }
    assert_eq!(clock.finish(first).await, 1);
    assert_eq!(clock.finish(others).await, 50);
    assert_eq!(registry.counts().all, 52);
}

#[tokio::test]
async fn a_long_pause_is_an_answer_and_costs_nobody_a_request() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.inject(Fault::too_many_requests(300).times(1));
    let client = http();
    let call = ping(&registry);
    let outcome = client.send(&call).await;
    assert_eq!(told(&outcome, &registry), "HOST asks to be left alone for 300s");

    clock.advance(Duration::from_secs(200)).await;
    let outcome = client.send(&call).await;
    assert_eq!(told(&outcome, &registry), "HOST asks to be left alone for 100s");
    assert_eq!(registry.counts().all, 1);

    clock.advance(Duration::from_secs(100)).await;
    assert_eq!(told(&client.send(&call).await, &registry), "200");
}

#[tokio::test]
async fn patience_ends_after_a_minute_of_pauses() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.inject(Fault::too_many_requests(25));
    let (client, call) = (http(), ping(&registry));
    let task = tokio::spawn(async move { client.send(&call).await });
    let outcome = clock.finish(task).await;
    assert_eq!(told(&outcome, &registry), "HOST asks to be left alone for 25s");
    assert_eq!(registry.counts().all, 3, "two pauses fit into a minute, a third does not");
}

/// Two entries of the registries file may name one host, one with a limit and one without.
#[tokio::test]
async fn a_call_without_a_limit_does_not_wait_for_those_that_have_one() {
    let clock = freeze();
    let registry = Registry::start().await;
    let client = http();
    let slow = pings(&client, &registry, Rate::PerSecond(1), 40);
    until(|| registry.counts().all == 10).await;
    settle().await;
    let before = Instant::now();
    assert_eq!(told(&client.send(&ping(&registry).rate(Rate::Unlimited)).await, &registry), "200");
    assert_eq!(Instant::now(), before, "no time has passed");
    assert_eq!(registry.counts().all, 11);
    assert_eq!(clock.finish(slow).await, 40);
    assert!(Instant::now() - before >= Duration::from_secs(29), "the others keep theirs");
}

/// `ratelimit-limit: 100;w=21600` and the like, as Docker Hub sends them.
#[tokio::test]
async fn what_a_host_says_of_its_own_limits_is_told() {
    let registry = Registry::start().await;
    let client = http();
    client.send(&ping(&registry)).await.unwrap();
    assert_eq!(client.stats()[0].quota, Quota::default(), "it has said nothing");
    for (remaining, status) in [(76, 200), (75, 200), (0, 429)] {
        let fault = Fault::answer(status, "application/json", "{}")
            .header("ratelimit-limit", "100;w=21600")
            .header("ratelimit-remaining", &format!("{remaining};w=21600"))
            .header("retry-after", "300");
        registry.inject(fault.times(1));
        // The last one is refused, and what it said counts as well.
        let _ = client.send(&ping(&registry)).await;
        let expected = Quota {
            limit: Some(100),
            remaining: Some(remaining),
            window: Some(Duration::from_hours(6)),
        };
        assert_eq!(client.stats()[0].quota, expected);
    }
}
