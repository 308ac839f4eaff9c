//! Where credentials come from, as users write it: `[registry=]type:definition` (spec 11 §6.1),
//! or the one word of a cloud's sign-in (spec 11 §6.7).

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
    /// The sign-in of a cloud, as the identity that this program has there, or as another one
    /// that is reached from it.
    Cloud {
        /// Which cloud.
        cloud: Cloud,
        /// A role, client or service account, in the cloud's own spelling.
        identity: Option<Arc<str>>,
    },
}

/// A cloud whose registries are signed in to without a password (spec 11 §6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cloud {
    /// Amazon ECR, private and public.
    Aws,
    /// Azure Container Registry.
    Azure,
    /// Google Artifact Registry and Container Registry.
    Gcp,
}

impl Cloud {
    const ALL: [Self; 3] = [Self::Aws, Self::Azure, Self::Gcp];

    /// The word that selects it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Azure => "azure",
            Self::Gcp => "gcp",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cloud| word.eq_ignore_ascii_case(cloud.word()))
    }

    /// The cloud that is meant by a word which is close, and selects nothing (CLD-002).
    fn meant_by(word: &str) -> Option<Self> {
        Some(match &*word.to_ascii_lowercase() {
            "ecr" | "amazon" | "iam" | "irsa" | "eks" => Self::Aws,
            "acr" | "azurecr" | "entra" | "aks" | "az" => Self::Azure,
            "gar" | "gcr" | "google" | "gke" | "gcloud" => Self::Gcp,
            _ => return None,
        })
    }

    /// What stands behind the colon, if anything does.
    fn identity_form(self) -> &'static str {
        match self {
            Self::Aws => "the ARN of a role, arn:aws:iam::<account>:role/<name>",
            Self::Azure => "a client id, such as 11111111-2222-3333-4444-555555555555",
            Self::Gcp => {
                "the e-mail of a service account, <name>@<project>.iam.gserviceaccount.com"
            }
        }
    }

    fn is_identity(self, text: &str) -> bool {
        match self {
            Self::Aws => {
                let parts: Vec<&str> = text.splitn(6, ':').collect();
                matches!(parts[..], ["arn", partition, "iam", "", account, role]
                    if partition.starts_with("aws")
                        && account.len() == 12
                        && account.bytes().all(|b| b.is_ascii_digit())
                        && role.strip_prefix("role/").is_some_and(|name| !name.is_empty()))
            }
            Self::Azure => {
                let groups: Vec<usize> = text.split('-').map(str::len).collect();
                groups == [8, 4, 4, 4, 12]
                    && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
            }
            Self::Gcp => {
                let parts = split_once_only(text, '@');
                parts.is_some_and(|(_, domain)| {
                    domain.contains('.') && !text.contains([' ', '/', ':', '?', '#'])
                })
            }
        }
    }
}

/// The kinds of sources that use what is the operator's: resources and annotations may name
/// them only where the operator says so (spec 40 B7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperatorsSource {
    /// `env:`.
    Env,
    /// `ext:`.
    Script,
    /// The sign-in of a cloud.
    Cloud(Cloud),
}

/// A word that is none of the kinds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of credential source '{0}'; known are {known}", known = OperatorsSource::known())]
pub struct UnknownKind(pub String);

impl OperatorsSource {
    const ALL: [Self; 5] = [
        Self::Env,
        Self::Script,
        Self::Cloud(Cloud::Aws),
        Self::Cloud(Cloud::Azure),
        Self::Cloud(Cloud::Gcp),
    ];

    /// The word by which the operator allows it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Script => "ext",
            Self::Cloud(cloud) => cloud.word(),
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
    /// A word that is close to that of a cloud's sign-in (CLD-002).
    #[error("unknown credential source: {word}; the sign-in that is meant is spelt '{}'", meant.word())]
    CloudMisspelt {
        /// The word.
        word: String,
        /// What it means.
        meant: Cloud,
    },
    /// What stands behind a cloud's word is no identity there.
    #[error(
        "invalid credential spec: {}:…; '{}' stands alone, or is followed by {}",
        .0.word(), .0.word(), .0.identity_form()
    )]
    CloudIdentity(Cloud),
}

const FORMS: &str = "accepted are secret:<namespace>/<name>#<field>, pullsecret:<namespace>/<name>, env:<variable>, ext:</path/of/script>, and for the sign-in of a cloud aws, azure and gcp";

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
            CredentialPlace::Env(_)
            | CredentialPlace::Script(_)
            | CredentialPlace::Cloud { .. } => true,
        }
    }

    /// Namespace, name and field of the Secret that it names, if it names one.
    pub fn secret(&self) -> Option<(&str, &str, &str)> {
        match &self.place {
            CredentialPlace::Secret { namespace, name, field } => Some((namespace, name, field)),
            CredentialPlace::PullSecret { namespace, name } => {
                Some((namespace, name, ".dockerconfigjson"))
            }
            CredentialPlace::Env(_)
            | CredentialPlace::Script(_)
            | CredentialPlace::Cloud { .. } => None,
        }
    }

    /// Its kind, if it reads the program's own variables, runs programs beside it or shows its
    /// identity, which is for its operator alone to allow (spec 11 G13, §6.7; 40 B7).
    pub fn operators(&self) -> Option<OperatorsSource> {
        match &self.place {
            CredentialPlace::Env(_) => Some(OperatorsSource::Env),
            CredentialPlace::Script(_) => Some(OperatorsSource::Script),
            CredentialPlace::Cloud { cloud, .. } => Some(OperatorsSource::Cloud(*cloud)),
            CredentialPlace::Secret { .. } | CredentialPlace::PullSecret { .. } => None,
        }
    }
}

impl FromStr for CredentialSource {
    type Err = InvalidSource;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The name of a role may hold the sign that ends a registry's name.
        if let Some(Ok(place)) = cloud(text) {
            return Ok(Self { registry: None, place });
        }
        let (registry, source) = match text.split_once('=') {
            Some((registry, source)) if !registry.is_empty() && !source.is_empty() => {
                (Some(registry), source)
            }
            _ => (None, text),
        };
        if let Some(place) = cloud(source) {
            return Ok(Self { registry: registry.map(Arc::from), place: place? });
        }
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
            Self::Cloud { cloud, identity: None } => f.write_str(cloud.word()),
            Self::Cloud { cloud, identity: Some(identity) } => {
                write!(f, "{}:{identity}", cloud.word())
            }
        }
    }
}

/// A cloud's word, alone or with an identity; `None` if the text begins with no such word and
/// with none that is close to one.
fn cloud(text: &str) -> Option<Result<CredentialPlace, InvalidSource>> {
    let (word, identity) = match text.split_once(':') {
        Some((word, identity)) => (word, Some(identity)),
        None => (text, None),
    };
    let Some(cloud) = Cloud::of(word) else {
        let word = word.to_owned();
        return Cloud::meant_by(&word)
            .map(|meant| Err(InvalidSource::CloudMisspelt { word, meant }));
    };
    Some(match identity {
        None => Ok(CredentialPlace::Cloud { cloud, identity: None }),
        Some(identity) if cloud.is_identity(identity) => {
            Ok(CredentialPlace::Cloud { cloud, identity: Some(identity.into()) })
        }
        Some(_) => Err(InvalidSource::CloudIdentity(cloud)),
    })
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
            (
                "secret",
                "unknown kind of credential source 'secret'; known are env, ext, aws, azure, gcp",
            ),
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
            ("nothing", "invalid credential spec: nothing"),
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

    #[test]
    fn one_word_selects_a_cloud_and_close_words_are_told_the_right_one() {
        let aws = "invalid credential spec: aws:…; 'aws' stands alone, or is followed by the ARN of a role, arn:aws:iam::<account>:role/<name>";
        let azure = "invalid credential spec: azure:…; 'azure' stands alone, or is followed by a client id, such as 11111111-2222-3333-4444-555555555555";
        let gcp = "invalid credential spec: gcp:…; 'gcp' stands alone, or is followed by the e-mail of a service account, <name>@<project>.iam.gserviceaccount.com";
        let close = |word: &str, meant: &str| {
            format!(
                "unknown credential source: {word}; the sign-in that is meant is spelt '{meant}'"
            )
        };
        #[rustfmt::skip]
        let rows = [
            ("aws", "aws".to_owned()),
            ("AWS", "aws".to_owned()),
            ("Azure", "azure".to_owned()),
            ("gcp", "gcp".to_owned()),
            ("000011112222.dkr.ecr.eu-north-1.amazonaws.com=aws", "aws".to_owned()),
            ("aws:arn:aws:iam::000011112222:role/pull", "aws:arn:aws:iam::000011112222:role/pull".to_owned()),
            ("aws:arn:aws-cn:iam::000011112222:role/path/a=b,c", "aws:arn:aws-cn:iam::000011112222:role/path/a=b,c".to_owned()),
            ("azure:11111111-2222-3333-4444-55555555555f", "azure:11111111-2222-3333-4444-55555555555f".to_owned()),
            ("gcp:pull@acme.iam.gserviceaccount.com", "gcp:pull@acme.iam.gserviceaccount.com".to_owned()),
            ("aws:", aws.to_owned()),
            ("aws:SECRET", aws.to_owned()),
            ("aws:arn:aws:iam::0000:role/pull", aws.to_owned()),
            ("aws:arn:aws:iam::000011112222:user/SECRET", aws.to_owned()),
            ("azure:SECRET", azure.to_owned()),
            ("gcp:SECRET", gcp.to_owned()),
            ("gcp:a/b@acme.iam.gserviceaccount.com", gcp.to_owned()),
            ("ecr", close("ecr", "aws")),
            ("ECR:SECRET", close("ECR", "aws")),
            ("r.example=acr", close("acr", "azure")),
            ("gar", close("gar", "gcp")),
            ("google", close("google", "gcp")),
        ];
        for (text, expected) in rows {
            let told = match text.parse::<CredentialSource>() {
                Ok(source) => {
                    assert!(source.operators().is_some() && source.is_within("any"), "{text}");
                    source.to_string()
                }
                Err(error) => error.to_string(),
            };
            assert!(!told.contains("SECRET"), "{told}");
            assert_eq!(told, expected);
        }
    }

    /// CLD-001: whoever named a registry like a cloud keeps what it meant.
    #[test]
    fn accepted_spellings_keep_their_meaning() {
        for text in ["aws=env:A", "aws:x=env:A", "gcp=env:A", "ecr=env:A"] {
            let source: CredentialSource = text.parse().unwrap();
            assert_eq!(source.to_string(), "env:A", "{text}");
        }
    }
}
