//! What a deployment would get: folders rendered by the programs that Argo CD renders with.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::files::write;
use crate::go::Module;
use crate::tool;

/// Helm, as Argo CD has it.
pub(crate) const HELM: Module = Module {
    name: "helm",
    folder: "peers/helm",
    programs: &["helm.sh/helm/v3/cmd/helm"],
    arguments: &["-ldflags", "-s -w"],
    environment: &[("CGO_ENABLED", "0")],
    takes: "about two minutes",
};

/// The programs.
pub(crate) struct Renderers {
    kubectl: PathBuf,
    helm: PathBuf,
}

impl Renderers {
    /// Builds Helm if need be; kubectl is there already.
    pub(crate) async fn build(kubectl: PathBuf) -> Result<Self> {
        Ok(Self { kubectl, helm: HELM.build().await?.path("helm") })
    }

    /// A kustomization.
    pub(crate) async fn kustomize(&self, folder: &Path) -> Result<String> {
        kustomize(&self.kubectl, folder).await
    }

    /// A chart, with further arguments such as `--values FILE`.
    pub(crate) async fn helm(&self, chart: &Path, arguments: &[&str]) -> Result<String> {
        let arguments = [&["template", "release", "."][..], arguments].concat();
        tool::output(&self.helm, &arguments, chart, &[]).await
    }

    /// Plain manifests, all of the folder: as the resources of a kustomization beside it.
    pub(crate) async fn manifests(&self, folder: &Path, files: &[&str]) -> Result<String> {
        let beside = tempfile::tempdir_in(folder)?;
        for file in files {
            std::fs::copy(folder.join(file), beside.path().join(file))?;
        }
        let text = format!("resources: [{}]\n", files.join(", "));
        write(beside.path(), "kustomization.yaml", &text)?;
        self.kustomize(beside.path()).await
    }
}

/// Renders a kustomization with the given kubectl.
pub(crate) async fn kustomize(kubectl: &Path, folder: &Path) -> Result<String> {
    tool::output(kubectl, &["kustomize", "."], folder, &[]).await
}
