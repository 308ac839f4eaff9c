//! Durations as Go writes them: `2m`, `1h30m`, `1.5h`, `-1s`, `0`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A signed span of time in nanoseconds, as in the original: below zero means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration(i64);

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDuration {
    #[error("a duration needs a unit, such as 2m or 90s")]
    Unit,
    #[error("a duration looks like 2m, 1h30m or 90s")]
    Form,
    #[error("a duration cannot be longer than 292 years")]
    Length,
}

/// Longest first, so that `ms` is not taken for `m`.
const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl GoDuration {
    /// Nothing, if this is below zero.
    pub fn positive(self) -> Option<Duration> {
        u64::try_from(self.0).ok().map(Duration::from_nanos)
    }

    /// Whole seconds.
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds * 1_000_000_000)
    }
}

impl From<Duration> for GoDuration {
    fn from(duration: Duration) -> Self {
        Self(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl FromStr for GoDuration {
    type Err = InvalidDuration;

    fn from_str(text: &str) -> Result<Self, InvalidDuration> {
        let (sign, mut rest) = match text.as_bytes() {
            [b'-', ..] => (-1, &text[1..]),
            [b'+', ..] => (1, &text[1..]),
            _ => (1, text),
        };
        if rest == "0" {
            return Ok(Self(0));
        }
        if rest.is_empty() {
            return Err(InvalidDuration::Form);
        }
        let mut total: i64 = 0;
        while !rest.is_empty() {
            let (part, after) = part(rest)?;
            total = total.checked_add(part).ok_or(InvalidDuration::Length)?;
            rest = after;
        }
        Ok(Self(sign * total))
    }
}

/// A number and its unit, as nanoseconds, and what stands behind them.
fn part(text: &str) -> Result<(i64, &str), InvalidDuration> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (whole, mut rest) = text.split_at(digits(text));
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = after.split_at(digits(after));
    }
    if whole.is_empty() && fraction.is_empty() {
        return Err(InvalidDuration::Form);
    }
    if rest.is_empty() {
        return Err(InvalidDuration::Unit);
    }
    let (unit, nanos) = UNITS
        .iter()
        .filter(|(unit, _)| rest.starts_with(unit))
        .max_by_key(|(unit, _)| unit.len())
        .ok_or(InvalidDuration::Form)?;
    let whole: i64 = if whole.is_empty() { 0 } else { number(whole)? };
    // What is finer than a nanosecond does not count.
    let mut scale = *nanos;
    let mut part = whole.checked_mul(*nanos).ok_or(InvalidDuration::Length)?;
    for digit in fraction.bytes() {
        scale /= 10;
        part = part.checked_add(i64::from(digit - b'0') * scale).ok_or(InvalidDuration::Length)?;
    }
    Ok((part, &rest[unit.len()..]))
}

fn number(digits: &str) -> Result<i64, InvalidDuration> {
    digits.parse().map_err(|_| InvalidDuration::Length)
}

/// As Go prints it: `1h0m0s`, `1m30s`, `1.5s`, `500ms`.
impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let decimal = |f: &mut fmt::Formatter<'_>, of: u64, unit: u64, name: &str| {
            let digits = unit.to_string().len() - 1;
            let fraction = format!("{:0digits$}", of % unit);
            match fraction.trim_end_matches('0') {
                "" => write!(f, "{}{name}", of / unit),
                fraction => write!(f, "{}.{fraction}{name}", of / unit),
            }
        };
        match all {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{all}ns"),
            1_000..1_000_000 => decimal(f, all, 1_000, "µs"),
            1_000_000..1_000_000_000 => decimal(f, all, 1_000_000, "ms"),
            _ => {
                let minutes = all / 60_000_000_000;
                if minutes >= 60 {
                    write!(f, "{}h", minutes / 60)?;
                }
                if minutes > 0 {
                    write!(f, "{}m", minutes % 60)?;
                }
                decimal(f, all % 60_000_000_000, 1_000_000_000, "s")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_printed_as_in_go() {
        #[rustfmt::skip]
        let rows = [
            ("0", "0s"), ("0s", "0s"), ("1s", "1s"), ("1m", "1m0s"), ("1h", "1h0m0s"),
            ("90m", "1h30m0s"), ("24h", "24h0m0s"), ("2m0s", "2m0s"), ("1h30m", "1h30m0s"),
            ("1.5h", "1h30m0s"), (".5s", "500ms"), ("100ms", "100ms"), ("1500ms", "1.5s"), ("-1s", "-1s"),
            ("+5s", "5s"), ("10us", "10µs"), ("1.5µs", "1.5µs"), ("7ns", "7ns"), ("1m1ms", "1m0.001s"),
        ];
        for (text, printed) in rows {
            let read: GoDuration = text.parse().expect(text);
            assert_eq!(read.to_string(), printed, "{text}");
            assert_eq!(printed.parse(), Ok(read), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_says_why() {
        use InvalidDuration::{Form, Length, Unit};
        #[rustfmt::skip]
        let rows = [
            ("", Form), ("-", Form), ("2", Unit), ("1m30", Unit), ("bad format", Form), ("1x", Form), ("m", Form),
            (".s", Form), ("2 m", Form), ("300000000h", Length), ("99999999999999999999s", Length),
        ];
        for (text, why) in rows {
            assert_eq!(text.parse::<GoDuration>(), Err(why), "{text}");
        }
    }
}
