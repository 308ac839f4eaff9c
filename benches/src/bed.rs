//! What the program is set to work on: a registry on loopback, a folder of Applications, and git
//! repositories by HTTP.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use aiu_testkit::git::HttpGit;
use aiu_testkit::registry::Registry;
use anyhow::Result;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Which limit the registries file sets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// None at all.
    None,
    /// That of a registry without a word about it: 20 requests per second.
    Default,
}

/// A registry, served by this process, and an empty folder to fill.
pub struct Bed {
    // Before the runtime that it lives on.
    pub registry: Registry,
    folder: TempDir,
    manifests: String,
    runtime: Runtime,
}

impl Bed {
    /// With the registry known as `registry.test`.
    pub fn new(limit: Limit) -> Result<Self> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let registry = runtime.block_on(Registry::start());
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("manifests"))?;
        let limit = if limit == Limit::None { ", limit: 0" } else { "" };
        let conf = format!(
            "registries:\n- {{name: t, prefix: registry.test, api_url: '{}'{limit}}}\n",
            registry.url()
        );
        fs::write(folder.path().join("registries.conf"), conf)?;
        Ok(Self { registry, folder, manifests: String::new(), runtime })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Adds an Application whose Kustomize images are these, each a repository of the registry
    /// with its current tag and its constraint or tag to follow. `strategy` holds for all.
    pub fn application(&mut self, images: &[(String, &str, &str)], strategy: &str) {
        let mut list = Vec::new();
        let mut current = Vec::new();
        let mut strategies = String::new();
        for (at, (repository, tag, wanted)) in images.iter().enumerate() {
            let colon = if wanted.is_empty() { "" } else { ":" };
            list.push(format!("i{at}=registry.test/{repository}{colon}{wanted}"));
            current.push(format!("'registry.test/{repository}:{tag}'"));
            // Writing to a string cannot fail.
            let _ = writeln!(
                strategies,
                "    argocd-image-updater.argoproj.io/i{at}.update-strategy: {strategy}"
            );
        }
        let number = self.manifests.matches("\n---\n").count();
        let _ = write!(
            self.manifests,
            "\n---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: app-{number}\n  annotations:\n    argocd-image-updater.argoproj.io/image-list: '{}'\n{strategies}spec: {{source: {{repoURL: u, path: p, kustomize: {{images: [{}]}}}}}}\n",
            list.join(","),
            current.join(", "),
        );
    }

    /// Adds an Application with an image of the registry, whose kustomization stands in a folder
    /// of a git repository.
    pub fn git_application(&mut self, repository: &str, url: &str, path: &str) {
        let number = self.manifests.matches("\n---\n").count();
        let prefix = "argocd-image-updater.argoproj.io";
        let _ = write!(
            self.manifests,
            "\n---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: app-{number}\n  annotations:\n    {prefix}/image-list: web=registry.test/{repository}\n    {prefix}/write-back-method: git\n    {prefix}/write-back-target: kustomization\nspec: {{source: {{repoURL: '{url}', path: {path}, targetRevision: main}}}}\n",
        );
    }

    /// Serves a git repository by HTTP, from this process.
    pub fn serve(&self, repository: &Path) -> HttpGit {
        self.runtime.block_on(HttpGit::serve(repository, None))
    }

    /// Writes the Applications into the folder.
    pub fn lay_out(&self) -> Result<()> {
        Ok(fs::write(self.folder().join("manifests/all.yaml"), &self.manifests)?)
    }
}
