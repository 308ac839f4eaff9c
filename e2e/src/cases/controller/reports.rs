//! Scenarios S1.1 and S1.2 of 00: date tags into the parameters of a chart, and a check at once.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::super::World;
use super::stage::{PREFIX, Stage};
use crate::program::Program;

const NAME: &str = "registry.example.com/s11/shop";

/// Scenario S1.1.
pub(super) async fn date_tags(world: &World, program: &Program) -> Result<()> {
    let (stage, server) = (Stage::prepare(world, program, "s1-1").await?, &world.peers.kubernetes);
    let registry = &world.peers.registry;
    registry.push("s11/shop", &["20260101-090000", "20260102-090000", "latest", "cache"]).await?;
    server.create(&stage.application(""), &shop()).await?;
    stage.create_application("plain", "registry.example.com/s11/plain:1", Value::Null).await?;
    let everything = json!({"applicationRefs": [{"namePattern": "*", "useAnnotations": true}]});
    stage.create_updater("annotated", everything).await?;
    let mut expected = server.get(&stage.application("shop")).await?["spec"].clone();

    for (index, tag) in ["20260102-090000", "20260103-090000"].into_iter().enumerate() {
        let said = stage.clean_pass(&format!("pass-{index}"), &[]).await?;
        expected["source"]["helm"]["parameters"][1]["value"] = json!(tag);
        let found = server.get(&stage.application("shop")).await?["spec"].clone();
        ensure!(found == expected, "found {found}, expected {expected}{said}");
        // One that asks for nothing is passed over.
        ensure!(!said.contains("s1-1/plain"), "a line for 'plain'{said}");
        let status = server.get(&stage.updater("annotated")).await?["status"].clone();
        ensure!(status["applicationsMatched"] == 1 && status["imagesManaged"] == 1, "{status}");
        let tags = ["20260101-090000", "20260102-090000", "20260103-090000"];
        registry.push("s11/shop", &tags).await?;
    }
    Ok(())
}

fn shop() -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": "shop", "annotations": {
            format!("{PREFIX}/image-list"): format!("app={NAME}"),
            format!("{PREFIX}/app.update-strategy"): "latest",
            format!("{PREFIX}/app.allow-tags"): "regexp:^[0-9]{8}-[0-9]{6}$",
            format!("{PREFIX}/write-back-method"): "argocd",
            format!("{PREFIX}/app.helm.image-name"): "image.repository",
            format!("{PREFIX}/app.helm.image-tag"): "image.tag",
        }},
        "spec": {
            "project": "default",
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"},
            "source": {
                "repoURL": "https://git.example.com/shop", "path": "argocd", "targetRevision": "main",
                "helm": {"valueFiles": ["values.yaml"], "parameters": [
                    {"name": "image.repository", "value": NAME, "forceString": true},
                    {"name": "image.tag", "value": "20260101-090000", "forceString": true},
                ]},
            },
            "syncPolicy": {"automated": {"prune": true, "selfHeal": true}, "syncOptions": ["CreateNamespace=true"]},
        },
        "status": {"sourceType": "Helm", "summary": {"images": [format!("{NAME}:20260101-090000")]}},
    })
}

/// Scenario S1.2: a new value of `refresh` makes a pass at once, whatever the interval.
pub(super) async fn refresh(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "s1-2").await?;
    let registry = &world.peers.registry;
    registry.push("s12/web", &["1.0.0"]).await?;
    let image = |tag: &str| format!("registry.example.com/s12/web:{tag}");
    let annotations = json!({format!("{PREFIX}/image-list"): "web=registry.example.com/s12/web"});
    stage.create_application("web", &image("1.0.0"), annotations).await?;
    let mut controller = stage.start("controller", &["--interval=1h"])?;
    stage.says(&mut controller, "Processing results: applications=1").await?;
    for (value, tag) in [("now", "1.1.0"), ("again", "1.2.0")] {
        registry.push("s12/web", &[tag]).await?;
        let refresh = json!({format!("{PREFIX}/refresh"): value});
        stage.merge_application("web", &json!({"metadata": {"annotations": refresh}})).await?;
        stage.until_image(&mut controller, "web", &image(tag)).await?;
    }
    Ok(())
}
