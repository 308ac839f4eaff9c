use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aiu_web::{Access, Guard, metrics};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use futures::FutureExt as _;
use secrecy::ExposeSecret as _;
use tower::ServiceExt as _;

/// Metrics behind a guard that knows three tokens and counts how often it is asked.
fn guarded() -> (Router, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let guard = Guard::new(Arc::new(move |token| {
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            match token.expose_secret() {
                "good" => Ok(Access::Granted),
                "poor" => Ok(Access::Denied { user: "system:serviceaccount:a:b".to_owned() }),
                "down" => Err("connection refused".to_owned()),
                "slow" => std::future::pending().await,
                _ => Ok(Access::Unauthenticated),
            }
        }
        .boxed()
    }));
    (metrics(Arc::new(|| "up 1\n".to_owned()), Some(guard)), asked)
}

async fn ask(routes: &Router, authorization: &str) -> (u16, String) {
    let mut request = Request::get("/metrics");
    if !authorization.is_empty() {
        request = request.header("Authorization", authorization);
    }
    let request = request.body(Body::empty()).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test(start_paused = true)]
async fn only_a_token_that_the_cluster_grants_sees_metrics() {
    let (routes, _) = guarded();
    let long = format!("Bearer {}", "x".repeat(9000));
    #[rustfmt::skip]
    let rows = [
        ("Bearer good", 200, "up 1\n"),
        ("bearer   good ", 200, "up 1\n"),
        ("", 401, "Unauthorized\n"),
        ("Bearer ", 401, "Unauthorized\n"),
        ("Basic good", 401, "Unauthorized\n"),
        ("good", 401, "Unauthorized\n"),
        ("Bearer other", 401, "Unauthorized\n"),
        (long.as_str(), 401, "Unauthorized\n"),
        ("Bearer poor", 403, "Authorization denied for user system:serviceaccount:a:b\n"),
        ("Bearer down", 500, "Authentication failed\n"),
        ("Bearer slow", 500, "Authentication failed\n"),
    ];
    for (authorization, status, body) in rows {
        assert_eq!(ask(&routes, authorization).await, (status, body.to_owned()), "{authorization}");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_hold_for_a_while_and_failures_do_not() {
    let (routes, asked) = guarded();
    // token, how often it is presented, seconds between, how often the cluster is asked
    #[rustfmt::skip]
    let rows = [
        ("good", 6, 9, 1),
        ("good", 3, 61, 3),
        ("poor", 3, 3, 1),
        ("poor", 3, 11, 3),
        ("none", 3, 11, 3),
        ("down", 3, 0, 3),
    ];
    for (token, times, between, expected) in rows {
        tokio::time::advance(Duration::from_secs(100)).await;
        asked.store(0, Ordering::Relaxed);
        for _ in 0..times {
            ask(&routes, &format!("Bearer {token}")).await;
            tokio::time::advance(Duration::from_secs(between)).await;
        }
        assert_eq!(asked.load(Ordering::Relaxed), expected, "{token} every {between} s");
    }
}

/// Tokens that nobody knows cannot fill the memory, nor push out what holds longer.
#[tokio::test(start_paused = true)]
async fn what_is_remembered_is_bounded() {
    let (routes, asked) = guarded();
    ask(&routes, "Bearer good").await;
    for number in 0..2000 {
        ask(&routes, &format!("Bearer {number}")).await;
    }
    asked.store(0, Ordering::Relaxed);
    ask(&routes, "Bearer good").await;
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    ask(&routes, "Bearer 0").await;
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}
