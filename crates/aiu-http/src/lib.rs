//! The one HTTP client.
//!
//! Everything that leaves this program over HTTP goes through [`Http`]: it bounds time and size
//! of every call, holds back what a host's limits forbid, repeats what is worth repeating, and
//! keeps credentials out of redirects and messages. It knows no protocol above HTTP; what a
//! status or a body means is its callers' business.
//!
//! All waiting uses the runtime's clock, so tests pause it instead of sleeping.

mod call;
mod client;
mod error;
mod exchange;
mod host;
mod limits;
mod quota;
mod redact;
mod retry;
mod tls;

pub use call::{Answer, Call};
pub use client::{Http, HttpSettings, Proxies};
pub use error::{HttpError, Unreachable};
pub use host::HostStats;
pub use limits::Rate;
pub use quota::Quota;
pub use redact::shown;
pub use reqwest::header;
pub use reqwest::{Method, StatusCode};
pub use tls::{InvalidCertificates, TlsProfile};
pub use url::Url;
