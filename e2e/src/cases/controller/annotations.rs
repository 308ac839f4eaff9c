//! Annotations without a resource: the rows of spec 40 B1 by their numbers.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::stage::{PREFIX, Stage};
use super::updates::selects;
use crate::program::Program;

const OLD: &str = "registry.example.com/notes/web:1.0.0";
const NEW: &str = "registry.example.com/notes/web:1.0.1";

fn annotated() -> Value {
    json!({format!("{PREFIX}/image-list"): "web=registry.example.com/notes/web:~1.0"})
}

/// Row 7, and with `never` the sentence of 40 B1. It comes before anything installs the kind.
pub(super) async fn without_definition(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::without_definition(world, program, "no-definition").await?;
    let kind = "imageupdaters.argocd-image-updater.argoproj.io";
    let crds = world.peers.kubernetes.kubectl_do(&["get", "crd", "-o", "name"]).await?;
    ensure!(!crds.contains(kind), "the kind is installed already:\n{crds}");
    world.peers.registry.push("notes/web", &["1.0.0", "1.0.1"]).await?;
    stage.create_application("web", OLD, annotated()).await?;
    let said = stage.clean_pass("auto", &[]).await?;
    same("row 7", &stage.image("web").await?, NEW)?;
    let warnings = said.matches("the CustomResourceDefinition is not installed").count();
    ensure!(warnings == 1, "{warnings} warnings in{said}");
    let run = stage.once("never", &["--annotation-mode", "never"]).await?;
    ensure!(
        run.code == Some(1) && run.said.contains("kubectl apply"),
        "{:?}{}",
        run.code,
        run.said
    );
    Ok(())
}

/// Rows 1 to 6.
pub(super) async fn rows(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "notes").await?;
    world.peers.registry.push("notes/web", &["1.0.0", "1.0.1"]).await?;
    stage.create_application("plain", OLD, Value::Null).await?;
    stage.create_application("first", OLD, annotated()).await?;

    // Row 5: as the original, but it is said.
    let said = stage.clean_pass("never", &["--annotation-mode", "never"]).await?;
    same("row 5", &stage.image("first").await?, OLD)?;
    ensure!(said.contains("No ImageUpdater CRs to process"), "row 5{said}");
    let told = stage.events().await?;
    ensure!(told.len() == 1 && told[0].starts_with("first Warning AnnotationsNotRead"), "{told:?}");

    // Rows 1 and 2.
    let said = stage.clean_pass("auto", &[]).await?;
    same("row 1", &stage.image("first").await?, NEW)?;
    same("row 2", &stage.image("plain").await?, OLD)?;
    ensure!(said.contains("applications=1 images_considered=1"), "row 2{said}");
    ensure!(said.contains("imageUpdater_name=annotations"), "row 1{said}");
    let events = stage.events().await?;
    ensure!(
        events.iter().any(|event| event.starts_with("first Normal ImagesUpdated")),
        "{events:?}"
    );
    ensure!(!events.iter().any(|event| event.starts_with("plain ")), "row 2: {events:?}");

    // Row 6: the first resource ends it, while it runs.
    stage.create_application("second", OLD, annotated()).await?;
    let mut controller = stage.start("running", &["--interval", "1h"])?;
    stage.until_image(&mut controller, "second", NEW).await?;
    stage.create_updater("u", selects("plain", "registry.example.com/notes/web:~1.0")).await?;
    stage.says(&mut controller, "An ImageUpdater exists now").await?;
    stage.says(&mut controller, "2 annotated application(s)").await?;
    stage.until_image(&mut controller, "plain", NEW).await?;
    drop(controller);

    // Row 3: no longer read, which is said with what to paste.
    stage.create_application("third", OLD, annotated()).await?;
    let said = stage.clean_pass("auto-with-one", &[]).await?;
    same("row 3", &stage.image("third").await?, OLD)?;
    ensure!(said.contains("{namePattern: third, useAnnotations: true}"), "row 3{said}");

    // Row 4: the resource's own Applications follow it alone.
    let foreign =
        json!({"metadata": {"annotations": {format!("{PREFIX}/image-list"): "x=nobody/knows"}}});
    stage.merge_application("plain", &foreign).await?;
    let said = stage.clean_pass("always", &["--annotation-mode", "always"]).await?;
    same("row 4", &stage.image("third").await?, NEW)?;
    ensure!(!said.contains("nobody/knows"), "row 4{said}");
    Ok(())
}
