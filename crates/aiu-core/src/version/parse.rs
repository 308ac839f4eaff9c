//! The pieces that versions and the patterns of constraints are made of.

use super::precedence::is_numeric;

/// A version taken apart, borrowing from its text.
pub(super) struct RawVersion<'t> {
    pub(super) numbers: [u64; 3],
    pub(super) pre_release: Option<&'t str>,
    pub(super) metadata: Option<&'t str>,
}

/// Reads `[v]A[.B[.C]][-pre][+meta]` to its end (spec 10 §4.1).
pub(super) fn version(text: &str) -> Option<RawVersion<'_>> {
    let (rest, metadata) = match text.split_once('+') {
        Some((rest, metadata)) => (rest, Some(metadata)),
        None => (text, None),
    };
    let (segments, pre_release) = match rest.split_once('-') {
        Some((segments, pre_release)) => (segments, Some(pre_release)),
        None => (rest, None),
    };
    if !metadata.is_none_or(is_identifier_list) || !pre_release.is_none_or(is_pre_release) {
        return None;
    }
    let mut numbers = [0; 3];
    for (at, segment) in segments.strip_prefix('v').unwrap_or(segments).split('.').enumerate() {
        *numbers.get_mut(at)? = number(segment)?;
    }
    Some(RawVersion { numbers, pre_release, metadata })
}

/// A decimal number; leading zeros are dropped. `None` also where it exceeds 64 bits.
pub(super) fn number(segment: &str) -> Option<u64> {
    // The standard parser would take a sign.
    if is_numeric(segment) { segment.parse().ok() } else { None }
}

/// Identifiers of which no numeric one begins with a zero, lest two texts mean one number.
pub(super) fn is_pre_release(text: &str) -> bool {
    is_identifier_list(text)
        && text.split('.').all(|id| id.len() == 1 || !id.starts_with('0') || !is_numeric(id))
}

fn is_identifier_list(text: &str) -> bool {
    text.split('.').all(|id| !id.is_empty() && id.bytes().all(is_identifier_byte))
}

pub(super) fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}
