use std::fmt;
use std::sync::Arc;

/// The content address of a manifest, such as `sha256:…`.
///
/// Clusters do report short and unknown digests (spec 10 §1.3), and what runs must be
/// printed as it is. So every text is kept; [`Digest::is_well_formed`] tells whether the
/// OCI image specification would accept it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(Arc<str>);

impl Digest {
    /// Keeps `text` as a digest, valid or not.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The digest's text, algorithm included.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `algorithm:hex` with a registered algorithm and the length that
    /// belongs to it (OCI image specification, "Digests").
    pub fn is_well_formed(&self) -> bool {
        let Some((algorithm, hex)) = self.0.split_once(':') else { return false };
        hex_length(algorithm) == Some(hex.len())
            && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    }

    /// Whether a text where a tag or a digest may stand is a digest, well-formed or not: no
    /// tag holds a colon.
    pub(super) fn is_named_in(text: &str) -> bool {
        text.split_once(':').is_some_and(|(algorithm, _)| hex_length(algorithm).is_some())
    }
}

/// The number of hex digits that belongs to a registered algorithm.
fn hex_length(algorithm: &str) -> Option<usize> {
    match algorithm {
        "sha256" => Some(64),
        "sha384" => Some(96),
        "sha512" => Some(128),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
