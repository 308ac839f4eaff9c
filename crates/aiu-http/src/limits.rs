//! How fast a host may be asked: a bucket of permits, and pauses that the host itself demands.
//!
//! Pure bookkeeping over instants that are passed in; the waiting is done in [`crate::host`].

use std::time::Duration;

use tokio::time::Instant;

/// Permits that may be taken at once after a time of rest (spec 11 §3).
const BURST: u32 = 10;

/// How many requests per second a host is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rate {
    /// This many, evenly spaced, with a burst of ten after a rest.
    PerSecond(u32),
    /// As fast as it answers.
    Unlimited,
}

impl Default for Rate {
    /// 20 per second (spec 11 §1.4, G1).
    fn default() -> Self {
        Self::PerSecond(20)
    }
}

impl Rate {
    /// Reads a limit as users write it: zero and below mean no limit (spec 11 G1, G25).
    pub fn from_limit(limit: i64) -> Self {
        match u32::try_from(limit) {
            Ok(0) | Err(_) if limit <= 0 => Self::Unlimited,
            Ok(limit) => Self::PerSecond(limit),
            Err(_) => Self::PerSecond(u32::MAX),
        }
    }
}

/// A bucket that refills with time: the instant at which it would be full, and no more.
#[derive(Debug)]
pub(crate) struct Bucket {
    full_at: Instant,
}

impl Bucket {
    pub(crate) fn full(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Takes a permit, or says when to come again. Who has no limit needs none.
    pub(crate) fn take(&mut self, rate: Rate, now: Instant) -> Result<(), Instant> {
        let Rate::PerSecond(limit) = rate else { return Ok(()) };
        let interval = Duration::from_secs(1) / limit.max(1);
        let depth = interval * (BURST - 1);
        let full_at = self.full_at.max(now);
        if full_at > now + depth {
            return Err(full_at - depth);
        }
        self.full_at = full_at + interval;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of `count` requests gets its permit, in milliseconds.
    fn permits(bucket: &mut Bucket, rate: Rate, start: Instant, count: usize) -> Vec<u128> {
        let mut now = start;
        let mut times = Vec::new();
        while times.len() < count {
            match bucket.take(rate, now) {
                Ok(()) => times.push((now - start).as_millis()),
                Err(later) => now = later,
            }
        }
        times
    }

    #[tokio::test(start_paused = true)]
    async fn ten_at_once_then_evenly() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
        let times = permits(&mut bucket, Rate::PerSecond(20), start, 13);
        assert_eq!(times, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 100, 150]);

        let rested = start + Duration::from_mins(1);
        let times = permits(&mut bucket, Rate::PerSecond(10), rested, 12);
        assert_eq!(times, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 200], "ten, however long the rest");
    }

    #[tokio::test(start_paused = true)]
    async fn no_limit_is_no_limit_whatever_others_have_taken() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
        permits(&mut bucket, Rate::PerSecond(1), start, 20);
        let times = permits(&mut bucket, Rate::Unlimited, start, 1000);
        assert!(times.iter().all(|&at| at == 0));
        assert!(bucket.take(Rate::PerSecond(1), start).is_err(), "nothing was given back");
    }

    #[test]
    fn limits_as_users_write_them() {
        let rows = [
            (10, Rate::PerSecond(10)),
            (0, Rate::Unlimited),
            (-1, Rate::Unlimited),
            (i64::MIN, Rate::Unlimited),
            (i64::MAX, Rate::PerSecond(u32::MAX)),
        ];
        for (limit, expected) in rows {
            assert_eq!(Rate::from_limit(limit), expected, "limit: {limit}");
        }
    }
}
