//! Asking once what many want to know at the same time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// Questions that are being asked or were answered, by key.
///
/// A caller says which answers it accepts. It joins a question that is being asked, takes an
/// answer that is there, or asks itself. If the one who asks is cancelled, the next one waiting
/// asks anew; nobody waits for nobody.
pub(crate) struct Flights<K, T> {
    capacity: usize,
    known: Mutex<HashMap<K, Flight<T>>>,
}

#[derive(Clone)]
struct Flight<T> {
    started: Instant,
    landed: Arc<OnceCell<Landed<T>>>,
    /// What the flight before this one brought.
    before: Option<T>,
}

/// An answer with its times.
#[derive(Clone)]
pub(crate) struct Landed<T> {
    /// When it was asked for: it cannot be staler than that.
    pub(crate) started: Instant,
    /// When it arrived.
    pub(crate) at: Instant,
    pub(crate) value: T,
}

impl<K: Clone + Eq + Hash, T: Clone> Flights<K, T> {
    /// Remembers about `capacity` answers.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, known: Mutex::default() }
    }

    /// The answer for `key`. `joins` judges a question that is in the air by when it started,
    /// `accepts` an answer that is there. `ask` is given the answer it replaces, if any.
    pub(crate) async fn get(
        &self,
        key: &K,
        joins: impl Fn(Instant) -> bool,
        accepts: impl Fn(&Landed<T>) -> bool,
        ask: impl AsyncFnOnce(Option<T>) -> T,
    ) -> T {
        let flight = self.board(key, joins, accepts);
        let (started, before) = (flight.started, flight.before);
        let landed = flight.landed.get_or_init(async || {
            let value = ask(before).await;
            Landed { started, at: Instant::now(), value }
        });
        landed.await.value.clone()
    }

    /// The answer that is there, however old.
    pub(crate) fn landed(&self, key: &K) -> Option<Landed<T>> {
        let known = self.known.lock();
        let flight = known.get(key)?;
        flight.landed.get().cloned()
    }

    /// The lock covers look-ups and nothing else; no await happens under it.
    fn board(
        &self,
        key: &K,
        joins: impl Fn(Instant) -> bool,
        accepts: impl Fn(&Landed<T>) -> bool,
    ) -> Flight<T> {
        let mut known = self.known.lock();
        let before = match known.get(key) {
            Some(flight) => match flight.landed.get() {
                Some(landed) if accepts(landed) => return flight.clone(),
                Some(landed) => Some(landed.value.clone()),
                None if joins(flight.started) => return flight.clone(),
                None => flight.before.clone(),
            },
            None => None,
        };
        if known.len() >= self.capacity && !known.contains_key(key) {
            forget_older_half(&mut known);
        }
        let flight = Flight { started: Instant::now(), landed: Arc::default(), before };
        known.insert(key.clone(), flight.clone());
        flight
    }
}

/// Drops the answers that were asked for longest ago. Questions in the air stay.
fn forget_older_half<K: Eq + Hash, T>(known: &mut HashMap<K, Flight<T>>) {
    let mut starts: Vec<Instant> = known.values().map(|flight| flight.started).collect();
    let middle = starts.len() / 2;
    let (_, median, _) = starts.select_nth_unstable(middle);
    let median = *median;
    known.retain(|_, flight| flight.started > median || !flight.landed.initialized());
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;
    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn a_question_in_the_air_is_asked_once() {
        let flights = Arc::new(Flights::new(10));
        let asked = Arc::new(AtomicUsize::new(0));
        let mut callers = JoinSet::new();
        for _ in 0..200 {
            let (flights, asked) = (Arc::clone(&flights), Arc::clone(&asked));
            callers.spawn(async move {
                let ask = async |_| {
                    tokio::task::yield_now().await;
                    asked.fetch_add(1, Ordering::SeqCst)
                };
                flights.get(&"key", |_| true, |_| true, ask).await
            });
        }
        assert_eq!(callers.join_all().await, vec![0; 200]);
    }

    #[tokio::test]
    async fn whoever_wants_it_fresher_asks_again_and_learns_what_was_before() {
        let flights = Flights::new(10);
        let ask = async |before: Option<i32>| before.unwrap_or_default() + 1;
        assert_eq!(flights.get(&"key", |_| true, |_| true, ask).await, 1);
        assert_eq!(flights.get(&"key", |_| true, |_| true, ask).await, 1);
        assert_eq!(flights.get(&"key", |_| true, |_| false, ask).await, 2);
        assert_eq!(flights.get(&"other", |_| true, |_| true, ask).await, 1);
    }

    #[tokio::test]
    async fn a_cancelled_asker_harms_nobody() {
        let flights = Arc::new(Flights::new(10));
        let (in_air, never) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let asker = tokio::spawn({
            let (flights, in_air, never) = (flights.clone(), in_air.clone(), never.clone());
            async move {
                let ask = async |_| {
                    in_air.notify_one();
                    never.notified().await;
                    0
                };
                flights.get(&"key", |_| true, |_| true, ask).await
            }
        });
        in_air.notified().await;
        let waiter = tokio::spawn({
            let flights = flights.clone();
            async move { flights.get(&"key", |_| true, |_| true, async |_| 1).await }
        });
        tokio::task::yield_now().await;
        asker.abort();
        assert_eq!(waiter.await.unwrap(), 1);
    }

    #[tokio::test]
    async fn old_answers_make_room() {
        let flights = Flights::new(4);
        for key in 0..100 {
            flights.get(&key, |_| true, |_| true, async |_| key).await;
        }
        assert!(flights.known.lock().len() <= 4);
        assert!(flights.known.lock().contains_key(&99));
    }
}
