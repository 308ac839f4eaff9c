//! Updates of Applications: by patch alone, once, and never over what somebody else wrote.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::stage::{PREFIX, Stage};
use crate::process::Process;
use crate::program::Program;

/// How many Applications are updated in the case that counts.
const MANY: usize = 300;

/// The sizes of the case with nothing to do.
const APPLICATIONS: usize = 1_000;
const RESOURCES: usize = 10;
const REPOSITORIES: usize = 40;

/// Scenarios S1.1 and S3.1 of 00 in the way of the resource: found, updated, told, left alone.
pub(super) async fn by_patch(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "by-patch").await?;
    let registry = &world.peers.registry;
    registry.push("shop/web", &["1.0.0", "1.0.4", "1.1.0"]).await?;
    let image = |tag: &str| format!("registry.example.com/shop/web:{tag}");
    stage.create_application("web", &image("1.0.0"), Value::Null).await?;
    stage.create_application("other", &image("1.0.0"), Value::Null).await?;
    stage.create_updater("shop", selects("web", "registry.example.com/shop/web:~1.0")).await?;

    let said = stage.clean_pass("first", &[]).await?;
    same("web", &stage.image("web").await?, &image("1.0.4"))?;
    same("other", &stage.image("other").await?, &image("1.0.0"))?;
    let first = stage.asked()?;
    #[rustfmt::skip]
    let expected = "1 create events 201\n\
        1 list applications 200\n1 list imageupdaters 200\n\
        1 patch applications 200\n1 patch imageupdaters 200\n1 patch imageupdaters/status 200";
    same("requests of the first pass", &first.shown(), expected)?;
    for words in [
        "msg=\"Starting image update cycle, considering 1 application(s) for update\"",
        "imageUpdater_name=shop",
        "application=by-patch/web",
        "images_updated=1 errors=0",
    ] {
        ensure!(said.contains(words), "no {words} in{said}");
    }
    let events = stage.events().await?;
    let expected = "web Normal ImagesUpdated: Successfully updated application 'web'";
    same("events", &events.join("\n"), expected)?;
    let ready = stage.condition("shop", "Ready").await?;
    same("Ready", &ready, "True ReconcileSucceeded: Reconciled 1 applications, 1 images updated.")?;
    let status = world.peers.kubernetes.get(&stage.updater("shop")).await?;
    let update = &status["status"]["recentUpdates"][0];
    same("image", update["image"].as_str().unwrap_or_default(), "registry.example.com/shop/web")?;
    same(
        "message",
        update["message"].as_str().unwrap_or_default(),
        "Updated from 1.0.0 to 1.0.4.",
    )?;
    let finalizer = format!("resources-finalizer.{PREFIX}");
    ensure!(status["metadata"]["finalizers"] == json!([finalizer]), "{status}");

    stage.clean_pass("second", &[]).await?;
    let expected =
        "1 list applications 200\n1 list imageupdaters 200\n1 patch imageupdaters/status 200";
    same("requests of a pass with nothing to do", &stage.asked()?.since(&first).shown(), expected)
}

/// Somebody writes the object between our read and our write: the server answers 409, we read
/// afresh, and both changes stand.
pub(super) async fn conflict(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "conflict").await?;
    let registry = &world.peers.registry;
    registry.push("conflict/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/conflict/web:{tag}");
    stage.create_application("web", &image("1.0.0"), Value::Null).await?;
    stage.create_updater("u", selects("web", "registry.example.com/conflict/web:~1.0")).await?;
    registry.hold()?;
    let outcome = async {
        let words = ["--interval", "1h", "--warmup-cache=false"];
        let mut controller = stage.start("controller", &words)?;
        stage.says(&mut controller, "Starting reconciliation for ImageUpdater resource.").await?;
        // The registry is silent, so the pass cannot end: the last of these comes after its read.
        for turn in 0..30 {
            let spec = json!({"source": {"kustomize": {"namespace": format!("theirs-{turn}")}}});
            stage.merge_application("web", &json!({"spec": spec})).await?;
        }
        registry.release()?;
        stage.until_image(&mut controller, "web", &image("1.0.1")).await
    };
    let outcome = outcome.await;
    registry.release()?;
    outcome?;
    let asked = stage.asked()?;
    let counts = [
        asked.of("patch applications 409"),
        asked.of("get applications 200"),
        asked.of("patch applications 200"),
    ];
    ensure!(counts == [1, 1, 1], "conflicts, reads, patches: {counts:?}\n{}", asked.shown());
    let application = world.peers.kubernetes.get(&stage.application("web")).await?;
    let kustomize = &application["spec"]["source"]["kustomize"];
    ensure!(
        kustomize["namespace"] == "theirs-29" && kustomize["namePrefix"] == "kept-",
        "{kustomize}"
    );
    Ok(())
}

/// Three hundred updates are three hundred patches, and nothing is read for them.
pub(super) async fn many(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "many").await?;
    world.peers.registry.push("many/web", &["1.0.0", "1.0.1"]).await?;
    let image = "registry.example.com/many/web:1.0.0";
    for number in 0..MANY {
        stage.create_application(&format!("app-{number}"), image, Value::Null).await?;
    }
    stage.create_updater("u", selects("app-*", "registry.example.com/many/web:~1.0")).await?;
    stage.clean_pass("first", &[]).await?;
    let first = stage.asked()?;
    let writes = |asked: &super::stage::Asked| {
        [
            "patch applications 200",
            "update applications 200",
            "get applications 200",
            "create events 201",
        ]
        .map(|line| asked.of(line))
    };
    ensure!(writes(&first) == [MANY, 0, 0, MANY], "{}", first.shown());
    stage.clean_pass("second", &[]).await?;
    let second = stage.asked()?.since(&first);
    ensure!(writes(&second) == [0; 4], "{}", second.shown());
    ensure!(second.of("patch imageupdaters/status 200") == 1, "{}", second.shown());
    Ok(())
}

/// Ten resources over a thousand Applications with nothing to do: a pass writes one status each,
/// and lists nothing.
pub(super) async fn idle(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "idle").await?;
    let server = &world.peers.kubernetes;
    for repository in 0..REPOSITORIES {
        world.peers.registry.push(&format!("idle/app-{repository}"), &["1.0.0"]).await?;
    }
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"},
        "stringData": {"login": "ada:s3cret"},
    });
    server.create("/api/v1/namespaces/idle/secrets", &secret).await?;
    for resource in 0..RESOURCES {
        for number in 0..APPLICATIONS / RESOURCES {
            let repository = (resource * 7 + number) % REPOSITORIES;
            let image = format!("registry.example.com/idle/app-{repository}:1.0.0");
            let notes = json!({
                format!("{PREFIX}/image-list"): format!("web={}:~1.0", image.trim_end_matches(":1.0.0")),
                format!("{PREFIX}/pull-secret"): "secret:idle/login#login",
            });
            stage.create_application(&format!("r{resource}-{number}"), &image, notes).await?;
        }
        let pattern = format!("r{resource}-*");
        let spec = json!({"applicationRefs": [{"namePattern": pattern, "useAnnotations": true}]});
        stage.create_updater(&format!("u{resource}"), spec).await?;
    }
    let mut controller = stage.start("controller", &["--loglevel", "info", "--interval", "3s"])?;
    let results = |process: &Process| process.said().matches("Processing results:").count();
    stage.until("the first passes", &mut controller, async |p| Ok(results(p) >= RESOURCES)).await?;
    let before = stage.asked()?;
    let enough = results(&controller) + 3 * RESOURCES;
    stage.until("three more", &mut controller, async |p| Ok(results(p) >= enough)).await?;
    // Counted before the end, which cuts off what is under way: the server calls that a failure.
    let all = stage.asked()?;
    drop(controller);
    let asked = all.since(&before);
    let passes = asked.of("patch imageupdaters/status 200");
    ensure!(passes >= 2 * RESOURCES, "{}", asked.shown());
    // The pass that was under way has read its Secret, and not written its status yet.
    let secrets = asked.of("get secrets 200");
    ensure!(secrets.abs_diff(passes) <= RESOURCES, "{secrets} Secrets read in {passes} passes");
    let kinds = asked.shown().lines().count();
    ensure!(kinds == 2, "more than statuses and Secrets:\n{}", asked.shown());
    let lists = ["list applications 200", "list imageupdaters 200"].map(|line| all.of(line));
    // A thousand Applications come in pages of a hundred.
    ensure!(lists == [APPLICATIONS / 100, 1], "{}", all.shown());
    ensure!(stage.events().await?.is_empty(), "{:?}", stage.events().await?);
    Ok(())
}

/// A resource for the Applications of this name and one image.
pub(super) fn selects(pattern: &str, image: &str) -> Value {
    json!({"applicationRefs": [
        {"namePattern": pattern, "images": [{"alias": "web", "imageName": image}]},
    ]})
}
