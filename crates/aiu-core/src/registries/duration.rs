//! Durations in the field's grammar: `5h`, `1h30m`, `-1.5s` (spec 11 §1.2).

/// Nanoseconds of a signed sequence of decimal numbers with units; `None` if it is none, or
/// does not fit.
pub(super) fn parse_nanoseconds(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (part, after) = parse_part(rest)?;
        total = total.checked_add(part)?;
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// One number with its unit, and what follows.
fn parse_part(text: &str) -> Option<(i128, &str)> {
    let (whole, rest) = split_digits(text);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => split_digits(rest),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let unit_ends = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(unit_ends);
    let unit: i128 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    // Digits beyond the twelfth are below a nanosecond whatever the unit; hours have 3.6e12.
    let fraction = &fraction[..fraction.len().min(13)];
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    let number = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse().ok() };
    let whole: i128 = number(whole)?;
    let fraction: i128 = number(fraction)?;
    Some((whole.checked_mul(unit)?.checked_add(fraction * unit / scale)?, rest))
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::parse_nanoseconds;

    #[test]
    fn durations_of_the_field() {
        #[rustfmt::skip]
        let rows = [
            ("5h", Some(18_000_000_000_000)), ("1h30m", Some(5_400_000_000_000)),
            ("1.5h", Some(5_400_000_000_000)), ("-1h", Some(-3_600_000_000_000)),
            ("+1ms", Some(1_000_000)), ("1us", Some(1_000)), ("2µs", Some(2_000)), ("3μs", Some(3_000)),
            ("4ns", Some(4)), (".5s", Some(500_000_000)), ("1.s", Some(1_000_000_000)), ("0", Some(0)),
            ("0.33333333333333333333h", Some(1_199_999_999_999)), ("1m1m", Some(120_000_000_000)),
            ("", None), ("-", None), ("5", None), ("1d", None), ("1w", None), ("h", None), (".s", None),
            ("1h 30m", None), ("1h30", None), ("1e3s", None), ("9223372036854775808ns", None), ("--1s", None),
            ("99999999999999999999999999999999999999999h", None),
        ];
        for (text, expected) in rows {
            assert_eq!(parse_nanoseconds(text), expected, "{text}");
        }
    }
}
