//! Which credentials `git` gets, and how.
//!
//! A kind of access contributes three things to a command, all decided here: whether the user's
//! own configuration is read, variables of the environment, and `-c`-like options before the
//! sub-command. Nothing secret is ever an argument. Where the credentials come from (Secrets,
//! the cluster) is the caller's business.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use secrecy::ExposeSecret;

use crate::remote::RemoteUrl;

/// How a remote is signed in to.
///
/// The kinds that carry secrets of their own (user and password, bearer token, SSH key, GitHub
/// App) become further variants, each with the name of what it was read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GitAccess {
    /// The user's own git configuration, credential helpers and SSH agent; nobody is asked.
    Ambient,
}

/// The name of credentials: safe to print, and equal only for equal rights. What was read with
/// one is never answered to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccessId(String);

impl fmt::Display for AccessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a command that talks to the remote gets.
#[derive(Default)]
pub(crate) struct Equipment {
    /// Whether the user's and the system's git configuration are read.
    pub(crate) users_configuration: bool,
    /// Variables of the environment.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Options of `git` itself, before the sub-command.
    pub(crate) options: Vec<String>,
}

/// Holds the value of an HTTP header for `--config-env`; the name is upstream's.
const AUTH_HEADER: &str = "ARGOCD_GIT_AUTH_HEADER";

impl GitAccess {
    /// Its name.
    pub fn id(&self) -> AccessId {
        match self {
            Self::Ambient => AccessId("the user's own git set-up".to_owned()),
        }
    }

    /// The name of what a command to `remote` signs in with.
    pub(crate) fn id_for(&self, remote: &RemoteUrl) -> AccessId {
        match remote.login() {
            Some(_) => AccessId("the login in the URL".to_owned()),
            None => self.id(),
        }
    }

    /// What a command to `remote` gets. A password inside the remote's URL wins.
    pub(crate) fn equip(&self, remote: &RemoteUrl) -> Equipment {
        let mut equipment = match self {
            Self::Ambient => ambient(),
        };
        if let Some((user, password)) = remote.login() {
            let pair = STANDARD.encode(format!("{user}:{}", password.expose_secret()));
            equipment.environment.push((AUTH_HEADER, format!("Authorization: Basic {pair}")));
            equipment.options.push(format!("--config-env=http.extraHeader={AUTH_HEADER}"));
        }
        equipment
    }
}

/// Helpers and agents may answer, people are not asked: no terminal, no window, and `ssh`
/// asks a program that always says no instead of the terminal.
fn ambient() -> Equipment {
    let mut environment = vec![
        ("GCM_INTERACTIVE", "never".to_owned()),
        ("SSH_ASKPASS", "false".to_owned()),
        ("SSH_ASKPASS_REQUIRE", "force".to_owned()),
    ];
    if std::env::var_os("GIT_ASKPASS").is_none() {
        environment.push(("GIT_ASKPASS", String::new()));
    }
    Equipment { users_configuration: true, environment, options: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::GitAccess;
    use crate::remote::RemoteUrl;

    #[test]
    fn a_password_in_the_url_travels_in_the_environment_only() {
        let remote = RemoteUrl::parse("https://u:s3cret@h/o/r", false).unwrap();
        let equipment = GitAccess::Ambient.equip(&remote);
        assert_eq!(equipment.options, ["--config-env=http.extraHeader=ARGOCD_GIT_AUTH_HEADER"]);
        let header = ("ARGOCD_GIT_AUTH_HEADER", "Authorization: Basic dTpzM2NyZXQ=".to_owned());
        assert!(equipment.environment.contains(&header));
        assert_eq!(remote.url(), "https://h/o/r");
    }
}
