//! Everything that listens: probes and metrics.
//!
//! This crate knows nothing of passes and clusters: what it serves, and who may see it, is asked
//! of whoever starts it. [`bind`] takes the port, so that a taken one is told before anything
//! else starts; [`serve`] answers until it is told to stop.

mod address;
mod guard;
mod listen;
mod metrics;
#[cfg(test)]
#[path = "../tests/it/pair.rs"]
mod pair;
mod probes;
mod serve;
mod tls;

pub use address::{Address, InvalidAddress};
pub use guard::{Access, Ask, Guard};
pub use listen::{BindError, Bound, bind};
pub use metrics::{Page, metrics};
pub use probes::{Check, probes};
pub use serve::{Limits, Transport, serve};
pub use tls::{CertificateError, Certificates};
