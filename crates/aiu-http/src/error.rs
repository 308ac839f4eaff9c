//! Why a call brought no answer.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::InvalidCertificates;

/// Why a call brought no answer. Any complete answer, whatever its status, is no error.
///
/// Hosts and URLs in messages are shown without user, password and query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// No connection, or none that lasted.
    #[error("{host} cannot be reached: {cause}")]
    Unreachable {
        /// Host and port.
        host: String,
        /// How far it came.
        cause: Unreachable,
    },
    /// The host has said when it wants to be asked again, and that is too far off to wait.
    #[error("{host} asks to be left alone for {}s", seconds(*retry_after))]
    RateLimited {
        /// Host and port.
        host: String,
        /// How long from now.
        retry_after: Duration,
    },
    /// The body is larger than the call allows.
    #[error("the answer of {url} has more than {limit} bytes")]
    TooLarge {
        /// The URL.
        url: String,
        /// The most bytes allowed.
        limit: usize,
    },
    /// Redirected in circles, most likely.
    #[error("{url} redirects more than {limit} times")]
    TooManyRedirects {
        /// The URL first asked.
        url: String,
        /// The most redirects followed.
        limit: usize,
    },
    /// The URL is none that HTTP can ask.
    #[error("unsupported protocol scheme in '{url}': a URL here begins with http:// or https://")]
    Scheme {
        /// The URL.
        url: String,
    },
    /// The certificates to trust are not usable.
    #[error(transparent)]
    Certificates(#[from] InvalidCertificates),
    /// The HTTP client refuses its surroundings: no system certificates, a malformed proxy.
    #[error(
        "no HTTP client can be made: {0}; check the system's certificates and the proxy variables"
    )]
    Client(String),
}

/// Whole seconds, rounded up: nobody should come back too early.
fn seconds(length: Duration) -> u64 {
    length.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)
}

/// How far an attempt to reach a host came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// The name has no address.
    Dns(String),
    /// There is an address, but nobody answers.
    Connect(String),
    /// Somebody answers, but not with a certificate that is trusted.
    Tls(String),
    /// No complete answer in this time.
    Timeout(Duration),
    /// The connection broke before the answer was complete.
    Interrupted(String),
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(cause) => write!(f, "its name does not resolve ({cause})"),
            Self::Connect(cause) => write!(f, "no connection ({cause})"),
            Self::Tls(cause) => write!(f, "no trusted TLS connection ({cause})"),
            Self::Timeout(limit) => write!(f, "no answer within {}s", limit.as_secs_f32()),
            Self::Interrupted(cause) => write!(f, "the connection broke ({cause})"),
        }
    }
}

impl Unreachable {
    /// Whether another attempt may end better.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Dns(_) | Self::Connect(_) | Self::Interrupted(_) => true,
            Self::Tls(_) | Self::Timeout(_) => false,
        }
    }

    /// Reads the cause out of the client's error. The error's own words are not used, since
    /// they hold the whole URL.
    pub(crate) fn of(error: &reqwest::Error, connect_timeout: Duration) -> Self {
        if error.is_timeout() {
            return Self::Timeout(connect_timeout);
        }
        if let Some(DnsFailure(cause)) = find(error) {
            return Self::Dns(cause.clone());
        }
        if let Some(cause) = find::<rustls::Error>(error) {
            return Self::Tls(cause.to_string());
        }
        let cause = match find::<io::Error>(error) {
            Some(cause) => cause.kind().to_string(),
            None => innermost(error),
        };
        if error.is_connect() { Self::Connect(cause) } else { Self::Interrupted(cause) }
    }
}

/// What our resolver reports, to be found again inside of the client's error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct DnsFailure(pub(crate) String);

/// The first error of this type in the chain, also inside of I/O errors, which hide theirs.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        let hidden = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(hidden) = hidden
            && let Some(found) = find::<E>(hidden)
        {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The last words of the chain, which never are those that show the URL.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    let mut last: &dyn Error = error;
    while let Some(next) = last.source() {
        last = next;
    }
    if last.downcast_ref::<reqwest::Error>().is_some() {
        return "no further cause is known".to_owned();
    }
    last.to_string()
}
