use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Docker Hub's name in references; the default registry unless the registries file says otherwise.
const DOCKER_HUB: &str = "docker.io";

/// The host of a registry as it stands in image names: host, host:port or a bracketed address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Registry(Arc<str>);

/// Where an image lives: a registry, absent where the user wrote none, and a path.
///
/// Printed as written. Whether two repositories are the same depends on the default
/// registry; ask [`Repository::same_as`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repository {
    registry: Option<Registry>,
    path: Arc<str>,
}

/// Why a text is not the name of a repository.
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
    #[error("'{component}' in '{text}' is not a valid part of a repository name: lower-case letters, digits and single separators only")]
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

    /// Whether both name the same place, given what "no registry" means here (spec 10 F5).
    pub fn same_as(&self, other: &Self, default: &Registry) -> bool {
        let registry = |r: &Self| r.registry.clone().unwrap_or_else(|| default.clone());
        self.path == other.path && registry(self) == registry(other)
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

    /// The strict grammar of spec 10 §1.2, for a name without tag and digest.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err(InvalidRepository::Empty);
        }
        if text.contains("://") {
            return Err(InvalidRepository::Url(text.to_owned()));
        }
        let (host, path) = split_host(text);
        if let Some(host) = host
            && !is_host(host)
        {
            return Err(InvalidRepository::Host { host: host.into(), text: text.into() });
        }
        if let Some(component) = path.split('/').find(|component| !is_component(component)) {
            return Err(InvalidRepository::Component {
                component: component.into(),
                text: text.into(),
            });
        }
        let registry = match host {
            None | Some("index.docker.io") => None,
            Some(host) => Some(Registry(host.into())),
        };
        // Docker Hub's official images: `library/` is implied there (F4: only before one component).
        let on_hub = registry.as_ref().is_none_or(|r| r.as_str() == DOCKER_HUB);
        let written_bare = host.is_none();
        let path = match path.strip_prefix("library/") {
            Some(rest) if on_hub && !written_bare && !rest.contains('/') => rest,
            _ => path,
        };
        Ok(Self { registry, path: path.into() })
    }
}

/// The host part, if the text up to the first `/` looks like one.
fn split_host(text: &str) -> (Option<&str>, &str) {
    match text.split_once('/') {
        Some((first, rest)) if looks_like_host(first) => (Some(first), rest),
        _ => (None, text),
    }
}

fn looks_like_host(piece: &str) -> bool {
    piece == "localhost"
        || piece.contains(['.', ':'])
        || piece.bytes().any(|b| b.is_ascii_uppercase())
}

fn is_host(host: &str) -> bool {
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
