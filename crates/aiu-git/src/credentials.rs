//! Which credentials `git` gets, and how.
//!
//! A kind of access contributes to a command what `equip` says: whether the user's own
//! configuration is read, variables of the environment, and files that live as long as the
//! command. Nothing secret is ever an argument or a variable: passwords are asked for over a
//! private socket, headers stand in a private file of configuration. Which Secret is meant is
//! found in `secrets`; where Secrets come from is the caller's business.

mod equip;
pub mod secrets;
pub(crate) mod token;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

use crate::remote::RemoteUrl;

pub(crate) use equip::{Equipment, NotEquipped, Vault, equip};

/// How a remote is signed in to.
#[derive(Clone, Debug)]
pub enum GitAccess {
    /// The user's own git configuration, credential helpers and SSH agent; nobody is asked.
    Ambient,
    /// What was read from a Secret.
    Login(Arc<GitLogin>),
}

/// The name of credentials: safe to print, and equal only for equal rights. What was read with
/// one is never answered to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccessId(Arc<str>);

impl fmt::Display for AccessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Everything that one Secret says about signing in to a remote. Printing it shows its name
/// alone.
pub struct GitLogin {
    /// What it was read from, for people.
    pub name: Arc<str>,
    /// Who we are.
    pub sign_in: SignIn,
    /// Which servers are believed.
    pub tls: Tls,
    /// The way to the remote; it may hold a password.
    pub proxy: Option<SecretString>,
    /// Hosts that are reached without it.
    pub no_proxy: Option<String>,
    /// Which SSH hosts are known.
    pub known_hosts: KnownHosts,
    /// The original checks neither certificates nor host keys with such a Secret (spec 30 F1);
    /// who relied on it is told how to go on.
    pub was_unchecked: bool,
}

/// Who we are (spec 30 §3.1, §3.2).
pub enum SignIn {
    /// Nobody in particular.
    Nobody,
    /// User and password over HTTP.
    Password {
        /// The user; empty for a token alone.
        user: String,
        /// The password or token.
        password: SecretString,
        /// Whether it is sent without being asked for.
        unasked: bool,
    },
    /// A bearer token over HTTP.
    Bearer(SecretString),
    /// An SSH key.
    Ssh(SecretString),
    /// An installation of a GitHub App.
    GitHubApp(AppKey),
    /// A service account of Google's, the JSON text of its key.
    Google(SecretString),
    /// The pod's own identity in Azure, if it has one ([`AzureIdentity`]).
    Azure,
}

/// An identity in Azure that the pod proves by the token of its service account (workload
/// identity).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AzureIdentity {
    /// `AZURE_CLIENT_ID`.
    pub client: String,
    /// `AZURE_TENANT_ID`.
    pub tenant: String,
    /// `AZURE_FEDERATED_TOKEN_FILE`; it is read whenever a token is fetched.
    pub token_file: PathBuf,
    /// `AZURE_AUTHORITY_HOST`, if it is not the public cloud's.
    pub authority: Option<String>,
}

/// A GitHub App and one installation of it.
pub struct AppKey {
    /// The App.
    pub app: u64,
    /// The installation.
    pub installation: u64,
    /// The App's private key, PEM.
    pub key: SecretString,
    /// The address of the API, if it is not GitHub's own.
    pub base_url: Option<String>,
}

/// Which servers are believed, and what is shown to them.
#[derive(Default)]
pub struct Tls {
    /// Neither certificates nor SSH host keys are checked.
    pub insecure: bool,
    /// A certificate of ours and its key, PEM.
    pub client: Option<(SecretString, SecretString)>,
    /// Certificates that are believed besides the system's, PEM.
    pub roots: Roots,
}

/// Certificates that are believed besides the system's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// None.
    #[default]
    None,
    /// Those in this PEM text.
    Text(Arc<str>),
    /// Those in this file.
    File(PathBuf),
}

/// Which SSH hosts are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KnownHosts {
    /// Those of the account that runs us.
    #[default]
    Users,
    /// Those in this text (`argocd-ssh-known-hosts-cm`).
    Text(Arc<str>),
    /// Those in this file.
    File(PathBuf),
}

impl GitAccess {
    /// Its name.
    pub fn id(&self) -> AccessId {
        match self {
            Self::Ambient => AccessId("the user's own git set-up".into()),
            Self::Login(login) => AccessId(Arc::clone(&login.name)),
        }
    }

    /// The name of what a command to `remote` signs in with.
    pub(crate) fn id_for(&self, remote: &RemoteUrl) -> AccessId {
        match remote.login() {
            Some(_) => AccessId("the login in the URL".into()),
            None => self.id(),
        }
    }

    /// Whether the original would have gone on where a check fails now.
    pub(crate) fn was_unchecked(&self) -> bool {
        matches!(self, Self::Login(login) if login.was_unchecked && !login.tls.insecure)
    }
}

impl GitLogin {
    /// A login without anything special on the way there.
    pub fn new(name: &str, sign_in: SignIn) -> Self {
        Self {
            name: name.into(),
            sign_in,
            tls: Tls::default(),
            proxy: None,
            no_proxy: None,
            known_hosts: KnownHosts::Users,
            was_unchecked: false,
        }
    }
}

impl fmt::Debug for GitLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GitLogin({:?})", self.name)
    }
}

/// Tells contents apart without keeping them, so that a Secret that was changed is noticed.
impl Hash for GitLogin {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let secret = |secret: &SecretString| secret.expose_secret().to_owned();
        let sign_in = match &self.sign_in {
            SignIn::Nobody => vec!["nobody".to_owned()],
            SignIn::Password { user, password, unasked } => {
                vec![user.clone(), secret(password), unasked.to_string()]
            }
            SignIn::Bearer(token) => vec!["bearer".to_owned(), secret(token)],
            SignIn::Ssh(key) => vec!["ssh".to_owned(), secret(key)],
            SignIn::GitHubApp(AppKey { app, installation, key, base_url }) => {
                let base_url = base_url.clone().unwrap_or_default();
                vec![app.to_string(), installation.to_string(), secret(key), base_url]
            }
            SignIn::Google(key) => vec!["google".to_owned(), secret(key)],
            SignIn::Azure => vec!["azure".to_owned()],
        };
        sign_in.hash(state);
        self.tls.insecure.hash(state);
        self.tls.client.as_ref().map(|(cert, key)| (secret(cert), secret(key))).hash(state);
        format!("{:?}{:?}", self.tls.roots, self.known_hosts).hash(state);
        self.proxy.as_ref().map(secret).hash(state);
        self.no_proxy.hash(state);
    }
}
