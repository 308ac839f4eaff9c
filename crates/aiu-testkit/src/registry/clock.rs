//! A clock that stands still while sockets work, and moves when told.
//!
//! Only for tests on a current-thread runtime, with the feature `clock`.

use std::sync::mpsc;
use std::time::{Duration, Instant};

/// While it lives, the runtime's time moves by [`Frozen::advance`] only.
pub struct Frozen {
    _held: mpsc::Sender<()>,
}

/// Stops the clock. A blocking task keeps the runtime from jumping to the next timer while it
/// waits for a socket.
pub fn freeze() -> Frozen {
    tokio::time::pause();
    let (held, released) = mpsc::channel();
    tokio::task::spawn_blocking(move || {
        // Ends with an error when the sender is dropped.
        let _: Result<(), _> = released.recv();
    });
    Frozen { _held: held }
}

impl Frozen {
    /// Moves the clock, and a millisecond more since timers round up, and lets everything that
    /// this wakes run.
    pub async fn advance(&self, by: Duration) {
        tokio::time::advance(by + Duration::from_millis(1)).await;
        settle().await;
    }

    /// Moves the clock step by step until `task` is done.
    pub async fn finish<T>(&self, task: tokio::task::JoinHandle<T>) -> T {
        while !task.is_finished() {
            self.advance(Duration::from_millis(100)).await;
        }
        task.await.expect("the task neither panics nor is cancelled")
    }
}

/// Lets every ready task and socket of this runtime run, several round trips deep.
pub async fn settle() {
    for _ in 0..300 {
        tokio::task::yield_now().await;
    }
}

/// Runs everything else until `condition` holds. The clock does not move.
pub async fn until(condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(20), "it never came to that");
        tokio::task::yield_now().await;
    }
}
