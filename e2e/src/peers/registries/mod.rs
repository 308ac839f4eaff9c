//! Registries that a case starts for itself: images behind a sign-in, behind TLS, in pages. Each
//! tells by its own log what the program asked.

mod access_log;
mod cosign;
mod distribution;
mod faults;
mod limiter;
mod listener;
mod tokens;

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use tokio::net::TcpStream;

pub(crate) use access_log::{AccessLog, Asked};
pub(crate) use cosign::Cosign;
pub(crate) use distribution::distribution;
pub(crate) use faults::{Fault, Faults};
pub(crate) use limiter::Limiter;
pub(crate) use tokens::{Tokens, Told};

use super::START;
use crate::files::write;
use crate::packages;
use crate::process::Process;
use crate::push::{Image, push};

/// A registry with settings of its own, over images of its own or of another one.
pub(crate) struct Guarded {
    log: AccessLog,
    _server: Process,
}

impl Guarded {
    /// Debian's registry over the images in `data`. `http` are lines of that section of its
    /// configuration, `more` are sections; the name is that of its files in the folder.
    pub(crate) async fn start(
        name: &str,
        folder: &Path,
        data: &Path,
        http: &[&str],
        more: &str,
    ) -> Result<Self> {
        Self::of(&packages::program("docker-registry")?, name, folder, data, http, more).await
    }

    /// The same of another program that reads the same configuration.
    pub(crate) async fn of(
        program: &Path,
        name: &str,
        folder: &Path,
        data: &Path,
        http: &[&str],
        more: &str,
    ) -> Result<Self> {
        let address = super::free_address()?;
        let file = format!("{name}.yml");
        let lines: String = http.iter().map(|line| ["  ", line, "\n"].concat()).collect();
        let text = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: '{}'}}}}\nhttp:\n  addr: '{address}'\n{lines}{more}",
            data.display()
        );
        write(folder, &file, &text)?;
        let mut command = Command::new(program);
        let mut server = Process::start(name, command.arg("serve").arg(folder.join(file)), folder)?;
        server.ready(START, async || TcpStream::connect(&address).await.is_ok()).await?;
        let scheme = if lines.contains("tls:") { "https" } else { "http" };
        let file = folder.join(format!("{name}.out"));
        let log = AccessLog::new(format!("{scheme}://{address}"), file)?;
        Ok(Self { log, _server: server })
    }

    /// The base of its API, without a slash at the end.
    pub(crate) fn url(&self) -> &str {
        self.log.url()
    }

    /// Pushes an image; returns its digest. For registries that let anybody push.
    pub(crate) async fn push(&self, repository: &str, image: Image<'_>) -> Result<String> {
        push(self.log.client(), self.url(), repository, image).await
    }

    /// What the program asked so far; see [`AccessLog::asked`].
    pub(crate) async fn asked(&self, expected: usize) -> Result<Asked> {
        self.log.asked(expected).await
    }
}
