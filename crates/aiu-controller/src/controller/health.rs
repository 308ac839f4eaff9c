//! Whether the process is alive and ready, for whoever asks (spec 21 §2.4).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::leader::Leadership;

/// A loop that has not turned for so long hangs. Passes run beside it, however long they take.
const LONGEST_TURN: Duration = Duration::from_mins(2);

/// What the probes ask. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Health(Arc<State>);

#[derive(Debug)]
struct State {
    leadership: Leadership,
    filled: AtomicBool,
    warm: AtomicBool,
    turned: Mutex<Option<Instant>>,
}

impl Health {
    /// A process that has just begun.
    pub fn new(leadership: Leadership) -> Self {
        Self(Arc::new(State {
            leadership,
            filled: AtomicBool::new(false),
            warm: AtomicBool::new(false),
            turned: Mutex::default(),
        }))
    }

    /// Why the process should be started anew, if it should.
    pub fn alive(&self) -> Result<(), String> {
        match *self.0.turned.lock() {
            Some(turned) if turned.elapsed() > LONGEST_TURN => {
                Err(format!("the loop has not turned for {} s", turned.elapsed().as_secs()))
            }
            _ => Ok(()),
        }
    }

    /// Why nothing should be expected of the process yet. A registry that fails is no reason.
    pub fn ready(&self) -> Result<(), String> {
        if !self.0.filled.load(Ordering::Acquire) {
            return Err("the objects of the API server are not all read yet".to_owned());
        }
        if self.0.leadership.is_leader() && !self.0.warm.load(Ordering::Acquire) {
            return Err("cache is not yet warmed".to_owned());
        }
        Ok(())
    }

    pub(super) fn filled(&self) {
        self.0.filled.store(true, Ordering::Release);
    }

    pub(super) fn warm(&self) {
        self.0.warm.store(true, Ordering::Release);
    }

    pub(super) fn turn(&self) {
        *self.0.turned.lock() = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec 21 §2.4, table.
    #[test]
    fn who_leads_is_ready_once_warm_and_who_waits_once_filled() {
        #[rustfmt::skip]
        let rows = [
            (true,  false, false, Err("the objects of the API server are not all read yet")),
            (true,  true,  false, Err("cache is not yet warmed")),
            (true,  true,  true,  Ok(())),
            (false, true,  false, Ok(())),
            (false, true,  true,  Ok(())),
        ];
        for (leads, filled, warm, expected) in rows {
            let leadership =
                if leads { Leadership::without_election() } else { Leadership::contended() };
            let health = Health::new(leadership);
            if filled {
                health.filled();
            }
            if warm {
                health.warm();
            }
            assert_eq!(health.ready(), expected.map_err(str::to_owned), "{leads} {filled} {warm}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_hangs_is_not_alive() {
        let health = Health::new(Leadership::without_election());
        assert_eq!(health.alive(), Ok(()));
        health.turn();
        tokio::time::advance(LONGEST_TURN).await;
        assert_eq!(health.alive(), Ok(()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(health.alive().is_err());
    }
}
