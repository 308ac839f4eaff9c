//! Gitea, built from its Go modules: a forge with tokens, protected branches and signing keys.

mod client;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::{Client, redirect};

use super::ports::Ports;
use super::watch::Watch;
use crate::files::{subfolder, write};
use crate::go::{Module, Programs};
use crate::process::Process;
use crate::tool;

const MODULE: Module = Module {
    name: "gitea",
    folder: "peers/gitea",
    programs: &["code.gitea.io/gitea"],
    arguments: &["-tags", "sqlite sqlite_unlock_notify", "-ldflags", "-s -w"],
    environment: &[("CGO_ENABLED", "1")],
    takes: "about ten minutes",
};

/// How long it may take to make its database and to answer.
const READY: Duration = Duration::from_mins(2);

/// Who may do everything, and its password.
const ADMIN: (&str, &str) = ("root-of-the-forge", "admin-s3cret-of-the-forge");

/// A forge that answers.
pub(crate) struct Gitea {
    folder: PathBuf,
    /// Its own address, without a slash at the end.
    url: String,
    client: Client,
    watch: Watch,
    _server: Process,
}

impl Gitea {
    /// Builds it if need be, makes its database, and starts it.
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let mut ports = Ports::default();
        let programs = MODULE.build().await?;
        let port = ports.free()?;
        // Its pages are made of templates, which it reads when it runs.
        let templates = MODULE.module_folder("code.gitea.io/gitea")?;
        let configuration = configure(folder, &templates, port).await?;
        write(folder, "app.ini", &configuration)?;
        subfolder(folder, "home")?;
        make_admin(&programs, folder).await?;
        let mut command = command(&programs, folder);
        let mut server = Process::start("gitea", command.arg("web"), folder)?;
        let url = format!("http://127.0.0.1:{port}");
        let client = Client::builder().no_proxy().redirect(redirect::Policy::none());
        let client = client.build().context("cannot make an HTTP client")?;
        let ping = format!("{url}/api/healthz");
        server
            .ready(READY, async || {
                client.get(&ping).send().await.is_ok_and(|answer| answer.status().is_success())
            })
            .await?;
        let watch = Watch::before(&format!("127.0.0.1:{port}"), &mut ports).await?;
        Ok(Self { folder: folder.to_owned(), url, client, watch, _server: server })
    }

    /// Where clients of git find a repository.
    pub(crate) fn git_url(&self, owner: &str, name: &str) -> String {
        format!("http://{}/{owner}/{name}.git", self.watch.address())
    }

    /// Where a repository stands on disk.
    pub(crate) fn path(&self, owner: &str, name: &str) -> PathBuf {
        self.folder.join("repositories").join(owner).join(format!("{name}.git"))
    }

    /// Where keys of its users may be kept.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }
}

fn command(programs: &Programs, folder: &Path) -> Command {
    let mut command = Command::new(programs.path("gitea"));
    command.arg("--config").arg(folder.join("app.ini")).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", folder.join("home")).env("GITEA_WORK_DIR", folder);
    command
}

async fn make_admin(programs: &Programs, folder: &Path) -> Result<()> {
    let (name, password) = ADMIN;
    let user = ["--username", name, "--password", password, "--email", "root@forge.test"];
    let rights = ["--admin", "--must-change-password=false"];
    let create = [&["admin", "user", "create"][..], &user, &rights].concat();
    for arguments in [&["migrate"][..], &create] {
        let mut process =
            Process::start("gitea", command(programs, folder).args(arguments), folder)?;
        let status = process.ended(READY).await?;
        ensure!(status.success(), "`gitea {}` ended with {status}{}", arguments[0], process.said());
    }
    Ok(())
}

/// Loopback only, nothing in the background, no waiting for a disk.
async fn configure(folder: &Path, templates: &Path, port: u16) -> Result<String> {
    let user = tool::output("id", &["-un"], folder, &[]).await?;
    let (user, folder, templates) = (user.trim(), folder.display(), templates.display());
    Ok(format!(
        "APP_NAME = forge
RUN_USER = {user}
RUN_MODE = prod
WORK_PATH = {folder}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://127.0.0.1:{port}/
STATIC_ROOT_PATH = {templates}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = {folder}/gitea.db
SQLITE_JOURNAL_MODE = WAL
[repository]
ROOT = {folder}/repositories
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = not-a-secret-in-a-test
PASSWORD_HASH_ALGO = pbkdf2_v1
[service]
DISABLE_REGISTRATION = true
[session]
PROVIDER = memory
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[log]
MODE = console
LEVEL = warn
"
    ))
}
