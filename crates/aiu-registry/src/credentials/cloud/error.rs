//! Why a cloud gave no login.

use std::time::Duration;

use aiu_core::outcome::Remedy;
use aiu_core::registries::Cloud;
use aiu_http::{Answer, HttpError};

/// A service that fails is asked again no sooner than after this.
const PASSING: Duration = Duration::from_secs(30);
/// A cloud's words are shown up to this length.
const MAX_SHOWN: usize = 500;

/// Why a cloud gave no login. Messages name variables, files, roles and subjects, and hold no
/// token or key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// There is nothing here to sign in with (spec 11 CLD-006).
    #[error("the sign-in '{}' has no identity: {found}; {fix}", cloud.word())]
    Missing {
        /// The cloud.
        cloud: Cloud,
        /// What is there, and what is not.
        found: String,
        /// What puts it there.
        fix: String,
    },
    /// The cloud knows who asks, and refuses.
    #[error("{host} refuses {who} ({said}); {fix}")]
    Rejected {
        /// Who refuses.
        host: String,
        /// Who asked: role, client or account, and the subject of this pod.
        who: String,
        /// The cloud's words.
        said: String,
        /// Which permission or trust is missing.
        fix: String,
    },
    /// It was not reached.
    #[error("{0}; signing in to the registry needs it: allow this program to reach it")]
    Http(HttpError),
    /// It answers that it cannot serve.
    #[error("{host} cannot sign in now ({said}); this may pass, it is asked again")]
    Failing {
        /// Who fails.
        host: String,
        /// Its words.
        said: String,
    },
    /// It answers, but not as it should.
    #[error("{host} gave an answer that cannot be used for signing in: {cause}")]
    BadAnswer {
        /// Who answers.
        host: String,
        /// What is wrong.
        cause: String,
    },
    /// The registry is none of that cloud's.
    #[error("the sign-in '{}' is not for {host}: {}", cloud.word(), right_host(*cloud, host))]
    Host {
        /// The cloud.
        cloud: Cloud,
        /// The registry's host.
        host: String,
    },
}

impl IdentityError {
    /// Stable word for conditions, events and metrics (spec 00 §6, stage 2).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "IdentityMissing",
            Self::Rejected { .. } => "IdentityRejected",
            Self::Http(HttpError::RateLimited { .. }) => "RegistryRateLimited",
            Self::Http(_) | Self::Failing { .. } => "RegistryUnreachable",
            Self::BadAnswer { .. } => "RegistryAnswerInvalid",
            Self::Host { cloud: Cloud::Aws, host } if is_management(host) => "RegistryApiUrlWrong",
            Self::Host { .. } => "CredentialSourceInvalid",
        }
    }

    /// What it asks for.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Http(HttpError::RateLimited { retry_after, .. }) => {
                Remedy::RetryAfter(*retry_after)
            }
            Self::Http(HttpError::Unreachable { .. }) | Self::Failing { .. } => {
                Remedy::RetryAfter(PASSING)
            }
            _ => Remedy::AwaitChange,
        }
    }

    /// An answer without the field that it was asked for.
    pub(super) fn without(answer: &Answer, field: &str) -> Self {
        let host = host(answer);
        Self::BadAnswer { host, cause: format!("it holds no '{field}'") }
    }

    /// What an answer that is no success means: a passing failure, or a refusal with `said`.
    pub(super) fn refusal(answer: &Answer, who: String, said: &str, fix: String) -> Self {
        let (host, said) = (host(answer), words(said, answer));
        if answer.status.is_server_error() || said.contains("Throttling") {
            return Self::Failing { host, said };
        }
        Self::Rejected { host, who, said, fix }
    }
}

/// The host that answered, as it may be shown.
pub(super) fn host(answer: &Answer) -> String {
    let host = answer.url.host_str().unwrap_or_default();
    match answer.url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// A cloud's words on one line, within bounds; the status if there are none.
fn words(said: &str, answer: &Answer) -> String {
    let said: Vec<&str> = said.split_whitespace().collect();
    let said: String = said.join(" ").chars().take(MAX_SHOWN).collect();
    if said.is_empty() { format!("HTTP {}", answer.status.as_u16()) } else { said }
}

fn is_management(host: &str) -> bool {
    host.starts_with("api.ecr.") || host.starts_with("ecr.")
}

fn right_host(cloud: Cloud, host: &str) -> String {
    match cloud {
        Cloud::Aws if is_management(host) => {
            let region = host.split('.').find(|part| part.matches('-').count() >= 2);
            format!(
                "that is the management API; api_url must be https://<account>.dkr.ecr.{}.amazonaws.com",
                region.unwrap_or("<region>")
            )
        }
        Cloud::Aws => {
            "it signs in to <account>.dkr.ecr.<region>.amazonaws.com and public.ecr.aws".to_owned()
        }
        Cloud::Azure => "it signs in to <name>.azurecr.io, .us and .cn".to_owned(),
        Cloud::Gcp => "it signs in to <location>-docker.pkg.dev and gcr.io".to_owned(),
    }
}
