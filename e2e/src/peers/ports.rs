//! Ports for servers that must be told theirs before they start.
//!
//! Taken from below the range of outgoing connections, which begins at 32768: a port from there can
//! be gone by the time the server binds it.

use std::iter::Chain;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

use anyhow::{Context, Result};

const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;
/// More ports than a run takes, and prime, so that it leads to every place.
const STRIDE: u32 = 503;

/// Hands out free ports, none twice.
pub(super) struct Ports {
    candidates: Chain<Range<u16>, Range<u16>>,
}

impl Default for Ports {
    /// Begins at a place that depends on the process, far from those of its neighbours: of two runs
    /// started together, neither takes what the other has seen free.
    fn default() -> Self {
        let place = std::process::id().wrapping_mul(STRIDE) % u32::from(COUNT);
        let start = FIRST + u16::try_from(place).unwrap_or(0);
        Self { candidates: (start..FIRST + COUNT).chain(FIRST..start) }
    }
}

impl Ports {
    pub(super) fn free(&mut self) -> Result<u16> {
        let is_free = |&port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        self.candidates.find(is_free).context("no port is free on loopback")
    }
}

/// Host and port of a server that is started at once.
pub(crate) fn free_address() -> Result<String> {
    Ok(format!("127.0.0.1:{}", Ports::default().free()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_free_and_handed_out_once() {
        let mut ports = Ports::default();
        let first = ports.free().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, first)).unwrap();
        let second = ports.free().unwrap();
        assert_ne!(first, second);
        assert!(second < 32_768);
        drop(listener);
    }
}
