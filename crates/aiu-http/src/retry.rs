//! When a call is repeated, and after how long.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// A call is sent at most so often.
pub(crate) const ATTEMPTS: u32 = 3;

/// The first break; each further one is four times as long.
const FIRST_BREAK: Duration = Duration::from_millis(250);

/// "Too many requests" without a word on when to come again.
const UNSAID: Duration = Duration::from_secs(10);

/// "At once" is taken for this, lest a busy host be asked in circles.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);

/// Whatever a host demands, it is asked again after this: it may have meant another unit.
const LONGEST_PAUSE: Duration = Duration::from_mins(15);

/// The break before the attempt that follows `attempt` (from 1): growing, and between half and
/// all of its length, so that many callers do not come back at the same moment.
pub(crate) fn pause_after(attempt: u32) -> Duration {
    let whole = FIRST_BREAK * 4_u32.pow(attempt.saturating_sub(1).min(4));
    // The standard library's hasher keys are the randomness at hand; no more is needed here.
    let random = RandomState::new().hash_one(attempt) % 1000;
    whole / 2 + whole / 2 * u32::try_from(random).unwrap_or_default() / 1000
}

/// How long the host asks everyone to wait, if this answer says so.
pub(crate) fn demanded_pause(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let said = retry_after(headers);
    let pause = match status {
        StatusCode::TOO_MANY_REQUESTS => said.unwrap_or(UNSAID),
        StatusCode::SERVICE_UNAVAILABLE => said?,
        _ => return None,
    };
    Some(pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE))
}

/// Whether the server failed in a way that may pass.
pub(crate) fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}

/// `Retry-After` in both of its forms. A date is compared with the answer's own, so that the
/// clocks of both sides need not agree.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp());
    let until = date(text)?;
    let now = headers.get(DATE).and_then(|value| date(value.to_str().ok()?));
    let left = until.duration_since(now.unwrap_or_else(Timestamp::now));
    Some(Duration::try_from(left).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_that_hosts_demand() {
        #[rustfmt::skip]
        let rows = [
            // status, Retry-After, Date, seconds
            (429, Some("30"),  None, Some(30)),
            (429, Some(" 0 "), None, Some(1)),
            (429, None,        None, Some(10)),
            (429, Some("soon"), None, Some(10)),
            (429, Some("Wed, 21 Oct 2015 07:28:00 GMT"), Some("Wed, 21 Oct 2015 07:27:15 GMT"), Some(45)),
            (429, Some("Wed, 21 Oct 2015 07:28:00 GMT"), Some("Wed, 21 Oct 2015 07:28:15 GMT"), Some(1)),
            (429, Some("Wed, 21 Oct 2015 07:28:00 GMT"), None, Some(1)),
            (429, Some("86400"), None, Some(900)),
            (503, Some("5"),   None, Some(5)),
            (503, None,        None, None),
            (500, Some("5"),   None, None),
            (200, Some("5"),   None, None),
        ];
        for (status, retry_after, date, expected) in rows {
            let mut headers = HeaderMap::new();
            for (name, value) in [(RETRY_AFTER, retry_after), (DATE, date)] {
                if let Some(value) = value {
                    headers.insert(name, value.parse().unwrap());
                }
            }
            let status = StatusCode::from_u16(status).unwrap();
            let pause = demanded_pause(status, &headers).map(|pause| pause.as_secs());
            assert_eq!(pause, expected, "{status}, {retry_after:?}, {date:?}");
        }
    }

    #[test]
    fn breaks_grow_and_differ() {
        for (attempt, whole) in [(1, 250), (2, 1000), (3, 4000)] {
            for _ in 0..50 {
                let length = pause_after(attempt).as_millis();
                assert!((whole / 2..=whole).contains(&length), "attempt {attempt}: {length}");
            }
        }
    }
}
