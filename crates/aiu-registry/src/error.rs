//! Why a registry gave no usable answer.

use std::fmt;
use std::time::Duration;

use aiu_core::outcome::Remedy;
use aiu_core::registries::Cloud;
use aiu_http::{HttpError, Unreachable};

use crate::credentials::cloud::cloud_of;
use crate::{CredentialError, CredentialsId};

/// A host that cannot be reached, or fails, is asked again no sooner than after this.
const PASSING: Duration = Duration::from_secs(30);

/// Why a registry gave no usable answer about a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanError {
    /// Host and port of the registry's API.
    pub host: String,
    /// The repository, as the registry knows it.
    pub repository: String,
    /// What went wrong.
    pub problem: ScanProblem,
}

/// The kinds of failure. Texts called `said` are the registry's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanProblem {
    /// It refuses these credentials, or wants some.
    Unauthorized {
        /// The credentials that were shown.
        credentials: CredentialsId,
        /// The registry's words.
        said: String,
    },
    /// It knows no such repository.
    NotFound {
        /// The registry's words.
        said: String,
    },
    /// No registry can have a repository of that name; it was not asked.
    InvalidName {
        /// What is wrong with it.
        cause: String,
    },
    /// Its host does not answer.
    Unreachable(Unreachable),
    /// It answers that it cannot serve.
    Failing {
        /// The registry's words.
        said: String,
    },
    /// It wants to be left alone.
    RateLimited {
        /// For so long.
        retry_after: Duration,
    },
    /// What answers at the API's URL is no registry.
    NotARegistry {
        /// What it answered.
        said: String,
    },
    /// The certificates to be trusted cannot be used; it was not asked.
    Certificates {
        /// Why.
        cause: String,
    },
    /// Its cloud does not tell when images were pushed.
    PushDates(Box<crate::IdentityError>),
    /// It answers, but not as a registry should.
    BadAnswer {
        /// What is wrong with the answer.
        cause: String,
    },
}

impl ScanError {
    /// What it asks for (ARCHITECTURE.md, "Errors").
    pub fn remedy(&self) -> Remedy {
        match &self.problem {
            ScanProblem::Unreachable(_) | ScanProblem::Failing { .. } => {
                Remedy::RetryAfter(PASSING)
            }
            ScanProblem::RateLimited { retry_after } => Remedy::RetryAfter(*retry_after),
            ScanProblem::PushDates(error) => error.remedy(),
            ScanProblem::Unauthorized { .. }
            | ScanProblem::NotFound { .. }
            | ScanProblem::InvalidName { .. }
            | ScanProblem::NotARegistry { .. }
            | ScanProblem::Certificates { .. }
            | ScanProblem::BadAnswer { .. } => Remedy::AwaitChange,
        }
    }

    /// The refusal of credentials, and why there are no newer ones.
    pub(crate) fn beside(self, cause: &CredentialError) -> Self {
        let ScanProblem::Unauthorized { credentials, said } = self.problem else { return self };
        let said = format!("{said}; and fetching them anew failed: {cause}");
        Self { problem: ScanProblem::Unauthorized { credentials, said }, ..self }
    }

    /// Stable word for conditions, events and metrics (spec 00 §6, stage 2).
    pub fn reason(&self) -> &'static str {
        match &self.problem {
            ScanProblem::Unauthorized { .. } => "RegistryUnauthorized",
            ScanProblem::NotFound { .. } | ScanProblem::InvalidName { .. } => "RepositoryNotFound",
            ScanProblem::Unreachable(_)
            | ScanProblem::Failing { .. }
            | ScanProblem::Certificates { .. } => "RegistryUnreachable",
            ScanProblem::RateLimited { .. } => "RegistryRateLimited",
            ScanProblem::NotARegistry { .. } => "RegistryApiUrlWrong",
            ScanProblem::BadAnswer { .. } => "RegistryAnswerInvalid",
            ScanProblem::PushDates(error) => error.reason(),
        }
    }
}

impl std::error::Error for ScanError {}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, repository, problem } = self;
        match problem {
            ScanProblem::Unauthorized { credentials, said }
                if *credentials == CredentialsId::anonymous() =>
            {
                write!(
                    f,
                    "{host} does not show '{repository}' without credentials ({said}); {}",
                    credentials_for(host)
                )
            }
            ScanProblem::Unauthorized { credentials, said } => write!(
                f,
                "{host} does not show '{repository}' to the credentials from '{credentials}' ({said}); {}",
                permission(host)
            ),
            ScanProblem::NotFound { said } => write!(
                f,
                "{host} has no repository '{repository}' ({said}); check the name, or whether these credentials may see it"
            ),
            ScanProblem::InvalidName { cause } => write!(
                f,
                "{host} cannot have a repository '{repository}' (invalid reference format: {cause}); correct the name"
            ),
            ScanProblem::Unreachable(cause) => write!(
                f,
                "{host} cannot be reached for '{repository}': {cause}; {}",
                connection(cause)
            ),
            ScanProblem::Failing { said } => write!(
                f,
                "{host} cannot serve '{repository}' ({said}); this may pass, it is asked again"
            ),
            ScanProblem::RateLimited { retry_after } => write!(
                f,
                "{host} is asked too often for '{repository}' and wants to be left alone for {}s; sign in for a higher limit, or check less often",
                retry_after.as_secs_f64().ceil()
            ),
            ScanProblem::NotARegistry { said } => write!(
                f,
                "{host} does not seem to be a valid v2 Docker Registry API, asked for '{repository}' ({said}); {}",
                right_url(host)
            ),
            ScanProblem::Certificates { cause } => write!(
                f,
                "could not configure CA certificates for registry {host}, asked for '{repository}': {cause}; correct ca_file or ca_data"
            ),
            ScanProblem::PushDates(error) => write!(
                f,
                "{host} does not tell when the images of '{repository}' were pushed: {error}; build dates are not put in place of push dates"
            ),
            ScanProblem::BadAnswer { cause } => write!(
                f,
                "{host} gave an answer about '{repository}' that cannot be used: {cause}; this is a fault of the registry or of a proxy before it"
            ),
        }
    }
}

impl ScanProblem {
    /// What a failed call means for a scan. Names of hosts are left to [`ScanError`].
    pub(crate) fn of(error: HttpError) -> Self {
        match error {
            HttpError::Unreachable { cause, .. } => Self::Unreachable(cause),
            HttpError::RateLimited { retry_after, .. } => Self::RateLimited { retry_after },
            HttpError::Scheme { .. } => Self::NotARegistry { said: error.to_string() },
            HttpError::Certificates(cause) => Self::Certificates { cause: cause.to_string() },
            HttpError::TooLarge { .. }
            | HttpError::TooManyRedirects { .. }
            | HttpError::Client(_) => Self::BadAnswer { cause: error.to_string() },
        }
    }
}

/// What helps where nothing is signed in with. A cloud's sign-in is never tried unless its word
/// is written (spec 11 §6.7).
fn credentials_for(host: &str) -> String {
    match cloud_of(host) {
        Some(cloud) => format!(
            "check the name, or sign in as this program's identity: write 'credentials: {}' in the registry's entry of registries.conf",
            cloud.word()
        ),
        None => "check the name, or give credentials for this registry".to_owned(),
    }
}

/// What a known provider wants before it shows an image.
fn permission(host: &str) -> &'static str {
    match cloud_of(host) {
        Some(Cloud::Aws) => {
            "the identity needs ecr:ListImages and ecr:BatchGetImage on this repository"
        }
        Some(Cloud::Azure) => "the identity needs the role AcrPull on this registry",
        Some(Cloud::Gcp) => {
            "the identity needs the role roles/artifactregistry.reader on this repository"
        }
        None if host == "ghcr.io" => {
            "the token needs the scope read:packages, and its user access to the package"
        }
        None => "check that they are right and may pull it",
    }
}

fn connection(cause: &Unreachable) -> &'static str {
    match cause {
        Unreachable::Dns(_) => "check the name of the host and the cluster's DNS",
        Unreachable::Connect(_) => "check the port, the network policies and the proxy variables",
        Unreachable::Tls(_) => {
            "give its CA as ca_file or ca_data, or check that it speaks TLS on this port"
        }
        Unreachable::Timeout(_) | Unreachable::Interrupted(_) => "this may pass, it is asked again",
    }
}

/// The URL that is meant, for hosts that are often mistaken for a registry's API.
fn right_url(host: &str) -> &'static str {
    match host {
        "docker.io" | "hub.docker.com" | "index.docker.io" => {
            "the API of Docker Hub is https://registry-1.docker.io"
        }
        _ if host.starts_with("api.ecr.") => {
            "the API of ECR is https://<account>.dkr.ecr.<region>.amazonaws.com"
        }
        _ => "correct api_url: it is the part before /v2/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec 11 §6.7: nothing is signed in without its word, so the word is told.
    #[test]
    fn a_refusal_says_what_helps_at_that_host() {
        #[rustfmt::skip]
        let rows = [
            // host, credentials, what is said in the end
            ("000011112222.dkr.ecr.eu-north-1.amazonaws.com", "anonymous", "write 'credentials: aws' in the registry's entry of registries.conf"),
            ("acme.azurecr.io", "anonymous", "write 'credentials: azure' in the registry's entry of registries.conf"),
            ("europe-docker.pkg.dev", "anonymous", "write 'credentials: gcp' in the registry's entry of registries.conf"),
            ("r.example:5000", "anonymous", "check the name, or give credentials for this registry"),
            ("000011112222.dkr.ecr.eu-north-1.amazonaws.com", "aws", "the identity needs ecr:ListImages and ecr:BatchGetImage on this repository"),
            ("acme.azurecr.us", "azure", "the identity needs the role AcrPull on this registry"),
            ("gcr.io", "gcp", "the identity needs the role roles/artifactregistry.reader on this repository"),
            ("ghcr.io", "env:LOGIN", "the token needs the scope read:packages, and its user access to the package"),
            ("r.example", "env:LOGIN", "check that they are right and may pull it"),
        ];
        for (host, credentials, expected) in rows {
            let credentials = CredentialsId::new(credentials);
            let problem = ScanProblem::Unauthorized { credentials, said: "no".to_owned() };
            let (host, repository) = (host.to_owned(), "shop".to_owned());
            let told = ScanError { host, repository, problem }.to_string();
            assert!(told.ends_with(expected), "{told}");
        }
    }
}
