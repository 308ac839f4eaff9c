//! Debian's `docker-registry`: the distribution project's own server, without authentication.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use reqwest::Client;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::Deserialize;

use super::START;
use super::ports::Ports;
use crate::files::write;
use crate::packages;
use crate::process::{Process, Signal};
use crate::push::{Image, push};

/// A registry that listens.
pub(crate) struct Registry {
    url: String,
    client: Client,
    server: Process,
    data: PathBuf,
}

impl Registry {
    pub(super) async fn start(folder: &Path, ports: &mut Ports) -> Result<Self> {
        let address = format!("127.0.0.1:{}", ports.free()?);
        write(folder, "registry.yml", &configure(&folder.join("data"), &address))?;
        let mut command = Command::new(packages::program("docker-registry")?);
        let mut server = Process::start(
            "registry",
            command.arg("serve").arg(folder.join("registry.yml")),
            folder,
        )?;
        let url = format!("http://{address}");
        let client = Client::builder().no_proxy().build().context("cannot make an HTTP client")?;
        let ping = format!("{url}/v2/");
        server
            .ready(START, async || {
                client.get(&ping).send().await.is_ok_and(|answer| answer.status().is_success())
            })
            .await?;
        Ok(Self { url, client, server, data: folder.join("data") })
    }

    /// The base of its API, without a slash at the end.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Where its images are.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// Pushes an image under each tag, each built a day after the one before.
    pub(crate) async fn push(&self, repository: &str, tags: &[&str]) -> Result<()> {
        for (day, tag) in (1..).zip(tags) {
            let created = format!("2026-01-{day:02}T12:00:00Z");
            let image = Image { created: &created, ..Image::new(tag) };
            push(&self.client, &self.url, repository, image).await?;
        }
        Ok(())
    }

    /// Puts the manifest of a tag under a second tag: one content with two names.
    pub(crate) async fn tag_again(&self, repository: &str, tag: &str, second: &str) -> Result<()> {
        const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
        let manifests = format!("{}/v2/{repository}/manifests", self.url);
        let first = self.client.get(format!("{manifests}/{tag}")).header(ACCEPT, MANIFEST).send();
        let manifest = first.await.context("cannot get a manifest")?.error_for_status()?;
        let manifest = manifest.bytes().await.context("cannot read a manifest")?;
        let put = self.client.put(format!("{manifests}/{second}")).header(CONTENT_TYPE, MANIFEST);
        let put = put.body(manifest).send().await.context("cannot put a manifest")?;
        put.error_for_status()?;
        Ok(())
    }

    /// Lets it answer nothing until it is released.
    pub(crate) fn hold(&self) -> Result<()> {
        self.server.signal(Signal::STOP)
    }

    /// Lets it answer again.
    pub(crate) fn release(&self) -> Result<()> {
        self.server.signal(Signal::CONT)
    }

    /// The tags that the registry lists, in its own order.
    pub(crate) async fn tags(&self, repository: &str) -> Result<Vec<String>> {
        #[derive(Deserialize)]
        struct List {
            tags: Vec<String>,
        }
        let url = format!("{}/v2/{repository}/tags/list", self.url);
        let answer = self.client.get(url).send().await.context("cannot list tags")?;
        let list: List = answer.error_for_status()?.json().await.context("not a list of tags")?;
        Ok(list.tags)
    }
}

fn configure(data: &Path, address: &str) -> String {
    format!(
        r#"version: 0.1
log: {{ level: warn, accesslog: {{ disabled: true }} }}
storage: {{ filesystem: {{ rootdirectory: "{}" }} }}
http: {{ addr: "{address}" }}
"#,
        data.display()
    )
}
