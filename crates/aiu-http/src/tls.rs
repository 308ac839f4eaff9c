//! Which certificates a host may show.

use std::fmt;
use std::sync::Arc;

use reqwest::Certificate;

/// Which certificates are trusted. Two calls with equal profiles share connections.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub enum TlsProfile {
    /// Those of the system.
    #[default]
    System,
    /// Those of the system, and the ones in this PEM text.
    WithRoots(Arc<[u8]>),
    /// Any: the check is off.
    Unverified,
}

/// A text that was to hold certificates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("does not contain a valid PEM certificate")]
pub struct InvalidCertificates;

impl TlsProfile {
    /// Trusts the certificates in `pem` besides the system's.
    pub fn with_roots(pem: &[u8]) -> Result<Self, InvalidCertificates> {
        certificates(pem)?;
        Ok(Self::WithRoots(pem.into()))
    }

    pub(crate) fn apply(
        &self,
        builder: reqwest::ClientBuilder,
    ) -> Result<reqwest::ClientBuilder, InvalidCertificates> {
        Ok(match self {
            Self::System => builder,
            Self::WithRoots(pem) => builder.tls_certs_merge(certificates(pem)?),
            Self::Unverified => builder.tls_danger_accept_invalid_certs(true),
        })
    }
}

impl fmt::Debug for TlsProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("System"),
            Self::WithRoots(pem) => write!(f, "WithRoots({} bytes)", pem.len()),
            Self::Unverified => f.write_str("Unverified"),
        }
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate>, InvalidCertificates> {
    match Certificate::from_pem_bundle(pem) {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(InvalidCertificates),
    }
}
