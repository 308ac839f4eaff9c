//! What is due when: one entry per resource, never two passes of one at a time.
//!
//! It knows no clock and no task, so that its rules can be told as a table.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use aiu_core::batch::AppName;
use tokio::time::Instant;

use crate::cycle::ANNOTATIONS;

/// What is worked on in one piece.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// An `ImageUpdater`.
    Resource(AppName),
    /// The annotated Applications of a namespace, without a resource (spec 40 B1).
    Annotations(Arc<str>),
}

impl Unit {
    /// Under which name log lines and metrics speak of it.
    pub fn name(&self) -> AppName {
        match self {
            Self::Resource(name) => name.clone(),
            Self::Annotations(namespace) => {
                AppName { namespace: Arc::clone(namespace), name: ANNOTATIONS.into() }
            }
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}

/// Why a unit is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Because {
    /// Its time has come, or it changed.
    Due,
    /// Somebody asked to look at once: what registries said before does not count.
    Asked,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    due: Option<(Instant, Because)>,
    running: bool,
}

/// Units and their times.
#[derive(Debug, Default)]
pub(super) struct Queue(BTreeMap<Unit, Entry>);

impl Queue {
    /// Makes a unit due no later than this.
    pub(super) fn wake(&mut self, unit: Unit, at: Instant, because: Because) {
        let entry = self.0.entry(unit).or_default();
        entry.due = Some(match entry.due {
            None => (at, because),
            Some((before, why)) => (before.min(at), why.max(because)),
        });
    }

    /// The unit is no more.
    pub(super) fn forget(&mut self, unit: &Unit) {
        self.0.remove(unit);
    }

    /// Drops all units that do not satisfy the condition.
    pub(super) fn retain(&mut self, keep: impl Fn(&Unit) -> bool) {
        self.0.retain(|unit, _| keep(unit));
    }

    /// Whether the unit is known.
    pub(super) fn contains(&self, unit: &Unit) -> bool {
        self.0.contains_key(unit)
    }

    /// The unit that has been due for longest, which runs from now on.
    pub(super) fn take(&mut self, now: Instant) -> Option<(Unit, Because)> {
        let waiting = self.0.iter_mut().filter(|(_, entry)| !entry.running);
        let due = waiting.filter_map(|(unit, entry)| Some((entry.due?.0, unit, entry)));
        let (at, unit, entry) = due.min_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)))?;
        if at > now {
            return None;
        }
        let (_, because) = entry.due.take()?;
        entry.running = true;
        Some((unit.clone(), because))
    }

    /// A unit's pass has ended; when it is due again. What woke it meanwhile counts.
    pub(super) fn done(&mut self, unit: &Unit, next: Option<Instant>) {
        let Some(entry) = self.0.get_mut(unit) else { return };
        entry.running = false;
        if let Some(next) = next {
            self.wake(unit.clone(), next, Because::Due);
        }
    }

    /// How many units are due, those that were woken while they run included.
    pub(super) fn waiting(&self, now: Instant) -> usize {
        self.0.values().filter(|entry| entry.due.is_some_and(|(at, _)| at <= now)).count()
    }

    /// When to look again; `None` if nothing will be due by itself.
    pub(super) fn next(&self) -> Option<Instant> {
        let waiting = self.0.values().filter(|entry| !entry.running);
        waiting.filter_map(|entry| Some(entry.due?.0)).min()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn unit(name: &str) -> Unit {
        Unit::Resource(AppName { namespace: "n".into(), name: name.into() })
    }

    #[test]
    fn units_run_in_the_order_of_their_times_and_never_twice_at_once() {
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let mut queue = Queue::default();
        queue.wake(unit("b"), at(0), Because::Due);
        queue.wake(unit("a"), at(1), Because::Due);
        assert_eq!(queue.take(at(0)), Some((unit("b"), Because::Due)));
        assert_eq!(queue.take(at(0)), None);
        assert_eq!(queue.next(), Some(at(1)));
        assert_eq!((queue.waiting(at(0)), queue.waiting(at(1))), (0, 1));

        queue.wake(unit("b"), at(0), Because::Asked);
        assert_eq!(queue.take(at(1)), Some((unit("a"), Because::Due)));
        assert_eq!(queue.take(at(1)), None, "b runs still");
        queue.done(&unit("b"), Some(at(30)));
        assert_eq!(queue.take(at(1)), Some((unit("b"), Because::Asked)), "it was woken meanwhile");
        queue.done(&unit("b"), Some(at(30)));
        assert_eq!(queue.next(), Some(at(30)));
    }

    #[test]
    fn an_earlier_wish_wins_and_what_was_deleted_stays_away() {
        let now = Instant::now();
        let mut queue = Queue::default();
        queue.wake(unit("a"), now + Duration::from_mins(1), Because::Due);
        queue.wake(unit("a"), now, Because::Asked);
        assert_eq!(queue.take(now), Some((unit("a"), Because::Asked)));
        queue.forget(&unit("a"));
        queue.done(&unit("a"), Some(now));
        assert_eq!((queue.take(now), queue.next()), (None, None));
        assert!(!queue.contains(&unit("a")));
    }

    #[test]
    fn a_unit_without_a_next_time_waits_for_a_change() {
        let now = Instant::now();
        let mut queue = Queue::default();
        queue.wake(unit("a"), now, Because::Due);
        queue.take(now);
        queue.done(&unit("a"), None);
        assert_eq!(queue.next(), None);
        queue.wake(unit("a"), now, Because::Due);
        assert!(queue.take(now).is_some());
    }
}
