//! The peers of a scenario, and what is done to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::TempDir;

use super::text::{Branches, Deed, Files, Given};
use crate::git::{Commit, GitRemote};
use crate::registry::{Fault, Kind, Links, Paging, Registry};

/// Everything that a scenario needs, on this machine.
pub struct Stage {
    registry: Registry,
    hosts: Vec<String>,
    remotes: BTreeMap<String, GitRemote>,
    folder: TempDir,
}

/// How things stood before a step.
pub(super) struct Snapshot {
    pub(super) requests: usize,
    pub(super) commits: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    pub(super) pushes: usize,
    pub(super) manifests: BTreeMap<String, (String, std::time::SystemTime)>,
}

impl Stage {
    /// Starts the peers and writes the folder.
    pub(super) async fn set(given: &Given) -> anyhow::Result<Self> {
        let registry = Registry::start().await;
        if let Some(size) = given.page_size {
            registry.paging(Paging { page_size: size, links: Links::Relative });
        }
        let remotes = given.git.iter().map(|(url, branches)| (url.clone(), remote(branches)));
        let mut hosts: Vec<String> = given.registry.keys().map(|name| split(name).0).collect();
        hosts.sort();
        hosts.dedup();
        let stage =
            Self { registry, hosts, remotes: remotes.collect(), folder: tempfile::tempdir()? };
        std::fs::create_dir(stage.manifests())?;
        stage.push(&given.registry);
        stage.write(&given.manifests)?;
        std::fs::write(stage.registries_file(), stage.registries_text())?;
        Ok(stage)
    }

    /// The folder of manifests.
    pub fn manifests(&self) -> PathBuf {
        self.folder.path().join("manifests")
    }

    /// A folder for the caches of the program under test.
    pub fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// A registries file that sends every host of the scenario to the registry.
    pub fn registries_file(&self) -> PathBuf {
        self.folder.path().join("registries.conf")
    }

    /// The content of [`Stage::registries_file`].
    pub fn registries_text(&self) -> String {
        let entries = self.hosts.iter().map(|host| {
            format!(
                "- {{name: {host}, prefix: {host}, api_url: '{}', limit: 1000}}\n",
                self.registry.url()
            )
        });
        format!("registries:\n{}", entries.collect::<String>())
    }

    /// The registry.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// A remote, by the URL of the scenario.
    pub fn remote(&self, url: &str) -> anyhow::Result<&GitRemote> {
        self.remotes.get(url).with_context(|| format!("the scenario has no remote '{url}'"))
    }

    /// `text` in the scenario's words: with its URLs in place of those of this machine, and
    /// `sha256:TAG` in place of the digest of the image that was pushed under `TAG`.
    pub fn in_its_words(&self, text: &str) -> String {
        let urls = self.remotes.iter().map(|(url, remote)| (remote.url(), url.clone()));
        let tags = self.registry.digests().into_iter();
        let digests = tags.map(|(tag, digest)| (digest, format!("sha256:{tag}")));
        urls.chain(digests).fold(text.to_owned(), |text, (ours, its)| text.replace(&ours, &its))
    }

    /// Does what a step says, other than a pass.
    pub(super) fn perform(&self, deed: &Deed) -> anyhow::Result<()> {
        match deed {
            Deed::Pass => {}
            Deed::Push(tags) => self.push(tags),
            Deed::Commit(remotes) => {
                for (url, branches) in remotes {
                    let remote = self.remote(url)?;
                    for (branch, files) in branches {
                        commit(remote, branch, files);
                    }
                }
            }
            Deed::Write(files) => self.write(files)?,
            Deed::StopRegistry => self.registry.stop(),
            Deed::Refuse(images) => {
                for (name, status) in images {
                    let fault = Fault::status(*status).on(Kind::Listing);
                    self.registry.inject(fault.repository(&split(name).1));
                }
            }
            Deed::ProtectRemote(url) => self.remote(url)?.refuse("this branch is protected"),
        }
        Ok(())
    }

    fn push(&self, images: &BTreeMap<String, Vec<String>>) {
        for (name, tags) in images {
            self.registry.repository(&split(name).1).tags(tags);
        }
    }

    /// Writes manifests, with the addresses of this machine in place of the scenario's.
    fn write(&self, files: &Files) -> anyhow::Result<()> {
        for (path, text) in files {
            let text = self
                .remotes
                .iter()
                .fold(text.clone(), |text, (url, remote)| text.replace(url, &remote.url()));
            let path = self.manifests().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
            std::fs::write(path, text)?;
        }
        Ok(())
    }

    /// How things stand now.
    pub(super) fn snapshot(&self) -> anyhow::Result<Snapshot> {
        let mut manifests = BTreeMap::new();
        collect(&self.manifests(), &self.manifests(), &mut manifests)?;
        Ok(Snapshot {
            requests: self.registry.requests().len(),
            commits: self.remotes.iter().map(|(url, r)| (url.clone(), commits(r))).collect(),
            pushes: self.remotes.values().map(|remote| remote.pushes().0).sum(),
            manifests,
        })
    }
}

/// Host and path of an image's name.
fn split(name: &str) -> (String, String) {
    let (host, path) = name.split_once('/').unwrap_or(("docker.io", name));
    (host.to_owned(), path.to_owned())
}

fn remote(branches: &Branches) -> GitRemote {
    let remote = GitRemote::empty();
    for (branch, files) in branches {
        commit(&remote, branch, files);
    }
    remote
}

fn commit(remote: &GitRemote, branch: &str, files: &Files) {
    let commit = files.iter().fold(Commit::new("by hand"), |c, (path, text)| c.file(path, text));
    remote.commit(branch, &commit);
}

/// The messages of every branch, oldest first.
fn commits(remote: &GitRemote) -> BTreeMap<String, Vec<String>> {
    let branches = remote.branches().into_iter();
    branches
        .map(|branch| {
            let mut messages: Vec<String> =
                remote.log(&branch).into_iter().map(|commit| commit.message).collect();
            messages.reverse();
            (branch, messages)
        })
        .collect()
}

/// Every file below a folder: its text, and when it was written.
fn collect(
    root: &Path,
    folder: &Path,
    files: &mut BTreeMap<String, (String, std::time::SystemTime)>,
) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else {
            let written = path.metadata()?.modified()?;
            let name = path.strip_prefix(root)?.display().to_string();
            files.insert(
                name,
                (String::from_utf8_lossy(&std::fs::read(&path)?).into_owned(), written),
            );
        }
    }
    Ok(())
}
