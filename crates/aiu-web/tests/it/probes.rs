use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aiu_web::{Check, Limits, Transport, probes};

use crate::client::{get, start};

/// Spec 21 §2.4, conformance table: what `/readyz` says.
#[tokio::test]
async fn probes_answer_as_the_kubelet_expects() {
    let warm = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&warm);
    let ready = Check::new("warmup-check", move || {
        let is_warm = asked.load(Ordering::Relaxed);
        is_warm.then_some(()).ok_or_else(|| "cache is not yet warmed".to_owned())
    });
    let live = Check::new("healthz", || Ok(()));
    let routes = probes(vec![live], vec![ready]);
    let server = start(routes, Transport::Plain, Limits::default()).await;
    let failed = "[-]warmup-check failed: cache is not yet warmed\nreadyz check failed\n";
    #[rustfmt::skip]
    let rows = [
        (false, "/healthz", 200, "ok"),
        (false, "/readyz", 500, failed),
        (false, "/readyz?verbose", 500, failed),
        (false, "/readyz/warmup-check", 500, failed),
        (true, "/readyz", 200, "ok"),
        (true, "/readyz?verbose=true", 200, "[+]warmup-check ok\nreadyz check passed\n"),
        (true, "/readyz/warmup-check", 200, "ok"),
        (true, "/healthz/healthz", 200, "ok"),
        (true, "/metrics", 404, ""),
        (true, "/", 404, ""),
    ];
    for (is_warm, path, status, body) in rows {
        warm.store(is_warm, Ordering::Relaxed);
        assert_eq!(get(server.address, path).await, (status, body.to_owned()), "{path}");
    }
}
