use std::fs;
use std::sync::Arc;

use secrecy::SecretString;
use tempfile::TempDir;

use super::{Equipment, NotEquipped, Vault, equip, proxy_command};
use crate::credentials::{GitAccess, GitLogin, KnownHosts, Roots, SignIn};
use crate::remote::RemoteUrl;
use crate::settings::GitSettings;

fn login(sign_in: SignIn) -> GitLogin {
    GitLogin::new("Secret a/b", sign_in)
}

fn password(user: &str, unasked: bool) -> SignIn {
    SignIn::Password { user: user.to_owned(), password: SecretString::from("s3cret"), unasked }
}

struct Desk {
    folder: TempDir,
    vault: Vault,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = GitSettings::new(folder.path());
        settings.private = folder.path().to_owned();
        settings.askpass = "/bin/updater".into();
        let vault = Vault::new(&settings);
        Self { folder, vault }
    }

    async fn equip(&self, url: &str, access: GitAccess) -> Result<Equipment, NotEquipped> {
        equip(&access, &RemoteUrl::parse(url, false).unwrap(), &self.vault).await
    }

    async fn with(&self, url: &str, login: GitLogin) -> Equipment {
        self.equip(url, GitAccess::Login(Arc::new(login))).await.unwrap()
    }

    /// The text of the included configuration.
    fn included(equipment: &Equipment) -> String {
        let option = equipment.options.last().expect("something is included");
        let path = option.to_str().unwrap().strip_prefix("include.path=").unwrap();
        fs::read_to_string(path).unwrap()
    }

    /// Files in all private folders, the socket left out.
    fn files(&self) -> usize {
        let folders = fs::read_dir(self.folder.path()).unwrap().flatten();
        let folders = folders.filter(|entry| entry.path().is_dir());
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
        files.filter(|file| file.file_name() != "s").count()
    }
}

fn variable(equipment: &Equipment, name: &str) -> Option<String> {
    let found = equipment.environment.iter().rfind(|(key, _)| *key == name)?;
    Some(found.1.to_string_lossy().into_owned())
}

/// Nothing secret in arguments and variables.
fn assert_silent(equipment: &Equipment, secrets: &[&str]) {
    let variables = equipment.environment.iter().map(|(_, value)| value);
    for text in variables.chain(&equipment.options) {
        let text = text.to_string_lossy();
        for secret in secrets {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[tokio::test]
async fn a_password_in_the_url_stands_in_a_private_file_for_that_host() {
    let desk = Desk::new();
    let equipment = desk.equip("https://u:s3cret@h:8443/o/r", GitAccess::Ambient).await.unwrap();
    assert_eq!(
        Desk::included(&equipment),
        "[http \"https://h:8443/\"]\n\textraHeader = \"Authorization: Basic dTpzM2NyZXQ=\"\n"
    );
    assert!(equipment.users_configuration);
    assert_silent(&equipment, &["s3cret", "dTpzM2NyZXQ="]);
    drop(equipment);
    assert_eq!(desk.files(), 0, "it disappears with the command");
}

/// Spec 30 §3.3, rows HTTPS; §3.4.
#[tokio::test]
async fn a_password_is_asked_for_and_sent_unasked_only_where_that_is_wished() {
    let desk = Desk::new();
    let equipment = desk.with("https://h/r", login(password("bot", false))).await;
    assert!(!equipment.users_configuration);
    assert_eq!(variable(&equipment, "GIT_ASKPASS").as_deref(), Some("/bin/updater"));
    let second_name = variable(&equipment, "ARGOCD_BINARY_NAME");
    assert_eq!(second_name.as_deref(), Some("argocd-git-ask-pass"));
    assert_eq!(variable(&equipment, "ARGOCD_GIT_ASKPASS_NONCE").unwrap().len(), 32);
    assert!(equipment.options.is_empty());
    assert_silent(&equipment, &["s3cret"]);
    let equipment = desk.with("https://h/r", login(password("", true))).await;
    assert!(Desk::included(&equipment).contains("Authorization: Basic OnMzY3JldA=="));
    assert_silent(&equipment, &["s3cret", "OnMzY3JldA"]);
    let nothing =
        SignIn::Password { user: "u".to_owned(), password: SecretString::from(""), unasked: true };
    assert!(desk.with("https://h/r", login(nothing)).await.options.is_empty());
    let token = SignIn::Bearer(SecretString::from("t0ken"));
    let equipment = desk.with("https://h/r", login(token)).await;
    assert!(Desk::included(&equipment).contains("Authorization: Bearer t0ken"));
    assert_silent(&equipment, &["t0ken"]);
}

/// Spec 30 §3.3, "certificate files exist during the command and not after"; F11, F13.
#[tokio::test]
async fn certificates_and_proxies_reach_git() {
    let desk = Desk::new();
    let mut own = login(SignIn::Nobody);
    own.tls.client = Some((SecretString::from("CERT"), SecretString::from("KEY")));
    own.tls.roots = Roots::Text("ROOTS".into());
    own.proxy = Some(SecretString::from("http://u:pr0xy@p:3128"));
    own.no_proxy = Some("internal".to_owned());
    let equipment = desk.with("https://h/r", own).await;
    for (name, text) in
        [("GIT_SSL_CERT", "CERT"), ("GIT_SSL_KEY", "KEY"), ("GIT_SSL_CAINFO", "ROOTS")]
    {
        let path = variable(&equipment, name).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), text, "{name}");
    }
    assert!(Desk::included(&equipment).contains("proxy = \"http://u:pr0xy@p:3128\""));
    assert_eq!(variable(&equipment, "no_proxy").as_deref(), Some("internal"));
    assert_eq!(variable(&equipment, "GIT_SSL_NO_VERIFY"), None);
    assert_silent(&equipment, &["pr0xy", "KEY"]);
    drop(equipment);
    assert_eq!(desk.files(), 0);
    let mut careless = login(password("u", false));
    careless.tls.insecure = true;
    let equipment = desk.with("https://h/r", careless).await;
    assert_eq!(variable(&equipment, "GIT_SSL_NO_VERIFY").as_deref(), Some("true"));
}

/// Spec 30 §3.3, row SSH.
#[tokio::test]
async fn an_ssh_key_is_a_private_file_and_the_host_is_checked() {
    let desk = Desk::new();
    let mut own = login(SignIn::Ssh(SecretString::from("KEY")));
    own.known_hosts = KnownHosts::Text("h ssh-ed25519 A".into());
    let equipment = desk.with("git@h:r", own).await;
    let command = variable(&equipment, "GIT_SSH_COMMAND").unwrap();
    let quoted: Vec<&str> = command.split('\'').skip(1).step_by(2).collect();
    assert_eq!(fs::read_to_string(quoted[0]).unwrap(), "KEY\n");
    assert_eq!(fs::read_to_string(quoted[1]).unwrap(), "h ssh-ed25519 A");
    assert!(command.contains("-o StrictHostKeyChecking=yes -o UserKnownHostsFile='"), "{command}");
    let mut careless = login(SignIn::Ssh(SecretString::from("KEY")));
    careless.tls.insecure = true;
    let equipment = desk.with("git@h:r", careless).await;
    let command = variable(&equipment, "GIT_SSH_COMMAND").unwrap();
    let tail = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null";
    assert!(command.ends_with(tail), "{command}");
}

/// Spec 30 §3.3, "proxy without login yields exactly one proxy option and no SOCKS5_*".
#[test]
fn a_proxy_for_ssh_is_one_option_and_its_login_two_variables() {
    let names = |login: &[(&str, std::ffi::OsString)]| {
        login.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>()
    };
    let (option, login) = proxy_command("socks5://p.test:1080").unwrap();
    assert_eq!(option, " -o ProxyCommand='connect-proxy -S p.test:1080 -5 %h %p'");
    assert_eq!(login, []);
    let (_, login) = proxy_command("socks5://u:p@p.test:1080").unwrap();
    assert_eq!(names(&login), ["SOCKS5_USER", "SOCKS5_PASSWD"]);
    for bad in ["socks5://", "nonsense", "socks5://a'b;c:1080"] {
        let Err(NotEquipped::Unusable(words)) = proxy_command(bad) else { panic!("{bad}") };
        let start = "failed to set environment variables related to socks5 proxy, could not parse proxy URL";
        assert!(words.starts_with(start), "{words}");
    }
}

#[tokio::test]
async fn a_private_folder_that_cannot_be_made_is_told_by_its_place() {
    let mut settings = GitSettings::new("/nonexistent");
    settings.private = "/nonexistent/private".into();
    let vault = Vault::new(&settings);
    let access = GitAccess::Login(Arc::new(login(password("u", false))));
    let remote = RemoteUrl::parse("https://h/r", false).unwrap();
    let refused = equip(&access, &remote, &vault).await;
    assert!(
        matches!(refused, Err(NotEquipped::Private { folder, .. }) if folder.ends_with("private"))
    );
}
