//! How long what a cloud gives is good for.

use std::time::Duration;

use aiu_http::{Answer, header};
use jiff::Timestamp;

/// The longest time before the end at which something is renewed.
const LONGEST_MARGIN: Duration = Duration::from_mins(30);

/// What is taken for a lifetime if none can be told.
const UNSAID: Duration = Duration::from_mins(15);

/// For how long something with this lifetime is given out: a tenth is kept back, since a pass
/// may use it for a while (spec 11 CLD-003).
pub(super) fn usable(lifetime: Duration) -> Duration {
    lifetime.saturating_sub((lifetime / 10).min(LONGEST_MARGIN))
}

/// How long it is from the answer's own time until then, so that the clocks of both sides need
/// not agree.
pub(super) fn until(end: Option<Timestamp>, answer: &Answer) -> Duration {
    let date = answer.header(header::DATE);
    let date = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok());
    let now = date.map_or_else(Timestamp::now, |date| date.timestamp());
    let left = end.and_then(|end| Duration::try_from(end.duration_since(now)).ok());
    left.filter(|left| !left.is_zero()).unwrap_or(UNSAID)
}

/// A number of seconds, as answers write it: as a number or as a text.
pub(super) fn seconds(value: &serde_json::Value) -> Duration {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number.filter(|number| *number > 0).map_or(UNSAID, Duration::from_secs)
}
