//! What is repeated, how often, and what a dead host costs.

use std::time::Duration;

use aiu_testkit::registry::clock::{freeze, settle, until};
use aiu_testkit::registry::{Fault, Registry};

use crate::{http, ping, told};

#[tokio::test]
async fn passing_failures_are_tried_three_times() {
    let clock = freeze();
    #[rustfmt::skip]
    let rows = [
        // what goes wrong, how often, what comes of it, requests
        (Fault::status(503),  1, "200", 2),
        (Fault::status(500),  2, "200", 3),
        (Fault::status(502),  3, "502", 3),
        (Fault::status(501),  1, "501", 1),
        (Fault::cut(),        2, "200", 3),
        (Fault::cut_body(),   2, "200", 3),
        (Fault::cut(),        3, "HOST cannot be reached: the connection broke (connection closed before message completed)", 3),
    ];
    for (fault, times, expected, requests) in rows {
        let registry = Registry::start().await;
        registry.inject(fault.clone().times(times));
        let (http, call) = (http(), ping(&registry));
        let outcome = clock.finish(tokio::spawn(async move { http.send(&call).await })).await;
        assert_eq!(told(&outcome, &registry), expected, "{fault:?} {times} times");
        assert_eq!(registry.counts().all, requests, "{fault:?} {times} times");
    }
}

#[tokio::test]
async fn repetitions_are_counted() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.inject(Fault::status(503).times(2));
    let (client, call) = (http(), ping(&registry));
    let sender = client.clone();
    clock.finish(tokio::spawn(async move { sender.send(&call).await.unwrap() })).await;
    let stats = client.stats();
    assert_eq!(
        (stats[0].host.clone(), stats[0].requests, stats[0].retries, stats[0].failed),
        (registry.host(), 3, 2, 2)
    );
    assert_eq!((stats[0].rate_limited, stats[0].paused), (0, Duration::ZERO));
}

#[tokio::test]
async fn pauses_are_counted() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.inject(Fault::too_many_requests(100).times(1));
    let (http, call) = (http(), ping(&registry));
    for _ in 0..3 {
        let (http, call) = (http.clone(), call.clone());
        let asked = tokio::spawn(async move { http.send(&call).await });
        assert!(clock.finish(asked).await.is_err(), "nobody waits so long");
    }
    let stats = http.stats();
    // One answer that asks for a pause, and three calls that give up because of it.
    assert_eq!((stats[0].requests, stats[0].failed, stats[0].rate_limited), (1, 1, 4));
    assert!((90..=100).contains(&stats[0].paused.as_secs()), "{:?}", stats[0].paused);
}

#[tokio::test]
async fn a_silent_host_costs_one_deadline() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.inject(Fault::hang());
    let (http, call) = (http(), ping(&registry));
    let task = tokio::spawn(async move { http.send(&call).await });
    until(|| registry.counts().all == 1).await;
    clock.advance(Duration::from_millis(59_900)).await;
    assert!(!task.is_finished(), "the deadline is one minute");
    clock.advance(Duration::from_millis(200)).await;
    let outcome = task.await.unwrap();
    assert_eq!(told(&outcome, &registry), "HOST cannot be reached: no answer within 60s");
    assert_eq!(registry.counts().all, 1);
}

#[tokio::test]
async fn a_host_found_dead_is_left_alone_for_a_while() {
    let clock = freeze();
    let registry = Registry::start().await;
    registry.stop();
    settle().await;
    let (client, call) = (http(), ping(&registry));
    let dead = "HOST cannot be reached: no connection (connection refused)";

    let (sender, first) = (client.clone(), call.clone());
    let outcome = clock.finish(tokio::spawn(async move { sender.send(&first).await })).await;
    assert_eq!(told(&outcome, &registry), dead);
    assert_eq!(client.stats()[0].requests, 3);

    for _ in 0..100 {
        assert_eq!(told(&client.send(&call).await, &registry), dead);
    }
    assert_eq!(client.stats()[0].requests, 3, "a hundred callers learn it without a request");

    clock.advance(Duration::from_secs(15)).await;
    let sender = client.clone();
    clock.finish(tokio::spawn(async move { sender.send(&call).await })).await.unwrap_err();
    assert_eq!(client.stats()[0].requests, 6, "then it is tried again");
}

#[tokio::test]
async fn a_dead_host_harms_no_other() {
    let clock = freeze();
    let (silent, healthy) = (Registry::start().await, Registry::start().await);
    silent.inject(Fault::hang());
    let client = http();
    let calls: Vec<_> = (0..30)
        .map(|_| {
            let (client, call) = (client.clone(), ping(&silent));
            tokio::spawn(async move { client.send(&call).await })
        })
        .collect();
    until(|| silent.counts().all == 10).await;
    for _ in 0..30 {
        client.send(&ping(&healthy)).await.unwrap();
    }

    clock.advance(Duration::from_mins(1)).await;
    until(|| calls.iter().all(tokio::task::JoinHandle::is_finished)).await;
    assert_eq!(silent.counts().all, 10, "those that queued learn it from those that asked");
}
