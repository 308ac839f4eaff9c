//! Rows of spec 21 about the loop itself: what it does with which list of resources, and with
//! their finalizers.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::stage::{PREFIX, Stage};
use super::updates::selects;
use crate::process::{Process, Signal};
use crate::program::Program;

const THEIRS: &str = "example.com/theirs";

/// Spec 21 §2, rows 2 and 11; §2.2, rows 1 to 6; §2.3, rows 1 and 2.
pub(super) async fn of_the_loop(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "rows").await?;
    world.peers.registry.push("rows/web", &["1.0.0"]).await?;
    nothing_there(&stage).await?;
    let image = "registry.example.com/rows/web";
    for app in ["cr1", "cr2"] {
        stage.create_application(app, &format!("{image}:1.0.0"), Value::Null).await?;
    }
    stage.create_updater("cr1", selects("cr1", image)).await?;
    warmed(
        &stage,
        "one",
        &[
            "Processing 1 ImageUpdater CRs (warmUp: true, webhook: false)",
            "Successfully processed all 1 ImageUpdater CRs",
        ],
    )
    .await?;
    stage.create_updater("cr2", selects("cr2", image)).await?;
    warmed(
        &stage,
        "two",
        &[
            "Found 2 ImageUpdater CRs to process for cache warm-up.",
            "Successfully processed all 2 ImageUpdater CRs",
        ],
    )
    .await?;
    stage.create_updater("invalid", selects("[", image)).await?;
    warmed(&stage, "three", &[
        "Failed to process ImageUpdater CRs during warm-up: failed to process 1 ImageUpdater CRs: [CR rows/invalid: invalid application name pattern '[': syntax error in pattern]",
    ])
    .await?;
    deleted_and_kept(&stage).await
}

/// An empty list: told, ready, and going on; with `--once` it ends at once.
async fn nothing_there(stage: &Stage<'_>) -> Result<()> {
    let mut waits = stage.start("waits", &["--interval", "1h"])?;
    for words in [
        "No ImageUpdater CRs to process",
        "Readiness state set to 'true'",
        "Finished cache warm-up.",
    ] {
        stage.says(&mut waits, words).await?;
    }
    ensure!(waits.status()?.is_none(), "it ended{}", waits.said());
    ensure!(!waits.said().contains("shutting down manager"), "it stops{}", waits.said());
    drop(waits);
    let said = stage.clean_pass("nothing", &[]).await?;
    let words = "No CRs found in run-once mode - will stop immediately";
    ensure!(said.contains(words), "no line '{words}'{said}");
    Ok(())
}

/// What the warm-up says of the resources that are there; none ends the process.
async fn warmed(stage: &Stage<'_>, run: &str, lines: &[&str]) -> Result<()> {
    let mut controller = stage.start(run, &["--interval", "1h"])?;
    stage.says(&mut controller, "Finished cache warm-up.").await?;
    stage.says(&mut controller, "Processing results:").await?;
    for line in lines {
        ensure!(controller.said().contains(line), "no line '{line}'{}", controller.said());
    }
    Ok(())
}

/// Finalizers of others keep their place and outlive ours; a deleted resource is not looked at again.
async fn deleted_and_kept(stage: &Stage<'_>) -> Result<()> {
    let server = &stage.world.peers.kubernetes;
    let object = json!({
        "apiVersion": format!("{PREFIX}/v1alpha1"), "kind": "ImageUpdater",
        "metadata": {"name": "shared", "finalizers": [THEIRS]},
        "spec": selects("none-*", "registry.example.com/rows/web"),
    });
    server.create(&stage.updater(""), &object).await?;
    let mut controller = stage.start("controller", &["--interval", "1s"])?;
    let passes = |process: &Process, name: &str| {
        let field = format!("imageUpdater_name={name}");
        let said = process.said();
        let starts = said.lines().filter(|line| line.contains("Starting reconciliation"));
        starts.filter(|line| line.contains(&field)).count()
    };
    stage.until("two passes", &mut controller, async |p| Ok(passes(p, "shared") >= 2)).await?;
    let finalizers = async || {
        let object = server.get(&stage.updater("shared")).await?;
        Ok::<_, anyhow::Error>(object["metadata"]["finalizers"].to_string())
    };
    let ours = format!("resources-finalizer.{PREFIX}");
    same("row 11", &finalizers().await?, &json!([THEIRS, ours]).to_string())?;

    stage.delete(&stage.updater("shared")).await?;
    let theirs = json!([THEIRS]).to_string();
    stage
        .until("ours is gone", &mut controller, async |_| Ok(finalizers().await? == theirs))
        .await?;
    server.merge(&stage.updater("shared"), &json!({"metadata": {"finalizers": null}})).await?;
    // Row 2: from here on it is nobody's business, and the others go on.
    stage
        .until("it is forgotten", &mut controller, async |p| {
            let (before, others) = (passes(p, "shared"), passes(p, "cr1"));
            let mut turns = 0;
            while passes(p, "cr1") < others + 2 && turns < 600 {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                turns += 1;
            }
            Ok(passes(p, "shared") == before && passes(p, "cr1") >= others + 2)
        })
        .await?;
    controller.signal(Signal::TERM)?;
    let status = controller.ended(std::time::Duration::from_mins(1)).await?;
    let code = status.code().context("a code")?;
    ensure!(code == 0, "ended with {code}{}", controller.said());
    Ok(())
}
