//! The signals that ask for an end (spec 22 §3).

use anyhow::{Context as _, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::info;

/// The signals that ask for an end. They are caught from here on.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn catch() -> Result<Self> {
        let caught = |kind| signal(kind).context("signals cannot be caught");
        let terminate = caught(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: caught(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// The first asks for an end in order, the second ends at once (spec 22 §3).
    pub(super) async fn stop(mut self, stop: CancellationToken) {
        self.next().await;
        info!(logger = "controller-setup", "received shutdown signal");
        stop.cancel();
        self.next().await;
        std::process::exit(1);
    }
}
