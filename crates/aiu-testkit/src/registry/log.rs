//! What the registry was asked.

use tokio::time::Instant;

/// The kinds of requests that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `GET /v2/`.
    Ping,
    /// One page of a tag listing.
    Listing,
    /// `HEAD` of a manifest.
    ManifestHead,
    /// `GET` of a manifest.
    ManifestGet,
    /// A blob.
    Blob,
    /// What refers to a manifest.
    Referrers,
    /// A token.
    Token,
    /// Anything else.
    Other,
}

/// One request and how it was answered.
#[derive(Clone, Debug)]
pub struct Request {
    /// When it arrived, by the runtime's clock.
    pub at: Instant,
    /// What it asked for.
    pub kind: Kind,
    /// `GET`, `HEAD`, ….
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// The repository asked about; for a token, that of its scope.
    pub repository: Option<String>,
    /// The scheme of the `Authorization` header, if there was one. Never its content.
    pub authorization: Option<String>,
    /// The status of the answer; 0 when the connection was cut or left hanging.
    pub status: u16,
    /// Bytes of the answer's body, where its length is known before it is sent.
    pub bytes: u64,
}

/// How many requests of which kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All requests.
    pub all: usize,
    /// See [`Kind::Ping`].
    pub pings: usize,
    /// Pages of listings; three for a listing of three pages.
    pub listings: usize,
    /// See [`Kind::ManifestHead`].
    pub manifest_heads: usize,
    /// See [`Kind::ManifestGet`].
    pub manifest_gets: usize,
    /// See [`Kind::Blob`].
    pub blobs: usize,
    /// See [`Kind::Referrers`].
    pub referrers: usize,
    /// See [`Kind::Token`].
    pub tokens: usize,
    /// Answers "not modified", also counted under their kind.
    pub not_modified: usize,
    /// Answers "unauthorized", also counted under their kind.
    pub unauthorized: usize,
    /// Bytes of the answers' bodies, as far as [`Request::bytes`] knows them.
    pub bytes: u64,
}

impl Counts {
    pub(super) fn of<'a>(requests: impl Iterator<Item = &'a Request>) -> Self {
        let mut counts = Self::default();
        for request in requests {
            counts.add(request);
        }
        counts
    }

    fn add(&mut self, request: &Request) {
        self.all += 1;
        self.bytes += request.bytes;
        match request.kind {
            Kind::Ping => self.pings += 1,
            Kind::Listing => self.listings += 1,
            Kind::ManifestHead => self.manifest_heads += 1,
            Kind::ManifestGet => self.manifest_gets += 1,
            Kind::Blob => self.blobs += 1,
            Kind::Referrers => self.referrers += 1,
            Kind::Token => self.tokens += 1,
            Kind::Other => {}
        }
        match request.status {
            304 => self.not_modified += 1,
            401 => self.unauthorized += 1,
            _ => {}
        }
    }
}
