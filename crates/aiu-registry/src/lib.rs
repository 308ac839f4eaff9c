//! The distribution protocol: listings and images of container registries, each asked once.
//!
//! [`Scanner`] is the face: it shares answers among all who ask the same, and knows for how
//! long an answer or a failure is good. Below it, one call at a time: signing in, following
//! pages, reading errors. Which registry is meant comes from the core
//! ([`aiu_core::registries`]); limits, deadlines and repetitions are those of [`aiu_http`].

mod api_error;
mod auth;
mod challenge;
mod client;
mod credentials;
mod error;
mod flights;
mod images;
mod link;
mod manifest;
mod pages;
mod scanner;
mod signature;
mod tls;
mod tokens;

pub use aiu_http::{HostStats, HttpSettings, Proxies, Quota, Unreachable};
pub use credentials::{
    Ambient, CredentialError, Credentials, CredentialsId, DockerConfig, Freshness, IdentityError,
    Kept, Keyring, Login, Origin, Variables, from_secret,
};
pub use error::{ScanError, ScanProblem};
pub use images::Detail;
pub use pages::Listing;
pub use scanner::{ScanKey, ScanRequest, Scanner, ScannerSettings};
pub use signature::{CosignKey, InvalidKey, SignatureError, Signed};
