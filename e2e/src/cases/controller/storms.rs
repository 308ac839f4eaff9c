//! A busy cluster: somebody is faster each time, watches end as too old, changes come by the
//! thousand. The answers are the real server's; what stands before it chooses the moment.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::stage::{PREFIX, Stage};
use super::updates::selects;
use crate::peers::{Between, CONTROLLER};
use crate::process::Process;
use crate::program::Program;

/// How often a patch is tried in one pass (spec 21 §8.2).
const ATTEMPTS: usize = 5;
const CONFLICTS: usize = 10;

/// Spec 21 §8.2, row 4: ten conflicts in a row are two passes that give up, and the third writes;
/// what the rival wrote stays.
pub(super) async fn conflicts(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "conflicts").await?;
    let between = Between::start(&world.peers.kubernetes, CONTROLLER, &stage.folder).await?;
    let registry = &world.peers.registry;
    registry.push("conflicts/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/conflicts/web:{tag}");
    stage.create_application("web", &image("1.0.0"), Value::Null).await?;
    stage.create_updater("u", selects("web", "registry.example.com/conflicts/web:~1.0")).await?;
    between.rivals(CONFLICTS);
    let kubeconfig = between.kubeconfig();
    let words = ["--kubeconfig", &kubeconfig, "--interval", "1s", "--warmup-cache=false"];
    let mut controller = stage.start("controller", &words)?;
    stage.until_image(&mut controller, "web", &image("1.0.1")).await?;
    let said = controller.said();
    let gave_up = "failed to update application spec for conflicts/web after retries: it was changed by others";
    let lines = said.lines().filter(|line| line.contains("level=error")).collect::<Vec<_>>();
    let passes = lines.iter().filter(|line| line.contains(gave_up)).count();
    ensure!(passes == CONFLICTS / ATTEMPTS, "{passes} passes gave up{said}");
    ensure!(said.contains("reason=WriteConflict"), "no reason{said}");
    let asked = stage.asked()?;
    let counts = ["patch applications 409", "patch applications 200"].map(|line| asked.of(line));
    ensure!(between.rival_writes() == CONFLICTS, "{} rivals", between.rival_writes());
    // The rival's own writes are another user's.
    ensure!(counts == [CONFLICTS, 1], "{counts:?}\n{}", asked.shown());
    let application = world.peers.kubernetes.get(&stage.application("web")).await?;
    let rival = format!("rival-{}", CONFLICTS - 1);
    ensure!(application["spec"]["destination"]["name"] == rival, "{application}");
    let events = stage.events().await?;
    ensure!(
        events.iter().any(|event| event.starts_with("web Warning WriteConflict: ")),
        "{events:?}"
    );
    Ok(())
}

/// A watch that the server has forgotten is listed anew: nothing is lost, and it is no trouble.
pub(super) async fn too_old(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "too-old").await?;
    let between = Between::start(&world.peers.kubernetes, CONTROLLER, &stage.folder).await?;
    let registry = &world.peers.registry;
    registry.push("old/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/old/web:{tag}");
    stage.create_application("web", &image("1.0.0"), Value::Null).await?;
    stage.create_updater("u", selects("web*", "registry.example.com/old/web:~1.0")).await?;
    let kubeconfig = between.kubeconfig();
    let words = ["--kubeconfig", &kubeconfig, "--interval", "1s"];
    let mut controller = stage.start("controller", &words)?;
    stage.until_image(&mut controller, "web", &image("1.0.1")).await?;
    for turn in 2..4 {
        stage.until("a watch", &mut controller, async |_| Ok(between.watches() == 1)).await?;
        let lists = || Ok::<_, anyhow::Error>(stage.asked()?.of("list applications 200"));
        let before = lists()?;
        ensure!(between.expire() == 1, "the watch is gone");
        stage.until("a new listing", &mut controller, async |_| Ok(lists()? > before)).await?;
        let app = format!("web-{turn}");
        stage.create_application(&app, &image("1.0.0"), Value::Null).await?;
        stage.until_image(&mut controller, &app, &image("1.0.1")).await?;
    }
    ensure!(!controller.said().contains("Cannot watch"), "{}", controller.said());
    Ok(())
}

/// Two thousand changes at once, each of which asks for a check: they are a few passes, not two
/// thousand, and the controller goes on.
pub(super) async fn flood(world: &World, program: &Program) -> Result<()> {
    const CHANGES: usize = 2_000;
    let stage = Stage::prepare(world, program, "flood").await?;
    let between = Between::start(&world.peers.kubernetes, CONTROLLER, &stage.folder).await?;
    let registry = &world.peers.registry;
    registry.push("flood/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/flood/web:{tag}");
    let list = json!({format!("{PREFIX}/image-list"): format!("web={}", image("~1.0"))});
    stage.create_application("web", &image("1.0.0"), list).await?;
    let spec = json!({"applicationRefs": [{"namePattern": "web", "useAnnotations": true}]});
    stage.create_updater("u", spec).await?;
    let kubeconfig = between.kubeconfig();
    let words = ["--kubeconfig", &kubeconfig, "--interval", "1h"];
    let mut controller = stage.start("controller", &words)?;
    stage.until_image(&mut controller, "web", &image("1.0.1")).await?;
    let results = |process: &Process| process.said().matches("Processing results:").count();
    stage.until("the first pass", &mut controller, async |p| Ok(results(p) > 0)).await?;

    let object = world.peers.kubernetes.get(&stage.application("web")).await?;
    let changes: Vec<Value> = (0..CHANGES)
        .map(|number| {
            let mut object = object.clone();
            object["metadata"]["annotations"][format!("{PREFIX}/refresh")] =
                json!(number.to_string());
            object
        })
        .collect();
    let before = (stage.asked()?, results(&controller));
    between.changed(&changes);
    stage.until("a pass for them", &mut controller, async |p| Ok(results(p) > before.1)).await?;
    registry.push("flood/web", &["1.0.2"]).await?;
    let refresh = json!({"metadata": {"annotations": {format!("{PREFIX}/refresh"): "last"}}});
    stage.merge_application("web", &refresh).await?;
    stage.until_image(&mut controller, "web", &image("1.0.2")).await?;
    let passes = results(&controller) - before.1;
    println!("  {CHANGES} requests for a check were {passes} passes");
    ensure!(passes < CHANGES / 10, "{passes} passes");
    let asked = stage.asked()?.since(&before.0);
    ensure!(asked.of("list applications 200") == 0, "{}", asked.shown());
    ensure!(asked.of("patch applications 200") == 1, "{}", asked.shown());
    Ok(())
}

/// A panic in one pass is that pass's alone: it is told, the others go on, and so does the loop.
pub(super) async fn panic(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "panic").await?;
    let registry = &world.peers.registry;
    registry.push("panic/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/panic/web:{tag}");
    for app in ["bad", "good"] {
        stage.create_application(app, &image("1.0.0"), Value::Null).await?;
        let name = "registry.example.com/panic/web:~1.0";
        stage.create_updater(app, selects(app, name)).await?;
    }
    let words = ["--interval", "1s"];
    let mut controller = stage.start_in("controller", &words, &[("AIU_PANIC_IN", "panic/bad")])?;
    stage.until_image(&mut controller, "good", &image("1.0.1")).await?;
    let told = "the pass panicked: a fault of this program";
    let again = |process: &Process| process.said().matches(told).count() >= 2;
    stage.until("a second try", &mut controller, async |process| Ok(again(process))).await?;
    registry.push("panic/web", &["1.0.2"]).await?;
    stage.until_image(&mut controller, "good", &image("1.0.2")).await?;
    same("bad", &stage.image("bad").await?, &image("1.0.0"))?;
    let error = stage.condition("bad", "Error").await?;
    ensure!(error.starts_with(&format!("True ReconcileError: {told}")), "{error}");
    let status = controller.status()?;
    ensure!(status.is_none(), "it ended with {}", status.context("a status")?);
    Ok(())
}
