//! The servers over real sockets, with clients that behave and clients that do not.

#[cfg(test)]
mod client;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod listen;
#[cfg(test)]
mod pair;
#[cfg(test)]
mod probes;
#[cfg(test)]
mod tls;
