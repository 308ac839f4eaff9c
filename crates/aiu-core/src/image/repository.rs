use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Docker Hub's name in references; the default registry unless the registries file says otherwise.
const DOCKER_HUB: &str = "docker.io";

/// Its old name, which means the same as writing no registry.
const DOCKER_HUB_INDEX: &str = "index.docker.io";

/// The host of a registry as it stands in image names: host, host:port or a bracketed address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Registry(Arc<str>);

/// Where an image lives: a registry, absent where the user wrote none, and a path.
///
/// Printed as written, save that Docker Hub's implied parts (`index.docker.io/`, `library/`)
/// are taken off on the way in. Whether two repositories are the same depends on the default
/// registry; ask [`Repository::same_as`].
///
/// Names outside the distribution spec's grammar do occur: in the status of a pod that cannot
/// start, in a values file with a typing error. As [`Digest`](super::Digest) does, a
/// repository keeps what it cannot validate (spec 10, IMG-038 and following), and
/// [`Repository::irregularity`] tells what is wrong with it. No request is to be made for such
/// a name: no registry can hold it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repository {
    registry: Option<Registry>,
    path: Arc<str>,
}

/// Why a text is not the name of a repository, or not one that a registry can hold.
///
/// Only [`Empty`](Self::Empty) and [`Url`](Self::Url) come from parsing; the others from
/// [`Repository::irregularity`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRepository {
    /// Nothing there.
    #[error("the image name is empty")]
    Empty,
    /// `https://…` and the like (spec 10, IMG-052).
    #[error("'{0}' is a URL; write the image without the scheme")]
    Url(String),
    /// The first part is taken for a host but is not one.
    #[error("'{host}' in '{text}' is not a host")]
    Host {
        /// What was taken for the host.
        host: String,
        /// The whole text.
        text: String,
    },
    /// A path component against the distribution spec's grammar.
    #[error(
        "'{component}' in '{text}' is not a valid part of a repository name: lower-case letters, digits and single separators only"
    )]
    Component {
        /// The offending component.
        component: String,
        /// The whole text.
        text: String,
    },
}

impl Registry {
    /// The registry that names without a host mean when no other default is configured.
    pub fn docker_hub() -> Self {
        Self(DOCKER_HUB.into())
    }

    /// Takes `host` as it is; the caller has checked it (a `prefix` of the registries file).
    pub fn trusted(host: &str) -> Self {
        Self(host.into())
    }

    /// The host's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Repository {
    /// The registry as written, if one was.
    pub fn registry(&self) -> Option<&Registry> {
        self.registry.as_ref()
    }

    /// The path below the registry, without Docker Hub's implied `library/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether both name the same place, given what "no registry" means here.
    ///
    /// The one rule for every comparison: live images, override files, kustomize entries and
    /// push events (spec 10 F5, F25).
    pub fn same_as(&self, other: &Self, default: &Registry) -> bool {
        self.path == other.path
            && self.registry.as_ref().unwrap_or(default)
                == other.registry.as_ref().unwrap_or(default)
    }

    /// What the distribution spec's grammar has against this name, if anything
    /// (spec 10 §1.2).
    pub fn irregularity(&self) -> Option<InvalidRepository> {
        if let Some(host) = self.registry.as_ref().map(Registry::as_str)
            && !is_host(host)
        {
            return Some(InvalidRepository::Host { host: host.into(), text: self.to_string() });
        }
        let component = self.path.split('/').find(|component| !is_component(component))?;
        Some(InvalidRepository::Component { component: component.into(), text: self.to_string() })
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.registry {
            Some(registry) => write!(f, "{registry}/{}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

impl FromStr for Repository {
    type Err = InvalidRepository;

    /// Reads a name without tag and digest. Host detection is that of spec 10 §1.2 whatever
    /// stands behind the name, so ports and hosts without a dot are understood (faults F2, F3).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains("://") {
            return Err(InvalidRepository::Url(text.to_owned()));
        }
        let (host, path) = split_host(text);
        if path.is_empty() {
            return Err(InvalidRepository::Empty);
        }
        let on_hub = matches!(host, Some(DOCKER_HUB | DOCKER_HUB_INDEX));
        // Official images: `library/` is implied there, before a single component (F4).
        let path = match path.strip_prefix("library/") {
            Some(rest) if on_hub && !rest.is_empty() && !rest.contains('/') => rest,
            _ => path,
        };
        let registry = host.filter(|host| *host != DOCKER_HUB_INDEX);
        Ok(Self { registry: registry.map(Registry::trusted), path: path.into() })
    }
}

/// The host part, if the text up to the first `/` looks like one.
fn split_host(text: &str) -> (Option<&str>, &str) {
    match text.split_once('/') {
        Some((first, rest)) if looks_like_host(first, rest) => (Some(first), rest),
        _ => (None, text),
    }
}

/// A dot or a port makes a host, unless `first` can only be part of a path (`host_name.x`). A
/// capital letter does before a path that a registry can hold: `Foo/bar` has a host,
/// `Foo/Bar` has none (IMG-037, IMG-038).
fn looks_like_host(first: &str, rest: &str) -> bool {
    first == "localhost"
        || (first.contains(['.', ':']) && (is_host(first) || !is_component(first)))
        || (first.bytes().any(|b| b.is_ascii_uppercase()) && rest.split('/').all(is_component))
}

pub(super) fn is_host(host: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    if let Some(rest) = host.strip_prefix('[') {
        let Some((address, after)) = rest.split_once(']') else { return false };
        return address.parse::<core::net::Ipv6Addr>().is_ok()
            && (after.is_empty() || after.strip_prefix(':').is_some_and(is_port));
    }
    let (name, port) = match host.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    port.is_none_or(is_port) && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// `[a-z0-9]+` joined by `.`, `_`, `__` or a run of `-`.
fn is_component(component: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = component.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    if !is_word(first) || !is_word(last) {
        return false;
    }
    bytes.split(|&b| is_word(b)).all(|separator| {
        matches!(separator, b"" | b"." | b"_" | b"__") || separator.iter().all(|&b| b == b'-')
    })
}
