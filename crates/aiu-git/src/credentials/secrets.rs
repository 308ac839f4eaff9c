//! Which Secret signs in to a repository, and what it says (spec 30 §3.1, §3.2).
//!
//! Nothing here reads anything: whoever holds a cluster or a folder hands over what stands
//! there, as [`GitSources`], and gets a [`GitAccess`] or a sentence.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::{AppKey, GitAccess, GitLogin, KnownHosts, Roots, SignIn, Tls};
use crate::redact::shown_url;
use crate::remote::{is_https, normalise, ssh_user};

/// The label that tells what an Argo CD Secret is for, and its two values that matter here.
pub const LABEL: &str = "argocd.argoproj.io/secret-type";
/// Credentials of one repository.
pub const REPOSITORY: &str = "repository";
/// Credentials of all repositories whose URLs begin alike.
pub const TEMPLATE: &str = "repo-creds";
/// The `ConfigMap` of known SSH hosts, and its key.
pub const KNOWN_HOSTS: (&str, &str) = ("argocd-ssh-known-hosts-cm", "ssh_known_hosts");
/// The `ConfigMap` of certificates by host name.
pub const CERTIFICATES: &str = "argocd-tls-certs-cm";

/// A Secret, decoded.
pub struct GitSecret {
    /// Where it stands.
    pub namespace: Arc<str>,
    /// What it is called.
    pub name: Arc<str>,
    /// The value of [`LABEL`]; empty if it has none.
    pub secret_type: String,
    /// Its fields.
    pub fields: BTreeMap<String, SecretString>,
}

/// What Argo CD knows of git: the labelled Secrets of its namespace and its two `ConfigMap`s.
#[derive(Default)]
pub struct GitSources {
    /// Secrets with [`LABEL`], of Argo CD's namespace, in any order.
    pub secrets: Vec<GitSecret>,
    /// Known SSH hosts.
    pub known_hosts: KnownHosts,
    /// Certificates by host name.
    pub certificates: BTreeMap<String, Arc<str>>,
    /// Where certificates lie as files named like the hosts (`ARGOCD_TLS_DATA_PATH`).
    pub certificate_folder: Option<PathBuf>,
}

/// Why no credentials came of a Secret. The texts are the reference's where it has one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Nothing fits.
    #[error(
        "credentials for '{0}' are not configured in Argo CD settings; make a Secret labelled argocd.argoproj.io/secret-type: repository whose url is this repository, or name one with git:secret:NAMESPACE/NAME"
    )]
    NotConfigured(String),
    /// A named Secret of another namespace.
    #[error(
        "could not get creds for repo '{repo}': secret namespace '{namespace}' differs from app namespace '{application}'; use a Secret of the Application's own namespace"
    )]
    ForeignNamespace {
        /// The repository.
        repo: String,
        /// The Secret's.
        namespace: String,
        /// The Application's.
        application: String,
    },
    /// A Secret says something that cannot be used, or not enough.
    #[error("could not get creds for repo '{repo}': {cause}")]
    Unusable {
        /// The repository.
        repo: String,
        /// What is wrong.
        cause: String,
    },
}

impl SecretError {
    /// Stable word (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::ForeignNamespace { .. } => "CredentialSourceForbidden",
            Self::NotConfigured(_) | Self::Unusable { .. } => "GitCredentialsMissing",
        }
    }
}

/// Splits `name` or `namespace/name` of `git:secret:…`; the namespace must be the
/// Application's.
pub fn named_secret(
    repo: &str,
    reference: &str,
    application_namespace: &str,
) -> Result<(Arc<str>, Arc<str>), SecretError> {
    let (namespace, name) = reference.split_once('/').unwrap_or((application_namespace, reference));
    if namespace.is_empty() || name.is_empty() || name.contains('/') {
        let cause =
            format!("wrong writeBackConfig.method format specified git:secret: '{reference}'");
        return Err(SecretError::Unusable { repo: shown_url(repo), cause });
    }
    if namespace != application_namespace {
        return Err(SecretError::ForeignNamespace {
            repo: shown_url(repo),
            namespace: namespace.to_owned(),
            application: application_namespace.to_owned(),
        });
    }
    Ok((namespace.into(), name.into()))
}

impl GitSources {
    /// The credentials that Argo CD has for `repo`, as an Application of `project` may use them
    /// (spec 30 §3.1).
    pub fn repocreds(&self, repo: &str, project: &str) -> Result<GitAccess, SecretError> {
        let not_configured = || SecretError::NotConfigured(shown_url(repo));
        let wanted = normalise(repo).ok_or_else(not_configured)?;
        let own = self.repository(&wanted, project).map(Fields::of);
        let fields = match own {
            Some(own) if own.carries_credentials() => own,
            own => {
                let template = self.template(&wanted).map(Fields::of);
                let fields = match (own, template) {
                    (Some(own), Some(template)) => own.filled_from(template),
                    (None, Some(template)) => template.without("insecure"),
                    (own, None) => own.ok_or_else(not_configured)?,
                };
                if !fields.carries_credentials() {
                    return Err(not_configured());
                }
                fields
            }
        };
        let unusable = |cause| SecretError::Unusable { repo: shown_url(repo), cause };
        let login = self.login(repo, &fields).map_err(unusable)?;
        Ok(GitAccess::Login(Arc::new(login)))
    }

    /// The Secret of the repository itself: the project's, else one for all projects.
    fn repository(&self, wanted: &str, project: &str) -> Option<&GitSecret> {
        let project = or_default(project);
        let own = |secret: &&GitSecret| {
            secret.secret_type == REPOSITORY
                && normalise(&secret.text("url")).as_deref() == Some(wanted)
        };
        let fits = |of: &str| {
            let of_project = |secret: &&GitSecret| match of {
                "" => secret.text("project").is_empty(),
                project => secret.text("project") == project,
            };
            let fitting = self.secrets.iter().filter(own).filter(of_project);
            fitting.min_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)))
        };
        fits(project).or_else(|| fits(""))
    }

    /// The template with the longest URL that `wanted` begins with.
    fn template(&self, wanted: &str) -> Option<&GitSecret> {
        let templates = self.secrets.iter().filter(|secret| secret.secret_type == TEMPLATE);
        let fitting = templates.filter_map(|secret| {
            let url = normalise(&secret.text("url"))?;
            begins_with(wanted, &url).then_some((url.len(), secret))
        });
        let best =
            fitting.max_by(|(a, left), (b, right)| a.cmp(b).then(right.name.cmp(&left.name)));
        best.map(|(_, secret)| secret)
    }

    /// What the fields come to (spec 30 §3.1, "Kind of credentials, first match").
    fn login(&self, repo: &str, fields: &Fields<'_>) -> Result<GitLogin, String> {
        let insecure = fields.boolean("insecure")? || fields.boolean("insecureIgnoreHostKey")?;
        let unasked = fields.boolean("forceHttpBasicAuth")?;
        let (app, installation) =
            (fields.number("githubAppID")?, fields.number("githubAppInstallationID")?);
        let sign_in = if let Some(password) = fields.secret("password") {
            let user = fields.text("username").unwrap_or_default().to_owned();
            SignIn::Password { user, password, unasked }
        } else if let Some(key) = fields.secret("sshPrivateKey") {
            SignIn::Ssh(key)
        } else if let (Some(key), Some(app), Some(installation)) =
            (fields.secret("githubAppPrivateKey"), app, installation)
        {
            let base_url = fields.text("githubAppEnterpriseBaseUrl").map(str::to_owned);
            SignIn::GitHubApp(AppKey { app, installation, key, base_url })
        } else if let Some(key) = fields.secret("gcpServiceAccountKey") {
            SignIn::Google(key)
        } else if let Some(token) = fields.secret("bearerToken") {
            SignIn::Bearer(token)
        } else if fields.boolean("useAzureWorkloadIdentity")? {
            SignIn::Azure
        } else {
            SignIn::Nobody
        };
        Ok(self.finish(repo, fields, sign_in, insecure, false))
    }

    /// What a named Secret comes to (spec 30 §3.2).
    pub fn named(
        &self,
        repo: &str,
        reference: &str,
        secret: &GitSecret,
    ) -> Result<GitAccess, SecretError> {
        let fields = Fields::of(secret);
        let login = self.named_login(repo, reference, &fields);
        let login =
            login.map_err(|cause| SecretError::Unusable { repo: shown_url(repo), cause })?;
        Ok(GitAccess::Login(Arc::new(login)))
    }

    fn named_login(
        &self,
        repo: &str,
        reference: &str,
        fields: &Fields<'_>,
    ) -> Result<GitLogin, String> {
        let lacks = |field: &str| {
            format!(
                "invalid secret {reference}: does not contain field {field} (it has {})",
                fields.names()
            )
        };
        // An unreadable switch counts as off.
        let insecure = ["insecure", "insecureIgnoreHostKey"]
            .iter()
            .any(|field| fields.boolean(field).unwrap_or(false));
        let (sign_in, was_unchecked) = if ssh_user(repo).is_some() {
            (
                SignIn::Ssh(fields.secret("sshPrivateKey").ok_or_else(|| lacks("sshPrivateKey"))?),
                true,
            )
        } else if !is_https(repo) {
            return Err("unknown repository type; with a named Secret the URL begins with https:// or is an SSH address".to_owned());
        } else if fields.text("githubAppID").is_some() {
            let number = |field: &str| {
                let number = fields
                    .number(field)
                    .map_err(|_| format!("invalid value in field {field}: it is no number"))?;
                number.ok_or_else(|| lacks(field))
            };
            let key = fields.secret("githubAppPrivateKey");
            let (app, installation) = (number("githubAppID")?, number("githubAppInstallationID")?);
            let key = key.ok_or_else(|| lacks("githubAppPrivateKey"))?;
            let base_url = fields.text("githubAppEnterpriseBaseUrl").map(str::to_owned);
            (SignIn::GitHubApp(AppKey { app, installation, key, base_url }), false)
        } else if let Some(token) = fields.secret("bearerToken") {
            (SignIn::Bearer(token), false)
        } else if let Some(user) = fields.text("username") {
            let user = user.to_owned();
            let password = fields.secret("password").ok_or_else(|| lacks("password"))?;
            let unasked = fields.boolean("forceHttpBasicAuth").unwrap_or(false);
            (SignIn::Password { user, password, unasked }, true)
        } else {
            return Err(format!(
                "invalid repository credentials in secret {reference}: does not contain githubAppID or username (it has {})",
                fields.names()
            ));
        };
        Ok(self.finish(repo, fields, sign_in, insecure, was_unchecked))
    }

    fn finish(
        &self,
        repo: &str,
        fields: &Fields<'_>,
        sign_in: SignIn,
        insecure: bool,
        was_unchecked: bool,
    ) -> GitLogin {
        let client = fields.secret("tlsClientCertData").zip(fields.secret("tlsClientCertKey"));
        GitLogin {
            name: fields.name.as_str().into(),
            sign_in,
            tls: Tls { insecure, client, roots: self.roots(repo) },
            proxy: fields.secret("proxy"),
            no_proxy: fields.text("noProxy").map(str::to_owned),
            known_hosts: self.known_hosts.clone(),
            was_unchecked,
        }
    }

    /// The certificates for a host: of the `ConfigMap`, else of the folder (spec 30 §3.3, F13).
    fn roots(&self, repo: &str) -> Roots {
        let url = Url::parse(repo.trim()).ok().filter(|url| url.scheme() == "https");
        let Some(host) = url.as_ref().and_then(Url::host_str) else { return Roots::None };
        if let Some(text) = self.certificates.get(host) {
            return Roots::Text(Arc::clone(text));
        }
        let file = self.certificate_folder.as_ref().map(|folder| folder.join(host));
        match file {
            Some(file) if file.is_file() => Roots::File(file),
            _ => Roots::None,
        }
    }
}

/// Argo CD's name for the project of an Application that names none.
fn or_default(project: &str) -> &str {
    if project.is_empty() { "default" } else { project }
}

/// A prefix of letters, as in the original, but never of a part of the host's name: what is
/// meant for `git.example.com` is not sent to `git.example.com.elsewhere.org`.
fn begins_with(wanted: &str, prefix: &str) -> bool {
    let Some(rest) = wanted.strip_prefix(prefix) else { return false };
    let after_scheme = prefix.split_once("://").map_or(prefix, |(_, rest)| rest);
    let only_host = !after_scheme.contains('/');
    !only_host || rest.is_empty() || rest.starts_with(['/', ':'])
}

impl GitSecret {
    fn text(&self, field: &str) -> String {
        self.fields.get(field).map(|value| value.expose_secret().to_owned()).unwrap_or_default()
    }
}

/// The fields of one Secret, or of two where one fills the gaps of the other.
struct Fields<'a> {
    name: String,
    fields: BTreeMap<&'a str, &'a SecretString>,
}

impl<'a> Fields<'a> {
    fn of(secret: &'a GitSecret) -> Self {
        let GitSecret { namespace, name, secret_type, fields } = secret;
        let kind = match secret_type.as_str() {
            REPOSITORY => "repository Secret",
            TEMPLATE => "repo-creds Secret",
            _ => "Secret",
        };
        let full = fields.iter().filter(|(_, value)| !value.expose_secret().is_empty());
        Self {
            name: format!("{kind} {namespace}/{name}"),
            fields: full.map(|(field, value)| (field.as_str(), value)).collect(),
        }
    }

    /// `forceHttpBasicAuth` is the template's, `insecure` is never (spec 30 §3.1).
    fn filled_from(mut self, template: Self) -> Self {
        self.fields.remove("forceHttpBasicAuth");
        let template = template.without("insecure");
        for (field, value) in template.fields {
            self.fields.entry(field).or_insert(value);
        }
        self.name = template.name;
        self
    }

    fn without(mut self, field: &str) -> Self {
        self.fields.remove(field);
        self
    }

    fn carries_credentials(&self) -> bool {
        const ANY: [&str; 8] = [
            "username",
            "password",
            "sshPrivateKey",
            "tlsClientCertData",
            "githubAppPrivateKey",
            "bearerToken",
            "gcpServiceAccountKey",
            "useAzureWorkloadIdentity",
        ];
        ANY.iter().any(|field| self.fields.contains_key(field))
    }

    fn text(&self, field: &str) -> Option<&'a str> {
        let value: &'a SecretString = self.fields.get(field).copied()?;
        Some(value.expose_secret().trim()).filter(|value| !value.is_empty())
    }

    fn secret(&self, field: &str) -> Option<SecretString> {
        self.fields.get(field).map(|value| (*value).clone())
    }

    fn boolean(&self, field: &str) -> Result<bool, String> {
        match self.text(field).unwrap_or("false") {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
            _ => Err(format!("{}: field {field} is neither true nor false", self.name)),
        }
    }

    fn number(&self, field: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.text(field) else { return Ok(None) };
        let number = text.parse();
        number.map(Some).map_err(|_| format!("{}: field {field} is no number", self.name))
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.fields.keys().copied().collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
