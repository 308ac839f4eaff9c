//! A way to a server that counts what comes from it, and can be closed.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use anyhow::Result;

/// A port of this machine that leads to another one.
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    received: AtomicU64,
    connections: AtomicU64,
    closed: AtomicBool,
}

impl Proxy {
    /// Leads to `port`; lives until the process ends.
    pub fn to(port: u16) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let own = listener.local_addr()?.port();
        let state = Arc::<State>::default();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                state.connections.fetch_add(1, Ordering::Relaxed);
                if !state.closed.load(Ordering::Relaxed) {
                    thread::spawn(move || join(client, port, &state));
                }
            }
        });
        Ok(Self { port: own, state })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// How many bytes came from the server, headers and all, since this was last asked.
    pub fn received(&self) -> u64 {
        self.state.received.swap(0, Ordering::Relaxed)
    }

    /// How many connections were made since this was last asked.
    pub fn connections(&self) -> u64 {
        self.state.connections.swap(0, Ordering::Relaxed)
    }

    /// Whether connections are closed as soon as they are made.
    pub fn close(&self, closed: bool) {
        self.state.closed.store(closed, Ordering::Relaxed);
    }
}

/// Carries bytes both ways until both sides have ended. An end of a connection is no error here.
fn join(client: TcpStream, port: u16, state: &Arc<State>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
    let (Ok(from_client), Ok(mut to_server)) = (client.try_clone(), server.try_clone()) else {
        return;
    };
    let up = thread::spawn(move || {
        carry(from_client, &mut to_server, |_| {});
    });
    let mut to_client = client;
    carry(server, &mut to_client, |bytes| {
        state.received.fetch_add(bytes, Ordering::Relaxed);
    });
    let _ = up.join();
}

fn carry(mut from: TcpStream, to: &mut TcpStream, count: impl Fn(u64)) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(read) = from.read(&mut buffer)
        && read > 0
    {
        count(read as u64);
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
