//! The servers that the cases talk to, all on loopback. One file per kind; each is the program
//! that runs in production, with the least configuration that works.

pub(crate) mod argo_cd;
mod between;
mod clouds;
pub(crate) mod contender;
mod git_http;
mod gitea;
mod kubernetes;
mod ports;
pub(crate) mod registries;
mod registry;
mod ssh;
mod watch;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

pub(crate) use argo_cd::ArgoCd;
pub(crate) use between::Between;
pub(crate) use clouds::{ACCOUNT, Clouds, REGION};
use git_http::GitHttp;
pub(crate) use git_http::{GitHttps, PASSWORD, USER};
pub(crate) use gitea::Gitea;
pub(crate) use kubernetes::{ApiServer, CONTROLLER, ELSEWHERE, ELSEWHERE_ACCOUNT};
use ports::Ports;
pub(crate) use ports::free_address;
use registry::Registry;
pub(crate) use ssh::{Sshd, new_key};
pub(crate) use watch::MARK;

use crate::files::subfolder;

/// How long a server may take to answer for the first time.
const START: Duration = Duration::from_secs(20);

/// Every peer, started. Dropping it ends them.
pub(crate) struct Peers {
    pub(crate) registry: Registry,
    pub(crate) git: GitHttp,
    pub(crate) kubernetes: ApiServer,
}

impl Peers {
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let mut ports = Ports::default();
        let registry = Registry::start(&subfolder(folder, "registry")?, &mut ports).await?;
        let git = GitHttp::start(&subfolder(folder, "git")?, &mut ports).await?;
        let kubernetes = ApiServer::start(&subfolder(folder, "kubernetes")?, &mut ports).await?;
        Ok(Self { registry, git, kubernetes })
    }
}
