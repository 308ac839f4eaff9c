//! Who the program is for a remote, and whether the remote is whom it takes it for.

use anyhow::Result;

use super::stage::{KUSTOMIZATION, Stage};
use super::{Given, Remote};
use crate::peers::{PASSWORD, USER};

/// Argo CD's ConfigMap of known hosts, and the key in it.
const KNOWN_HOSTS: (&str, &str) = ("argocd-ssh-known-hosts-cm", "ssh_known_hosts");

/// A key of an Argo CD repository Secret and Argo CD's known hosts; then wrong ones.
pub(super) async fn over_ssh(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("ssh")?;
    let remote = given.ssh_remote("ssh.git").await?;
    let tip = remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    stage.simple("web", &remote.url, &[])?;
    let ssh = &given.ssh;
    let nobody = "other.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINobodyKnowsThisKeyAtAllNobodyKnowsThis0".to_owned();
    let unknown = [
        "GitHostKeyUnknown",
        "could not be verified",
        "add the host to the known hosts (ConfigMap argocd-ssh-known-hosts-cm",
    ];
    let refused = ["GitUnauthorized", "Permission denied (publickey)", "Secret argocd/creds"];
    let rows = [
        ("client", nobody, unknown),
        ("client", ssh.known_as("stranger")?, unknown),
        ("stranger", ssh.known_as("host")?, refused),
    ];
    for (key, known, words) in rows {
        ssh_key(&stage, given, &remote, key)?;
        stage.config_map(KNOWN_HOSTS.0, KNOWN_HOSTS.1, &known)?;
        stage.pass(1, &[]).await?.has(&words)?;
        remote.unchanged("main", &tip).await?;
    }
    ssh_key(&stage, given, &remote, "client")?;
    stage.config_map(KNOWN_HOSTS.0, KNOWN_HOSTS.1, &ssh.known_as("host")?)?;
    stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
    stage.was_seen("ssh")?;
    remote.one_commit("main", &tip, "p/kustomization.yaml").await
}

fn ssh_key(stage: &Stage<'_>, given: &Given<'_>, remote: &Remote, key: &str) -> Result<()> {
    let key = given.ssh.private_key(key)?;
    stage.secret("repository", &[("type", "git"), ("url", &remote.url), ("sshPrivateKey", &key)])
}

/// A password of a repository Secret, or of a template of them; and a certificate of an authority
/// that only Argo CD's ConfigMap knows. Then wrong ones.
pub(super) async fn over_tls(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("tls")?;
    stage.keep_secret("wr0ng-s3cret");
    let remote = given.https_remote("tls.git").await?;
    let tip = remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    stage.simple("web", &remote.url, &[])?;
    let login = |password| [("url", &*remote.url), ("username", USER), ("password", password)];

    stage.secret("repository", &login("wr0ng-s3cret"))?;
    let refused = ["GitUnauthorized", "repository Secret argocd/creds"];
    stage.pass(1, &[]).await?.has(&refused)?;
    stage.was_seen("git-remote-http")?;

    stage.secret("repository", &login(PASSWORD))?;
    stage.config_map("argocd-tls-certs-cm", "elsewhere.example.com", given.https.authority())?;
    stage.pass(1, &[]).await?.has(&["GitUnreachable", "certificate"])?;
    remote.unchanged("main", &tip).await?;

    stage.config_map("argocd-tls-certs-cm", "127.0.0.1", given.https.authority())?;
    stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
    stage.was_seen("git-remote-http")?;
    remote.one_commit("main", &tip, "p/kustomization.yaml").await?;

    let other = given.https_remote("template.git").await?;
    let tip = other.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    stage.simple("web", &other.url, &[])?;
    let server = given.https.url();
    stage.secret("repo-creds", &[("url", &server), ("username", USER), ("password", PASSWORD)])?;
    stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
    other.one_commit("main", &tip, "p/kustomization.yaml").await
}
