//! What a command that talks to a remote gets, by the kind of access (spec 30 §3.3).
//!
//! Everything made for a command disappears with its [`Equipment`], when the command has ended.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::OnceCell;
use url::Url;

use super::token::{NoToken, Tokens};
use super::{AppKey, GitAccess, GitLogin, KnownHosts, Roots, SignIn};
use crate::askpass::{AskPass, NONCE, PERSONALITY, SOCKET, Ticket};
use crate::private::{PrivateFile, PrivateFolder};
use crate::remote::RemoteUrl;
use crate::settings::GitSettings;

/// What a command that talks to the remote gets.
#[derive(Default)]
pub(crate) struct Equipment {
    /// Whether the user's and the system's git configuration are read.
    pub(crate) users_configuration: bool,
    /// Variables of the environment.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// Options of `git` itself, before the sub-command.
    pub(crate) options: Vec<OsString>,
    /// What must not be shown, should anybody repeat it.
    pub(crate) secrets: Vec<SecretString>,
    files: Vec<PrivateFile>,
    ticket: Option<Ticket>,
}

/// Why a command could not be equipped.
#[derive(Debug)]
pub(crate) enum NotEquipped {
    /// The folder for keys and the socket cannot be used.
    Private { folder: PathBuf, cause: io::Error },
    /// No access token was to be had.
    Token(NoToken),
    /// What the Secret says cannot be used.
    Unusable(String),
    /// The key that signs commits cannot be used.
    NotSigned(String),
}

/// What equipping needs: a private folder and whoever answers in it, made when first needed.
pub(crate) struct Vault {
    parent: PathBuf,
    program: PathBuf,
    open: OnceCell<(PrivateFolder, AskPass)>,
    pub(crate) tokens: Tokens,
}

impl Vault {
    pub(crate) fn new(settings: &GitSettings) -> Self {
        Self {
            parent: settings.private.clone(),
            program: settings.askpass.clone(),
            open: OnceCell::new(),
            tokens: Tokens::new(settings.app_token_lifetime, settings.azure.clone()),
        }
    }

    /// The folder that is ours alone.
    pub(crate) async fn private(&self) -> Result<&PrivateFolder, NotEquipped> {
        Ok(&self.open().await?.0)
    }

    async fn open(&self) -> Result<&(PrivateFolder, AskPass), NotEquipped> {
        let open = self.open.get_or_try_init(async || {
            let folder = PrivateFolder::within(&self.parent)?;
            let askpass = AskPass::listen(&folder)?;
            Ok((folder, askpass))
        });
        open.await.map_err(|cause| self.unusable(cause))
    }

    fn unusable(&self, cause: io::Error) -> NotEquipped {
        NotEquipped::Private { folder: self.parent.clone(), cause }
    }

    /// A private file; gives its path.
    async fn file(
        &self,
        equipment: &mut Equipment,
        content: &SecretString,
    ) -> Result<PathBuf, NotEquipped> {
        let (folder, _) = self.open().await?;
        let file = folder.file(content).map_err(|cause| self.unusable(cause))?;
        let path = file.path().to_owned();
        equipment.files.push(file);
        Ok(path)
    }
}

/// What a command to `remote` gets. A password inside the remote's URL wins.
pub(crate) async fn equip(
    access: &GitAccess,
    remote: &RemoteUrl,
    vault: &Vault,
) -> Result<Equipment, NotEquipped> {
    let mut equipment = match access {
        GitAccess::Ambient => ambient(),
        GitAccess::Login(_) => Equipment::default(),
    };
    let mut configuration = Configuration::for_remote(remote);
    let login = match access {
        GitAccess::Ambient => None,
        GitAccess::Login(login) => Some(login.as_ref()),
    };
    if let Some((user, password)) = remote.login() {
        configuration.basic(user, password);
        equipment.secrets.push(password.clone());
    } else if let Some(login) = login {
        sign_in(login, remote, vault, &mut equipment, &mut configuration).await?;
    }
    if let Some(login) = login {
        way(login, remote, vault, &mut equipment, &mut configuration).await?;
    }
    if let Some(text) = configuration.finished() {
        let path = vault.file(&mut equipment, &text).await?;
        let mut option = OsString::from("include.path=");
        option.push(path);
        equipment.options.extend(["-c".into(), option]);
    }
    Ok(equipment)
}

/// Helpers and agents may answer, people are not asked: no terminal, no window, and `ssh`
/// asks a program that always says no instead of the terminal.
fn ambient() -> Equipment {
    let mut environment = vec![
        ("GCM_INTERACTIVE", "never".into()),
        ("SSH_ASKPASS", "false".into()),
        ("SSH_ASKPASS_REQUIRE", "force".into()),
    ];
    if std::env::var_os("GIT_ASKPASS").is_none() {
        environment.push(("GIT_ASKPASS", OsString::new()));
    }
    Equipment { users_configuration: true, environment, ..Equipment::default() }
}

/// Who we are.
async fn sign_in(
    login: &GitLogin,
    remote: &RemoteUrl,
    vault: &Vault,
    equipment: &mut Equipment,
    configuration: &mut Configuration,
) -> Result<(), NotEquipped> {
    match &login.sign_in {
        SignIn::Nobody => {}
        SignIn::Password { user, password, unasked } => {
            if *unasked && !password.expose_secret().is_empty() {
                configuration.basic(user, password);
            }
            let user = if user.is_empty() { "x-access-token" } else { user };
            answer(user, password, vault, equipment).await?;
        }
        SignIn::Bearer(token) => configuration.bearer(token, equipment),
        SignIn::Azure => {
            let token = vault.tokens.of_azure(login).await.map_err(NotEquipped::Token)?;
            configuration.bearer(&token, equipment);
        }
        SignIn::Ssh(key) => {
            let mut text = key.expose_secret().to_owned();
            text.push('\n');
            let key = vault.file(equipment, &SecretString::from(text)).await?;
            let command = ssh(login, remote, &key, vault, equipment).await?;
            equipment.environment.push(("GIT_SSH_COMMAND", command));
        }
        SignIn::GitHubApp(AppKey { .. }) => {
            let token = vault.tokens.of_app(login).await.map_err(NotEquipped::Token)?;
            answer("x-access-token", &token, vault, equipment).await?;
        }
        SignIn::Google(_) => {
            let (user, token) = vault.tokens.of_google(login).await.map_err(NotEquipped::Token)?;
            answer(&user, &token, vault, equipment).await?;
        }
    }
    Ok(())
}

/// Lets our second self answer git's questions.
async fn answer(
    user: &str,
    password: &SecretString,
    vault: &Vault,
    equipment: &mut Equipment,
) -> Result<(), NotEquipped> {
    let (_, askpass) = vault.open().await?;
    let ticket = askpass.ticket(user, password).map_err(|cause| vault.unusable(cause))?;
    equipment.environment.extend([
        ("GIT_ASKPASS", vault.program.clone().into_os_string()),
        ("ARGOCD_BINARY_NAME", PERSONALITY.into()),
        (NONCE, ticket.nonce.clone().into()),
        (SOCKET, askpass.socket().into()),
    ]);
    equipment.secrets.push(password.clone());
    equipment.ticket = Some(ticket);
    Ok(())
}

/// Whom we believe, and which way we take.
async fn way(
    login: &GitLogin,
    remote: &RemoteUrl,
    vault: &Vault,
    equipment: &mut Equipment,
    configuration: &mut Configuration,
) -> Result<(), NotEquipped> {
    let tls = &login.tls;
    if tls.insecure {
        equipment.environment.push(("GIT_SSL_NO_VERIFY", "true".into()));
    }
    match &tls.roots {
        Roots::None => {}
        Roots::File(path) => equipment.environment.push(("GIT_SSL_CAINFO", path.into())),
        Roots::Text(text) => {
            let path = vault.file(equipment, &SecretString::from(&**text)).await?;
            equipment.environment.push(("GIT_SSL_CAINFO", path.into()));
        }
    }
    if let Some((certificate, key)) = &tls.client {
        for (name, text) in [("GIT_SSL_CERT", certificate), ("GIT_SSL_KEY", key)] {
            let path = vault.file(equipment, text).await?;
            equipment.environment.push((name, path.into()));
        }
    }
    if let Some(proxy) = &login.proxy
        && remote.is_http()
    {
        configuration.proxy(proxy);
        equipment.secrets.extend(password_of(proxy));
    }
    if let Some(hosts) = &login.no_proxy {
        equipment.environment.push(("no_proxy", hosts.into()));
        equipment.environment.push(("NO_PROXY", hosts.into()));
    }
    Ok(())
}

fn password_of(url: &SecretString) -> Option<SecretString> {
    let url = Url::parse(url.expose_secret()).ok()?;
    url.password().map(SecretString::from)
}

/// The SSH client's command line.
async fn ssh(
    login: &GitLogin,
    remote: &RemoteUrl,
    key: &Path,
    vault: &Vault,
    equipment: &mut Equipment,
) -> Result<OsString, NotEquipped> {
    let mut command = OsString::from("ssh -i ");
    command.push(shell_word(key));
    command.push(" -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=");
    if login.tls.insecure {
        tracing::warn!(
            remote = %remote,
            "temporarily disabling strict host key checking for {}, since it says 'insecure'; anybody on the way can pose as the server",
            login.name
        );
        command.push("no -o UserKnownHostsFile=/dev/null");
    } else {
        command.push("yes");
        let known = match &login.known_hosts {
            KnownHosts::Users => None,
            KnownHosts::File(path) => Some(path.clone()),
            KnownHosts::Text(text) => {
                Some(vault.file(equipment, &SecretString::from(&**text)).await?)
            }
        };
        if let Some(known) = known {
            command.push(" -o UserKnownHostsFile=");
            command.push(shell_word(&known));
        }
    }
    if let Some(proxy) = &login.proxy {
        let (option, login) = proxy_command(proxy.expose_secret())?;
        command.push(option);
        equipment.environment.extend(login);
        equipment.secrets.extend(password_of(proxy));
    }
    Ok(command)
}

/// ` -o ProxyCommand=…` and the variables that its program reads. Its one way to get a
/// password is a variable.
fn proxy_command(proxy: &str) -> Result<(String, Vec<(&'static str, OsString)>), NotEquipped> {
    let unusable = |cause: &str| {
        NotEquipped::Unusable(format!(
            "failed to set environment variables related to socks5 proxy, could not parse proxy URL '{}': {cause}",
            crate::redact::shown_url(proxy)
        ))
    };
    let url = Url::parse(proxy).map_err(|error| unusable(&error.to_string()))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]_".contains(c);
    let host = url.host_str().filter(|host| !host.is_empty() && host.chars().all(plain));
    let (Some(host), Some(port)) = (host, url.port_or_known_default().or(Some(1080))) else {
        return Err(unusable("it names no host"));
    };
    let (how, variables) = match url.scheme() {
        "http" | "https" => ("-H", ["HTTP_PROXY_USER", "HTTP_PROXY_PASSWORD"]),
        _ => ("-S", ["SOCKS5_USER", "SOCKS5_PASSWD"]),
    };
    let kind = if how == "-S" { " -5" } else { "" };
    let option = format!(" -o ProxyCommand='connect-proxy {how} {host}:{port}{kind} %h %p'");
    let mut login = Vec::new();
    if !url.username().is_empty() {
        login.push((variables[0], url.username().into()));
        login.extend(url.password().map(|password| (variables[1], password.into())));
    }
    Ok((option, login))
}

/// A path as one word of a shell's.
fn shell_word(path: &Path) -> OsString {
    let text = path.to_string_lossy().replace('\'', r"'\''");
    format!("'{text}'").into()
}

/// Settings for one remote that hold something secret.
struct Configuration {
    /// `scheme://host[:port]/` of the remote: no other host is told.
    scope: String,
    lines: String,
}

impl Configuration {
    fn for_remote(remote: &RemoteUrl) -> Self {
        let scope = Url::parse(remote.url()).ok().and_then(|url| url.join("/").ok());
        Self { scope: scope.map(String::from).unwrap_or_default(), lines: String::new() }
    }

    fn basic(&mut self, user: &str, password: &SecretString) {
        let pair = STANDARD.encode(format!("{user}:{}", password.expose_secret()));
        self.header(&format!("Authorization: Basic {pair}"));
    }

    fn bearer(&mut self, token: &SecretString, equipment: &mut Equipment) {
        self.header(&format!("Authorization: Bearer {}", token.expose_secret()));
        equipment.secrets.push(token.clone());
    }

    fn header(&mut self, header: &str) {
        self.set("extraHeader", header);
    }

    fn proxy(&mut self, proxy: &SecretString) {
        self.set("proxy", proxy.expose_secret());
    }

    fn set(&mut self, key: &str, value: &str) {
        let _ = writeln!(self.lines, "\t{key} = {}", quoted(value));
    }

    /// The text of the file, if it has to say anything.
    fn finished(self) -> Option<SecretString> {
        let Self { scope, lines } = self;
        (!lines.is_empty()).then(|| format!("[http {}]\n{lines}", quoted(&scope)).into())
    }
}

/// A value as git's configuration reads it back.
fn quoted(value: &str) -> String {
    let plain = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{plain}\"")
}

#[cfg(test)]
#[path = "equip_tests.rs"]
mod tests;
