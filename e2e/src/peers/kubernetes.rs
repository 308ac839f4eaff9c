//! The API server of Kubernetes on its own store, both of them built from their Go modules.
//!
//! No controller manager and no kubelet stand beside it: nothing is garbage collected, namespaces
//! never finish ending, and no Pod runs. Who a request comes from is told by a token of the table
//! [`USERS`]; what a user may do is RBAC, as in production.

mod audit;
mod client;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::{Certificate, Client};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use super::START;
use super::ports::Ports;
use crate::files::write;
use crate::go::{Module, Programs};
use crate::process::Process;

/// The server, its store, and the client that everybody uses, of one version.
const MODULE: Module = Module {
    name: "kubernetes",
    folder: "peers/kubernetes",
    programs: &["./kube-apiserver", "./etcd", "./kubectl", "./token-key"],
    arguments: &["-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.0"],
    environment: &[("CGO_ENABLED", "0")],
    takes: "about ten minutes",
};

/// How long the server may take to be ready: it makes its own objects first.
const READY: Duration = Duration::from_mins(2);

/// Token, name and groups. A service account goes by the name that RBAC knows it by.
#[rustfmt::skip]
const USERS: [(&str, &str, &str); 3] = [
    ("admin", "admin", "system:masters"),
    (CONTROLLER, "system:serviceaccount:argocd:argocd-image-updater-controller", "system:serviceaccounts,system:serviceaccounts:argocd"),
    (ELSEWHERE, ELSEWHERE_ACCOUNT, "system:serviceaccounts,system:serviceaccounts:updater"),
];

/// The service account of the install manifests, in the namespace of Argo CD.
pub(crate) const CONTROLLER: &str = "controller";
/// The same in a namespace of its own.
pub(crate) const ELSEWHERE: &str = "elsewhere";
/// The name that RBAC knows it by.
pub(crate) const ELSEWHERE_ACCOUNT: &str =
    "system:serviceaccount:updater:argocd-image-updater-controller";

/// A server that is ready, and can be taken away for a while.
pub(crate) struct ApiServer {
    folder: PathBuf,
    programs: Programs,
    address: String,
    client: Client,
    arguments: Vec<String>,
    server: Mutex<Option<Process>>,
    _store: Process,
}

impl ApiServer {
    /// Builds the programs if need be, and starts them.
    pub(super) async fn start(folder: &Path, ports: &mut Ports) -> Result<Self> {
        let programs = MODULE.build().await?;
        let (store, store_address) = start_store(&programs, folder, ports).await?;
        let address = format!("127.0.0.1:{}", ports.free()?);
        let arguments = configure(&programs, folder, &store_address, &address)?;
        let mut server = Self {
            folder: folder.to_owned(),
            programs,
            address,
            client: Client::new(),
            arguments,
            server: Mutex::new(None),
            _store: store,
        };
        server.resume().await?;
        server.client = server.trusting_client()?;
        server.ready().await?;
        for user in USERS {
            server.write_kubeconfig(user.0)?;
        }
        Ok(server)
    }

    /// Starts the server again after [`Self::pause`], at the same address.
    pub(crate) async fn resume(&self) -> Result<()> {
        let mut command = Command::new(self.programs.path("kube-apiserver"));
        let mut server =
            Process::start("kube-apiserver", command.args(&self.arguments), &self.folder)?;
        server.ready(READY, async || TcpStream::connect(&self.address).await.is_ok()).await?;
        *self.server.lock().await = Some(server);
        Ok(())
    }

    /// Takes the server away; its store stays.
    pub(crate) async fn pause(&self) {
        self.server.lock().await.take();
    }

    /// Waits until the server serves everything.
    pub(crate) async fn ready(&self) -> Result<()> {
        let url = format!("{}/readyz", self.url());
        let mut guard = self.server.lock().await;
        let server = guard.as_mut().context("the API server is paused")?;
        server
            .ready(READY, async || {
                let request = self.client.get(&url).bearer_auth("admin").send().await;
                request.is_ok_and(|answer| answer.status().is_success())
            })
            .await
    }

    /// A client that trusts its certificate, and is nobody yet.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// The base of its API, without a slash at the end.
    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The file that makes a client be this user: `admin`, [`CONTROLLER`] or [`ELSEWHERE`].
    pub(crate) fn kubeconfig(&self, user: &str) -> PathBuf {
        self.folder.join(format!("{user}.kubeconfig"))
    }

    /// The server signs its own certificate when it first starts.
    fn certificate(&self) -> PathBuf {
        self.folder.join("certificates/apiserver.crt")
    }

    fn trusting_client(&self) -> Result<Client> {
        let file = self.certificate();
        let pem =
            std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let certificates = Certificate::from_pem_bundle(&pem).context("not a certificate")?;
        let client = Client::builder().no_proxy().tls_certs_only(certificates);
        client.build().context("cannot make an HTTP client")
    }

    fn write_kubeconfig(&self, user: &str) -> Result<()> {
        let (url, certificate) = (self.url(), self.certificate());
        let text = format!(
            "apiVersion: v1
kind: Config
clusters:
- name: e2e
  cluster: {{server: '{url}', certificate-authority: '{}'}}
users:
- name: {user}
  user: {{token: {user}}}
contexts:
- name: e2e
  context: {{cluster: e2e, user: {user}, namespace: argocd}}
current-context: e2e
",
            certificate.display()
        );
        write(&self.folder, &format!("{user}.kubeconfig"), &text)
    }
}

async fn start_store(
    programs: &Programs,
    folder: &Path,
    ports: &mut Ports,
) -> Result<(Process, String)> {
    let address = format!("127.0.0.1:{}", ports.free()?);
    let (client, peer) =
        (format!("http://{address}"), format!("http://127.0.0.1:{}", ports.free()?));
    let mut command = Command::new(programs.path("etcd"));
    command.arg("--data-dir").arg(folder.join("etcd"));
    command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
    command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
    command.args(["--initial-cluster", &format!("default={peer}"), "--log-level", "warn"]);
    // What is written here need not outlive a power failure.
    command.arg("--unsafe-no-fsync");
    let mut store = Process::start("etcd", &mut command, folder)?;
    store.ready(START, async || TcpStream::connect(&address).await.is_ok()).await?;
    Ok((store, client))
}

/// Writes the files that the server wants; its arguments.
fn configure(
    programs: &Programs,
    folder: &Path,
    store: &str,
    address: &str,
) -> Result<Vec<String>> {
    let key =
        Command::new(programs.path("token-key")).output().context("cannot start token-key")?;
    ensure!(key.status.success(), "token-key ended with {}", key.status);
    write(folder, "token.key", &String::from_utf8(key.stdout).context("a key is text")?)?;
    let tokens =
        USERS.map(|(token, name, groups)| format!("{token},{name},{token},\"{groups}\"\n"));
    write(folder, "tokens.csv", &tokens.concat())?;
    write(folder, "audit.yaml", audit::POLICY)?;
    let (host, port) = address.split_once(':').context("an address has a port")?;
    let file = |name: &str| folder.join(name).display().to_string();
    #[rustfmt::skip]
    let arguments = [
        ("etcd-servers", store.to_owned()),
        ("bind-address", host.to_owned()),
        ("secure-port", port.to_owned()),
        ("cert-dir", file("certificates")),
        ("service-account-key-file", file("token.key")),
        ("service-account-signing-key-file", file("token.key")),
        ("service-account-issuer", "https://kubernetes.default.svc".to_owned()),
        ("token-auth-file", file("tokens.csv")),
        ("authorization-mode", "RBAC".to_owned()),
        ("service-cluster-ip-range", "10.0.0.0/24".to_owned()),
        ("disable-admission-plugins", "ServiceAccount".to_owned()),
        ("audit-policy-file", file("audit.yaml")),
        ("audit-log-path", file(audit::FILE)),
        // One request after another from few clients: fairness has nothing to share out.
        ("enable-priority-and-fairness", "false".to_owned()),
    ];
    Ok(arguments.into_iter().map(|(name, value)| format!("--{name}={value}")).collect())
}
