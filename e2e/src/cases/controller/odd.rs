//! Odd objects, and requests at odd moments: nothing crashes, and each is told what it is.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::admission::{CRD, install};
use super::super::{World, same};
use super::stage::{PREFIX, Stage};
use super::updates::selects;
use crate::process::Signal;
use crate::program::Program;

/// Spec 21 §2 with an interval below zero, and §5.1: a changed `refresh` is a request for one check.
pub(super) async fn when_asked(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "asked").await?;
    let registry = &world.peers.registry;
    registry.push("asked/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/asked/web:{tag}");
    let list = json!({format!("{PREFIX}/image-list"): format!("web={}", image("~1.0"))});
    stage.create_application("web", &image("1.0.0"), list).await?;
    let spec = json!({"applicationRefs": [{"namePattern": "web", "useAnnotations": true}]});
    stage.create_updater("u", spec).await?;

    let mut never = stage.start("never", &["--interval", "-1s"])?;
    stage.says(&mut never, "Requeue interval is not configured or below zero").await?;
    never.signal(Signal::TERM)?;
    never.ended(std::time::Duration::from_mins(1)).await?;
    let server = &world.peers.kubernetes;
    let object = server.get(&stage.updater("u")).await?;
    ensure!(object["metadata"]["finalizers"][0] == json!(format!("resources-finalizer.{PREFIX}")));
    ensure!(object["status"].is_null(), "a status without a check: {object}");
    same("web", &stage.image("web").await?, &image("1.0.0"))?;

    let mut controller = stage.start("controller", &["--interval", "1h"])?;
    stage.until_image(&mut controller, "web", &image("1.0.1")).await?;
    registry.push("asked/web", &["1.0.2"]).await?;
    let refresh = json!({"metadata": {"annotations": {format!("{PREFIX}/refresh"): "now"}}});
    stage.merge_application("web", &refresh).await?;
    stage.until_image(&mut controller, "web", &image("1.0.2")).await?;

    // A new generation makes it due as well; a status does not, or it would never rest.
    registry.push("asked/web", &["2.0.0"]).await?;
    let wider = json!({"metadata": {"annotations": {format!("{PREFIX}/image-list"): format!("web={}", image(">=1.0"))}}});
    stage.merge_application("web", &wider).await?;
    let before = stage.asked()?;
    let refs =
        json!({"spec": {"applicationRefs": [{"namePattern": "w*", "useAnnotations": true}]}});
    server.merge(&stage.updater("u"), &refs).await?;
    stage.until_image(&mut controller, "web", &image("2.0.0")).await?;
    stage
        .until("a status of the new generation", &mut controller, async |_| {
            let object = server.get(&stage.updater("u")).await?;
            Ok(object["status"]["observedGeneration"] == object["metadata"]["generation"])
        })
        .await?;
    let after = stage.asked()?.since(&before);
    ensure!(after.of("patch imageupdaters/status 200") == 1, "{}", after.shown());
    Ok(())
}

/// An Application is deleted, another gets a source of another kind, while the registry is asked:
/// neither is written, and both are told.
pub(super) async fn changed_meanwhile(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "meanwhile").await?;
    let registry = &world.peers.registry;
    registry.push("meanwhile/web", &["1.0.0", "1.0.1"]).await?;
    let image = "registry.example.com/meanwhile/web:1.0.0";
    stage.create_application("deleted", image, Value::Null).await?;
    stage.create_application("helm-now", image, Value::Null).await?;
    stage.create_updater("u", selects("*", "registry.example.com/meanwhile/web:~1.0")).await?;
    registry.hold()?;
    let outcome = async {
        let mut controller =
            stage.start("controller", &["--interval", "1h", "--warmup-cache=false"])?;
        stage.says(&mut controller, "Starting reconciliation for ImageUpdater resource.").await?;
        // As in the case of the conflict: the last of these comes after the pass has read.
        for turn in 0..30 {
            let spec = json!({"destination": {"name": format!("turn-{turn}")}});
            stage.merge_application("deleted", &json!({"spec": spec})).await?;
        }
        stage.delete(&stage.application("deleted")).await?;
        let helm = json!({"repoURL": "https://charts.example.com", "chart": "web", "kustomize": null, "helm": {}});
        let other = json!({"spec": {"source": helm}, "status": {"sourceType": "Helm"}});
        stage.merge_application("helm-now", &other).await?;
        registry.release()?;
        stage.says(&mut controller, "Processing results:").await?;
        Ok::<_, anyhow::Error>(controller.said())
    };
    let outcome = outcome.await;
    registry.release()?;
    let said = outcome?;
    for words in
        ["reason=ApplicationGone", "reason=ApplicationChanged", "images_updated=0 errors=2"]
    {
        ensure!(said.contains(words), "no {words} in{said}");
    }
    let application = world.peers.kubernetes.get(&stage.application("helm-now")).await?;
    ensure!(application["spec"]["source"]["helm"] == json!({}), "{application}");
    Ok(())
}

/// A resource that another version stored with a field of the wrong type, a list of five thousand
/// images, an annotation of 200 KB, and a Secret that comes later.
pub(super) async fn objects(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "odd").await?;
    world.peers.registry.push("odd/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/odd/web:{tag}");
    stage.create_application("web", &image("1.0.0"), Value::Null).await?;
    let list = (0..5_000).map(|number| format!("a{number}=registry.example.com/odd/x{number}"));
    let list = list.collect::<Vec<_>>().join(",");
    ensure!(list.len() > 150_000, "the list is too short to prove anything");
    let notes = json!({format!("{PREFIX}/image-list"): list});
    stage.create_application("listed", &image("1.0.0"), notes).await?;
    let notes = json!({"example.com/large": "x".repeat(200_000)});
    stage.create_application("large", &image("1.0.0"), notes).await?;

    stored_by_another_version(&stage).await?;
    let mut spec = selects("web", &image("~1.0"));
    spec["applicationRefs"][0]["commonUpdateSettings"] =
        json!({"pullSecret": "pullsecret:odd/later"});
    spec["applicationRefs"].as_array_mut().context("references")?.extend([
        json!({"namePattern": "listed", "useAnnotations": true}),
        json!({"namePattern": "large", "images": [{"alias": "web", "imageName": image("~1.0")}]}),
    ]);
    stage.create_updater("good", spec).await?;

    let run = stage.once("first", &[]).await?;
    ensure!(run.code == Some(1), "ended with {:?}{}", run.code, run.said);
    ensure!(run.said.contains("there is no Secret 'later' in namespace 'odd'"), "{}", run.said);
    same("large", &stage.image("large").await?, &image("1.0.1"))?;
    same("web", &stage.image("web").await?, &image("1.0.0"))?;
    let bad = stage.condition("bad", "Error").await?;
    ensure!(
        bad.starts_with("True ReconcileError: the spec of ImageUpdater odd/bad cannot be read"),
        "{bad}"
    );
    let good = stage.condition("good", "Ready").await?;
    ensure!(
        good.starts_with("True ReconcileCompletedWithErrors: Reconciled 3 applications"),
        "{good}"
    );

    let config = json!({"auths": {"registry.example.com": {"username": "ada", "password": "p"}}});
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "later"},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": config.to_string()},
    });
    world.peers.kubernetes.create("/api/v1/namespaces/odd/secrets", &secret).await?;
    let before = stage.asked()?;
    stage.once("second", &[]).await?;
    same("web", &stage.image("web").await?, &image("1.0.1"))?;
    let asked = stage.asked()?.since(&before);
    // The warm-up and the pass.
    ensure!(asked.of("get secrets 200") <= 2, "{}", asked.shown());
    Ok(())
}

/// Makes an object that today's definition would refuse, as one of a wider definition.
async fn stored_by_another_version(stage: &Stage<'_>) -> Result<()> {
    let server = &stage.world.peers.kubernetes;
    let name = "imageupdaters.argocd-image-updater.argoproj.io";
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    let mut versions = server.get(&path).await?["spec"]["versions"].clone();
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = anything;
    server.merge(&path, &json!({"spec": {"versions": versions}})).await?;
    let spec = json!({"applicationRefs": [{"namePattern": 1}]});
    // The server takes a moment to forget the narrower definition.
    let mut last = Ok(());
    for _ in 0..100 {
        last = stage.create_updater("bad", spec.clone()).await;
        if last.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    last?;
    server.kubectl_do(&["apply", "--server-side", "--force-conflicts", "-k", CRD]).await?;
    install(server).await
}
