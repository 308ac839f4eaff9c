//! What a host says of its own limits beside an answer: how many requests it allows, and how many
//! are left.
//!
//! Three ways of saying it are read: `RateLimit-Limit` and `RateLimit-Remaining` with a window
//! (`100;w=21600`, Docker Hub), the same without one, and the single `RateLimit` header of the
//! IETF's drafts, in its older form (`limit=100, remaining=76`) and in its newer one
//! (`"default";r=76` beside `RateLimit-Policy: "default";q=100;w=21600`). It is told, never obeyed:
//! what must be obeyed is `Retry-After`.

use std::time::Duration;

use reqwest::header::HeaderMap;

/// A host's word on how much it may be asked. What it left unsaid is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Requests that the host allows in a window.
    pub limit: Option<u64>,
    /// Requests that were left in the window when it last said so.
    pub remaining: Option<u64>,
    /// How long a window is.
    pub window: Option<Duration>,
}

impl Quota {
    /// What an answer's headers say.
    pub(crate) fn told(headers: &HeaderMap) -> Self {
        let first = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let (limit, remaining) = (first("ratelimit-limit"), first("ratelimit-remaining"));
        let (single, policy) = (first("ratelimit"), first("ratelimit-policy"));
        Self {
            limit: limit
                .and_then(leading)
                .or_else(|| named(single?, "limit"))
                .or_else(|| named(policy?, "q")),
            remaining: remaining
                .and_then(leading)
                .or_else(|| named(single?, "remaining"))
                .or_else(|| named(single?, "r")),
            window: [limit, remaining, policy]
                .into_iter()
                .flatten()
                .find_map(|text| named(text, "w"))
                .map(Duration::from_secs),
        }
    }

    /// This, and of what it leaves unsaid what was said before.
    pub(crate) fn or(self, before: Self) -> Self {
        Self {
            limit: self.limit.or(before.limit),
            remaining: self.remaining.or(before.remaining),
            window: self.window.or(before.window),
        }
    }
}

/// The number that the text begins with.
fn leading(text: &str) -> Option<u64> {
    text.split([';', ',']).next()?.trim().parse().ok()
}

/// The first number under this name.
fn named(text: &str, name: &str) -> Option<u64> {
    let mut pairs = text.split([';', ',']).filter_map(|part| part.split_once('='));
    let (_, value) = pairs.find(|(key, _)| key.trim().eq_ignore_ascii_case(name))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_of_the_field() {
        #[rustfmt::skip]
        let rows: [(&[(&str, &str)], [Option<u64>; 3]); 10] = [
            (&[("ratelimit-limit", "100;w=21600"), ("ratelimit-remaining", "76;w=21600")], [Some(100), Some(76), Some(21600)]),
            (&[("RateLimit-Limit", " 10 "), ("RateLimit-Remaining", "0")], [Some(10), Some(0), None]),
            (&[("ratelimit-limit", "10, 10;w=1, 50;w=60")], [Some(10), None, Some(1)]),
            (&[("ratelimit", "limit=100, remaining=76, reset=50")], [Some(100), Some(76), None]),
            (&[("ratelimit", "\"default\";r=50;t=30"), ("ratelimit-policy", "\"default\";q=100;w=60")], [Some(100), Some(50), Some(60)]),
            (&[("ratelimit-policy", "100;w=60"), ("ratelimit-limit", "100")], [Some(100), None, Some(60)]),
            (&[("ratelimit-limit", "many"), ("ratelimit-remaining", "-1")], [None, None, None]),
            (&[("ratelimit-remaining", "99999999999999999999")], [None, None, None]),
            (&[("ratelimit", ";;==,,w"), ("ratelimit-policy", "")], [None, None, None]),
            (&[], [None, None, None]),
        ];
        for (headers, [limit, remaining, window]) in rows {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(
                    name.parse::<reqwest::header::HeaderName>().unwrap(),
                    value.parse().unwrap(),
                );
            }
            let expected = Quota { limit, remaining, window: window.map(Duration::from_secs) };
            assert_eq!(Quota::told(&map), expected, "{headers:?}");
        }
    }

    #[test]
    fn what_is_left_unsaid_stays() {
        let before = Quota { limit: Some(100), remaining: Some(5), window: None };
        let now = Quota { remaining: Some(4), ..Quota::default() };
        assert_eq!(now.or(before), Quota { remaining: Some(4), ..before });
    }
}
