//! Rights beside those of an Application's pass, taken away one by one: finalizers, the lease, what
//! Argo CD knows of git, and the questions about who may see metrics.

use anyhow::{Context, Result, ensure};
use reqwest::Client;
use serde_json::{Value, json};

use super::super::World;
use super::commits;
use super::faults::may_lead;
use super::installed::{CREDENTIALS, MANAGER, without};
use super::stage::Stage;
use super::updates::selects;
use crate::peers::ELSEWHERE;
use crate::process::{Process, Signal};
use crate::program::Program;

const ELECTION: &str = "argocd-image-updater-leader-election-role";

/// Runs all of them.
pub(super) async fn of_the_rest(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "rights-2").await?;
    finalizers(&stage).await?;
    git(&stage).await?;
    lease(&stage).await?;
    metrics(&stage).await
}

/// The sentence that names a right.
fn needs(verb: &str, resource: &str) -> String {
    format!("let a Role of this controller's service account allow the verb '{verb}' on {resource}")
}

/// Does something while a role lacks a verb.
async fn lacking<T>(
    stage: &Stage<'_>,
    (role, resource, verb): (&str, &str, &str),
    work: impl AsyncFnOnce() -> Result<T>,
) -> Result<T> {
    let server = &stage.world.peers.kubernetes;
    let namespace = stage.namespace;
    let path = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles/{role}");
    let rules = server.get(&path).await?["rules"].clone();
    server.merge(&path, &json!({"rules": without(&rules, resource, verb)?})).await?;
    let outcome = work().await.with_context(|| format!("without {verb} {resource}"));
    server.merge(&path, &json!({"rules": rules})).await?;
    outcome
}

async fn finalizers(stage: &Stage<'_>) -> Result<()> {
    stage.create_updater("u", selects("none", "registry.example.com/rights/web")).await?;
    let right = (MANAGER, "imageupdaters", "patch");
    let said =
        lacking(stage, right, async || Ok(stage.once("finalizers", &[]).await?.said)).await?;
    let words = "Failed to add finalizer: the API server forbids it: ";
    ensure!(said.contains(words), "no '{words}' in{said}");
    let needed = needs("patch", "imageupdaters.argocd-image-updater.argoproj.io");
    ensure!(said.contains(&needed), "no '{needed}' in{said}");
    stage.delete(&stage.updater("u")).await
}

/// Argo CD's Secrets and `ConfigMap`s: who may not list Secrets pushes nothing; who may not watch
/// them asks pass by pass.
async fn git(stage: &Stage<'_>) -> Result<()> {
    let pushed = commits::seed(stage, "rights-git").await?;
    let list = (CREDENTIALS, "secrets", "list");
    let run = lacking(stage, list, async || stage.once("list", &[]).await).await?;
    ensure!(run.code == Some(1), "ended with {:?}{}", run.code, run.said);
    ensure!(run.said.contains("reason=Forbidden"), "{}", run.said);
    for needed in [needs("list", "secrets"), needs("list", "configmaps")] {
        ensure!(run.said.contains(&needed), "no '{needed}' in{}", run.said);
    }
    ensure!(pushed().await? == 1, "pushed all the same");

    let watch = (CREDENTIALS, "secrets", "watch");
    lacking(stage, watch, async || {
        let mut controller = stage.start("watch", &["--interval", "1s"])?;
        for needed in [needs("watch", "secrets"), needs("watch", "configmaps")] {
            stage.says(&mut controller, &needed).await?;
        }
        stage.until("a commit", &mut controller, async |_| Ok(pushed().await? == 2)).await
    })
    .await
}

/// Each verb of the election's Role that the election uses.
async fn lease(stage: &Stage<'_>) -> Result<()> {
    may_lead(stage).await?;
    let words =
        ["--leader-election-namespace", stage.namespace, "--interval", "1h", "--leader-election"];
    let lead = async |run: &str| -> Result<Process> {
        let mut controller = stage.start(run, &words)?;
        stage.says(&mut controller, "successfully acquired lease").await?;
        Ok(controller)
    };
    let told = async |verb: &str| {
        lacking(stage, (ELECTION, "leases", verb), async || {
            let mut controller = stage.start(&format!("lease-{verb}"), &words)?;
            let needed = needs(verb, "leases.coordination.k8s.io");
            stage.says(&mut controller, "error retrieving resource lock").await?;
            stage.says(&mut controller, &needed).await
        })
        .await
    };
    told("get").await?;
    told("create").await?;
    // One that is given back is there to be updated.
    let mut leader = lead("leader").await?;
    leader.signal(Signal::TERM)?;
    leader.ended(std::time::Duration::from_mins(1)).await?;
    told("update").await?;
    lead("leader-again").await.map(drop)
}

/// Who asks for metrics cannot be asked of the cluster: nobody is let in, and the log says why.
async fn metrics(stage: &Stage<'_>) -> Result<()> {
    let server = &stage.world.peers.kubernetes;
    let role = |resources: &Value| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "rights-2-metrics"}, "rules": resources,
        })
    };
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    server.create(roles, &role(&json!([]))).await?;
    let binding =
        ["create", "clusterrolebinding", "rights-2-metrics", "--clusterrole=rights-2-metrics"];
    let to = ["--serviceaccount=updater:argocd-image-updater-controller"];
    server.kubectl_do(&[&binding[..], &to[..]].concat()).await?;
    let kubeconfig = server.kubeconfig(ELSEWHERE).display().to_string();
    let words = ["--kubeconfig", &kubeconfig, "--metrics-bind-address", "127.0.0.1:0"];
    let mut controller = stage.start("metrics", &words)?;
    stage.says(&mut controller, "Serving metrics server").await?;
    let said = controller.said();
    let address = said.split("bindAddress=\"").nth(1).and_then(|rest| rest.split('"').next());
    let url = format!("https://{}/metrics", address.context("the log names the address")?);
    let client = Client::builder().danger_accept_invalid_certs(true).no_proxy().build()?;
    let scrape = async || {
        let answer = client.get(&url).bearer_auth("admin").send().await?;
        Ok::<_, anyhow::Error>(answer.status().as_u16())
    };
    let tokens = json!({"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]});
    let access = json!({"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]});
    let path = format!("{roles}/rights-2-metrics");
    for (rules, missing) in [
        (json!([access]), "tokenreviews.authentication.k8s.io"),
        (json!([tokens]), "subjectaccessreviews.authorization.k8s.io"),
    ] {
        server.merge(&path, &json!({"rules": rules})).await?;
        let needed = needs("create", missing);
        stage
            .until(&needed, &mut controller, async |process| {
                ensure!(scrape().await? == 500, "let in without {missing}");
                Ok(process.said().contains(&needed))
            })
            .await?;
    }
    server.merge(&path, &json!({"rules": [tokens, access]})).await?;
    stage.until("the page", &mut controller, async |_| Ok(scrape().await? == 200)).await
}
