//! What is wrong with a registries file: everything, at once, without secrets (spec 11 G23).

use std::fmt;

use super::entry::Entry;
use super::{Cloud, CredentialPlace, CredentialSource, Dates, EcrHost, host_of, without_port};

/// A registries file that is not used, with all that is wrong with it.
///
/// Values are quoted only where they cannot be secret: never a credential source, never
/// certificates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct InvalidRegistries {
    /// In the order of the file; never empty.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The text is no YAML; the parser's words.
    Unreadable(String),
    /// A value at this line is not what it should be.
    Shape {
        /// 1-based.
        line: usize,
        /// What was expected, in words.
        wanted: String,
    },
    /// A key that means nothing.
    UnknownKey {
        /// 1-based.
        line: usize,
        /// The key.
        key: String,
    },
    /// A key that stands twice in one mapping.
    DuplicateKey {
        /// 1-based, of the second one.
        line: usize,
        /// The key.
        key: String,
    },
    /// An item without a name.
    NameMissing {
        /// Place in the list, from 1.
        item: usize,
    },
    /// An item without the URL of its API.
    ApiUrlMissing {
        /// Its name.
        name: String,
    },
    /// A second item without prefix.
    PrefixMissing {
        /// The first such item.
        first: String,
        /// This one.
        name: String,
    },
    /// A word that is no sort mode.
    SortMode {
        /// The item's name.
        name: String,
        /// The word.
        mode: String,
    },
    /// A word that names no dates.
    Dates {
        /// The item's name.
        name: String,
        /// The word.
        word: String,
    },
    /// Push dates, of a registry that is not asked for them (spec 40 B13).
    PushedDates {
        /// The item's name.
        name: String,
    },
    /// A second item that would be the default.
    SecondDefault {
        /// The first one's prefix.
        first: String,
        /// This one's.
        prefix: String,
    },
}

impl InvalidRegistries {
    /// Stable word for conditions, events and metrics.
    pub fn reason(&self) -> &'static str {
        "RegistriesInvalid"
    }
}

impl fmt::Display for InvalidRegistries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the registries file cannot be used: ")?;
        for (at, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(cause) => write!(f, "it is no YAML: {cause}"),
            Self::Shape { line, wanted } => write!(f, "line {line}: {wanted} is expected"),
            Self::UnknownKey { line, key } => write!(f, "line {line}: unknown key '{key}'"),
            Self::DuplicateKey { line, key } => write!(f, "line {line}: the key '{key}' again"),
            Self::NameMissing { item } => {
                write!(f, "registry name is missing for entry {item}")
            }
            Self::ApiUrlMissing { name } => {
                write!(f, "API URL must be specified for registry {name}")
            }
            Self::PrefixMissing { first, name } => write!(
                f,
                "there must be only one default registry (already is {first}), {name} needs a prefix"
            ),
            Self::SortMode { name, mode } => write!(
                f,
                "unknown tag sort mode for registry {name}: {mode} (known are latest-first, latest-last, none)"
            ),
            Self::Dates { name, word } => {
                write!(f, "unknown dates for registry {name}: {word} (known are built, pushed)")
            }
            Self::PushedDates { name } => write!(
                f,
                "registry {name} cannot tell push dates: 'dates: pushed' is for private registries of ECR with 'credentials: aws'"
            ),
            Self::SecondDefault { first, prefix } => write!(
                f,
                "cannot set registry {prefix} as default - only one default registry allowed, currently set to {first}"
            ),
        }
    }
}

/// Finds everything that is wrong with the items themselves and between them (spec 11 §1.3).
pub(super) fn check(entries: &[Entry]) -> Result<(), InvalidRegistries> {
    let mut problems = Vec::new();
    let mut without_prefix: Option<&str> = None;
    let mut default: Option<&str> = None;
    for (at, entry) in entries.iter().enumerate() {
        let Some(name) = entry.name.as_deref() else {
            problems.push(Problem::NameMissing { item: at + 1 });
            continue;
        };
        if entry.api_url.is_none() {
            problems.push(Problem::ApiUrlMissing { name: name.to_owned() });
        }
        if entry.prefix.is_none() {
            match without_prefix {
                None => without_prefix = Some(name),
                Some(first) => problems.push(Problem::PrefixMissing {
                    first: first.to_owned(),
                    name: name.to_owned(),
                }),
            }
        }
        if let Err(mode) = entry.sort_order() {
            problems.push(Problem::SortMode { name: name.to_owned(), mode: mode.to_owned() });
        }
        match entry.which_dates() {
            Ok(Dates::Built) => {}
            Ok(Dates::Pushed) if tells_push_dates(entry) => {}
            Ok(Dates::Pushed) => problems.push(Problem::PushedDates { name: name.to_owned() }),
            Err(word) => {
                problems.push(Problem::Dates { name: name.to_owned(), word: word.to_owned() });
            }
        }
        if entry.default {
            let prefix = entry.prefix.as_deref().unwrap_or(name);
            match default {
                None => default = Some(prefix),
                Some(first) => problems.push(Problem::SecondDefault {
                    first: first.to_owned(),
                    prefix: prefix.to_owned(),
                }),
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(InvalidRegistries { problems }) }
}

/// Whether it is a private registry of ECR that is signed in to as one.
fn tells_push_dates(entry: &Entry) -> bool {
    let hosts = [&entry.api_url, &entry.prefix].map(|text| text.as_deref().map(host_of));
    let private = hosts
        .into_iter()
        .flatten()
        .any(|host| matches!(EcrHost::of(without_port(host)), Some(EcrHost::Private { .. })));
    let source = entry.credentials.as_deref().and_then(|text| text.parse().ok());
    let aws = source.is_some_and(|source: CredentialSource| {
        matches!(source.place, CredentialPlace::Cloud { cloud: Cloud::Aws, .. })
    });
    private && aws
}
