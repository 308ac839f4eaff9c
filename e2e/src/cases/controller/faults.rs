//! What goes wrong around the controller, and what it does about it.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::stage::Stage;
use super::updates::selects;
use crate::peers::{CONTROLLER, contender};
use crate::process::Signal;
use crate::program::Program;

/// The lease of the original.
const LEASE: &str = "c21b75f2.argoproj.io";

/// Where it is.
fn lease(namespace: &str) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{LEASE}")
}

/// A broken resource is told in its own condition and stops nobody else (spec 21 §12); a deletion
/// is let go.
pub(super) async fn broken_resource(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "broken").await?;
    world.peers.registry.push("broken/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/broken/web:{tag}");
    stage.create_application("web", &image("1.0.0"), Value::Null).await?;
    stage.create_updater("bad", selects("foo[bar", "registry.example.com/broken/web")).await?;
    stage.create_updater("good", selects("web", "registry.example.com/broken/web:~1.0")).await?;
    let mut controller = stage.start("controller", &["--interval", "1h"])?;
    stage.until_image(&mut controller, "web", &image("1.0.1")).await?;
    let good = stage.updater("good");
    stage
        .until("both have a status", &mut controller, async |_| {
            let server = &world.peers.kubernetes;
            let bad = server.get(&stage.updater("bad")).await?;
            let good = server.get(&good).await?;
            Ok(!bad["status"]["conditions"].is_null() && !good["status"]["conditions"].is_null())
        })
        .await?;
    let text = "invalid application name pattern 'foo[bar': syntax error in pattern";
    same(
        "Error",
        &stage.condition("bad", "Error").await?,
        &format!("True ReconcileError: {text}"),
    )?;
    let ready = format!("False ReconcileFailed: Reconciliation failed: {text}");
    same("Ready", &stage.condition("bad", "Ready").await?, &ready)?;
    ensure!(stage.condition("good", "Ready").await?.starts_with("True "), "good is not ready");

    stage.delete(&stage.updater("bad")).await?;
    let gone = stage.updater("bad");
    stage
        .until("the deleted one is gone", &mut controller, async |_| {
            let server = &world.peers.kubernetes;
            Ok(server.request("admin", reqwest::Method::GET, &gone, None).await?.0 == 404)
        })
        .await
}

/// Permissions that lack the patch: the finding names verb and resource, the condition counts it.
pub(super) async fn narrow_permissions(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "narrow").await?;
    world.peers.registry.push("narrow/web", &["1.0.0", "1.0.1"]).await?;
    let image = "registry.example.com/narrow/web:1.0.0";
    stage.create_application("web", image, Value::Null).await?;
    stage.create_updater("u", selects("web", "registry.example.com/narrow/web:~1.0")).await?;
    let role = "/apis/rbac.authorization.k8s.io/v1/namespaces/narrow/roles/argocd-image-updater-manager-role";
    let server = &world.peers.kubernetes;
    let mut rules = server.get(role).await?["rules"].clone();
    for rule in rules.as_array_mut().context("a role has rules")? {
        if rule["apiGroups"] == json!(["argoproj.io"]) {
            rule["verbs"] = json!(["get", "list", "watch"]);
        }
    }
    server.merge(role, &json!({"rules": rules})).await?;
    let run = stage.once("pass", &[]).await?;
    ensure!(run.code == Some(1), "ended with {:?}{}", run.code, run.said);
    let words = "allow the verb 'patch' on applications.argoproj.io";
    ensure!(run.said.contains("reason=Forbidden") && run.said.contains(words), "{}", run.said);
    same("image", &stage.image("web").await?, image)?;
    let ready = "True ReconcileCompletedWithErrors: Reconciled 1 applications with 1 errors, 0 images updated.";
    same("Ready", &stage.condition("u", "Ready").await?, ready)?;
    let events = stage.events().await?;
    ensure!(events.iter().any(|event| event.starts_with("web Warning Forbidden: ")), "{events:?}");
    Ok(())
}

/// The API server goes away while the controller runs, and comes back.
pub(super) async fn server_away(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "away").await?;
    let registry = &world.peers.registry;
    registry.push("away/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/away/web:{tag}");
    stage.create_application("web", &image("1.0.0"), Value::Null).await?;
    stage.create_updater("u", selects("web", "registry.example.com/away/web:~1.0")).await?;
    let mut controller = stage.start("controller", &["--interval", "1s"])?;
    stage.until_image(&mut controller, "web", &image("1.0.1")).await?;
    let server = &world.peers.kubernetes;
    server.pause().await;
    let outcome = stage.says(&mut controller, "the API server cannot be reached").await;
    server.resume().await?;
    server.ready().await?;
    outcome?;
    registry.push("away/web", &["1.0.2"]).await?;
    stage.until_image(&mut controller, "web", &image("1.0.2")).await?;
    // What is new after the absence is seen too.
    stage.create_application("web-2", &image("1.0.0"), Value::Null).await?;
    stage.create_updater("v", selects("web-2", "registry.example.com/away/web:~1.0")).await?;
    stage.until_image(&mut controller, "web-2", &image("1.0.2")).await?;
    controller.signal(Signal::TERM)?;
    let status = controller.ended(std::time::Duration::from_mins(1)).await?;
    ensure!(status.code() == Some(0), "ended with {status}{}", controller.said());
    Ok(())
}

/// Lets the controller have leases in its namespace, as the install manifests do in its own.
pub(super) async fn may_lead(stage: &Stage<'_>) -> Result<()> {
    let role = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/rbac/leader_election_role.yaml");
    let server = &stage.world.peers.kubernetes;
    server.kubectl_do(&["apply", "-n", stage.namespace, "-f", role]).await?;
    let bind = ["create", "rolebinding", "leaders", "-n", stage.namespace];
    let to = [
        "--role=argocd-image-updater-leader-election-role",
        "--serviceaccount=argocd:argocd-image-updater-controller",
    ];
    server.kubectl_do(&[&bind[..], &to[..]].concat()).await.map(drop)
}

/// The original's election and ours contend for one lease, both ways: never two holders.
pub(super) async fn swap(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "swap").await?;
    may_lead(&stage).await?;
    let kubeconfig = world.peers.kubernetes.kubeconfig(CONTROLLER);
    let original =
        async |name: &str| contender::start(&kubeconfig, "swap", LEASE, name, &stage.folder).await;
    let words = ["--leader-election-namespace", "swap", "--interval", "1h"];
    let (leads, waits) = ("successfully acquired lease", "attempting to acquire leader lease");
    let server = &world.peers.kubernetes;
    let holder = async || {
        let holder = server.get(&lease("swap")).await?["spec"]["holderIdentity"].clone();
        Ok::<_, anyhow::Error>(holder.as_str().unwrap_or_default().to_owned())
    };

    let mut first = original("original-1").await?;
    stage.says(&mut first, "leading").await?;
    let mut ours = stage.start("ours-1", &words)?;
    stage.says(&mut ours, waits).await?;
    let renewed = async || {
        Ok::<_, anyhow::Error>(server.get(&lease("swap")).await?["spec"]["renewTime"].clone())
    };
    let before = renewed().await?;
    stage
        .until("the original renews", &mut first, async |_| Ok(renewed().await? != before))
        .await?;
    ensure!(!ours.said().contains(leads), "two holders{}", ours.said());
    same("holder", &holder().await?, "original-1")?;
    // Killed: its time must run out first.
    first.signal(Signal::KILL)?;
    stage.says(&mut ours, leads).await?;
    ensure!(holder().await? != "original-1", "the record still names the killed one");

    let mut second = original("original-2").await?;
    let before = renewed().await?;
    stage.until("ours renews", &mut ours, async |_| Ok(renewed().await? != before)).await?;
    ensure!(!second.said().contains("leading"), "two holders{}", second.said());
    // Stopped in order: it is given back.
    ours.signal(Signal::TERM)?;
    stage.says(&mut second, "leading").await?;
    let mut ours = stage.start("ours-2", &words)?;
    stage.says(&mut ours, waits).await?;
    ensure!(!ours.said().contains(leads), "two holders{}", ours.said());
    second.signal(Signal::TERM)?;
    stage.says(&mut ours, leads).await?;
    let transitions = server.get(&lease("swap")).await?["spec"]["leaseTransitions"].clone();
    ensure!(transitions == 3, "{transitions} transitions");
    Ok(())
}

/// Two replicas: one works; when it is killed the other takes over, and nothing is written twice.
pub(super) async fn two_replicas(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "replicas").await?;
    let server = &world.peers.kubernetes;
    may_lead(&stage).await?;
    let registry = &world.peers.registry;
    registry.push("replicas/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/replicas/web:{tag}");
    stage.create_application("web", &image("1.0.0"), Value::Null).await?;
    stage.create_updater("u", selects("web", "registry.example.com/replicas/web:~1.0")).await?;
    let words = ["--leader-election-namespace", "replicas", "--interval", "1s"];
    let mut first = stage.start("first", &words)?;
    stage.says(&mut first, "successfully acquired lease").await?;
    let mut second = stage.start("second", &words)?;
    stage.says(&mut second, "attempting to acquire leader lease").await?;
    stage.until_image(&mut first, "web", &image("1.0.1")).await?;
    ensure!(!second.said().contains("Starting reconciliation"), "both work{}", second.said());
    let before = server.get(&lease("replicas")).await?;

    first.signal(Signal::KILL)?;
    registry.push("replicas/web", &["1.0.2"]).await?;
    stage.until_image(&mut second, "web", &image("1.0.2")).await?;
    let after = server.get(&lease("replicas")).await?;
    let (before, after) = (&before["spec"], &after["spec"]);
    ensure!(before["holderIdentity"] != after["holderIdentity"], "{before} {after}");
    ensure!(before["leaseTransitions"] == 0 && after["leaseTransitions"] == 1, "{before} {after}");
    let generation = stage.generation("web").await?;
    ensure!(
        generation == 3,
        "written {} times, not twice: {}",
        generation - 1,
        stage.asked()?.shown()
    );

    // Whoever stops in order gives the lease back.
    second.signal(Signal::TERM)?;
    let status = second.ended(std::time::Duration::from_mins(1)).await?;
    ensure!(status.code() == Some(0), "ended with {status}{}", second.said());
    let released = server.get(&lease("replicas")).await?;
    ensure!(released["spec"]["holderIdentity"] == "", "{released}");
    Ok(())
}
