//! Which registry answers for an image, and how it wants to be asked (spec 11 §1).
//!
//! [`Registries`] is the built-in registry, Docker Hub, and what the operator's registries file
//! adds to it. Any other host is *inferred*: its API is `https://` and the host. Reading the
//! file from disk, fetching credentials and loading certificates are the adapters' business;
//! here a credential source is a text.

mod document;
mod duration;
mod ecr;
mod entry;
mod invalid;
mod source;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use ecr::EcrHost;
pub use entry::Entry;
pub use invalid::{InvalidRegistries, Problem};
pub use source::{
    Cloud, CredentialPlace, CredentialSource, InvalidSource, OperatorsSource, UnknownKind,
};

use crate::image::{Registry, Repository};
use crate::policy::{DateSource, ListOrder};

/// Docker Hub, by the name that stands in images.
const DOCKER_HUB: &str = "docker.io";
/// Hosts that are Docker Hub under other names.
const DOCKER_HUB_ALIASES: [&str; 2] = ["index.docker.io", "registry-1.docker.io"];
/// What a single-component name on Docker Hub is short for.
const DOCKER_HUB_NAMESPACE: &str = "library";
/// Requests per second where nothing else is said (spec 11 §1.4, G1).
const DEFAULT_LIMIT: i64 = 20;

/// All registries that are known by configuration, and the rule for the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registries {
    /// Ordered by prefix, longest first, so that the first match is the best.
    endpoints: Vec<Arc<Endpoint>>,
    default: Arc<Endpoint>,
    notices: Vec<Notice>,
}

/// One registry: where its API is and how it wants to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// For display only.
    pub name: Arc<str>,
    /// What names of its images begin with: a host, or a host and whole path components.
    pub prefix: Arc<str>,
    /// Base of the distribution API, without `/v2` and without trailing `/`.
    pub api_url: Arc<str>,
    /// What is put before names of a single component.
    pub default_namespace: Option<Arc<str>>,
    /// How its listings are sorted, if they are sorted by age.
    pub tag_sort: Option<ListOrder>,
    /// Which dates of its images count.
    pub dates: Dates,
    /// Requests per second; zero and below mean no limit.
    pub limit: i64,
    /// Which certificates its host may show.
    pub tls: Tls,
    /// Where credentials come from: a text such as `secret:ns/name#field` (spec 11 §6.1).
    pub credentials: Option<Arc<str>>,
    /// For how long fetched credentials are good; for ever if absent.
    pub credentials_expire: Option<Duration>,
    /// Whether images without a registry belong here.
    pub default: bool,
    /// Whether it was made up for a host that no configuration names.
    pub inferred: bool,
}

/// Which dates tell how old an image is (spec 40 B13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dates {
    /// When it was built, as the image itself says.
    #[default]
    Built,
    /// When it was pushed, as the registry says for all images at once.
    Pushed,
}

/// Which certificates a registry's host may show (spec 11 §1.6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tls {
    /// Any at all. Nothing below applies then.
    pub insecure: bool,
    /// Path of a file with certificates that are trusted besides the system's.
    pub ca_file: Option<Arc<str>>,
    /// Certificates that are trusted besides the system's, as PEM.
    pub ca_data: Option<Arc<str>>,
}

/// Something in the file that is accepted, and that its author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// An item without prefix got that of its API's host (spec 11 G3).
    PrefixDerived {
        /// The item's name.
        name: String,
        /// The prefix it got.
        prefix: String,
    },
    /// Two items have one prefix; the later one counts (spec 11 REG-005).
    PrefixRepeated {
        /// The prefix.
        prefix: String,
    },
    /// With a sort mode no image is looked at (spec 11 §1.3).
    SortedByRegistry {
        /// The API's URL.
        api_url: String,
        /// The mode as written.
        mode: String,
    },
    /// The option `ping` has no effect (spec 11 G30).
    PingIgnored,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PrefixDerived { name, prefix } => write!(
                f,
                "registry {name} has no prefix and gets that of its API, '{prefix}'; name the prefix if another is meant"
            ),
            Self::PrefixRepeated { prefix } => {
                write!(
                    f,
                    "the prefix '{prefix}' stands twice in the registries; the later one counts"
                )
            }
            Self::SortedByRegistry { api_url, mode } => write!(
                f,
                "Registry {api_url} has tag sort mode set to {mode}, meta data retrieval will be disabled for this registry."
            ),
            Self::PingIgnored => f.write_str("the option 'ping' of registries has no effect"),
        }
    }
}

impl Default for Registries {
    fn default() -> Self {
        Self::builtin()
    }
}

impl Registries {
    /// Docker Hub alone (spec 11 §1.4).
    pub fn builtin() -> Self {
        let hub = Arc::new(docker_hub());
        Self { endpoints: vec![Arc::clone(&hub)], default: hub, notices: Vec::new() }
    }

    /// Reads a registries file: what it names is added to the built-in registry, or replaces
    /// it. An empty text is a valid file. All errors of all items are reported together.
    pub fn parse(text: &str) -> Result<Self, InvalidRegistries> {
        Self::from_entries(&Entry::read_all(text)?)
    }

    /// Checks the items of a file and adds them to the built-in registry.
    pub fn from_entries(entries: &[Entry]) -> Result<Self, InvalidRegistries> {
        invalid::check(entries)?;
        let mut registries = Self::builtin();
        if entries.iter().any(|entry| entry.ping.is_some()) {
            registries.notices.push(Notice::PingIgnored);
        }
        for entry in entries {
            registries.add(entry);
        }
        registries.endpoints.sort_by_key(|endpoint| std::cmp::Reverse(endpoint.prefix.len()));
        Ok(registries)
    }

    fn add(&mut self, entry: &Entry) {
        let endpoint = self.endpoint_of(entry);
        let place = self.endpoints.iter().position(|known| known.key() == endpoint.key());
        let replaced = place.map(|place| self.endpoints.remove(place));
        let repeated = replaced.as_ref().filter(|replaced| !is_builtin(replaced));
        if repeated.is_some() {
            let prefix = endpoint.prefix.to_string();
            self.notices.push(Notice::PrefixRepeated { prefix });
        }
        // An entry for the registry that is the default already takes over that role (G2).
        if endpoint.default || replaced.is_some_and(|replaced| replaced.default) {
            for other in self.endpoints.iter_mut().filter(|other| other.default) {
                Arc::make_mut(other).default = false;
            }
            self.default = Arc::new(Endpoint { default: true, ..endpoint });
            self.endpoints.push(Arc::clone(&self.default));
        } else {
            self.endpoints.push(Arc::new(endpoint));
        }
    }

    fn endpoint_of(&mut self, entry: &Entry) -> Endpoint {
        let name = entry.name.as_deref().unwrap_or_default();
        let api_url = entry.api_url.as_deref().unwrap_or_default();
        let prefix = if let Some(prefix) = &entry.prefix {
            prefix.clone()
        } else {
            let prefix = host_of(api_url).to_owned();
            let derived = Notice::PrefixDerived { name: name.to_owned(), prefix: prefix.clone() };
            self.notices.push(derived);
            prefix
        };
        let tag_sort = entry.sort_order().unwrap_or_default();
        if let (Some(_), Some(mode)) = (tag_sort, &entry.tag_sort_mode) {
            let (api_url, mode) = (api_url.to_owned(), mode.clone());
            self.notices.push(Notice::SortedByRegistry { api_url, mode });
        }
        let hub = key_of(&prefix) == DOCKER_HUB;
        let default_namespace =
            entry.default_namespace.as_deref().or(hub.then_some(DOCKER_HUB_NAMESPACE));
        let expire = u64::try_from(entry.credentials_expire).unwrap_or_default();
        Endpoint {
            name: name.into(),
            prefix: prefix.into(),
            api_url: api_url.strip_suffix('/').unwrap_or(api_url).into(),
            default_namespace: default_namespace.map(Arc::from),
            tag_sort,
            dates: entry.which_dates().unwrap_or_default(),
            limit: entry.limit.unwrap_or(DEFAULT_LIMIT),
            tls: Tls {
                insecure: entry.insecure,
                ca_file: entry.ca_file.as_deref().map(Arc::from),
                ca_data: entry.ca_data.as_deref().map(Arc::from),
            },
            credentials: entry.credentials.as_deref().map(Arc::from),
            credentials_expire: (expire > 0).then(|| Duration::from_nanos(expire)),
            default: entry.default,
            inferred: false,
        }
    }

    /// The registry that answers for `repository`: the longest prefix on whole components,
    /// else one inferred from its host (spec 11 §1.5, G4, G5).
    pub fn endpoint_for(&self, repository: &Repository) -> Arc<Endpoint> {
        let host = repository.registry().map_or(&*self.default.prefix, Registry::as_str);
        let name = format!("{}/{}", key_of(host), repository.path());
        let matches = |endpoint: &&Arc<Endpoint>| {
            name.strip_prefix(&*endpoint.key()).is_some_and(|rest| rest.starts_with('/'))
        };
        match self.endpoints.iter().find(matches) {
            Some(endpoint) => Arc::clone(endpoint),
            None => Arc::new(inferred(host)),
        }
    }

    /// What an image without a registry means; see [`Repository::same_as`].
    pub fn default_registry(&self) -> Registry {
        Registry::trusted(&self.default.key())
    }

    /// All configured registries, the built-in one included, longest prefix first.
    pub fn endpoints(&self) -> &[Arc<Endpoint>] {
        &self.endpoints
    }

    /// How many of them a file named.
    pub fn configured(&self) -> usize {
        self.endpoints.iter().filter(|endpoint| !is_builtin(endpoint)).count()
    }

    /// What the file's author should know, in the order of the file.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }
}

impl Endpoint {
    /// The name under which this registry knows `repository` (spec 11 §1.5 at the end).
    pub fn wire_path(&self, repository: &Repository) -> Arc<str> {
        let path = repository.path();
        match &self.default_namespace {
            Some(namespace) if !path.contains('/') => format!("{namespace}/{path}").into(),
            _ => path.into(),
        }
    }

    /// Where newest-build reads the age of its images.
    pub fn date_source(&self) -> DateSource {
        match (self.tag_sort, self.dates) {
            (Some(order), _) => DateSource::ListOrder(order),
            (None, Dates::Pushed) => DateSource::PushDate,
            (None, Dates::Built) => DateSource::ImageConfig,
        }
    }

    /// The hosts by which a provider can be told, without ports: that of its API, and the one
    /// in the names of its images, which differs where something stands between.
    pub fn hosts(&self) -> [&str; 2] {
        [host_of(&self.api_url), host_of(&self.prefix)].map(without_port)
    }

    fn key(&self) -> Cow<'_, str> {
        key_of(&self.prefix)
    }
}

/// A prefix as it is compared: Docker Hub under one name, hosts in lower case.
fn key_of(prefix: &str) -> Cow<'_, str> {
    let (host, path) = match prefix.split_once('/') {
        Some((host, path)) => (host, Some(path)),
        None => (prefix, None),
    };
    let host = host.to_ascii_lowercase();
    let host = if DOCKER_HUB_ALIASES.contains(&&*host) { DOCKER_HUB } else { &host };
    match path {
        Some(path) => format!("{host}/{}", path.trim_end_matches('/')).into(),
        None => host.to_owned().into(),
    }
}

/// Host and port of a URL.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_builtin(endpoint: &Endpoint) -> bool {
    *endpoint == docker_hub() || *endpoint == Endpoint { default: false, ..docker_hub() }
}

fn docker_hub() -> Endpoint {
    Endpoint {
        default_namespace: Some(DOCKER_HUB_NAMESPACE.into()),
        name: "Docker Hub".into(),
        api_url: "https://registry-1.docker.io".into(),
        limit: 10,
        default: true,
        inferred: false,
        ..inferred(DOCKER_HUB)
    }
}

fn inferred(host: &str) -> Endpoint {
    Endpoint {
        name: host.into(),
        prefix: host.into(),
        api_url: format!("https://{host}").into(),
        default_namespace: None,
        tag_sort: None,
        dates: Dates::default(),
        limit: DEFAULT_LIMIT,
        tls: Tls::default(),
        credentials: None,
        credentials_expire: None,
        default: false,
        inferred: true,
    }
}
