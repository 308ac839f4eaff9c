//! The controller as it is installed: the account of `config/install.yaml`, default settings.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{World, manifests, same};
use super::stage::{PREFIX, Stage};
use crate::program::Program;

pub(super) const MANAGER: &str = "argocd-image-updater-manager-role";
pub(super) const CREDENTIALS: &str = "argocd-image-updater";

/// Row M-14 of spec 24 §1.3, and what scenario S0.1 of 00 must show: one cycle by default settings,
/// with patch, status, event and lease, in which nothing is forbidden.
pub(super) async fn one_cycle(world: &World, program: &Program) -> Result<()> {
    let server = &world.peers.kubernetes;
    let stage = Stage::bare(world, program, "argocd").await?;
    manifests::apply(server, "argocd").await?;
    world.peers.registry.push("m14/web", &["1.0.0", "1.1.0", "1.2.0"]).await?;
    let name = "registry.example.com/m14/web";
    let (old, new) = (format!("{name}:1.0.0"), format!("{name}:1.2.0"));
    stage.create_application("web", &old, Value::Null).await?;
    stage
        .create_updater(
            "web",
            json!({
                "writeBackConfig": {"method": "argocd"},
                "applicationRefs": [{"namePattern": "web", "images": [{
                    "alias": "web", "imageName": name,
                    "commonUpdateSettings": {"updateStrategy": "semver"},
                    "manifestTargets": {"kustomize": {"name": name}},
                }]}],
            }),
        )
        .await?;
    let mut expected = server.get(&stage.application("web")).await?["spec"].clone();
    expected["source"]["kustomize"]["images"] = json!([format!("{name}={new}")]);

    // Other cases work in this namespace too.
    let before = stage.asked()?;
    let election = ["--leader-election=true", "--leader-election-namespace", "argocd"];
    let said = stage.clean_pass("first", &election).await?;
    for line in [
        &format!("Setting new image to {new}"),
        &format!(
            "Successfully updated image '{old}' to '{new}', but pending spec update (dry run=false)"
        ),
        "Successfully updated the live application spec",
        "Processing results: applications=1 images_considered=1 images_skipped=0 images_updated=1 errors=0",
    ] {
        ensure!(said.contains(line), "no line '{line}'{said}");
    }
    let found = &server.get(&stage.application("web")).await?["spec"];
    ensure!(*found == expected, "found {found}, expected {expected}");
    let asked = stage.asked()?.since(&before).shown();
    ensure!(!asked.contains(" 403") && asked.contains("1 patch applications 200"), "{asked}");
    ensure!(asked.contains("create leases 201") && asked.contains("create events 201"), "{asked}");
    let shown = server.kubectl_do(&["get", "imageupdater", "web", "-n", "argocd"]).await?;
    let row: Vec<&str> = shown.lines().last().unwrap_or_default().split_whitespace().collect();
    ensure!(matches!(row.as_slice(), ["web", "1", "1", _, "True"]), "{shown}");
    Ok(())
}

/// Role, resource as its rule has it, verb, and the resource as a person is told of it.
#[rustfmt::skip]
const ROWS: [(&str, &str, &str, &str); 8] = [
    (MANAGER, "applications", "list", "applications.argoproj.io"),
    (MANAGER, "applications", "watch", "applications.argoproj.io"),
    (MANAGER, "applications", "patch", "applications.argoproj.io"),
    (MANAGER, "imageupdaters", "list", "imageupdaters.argocd-image-updater.argoproj.io"),
    (MANAGER, "imageupdaters", "watch", "imageupdaters.argocd-image-updater.argoproj.io"),
    (MANAGER, "imageupdaters/status", "patch", "imageupdaters.argocd-image-updater.argoproj.io/status"),
    (MANAGER, "events", "create", "events"),
    (CREDENTIALS, "secrets", "get", "secrets"),
];

/// Each verb that a pass uses is needed: taken away, the program says which Role must allow what.
pub(super) async fn each_right_is_needed(world: &World, program: &Program) -> Result<()> {
    let server = &world.peers.kubernetes;
    let stage = Stage::prepare(world, program, "rights").await?;
    world.peers.registry.push("rights/web", &["1.0.0", "1.1.0"]).await?;
    let login = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"},
        "stringData": {"login": "user:password"},
    });
    server.create("/api/v1/namespaces/rights/secrets", &login).await?;
    let mut wrong = Vec::new();
    for (index, (role, resource, verb, named)) in ROWS.into_iter().enumerate() {
        let app = format!("web-{index}");
        let annotations = json!({
            format!("{PREFIX}/image-list"): "web=registry.example.com/rights/web",
            format!("{PREFIX}/web.pull-secret"): "secret:rights/login#login",
        });
        stage
            .create_application(&app, "registry.example.com/rights/web:1.0.0", annotations)
            .await?;
        let by_annotations = json!([{"namePattern": app, "useAnnotations": true}]);
        stage.create_updater(&app, json!({"applicationRefs": by_annotations})).await?;

        let path = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/rights/roles/{role}");
        let rules = server.get(&path).await?["rules"].clone();
        server.merge(&path, &json!({"rules": without(&rules, resource, verb)?})).await?;
        let mut controller = stage.start(&format!("row-{index}"), &["--interval=1h"])?;
        let words = format!("allow the verb '{verb}' on {named}");
        if let Err(error) = stage.says(&mut controller, &words).await {
            wrong.push(format!("without {verb} {resource}: {error:#}"));
        }
        drop(controller);
        server.merge(&path, &json!({"rules": rules})).await?;
        let updater = stage.updater(&app);
        server.merge(&updater, &json!({"metadata": {"finalizers": null}})).await?;
        stage.delete(&updater).await?;
        stage.delete(&stage.application(&app)).await?;
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Rules that lack one verb on one resource.
pub(super) fn without(rules: &Value, resource: &str, verb: &str) -> Result<Value> {
    let mut rules = rules.as_array().context("a role has rules")?.clone();
    let concerns = |rule: &Value| {
        rule["resources"].as_array().is_some_and(|list| list.iter().any(|name| name == resource))
    };
    for rule in rules.iter_mut().filter(|rule| concerns(rule)) {
        let verbs = rule["verbs"].as_array_mut().context("a rule has verbs")?;
        verbs.retain(|has| has != verb);
    }
    rules.retain(|rule| rule["verbs"].as_array().is_some_and(|verbs| !verbs.is_empty()));
    Ok(Value::Array(rules))
}

/// The leader is killed in the middle of a pass: the other replica takes over, and no update is
/// lost or made twice.
pub(super) async fn killed_in_a_pass(world: &World, program: &Program) -> Result<()> {
    const APPS: usize = 150;
    let server = &world.peers.kubernetes;
    manifests::apply(server, "argocd").await?;
    let stage = Stage::prepare(world, program, "killed").await?;
    let registry = &world.peers.registry;
    registry.push("killed/web", &["1.0.0"]).await?;
    let name = "registry.example.com/killed/web";
    for index in 0..APPS {
        let image = format!("{name}:1.0.0");
        stage.create_application(&format!("app-{index}"), &image, Value::Null).await?;
    }
    stage.create_updater("u", super::updates::selects("app-*", name)).await?;
    // One patch after the other, so that there is a middle to be killed in.
    #[rustfmt::skip]
    let words = [
        "--leader-election=true", "--leader-election-namespace", "argocd",
        "--interval", "2s", "--max-concurrent-apps", "1",
    ];
    let processed = format!("Processing results: applications={APPS}");
    let mut first = stage.start("first", &words)?;
    stage.says(&mut first, &processed).await?;
    let mut second = stage.start("second", &words)?;
    stage.says(&mut second, "attempting to acquire leader lease").await?;
    registry.push("killed/web", &["1.0.0", "1.1.0"]).await?;
    let patches = || Ok::<_, anyhow::Error>(stage.asked()?.of("patch applications 200"));
    stage.until("the first patch", &mut first, async |_| Ok(patches()? > 0)).await?;
    // SIGKILL: it can neither finish nor give its lease back.
    drop(first);
    let before = patches()?;
    ensure!(before < APPS, "the pass was over before the leader was killed");
    ensure!(!second.said().contains(&processed), "the second worked while it waited");
    stage.says(&mut second, &processed).await?;
    for index in 0..APPS {
        let app = format!("app-{index}");
        same(&app, &stage.image(&app).await?, &format!("{name}:1.1.0"))?;
        // What the dead one had sent may have been done without anybody waiting for the answer
        // (the log has 504 then), so what was done is counted by the object itself.
        let generation = stage.generation(&app).await?;
        ensure!(generation == 2, "{app} was written {} times", generation - 1);
    }
    println!("  killed after {before} of {APPS} patches");
    Ok(())
}
