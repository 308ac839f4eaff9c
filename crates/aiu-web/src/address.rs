//! Addresses to listen at, as Go's servers take them: `:8081`, `127.0.0.1:8081`, `[::1]:8081`.

use std::fmt;
use std::str::FromStr;

/// Where to listen. Without a host: at every address of the machine, IPv4 and IPv6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

/// Why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no address to listen at; write :8081, 127.0.0.1:8081 or [::1]:8081")]
pub struct InvalidAddress(String);

impl Address {
    /// An address at every interface.
    pub fn any(port: u16) -> Self {
        Self { host: String::new(), port }
    }

    /// Host name or address; empty for every interface.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port; 0 for a free one.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        let invalid = || InvalidAddress(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(invalid)?;
        let port = port.parse().map_err(|_| invalid())?;
        let host = match host.strip_prefix('[').map(|host| host.strip_suffix(']')) {
            Some(inner) => inner.filter(|host| host.contains(':')).ok_or_else(invalid)?,
            // Without brackets nobody can tell where an IPv6 address ends.
            None if host.contains([':', ']']) => return Err(invalid()),
            None => host,
        };
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_go() {
        #[rustfmt::skip]
        let rows = [
            (":8081", Some(("", 8081))),
            ("127.0.0.1:0", Some(("127.0.0.1", 0))),
            ("localhost:80", Some(("localhost", 80))),
            ("[::1]:8443", Some(("::1", 8443))),
            ("[::]:8443", Some(("::", 8443))),
            ("8081", None), ("", None), (":", None), (":70000", None), (":http", None),
            ("::1:80", None), ("[::1]", None), ("[x]:80", None), ("x]:80", None),
        ];
        for (text, expected) in rows {
            let parsed = text.parse::<Address>();
            let shown = parsed.as_ref().ok().map(|address| (address.host(), address.port()));
            assert_eq!(shown, expected, "{text}");
            if let Ok(address) = parsed {
                assert_eq!(address.to_string(), text);
            }
        }
    }
}
