//! Where credentials come from, as users write it: `[registry=]type:definition` (spec 11 §6.1).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Where the credentials of a registry come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CredentialSource {
    /// The registry that was named in front. It restricts nothing (spec 11 G31).
    pub registry: Option<Arc<str>>,
    /// The place.
    pub place: CredentialPlace,
}

/// A place that holds or makes credentials.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CredentialPlace {
    /// A field `user:password` of a Secret.
    Secret {
        /// The Secret's namespace.
        namespace: Arc<str>,
        /// The Secret's name.
        name: Arc<str>,
        /// The field.
        field: Arc<str>,
    },
    /// A Secret with a Docker configuration in `.dockerconfigjson`.
    PullSecret {
        /// The Secret's namespace.
        namespace: Arc<str>,
        /// The Secret's name.
        name: Arc<str>,
    },
    /// An environment variable with `user:password`.
    Env(Arc<str>),
    /// A program that prints `user:password`.
    Script(Arc<str>),
}

/// The kinds of sources that use what is the operator's: resources and annotations may name
/// them only where the operator says so (spec 40 B7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperatorsSource {
    /// `env:`.
    Env,
    /// `ext:`.
    Script,
}

/// A word that is none of the kinds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of credential source '{0}'; known are {known}", known = OperatorsSource::known())]
pub struct UnknownKind(pub String);

impl OperatorsSource {
    const ALL: [Self; 2] = [Self::Env, Self::Script];

    /// The word by which the operator allows it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Script => "ext",
        }
    }

    /// Reads a list of words with commas between them.
    pub fn list(text: &str) -> Result<BTreeSet<Self>, UnknownKind> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        let kinds = words.map(|word| {
            let known = Self::ALL.into_iter().find(|kind| word.eq_ignore_ascii_case(kind.word()));
            known.ok_or_else(|| UnknownKind(word.to_owned()))
        });
        kinds.collect()
    }

    fn known() -> String {
        Self::ALL.map(Self::word).join(", ")
    }
}

/// A text that names no source. Only its beginning is repeated in messages: who mistakes the
/// place for the credentials themselves must not find them in a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSource {
    /// There are not exactly a type and a definition.
    #[error("invalid credential spec: {0}; {FORMS}")]
    Spec(String),
    /// No such type.
    #[error("unknown credential source: {0}; {FORMS}")]
    Unknown(String),
    /// What stands behind `secret:` or `pullsecret:`.
    #[error("invalid secret definition: {0}; {FORMS}")]
    Definition(String),
}

const FORMS: &str = "accepted are secret:<namespace>/<name>#<field>, pullsecret:<namespace>/<name>, env:<variable> and ext:</path/of/script>";

impl InvalidSource {
    /// Stable word (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        "CredentialSourceInvalid"
    }
}

impl CredentialSource {
    /// Whether someone in `namespace` may name this source: Secrets of other namespaces are
    /// not theirs. It is the parsed source that is asked, not its spelling (spec 11 §5.4, G11).
    pub fn is_within(&self, namespace: &str) -> bool {
        match &self.place {
            CredentialPlace::Secret { namespace: own, .. }
            | CredentialPlace::PullSecret { namespace: own, .. } => **own == *namespace,
            CredentialPlace::Env(_) | CredentialPlace::Script(_) => true,
        }
    }

    /// Namespace, name and field of the Secret that it names, if it names one.
    pub fn secret(&self) -> Option<(&str, &str, &str)> {
        match &self.place {
            CredentialPlace::Secret { namespace, name, field } => Some((namespace, name, field)),
            CredentialPlace::PullSecret { namespace, name } => {
                Some((namespace, name, ".dockerconfigjson"))
            }
            CredentialPlace::Env(_) | CredentialPlace::Script(_) => None,
        }
    }

    /// Its kind, if it reads the program's own variables or runs programs beside it, which is
    /// for its operator alone to allow (spec 11 G13; 40 B7).
    pub fn operators(&self) -> Option<OperatorsSource> {
        match &self.place {
            CredentialPlace::Env(_) => Some(OperatorsSource::Env),
            CredentialPlace::Script(_) => Some(OperatorsSource::Script),
            CredentialPlace::Secret { .. } | CredentialPlace::PullSecret { .. } => None,
        }
    }
}

impl FromStr for CredentialSource {
    type Err = InvalidSource;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (registry, source) = match text.split_once('=') {
            Some((registry, source)) if !registry.is_empty() && !source.is_empty() => {
                (Some(registry), source)
            }
            _ => (None, text),
        };
        let parts: Vec<&str> = source.split(':').collect();
        let [kind, definition] = parts[..] else { return Err(invalid_spec(text)) };
        if kind.is_empty() || definition.is_empty() {
            return Err(invalid_spec(text));
        }
        let place = match kind.to_lowercase().as_str() {
            "secret" => secret(definition)?,
            "pullsecret" => pull_secret(definition)?,
            "env" => CredentialPlace::Env(definition.into()),
            "ext" => CredentialPlace::Script(definition.into()),
            _ => return Err(InvalidSource::Unknown(kind.to_owned())),
        };
        Ok(Self { registry: registry.map(Arc::from), place })
    }
}

impl fmt::Display for CredentialSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)
    }
}

impl fmt::Display for CredentialPlace {
    /// In the spelling in which it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret { namespace, name, field } => {
                write!(f, "secret:{namespace}/{name}#{field}")
            }
            Self::PullSecret { namespace, name } => write!(f, "pullsecret:{namespace}/{name}"),
            Self::Env(name) => write!(f, "env:{name}"),
            Self::Script(path) => write!(f, "ext:{path}"),
        }
    }
}

fn secret(definition: &str) -> Result<CredentialPlace, InvalidSource> {
    let invalid = || InvalidSource::Definition(definition.to_owned());
    let (path, field) = split_once_only(definition, '#').ok_or_else(invalid)?;
    let (namespace, name) = split_once_only(path, '/').ok_or_else(invalid)?;
    Ok(CredentialPlace::Secret {
        namespace: namespace.into(),
        name: name.into(),
        field: field.into(),
    })
}

fn pull_secret(definition: &str) -> Result<CredentialPlace, InvalidSource> {
    let (namespace, name) = split_once_only(definition, '/')
        .ok_or_else(|| InvalidSource::Definition(definition.to_owned()))?;
    Ok(CredentialPlace::PullSecret { namespace: namespace.into(), name: name.into() })
}

/// Two parts, both with something in them, and no third one.
fn split_once_only(text: &str, at: char) -> Option<(&str, &str)> {
    let (left, right) = text.split_once(at)?;
    let good = !left.is_empty() && !right.is_empty() && !right.contains(at);
    good.then_some((left, right))
}

/// Shows the text up to its first colon.
fn invalid_spec(text: &str) -> InvalidSource {
    InvalidSource::Spec(match text.split_once(':') {
        Some((start, rest)) if !rest.is_empty() => format!("{start}:…"),
        _ => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_with_commas() {
        let rows = [
            ("", "[]"),
            ("env", "[Env]"),
            (" EXT , env,", "[Env, Script]"),
            ("secret", "unknown kind of credential source 'secret'; known are env, ext"),
        ];
        for (text, expected) in rows {
            let told = match OperatorsSource::list(text) {
                Ok(kinds) => format!("{:?}", Vec::from_iter(kinds)),
                Err(error) => error.to_string(),
            };
            assert_eq!(told, expected, "{text}");
        }
    }

    #[test]
    fn a_source_is_read_whatever_its_spelling_and_printed_in_one() {
        #[rustfmt::skip]
        let rows = [
            ("SECRET:ns/name#field", "secret:ns/name#field"),
            ("gcr.io=PullSecret:ns/name", "pullsecret:ns/name"),
            ("env:A B", "env:A B"),
            ("Ext:/opt/a.sh", "ext:/opt/a.sh"),
            ("aws", "invalid credential spec: aws"),
            ("user:SECRET:SECRET", "invalid credential spec: user:…"),
            ("user:SECRET", "unknown credential source: user"),
            ("secret:ns/name", "invalid secret definition: ns/name"),
        ];
        for (text, expected) in rows {
            let told = match text.parse::<CredentialSource>() {
                Ok(source) => source.to_string(),
                Err(error) => {
                    assert!(!error.to_string().contains("SECRET"), "{error}");
                    error.to_string().replace(&format!("; {FORMS}"), "")
                }
            };
            assert_eq!(told, expected);
        }
    }
}
