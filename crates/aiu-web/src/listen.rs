//! Taking a port, on IPv4 and IPv6.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, lookup_host};

use crate::Address;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 128;

/// Sockets that listen.
#[derive(Debug)]
pub struct Bound {
    pub(crate) listeners: Vec<TcpListener>,
    address: SocketAddr,
}

/// Why nobody can listen at an address.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen at {address}: {}", why(cause))]
pub struct BindError {
    address: Address,
    cause: io::Error,
}

impl BindError {
    /// Stable word for logs and findings (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        if self.cause.kind() == io::ErrorKind::AddrInUse { "PortTaken" } else { "PortUnusable" }
    }
}

fn why(cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::AddrInUse => {
            "another process has the port; stop it, or choose another port".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 are for privileged processes; choose another port".to_owned()
        }
        _ => cause.to_string(),
    }
}

impl Bound {
    /// An address that is listened at, with the port that was chosen where none was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Takes the port. Without a host: of every interface, IPv6 too where the machine has it.
pub async fn bind(address: &Address) -> Result<Bound, BindError> {
    let listeners =
        if address.host().is_empty() { everywhere(address.port()) } else { at_host(address).await };
    let failed = |cause| BindError { address: address.clone(), cause };
    let listeners = listeners.map_err(failed)?;
    let first = listeners[0].local_addr().map_err(failed)?;
    Ok(Bound { listeners, address: first })
}

/// One socket for both families; one for IPv4 alone where there is no IPv6.
fn everywhere(port: u16) -> io::Result<Vec<TcpListener>> {
    match listener(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))) {
        Ok(listener) => Ok(vec![listener]),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
        Err(_) => Ok(vec![listener(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))?]),
    }
}

/// Every address of the host that is this machine's; `localhost` may be two.
async fn at_host(address: &Address) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    let mut failure = None;
    for at in lookup_host((address.host(), address.port())).await? {
        match listener(at) {
            Ok(listener) => listeners.push(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
            Err(error) => failure = Some(error),
        }
        // A free port is chosen once.
        if address.port() == 0 && !listeners.is_empty() {
            break;
        }
    }
    match failure {
        Some(error) if listeners.is_empty() => Err(error),
        None if listeners.is_empty() => Err(io::ErrorKind::AddrNotAvailable.into()),
        _ => Ok(listeners),
    }
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if address.ip() == Ipv6Addr::UNSPECIFIED {
        socket.set_only_v6(false)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}
