//! Debian's `sshd`: git over SSH, for one key.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use tokio::net::TcpStream;

use super::START;
use super::ports::Ports;
use super::watch::Watch;
use crate::files::{read, subfolder, write};
use crate::git::git;
use crate::process::Process;
use crate::{packages, tool};

/// The folder that `sshd` locks itself up in before anybody has signed in.
const EMPTY: &str = "/run/sshd";

/// A server that listens, the key that it lets in, and the folder of its bare repositories.
pub(crate) struct Sshd {
    folder: PathBuf,
    repositories: PathBuf,
    user: String,
    watch: Watch,
    _server: Process,
}

impl Sshd {
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let mut ports = Ports::default();
        let repositories = subfolder(folder, "repositories")?;
        for name in ["host", "client", "stranger"] {
            new_key(folder, name).await?;
        }
        let user = tool::output("id", &["-un"], folder, &[]).await?.trim().to_owned();
        let (host, port) = ("127.0.0.1", ports.free()?);
        write(folder, "sshd_config", &configure(folder, host, port))?;
        std::fs::create_dir_all(EMPTY).with_context(|| format!("cannot make {EMPTY}"))?;
        let mut command = Command::new(packages::program("sshd")?);
        command.args(["-D", "-e", "-f"]).arg(folder.join("sshd_config"));
        let mut server = Process::start("sshd", &mut command, folder)?;
        let address = format!("{host}:{port}");
        server.ready(START, async || TcpStream::connect(&address).await.is_ok()).await?;
        let watch = Watch::before(&address, &mut ports).await?;
        Ok(Self { folder: folder.to_owned(), repositories, user, watch, _server: server })
    }

    /// Makes an empty bare repository; returns its URL.
    pub(crate) async fn create(&self, name: &str) -> Result<String> {
        let make = ["init", "--quiet", "--bare", "--initial-branch=main", name];
        git(&self.repositories, &make).await?;
        git(&self.path(name), &["config", "uploadpack.allowFilter", "true"]).await?;
        let path = self.path(name);
        Ok(format!("ssh://{}@{}{}", self.user, self.watch.address(), path.display()))
    }

    /// Where a repository stands on disk.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.repositories.join(name)
    }

    /// The key that is let in, or that of somebody else: `client` or `stranger`.
    pub(crate) fn private_key(&self, name: &str) -> Result<String> {
        read(&self.folder, name)
    }

    /// The line of a `known_hosts` file that says: this key is the server's.
    pub(crate) fn known_as(&self, key: &str) -> Result<String> {
        let key = read(&self.folder, &format!("{key}.pub"))?;
        Ok(format!("[127.0.0.1]:{} {key}", self.port()))
    }

    pub(crate) fn port(&self) -> String {
        let address = self.watch.address();
        address.rsplit(':').next().unwrap_or_default().to_owned()
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }
}

/// Makes a pair of keys: `NAME` and `NAME.pub`.
pub(crate) async fn new_key(folder: &Path, name: &str) -> Result<()> {
    let keygen = packages::program("ssh-keygen")?;
    let arguments = ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name];
    tool::output(keygen, &arguments, folder, &[]).await?;
    Ok(())
}

/// Signing in by key alone. The folder of a run belongs to whoever runs it, which `sshd` would
/// have to be sure of otherwise.
fn configure(folder: &Path, host: &str, port: u16) -> String {
    let folder = folder.display();
    format!(
        "Port {port}
ListenAddress {host}
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/client.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
"
    )
}
