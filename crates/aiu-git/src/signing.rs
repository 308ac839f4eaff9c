//! Signatures under commits (spec 30 §5.2).
//!
//! The key is made ready once: an SSH key becomes a private file, which `ssh-keygen` insists on;
//! an `OpenPGP` key lives in a folder that `GnuPG` can write to, also where the one with the keys
//! is read-only, as mounted Secrets are. Who starts `git` is `command`; here it is told with
//! which key.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use secrecy::SecretString;
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::credentials::NotEquipped;
use crate::private::{PrivateFile, PrivateFolder};

/// With what commits are signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signing {
    /// How.
    pub method: SigningMethod,
    /// For SSH the path of a private key; for `OpenPGP` the id of a key, or the path of a file
    /// that holds one.
    pub key: String,
}

/// How commits are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SigningMethod {
    /// By `GnuPG`.
    OpenPgp,
    /// By `ssh-keygen`.
    Ssh,
}

/// How long `GnuPG` may take to read a key.
const DEADLINE: Duration = Duration::from_mins(1);

/// Signs, if it is to be signed at all.
pub(crate) struct Signer {
    signing: Option<Signing>,
    ready: OnceCell<Ready>,
}

/// What `git` is told.
pub(crate) struct Ready {
    /// `-S…`.
    pub(crate) option: String,
    /// `gpg.format=…`.
    pub(crate) format: &'static str,
    /// `GnuPG`'s home.
    pub(crate) home: Option<PathBuf>,
    /// Whether that home is our own copy, whose agent is ours to end.
    is_copy: bool,
    _key: Option<PrivateFile>,
}

impl Signer {
    pub(crate) fn new(signing: Option<Signing>) -> Self {
        Self { signing, ready: OnceCell::new() }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.signing.is_some()
    }

    /// The key, made ready in `private`.
    pub(crate) async fn ready(&self, private: &PrivateFolder) -> Result<&Ready, NotEquipped> {
        let Some(signing) = &self.signing else {
            return Err(NotEquipped::NotSigned("no signing key is set".to_owned()));
        };
        let ready = self.ready.get_or_try_init(async || match signing.method {
            SigningMethod::Ssh => ssh(&signing.key, private),
            SigningMethod::OpenPgp => openpgp(&signing.key, private).await,
        });
        ready.await
    }
}

impl Ready {
    /// Ends the agent that `GnuPG` started for our copy; no process shall outlive the work.
    pub(crate) async fn rest(&self) {
        if let (true, Some(home)) = (self.is_copy, &self.home) {
            let ended = gnupg("gpgconf", home, &["--kill", "gpg-agent"]).await;
            if let Err(error) = ended {
                tracing::debug!("the agent of GnuPG could not be ended: {error}");
            }
        }
    }
}

fn not_signed(cause: impl std::fmt::Display) -> NotEquipped {
    NotEquipped::NotSigned(cause.to_string())
}

fn ssh(key: &str, private: &PrivateFolder) -> Result<Ready, NotEquipped> {
    let text = std::fs::read_to_string(key).map_err(|error| {
        not_signed(format!(
            "the signing key '{key}' cannot be read: {error}; git-commit-signing-key is the path of an SSH private key"
        ))
    })?;
    let text = SecretString::from(text.trim_end().to_owned() + "\n");
    let file = private.file(&text).map_err(not_signed)?;
    let option = format!("-S{}", file.path().display());
    Ok(Ready { option, format: "gpg.format=ssh", home: None, is_copy: false, _key: Some(file) })
}

async fn openpgp(key: &str, private: &PrivateFolder) -> Result<Ready, NotEquipped> {
    let ready = |key: &str, home: Option<PathBuf>, is_copy| {
        let option = format!("-S{key}");
        Ready { option, format: "gpg.format=openpgp", home, is_copy, _key: None }
    };
    let copy = private.path("gnupg");
    if key.starts_with('/') && Path::new(key).is_file() {
        make(&copy).map_err(not_signed)?;
        gnupg("gpg", &copy, &["--batch", "--no-tty", "--import", key]).await.map_err(|error| {
            not_signed(format!("the signing key '{key}' cannot be imported: {error}"))
        })?;
        let keys = ["--batch", "--with-colons", "--list-secret-keys"];
        let keys = gnupg("gpg", &copy, &keys).await.map_err(not_signed)?;
        let print = keys.lines().find_map(|line| line.strip_prefix("fpr:"));
        let print = print.and_then(|line| line.split(':').find(|field| !field.is_empty()));
        let print =
            print.ok_or_else(|| not_signed(format!("the file '{key}' holds no private key")))?;
        return Ok(ready(print, Some(copy), true));
    }
    let home = std::env::var_os("GNUPGHOME").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".gnupg"));
        home.filter(|home| home.is_dir())
    });
    let Some(home) = home else {
        return Err(not_signed(
            "there is no folder of GnuPG: set GNUPGHOME, or let git-commit-signing-key name a file with the private key",
        ));
    };
    if is_writable(&home) {
        return Ok(ready(key, Some(home), false));
    }
    make(&copy).and_then(|()| copy_keys(&home, &copy)).map_err(|error| {
        not_signed(format!("the keys of {} cannot be read: {error}", home.display()))
    })?;
    Ok(ready(key, Some(copy), true))
}

fn make(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn is_writable(folder: &Path) -> bool {
    let probe = folder.join(".aiu-probe");
    let written = std::fs::File::create(&probe).is_ok();
    let _ = std::fs::remove_file(probe);
    written
}

/// Everything but sockets and locks. Links are followed: mounted Secrets are made of them.
fn copy_keys(from: &Path, to: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let shown = name.to_string_lossy().into_owned();
        let is_lock = Path::new(&name).extension().is_some_and(|it| it == "lock");
        if is_lock || shown.starts_with("S.") || shown.starts_with("..") {
            continue;
        }
        let (source, target) = (entry.path(), to.join(name));
        let about = std::fs::metadata(&source)?;
        if about.is_dir() {
            make(&target)?;
            copy_keys(&source, &target)?;
        } else if about.is_file() {
            std::fs::write(&target, std::fs::read(&source)?)?;
        }
    }
    Ok(())
}

/// Runs a program of `GnuPG`'s and gives its output.
async fn gnupg(program: &str, home: &Path, arguments: &[&str]) -> io::Result<String> {
    let mut command = Command::new(program);
    command.arg("--homedir").arg(home).args(arguments).env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true).process_group(0);
    let output = tokio::time::timeout(DEADLINE, command.output()).await;
    let output = output.map_err(|_| io::Error::other(format!("{program} takes too long")))??;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(crate::answer::gist(&words)))
}

/// The variables that a signing command needs besides.
pub(crate) fn variables(ready: &Ready) -> Vec<(&'static str, OsString)> {
    ready.home.iter().map(|home| ("GNUPGHOME", home.clone().into_os_string())).collect()
}
