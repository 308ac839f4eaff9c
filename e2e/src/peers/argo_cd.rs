//! Argo CD itself, built from its modules: the server that reads repositories, the controller that
//! syncs, and the Redis between them. What it makes of our commits and patches is the whole point.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tokio::net::TcpStream;

use super::ports::Ports;
use super::{ApiServer, START};
use crate::files::{subfolder, write};
use crate::go::{Module, Programs};
use crate::packages;
use crate::process::Process;
use crate::render::HELM;

const MODULE: Module = Module {
    name: "argocd",
    folder: "peers/argocd",
    programs: &["github.com/argoproj/argo-cd/v2/cmd"],
    arguments: &["-ldflags", "-s -w"],
    environment: &[("CGO_ENABLED", "0")],
    takes: "about ten minutes",
};

/// What it renders kustomizations with.
const KUSTOMIZE: Module = Module {
    name: "kustomize",
    folder: "peers/kustomize",
    programs: &["sigs.k8s.io/kustomize/kustomize/v5"],
    arguments: &["-ldflags", "-s -w"],
    environment: &[("CGO_ENABLED", "0")],
    takes: "about a minute",
};

/// Its servers read objects of the cluster before they listen.
const READY: Duration = Duration::from_mins(1);

/// The namespace it lives in, and the only one whose Applications it syncs.
pub(crate) const NAMESPACE: &str = "argocd";

/// Argo CD at work.
pub(crate) struct ArgoCd {
    _redis: Process,
    _repositories: Process,
    controller: Process,
}

impl ArgoCd {
    /// Builds the programs if need be, installs the definitions, and starts the servers with
    /// everything they look at in short intervals.
    pub(crate) async fn start(folder: &Path, server: &ApiServer) -> Result<Self> {
        let mut ports = Ports::default();
        let program = MODULE.build().await?.path("cmd");
        let kustomize = KUSTOMIZE.build().await?;
        let helm = HELM.build().await?.path("helm");
        install(server).await?;
        let path = tools(folder, &kustomize, &helm)?;
        let home = Home::prepare(folder, server, path)?;

        let redis = format!("127.0.0.1:{}", ports.free()?);
        let redis_server = start_redis(folder, &redis).await?;
        let repositories = format!("127.0.0.1:{}", ports.free()?);
        let (_, port) = repositories.split_once(':').context("an address has a port")?;
        let mut command = home.command(&program, "argocd-repo-server");
        command.args(["--address", "127.0.0.1", "--port", port, "--disable-tls"]);
        command.args(["--metrics-address", "127.0.0.1", "--redis", &redis]);
        command.arg(format!("--metrics-port={}", ports.free()?));
        // Three minutes would hide new commits.
        command.arg("--revision-cache-expiration=3s");
        let mut repository_server = Process::start("argocd-repo-server", &mut command, folder)?;
        let listens = async || TcpStream::connect(&repositories).await.is_ok();
        repository_server.ready(READY, listens).await?;

        let mut command = home.command(&program, "argocd-application-controller");
        command.args(["--namespace", NAMESPACE, "--repo-server", &repositories]);
        command.args(["--repo-server-plaintext", "--redis", &redis, "--app-resync", "5"]);
        command.arg(format!("--metrics-port={}", ports.free()?));
        let controller = Process::start("argocd-application-controller", &mut command, folder)?;
        Ok(Self { _redis: redis_server, _repositories: repository_server, controller })
    }

    /// Fails if it has ended, with what it said.
    pub(crate) fn lives(&mut self) -> Result<()> {
        let ended = self.controller.status()?;
        ensure!(ended.is_none(), "Argo CD ended with {ended:?}{}", self.controller.said());
        Ok(())
    }

    /// What its controller said so far.
    pub(crate) fn said(&self) -> String {
        self.controller.said()
    }
}

/// Definitions, settings and a project that allows everything.
async fn install(server: &ApiServer) -> Result<()> {
    let definitions =
        MODULE.module_folder("github.com/argoproj/argo-cd/v2")?.join("manifests/crds");
    let definitions = definitions.display().to_string();
    server.kubectl_do(&["apply", "--server-side", "-k", &definitions]).await?;
    server.established().await?;
    server.namespace(NAMESPACE).await?;
    let labels = json!({"app.kubernetes.io/part-of": "argocd"});
    for name in ["argocd-cm", "argocd-rbac-cm"] {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "labels": labels}});
        server.create(&format!("/api/v1/namespaces/{NAMESPACE}/configmaps"), &object).await?;
    }
    let secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "argocd-secret", "labels": labels},
        "stringData": {"server.secretkey": "not-used-by-these-servers"}});
    server.create(&format!("/api/v1/namespaces/{NAMESPACE}/secrets"), &secret).await?;
    let project = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
        "metadata": {"name": "default"},
        "spec": {"sourceRepos": ["*"], "destinations": [{"namespace": "*", "server": "*"}],
            "clusterResourceWhitelist": [{"group": "*", "kind": "*"}]}});
    let projects = format!("/apis/argoproj.io/v1alpha1/namespaces/{NAMESPACE}/appprojects");
    server.create(&projects, &project).await.map(drop)
}

/// A folder with the programs it calls, before all others on the path.
fn tools(folder: &Path, kustomize: &Programs, helm: &Path) -> Result<PathBuf> {
    let tools = subfolder(folder, "tools")?;
    for (name, program) in [("kustomize", kustomize.path("kustomize")), ("helm", helm.to_owned())] {
        std::os::unix::fs::symlink(&program, tools.join(name))
            .with_context(|| format!("cannot link to {}", program.display()))?;
    }
    Ok(tools)
}

/// What all of its servers find around them.
struct Home {
    folder: PathBuf,
    path: String,
}

impl Home {
    fn prepare(folder: &Path, server: &ApiServer, tools: PathBuf) -> Result<Self> {
        let home = subfolder(folder, "home")?;
        let kubeconfig = server.kubeconfig("admin");
        let text = std::fs::read_to_string(&kubeconfig)
            .with_context(|| format!("cannot read {}", kubeconfig.display()))?;
        write(&home, ".kube/config", &text)?;
        for name in ["tls", "ssh", "tmp"] {
            subfolder(&home, name)?;
        }
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let parts = std::iter::once(tools).chain(std::env::split_paths(&rest));
        let path = std::env::join_paths(parts).context("a path has no colon")?;
        Ok(Self { folder: home, path: path.to_string_lossy().into_owned() })
    }

    /// One program in many roles: the variable says which.
    fn command(&self, program: &Path, role: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", &self.folder).env("PATH", &self.path);
        command.env("ARGOCD_BINARY_NAME", role).env("ARGOCD_FAKE_IN_CLUSTER", "true");
        command.env("ARGOCD_GPG_ENABLED", "false");
        command.env("ARGOCD_TLS_DATA_PATH", self.folder.join("tls"));
        command.env("ARGOCD_SSH_DATA_PATH", self.folder.join("ssh"));
        command.env("ARGOCD_ASK_PASS_SOCK", self.folder.join("ask-pass.sock"));
        command.env("TMPDIR", self.folder.join("tmp"));
        command
    }
}

async fn start_redis(folder: &Path, address: &str) -> Result<Process> {
    let (host, port) = address.split_once(':').context("an address has a port")?;
    let mut command = Command::new(packages::program("redis-server")?);
    command.args(["--bind", host, "--port", port, "--save", "", "--appendonly", "no"]);
    let mut server = Process::start("redis", command.current_dir(folder), folder)?;
    server.ready(START, async || TcpStream::connect(address).await.is_ok()).await?;
    Ok(server)
}
