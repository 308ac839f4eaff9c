//! Scenarios of the field (spec 00), with the YAML as users have it; names of hosts lead to servers of
//! this machine. S0.1 and S4 are here, S3 in [`super::lab`], S1 in [`super::reports`].

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aiu_testkit::git::write_program;
use aiu_testkit::registry::{Access, Image, Kind, Registry};
use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::routing::post;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::super::{World, image, same};
use super::lab::Lab;
use super::stage::Stage;
use crate::files::write;
use crate::process::Process;
use crate::program::Program;

const SCRIPT: &str = r#"#!/bin/sh
set -eo pipefail
first=$(cat "$AZURE_FEDERATED_TOKEN_FILE")
token=$(wget --quiet --output-document - --post-data="grant_type=access_token&service=${ACR_NAME}&access_token=${first}" \
  "$EXCHANGE_URL" | python3 -c 'import sys, json; print(json.load(sys.stdin)["refresh_token"])')
echo "00000000-0000-0000-0000-000000000000:$token"
"#;

const REGISTRIES: &str = "registries:
  - name: acme
    api_url: https://acme.azurecr.test
    prefix: acme.azurecr.test
    default: true
    credentials: ext:/app/auth/auth.sh
    credsexpire: 1h
";

const WEB: &str = "apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: web}
spec:
  writeBackConfig: {method: argocd}
  applicationRefs:
    - namePattern: web
      images:
        - alias: web
          imageName: acme.azurecr.test/shop/web
          commonUpdateSettings: {updateStrategy: semver}
          manifestTargets: {kustomize: {name: acme.azurecr.test/shop/web}}
";

const USER: &str = "00000000-0000-0000-0000-000000000000";

/// Gives the registry's token for the pod's.
struct Exchange {
    url: String,
    gives: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

impl Exchange {
    async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no port")?;
        let url = format!("http://{}/oauth2/exchange", listener.local_addr()?);
        let (gives, asked) = (Arc::<Mutex<String>>::default(), Arc::<AtomicUsize>::default());
        let (token, count) = (Arc::clone(&gives), Arc::clone(&asked));
        let answer = async move |body: String| {
            count.fetch_add(1, Ordering::SeqCst);
            let is_pods = body.contains("service=acme&access_token=from-the-pod");
            let token = if is_pods { token.lock().clone() } else { "wrong".to_owned() };
            axum::Json(json!({"refresh_token": token}))
        };
        let app = Router::new().route("/oauth2/exchange", post(answer));
        // It ends with the runtime, which is that of the whole run.
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Self { url, gives, asked })
    }
}

/// What the kubelet mounts of two `ConfigMap`s: a script, and the registries file.
async fn mount(stage: &Stage<'_>, registry: &Registry, tools: &str) -> Result<()> {
    let server = &stage.world.peers.kubernetes;
    let maps = format!("/api/v1/namespaces/{}/configmaps", stage.namespace);
    for (name, data) in [
        ("iu-auth", json!({"auth.sh": SCRIPT})),
        ("argocd-image-updater-config", json!({"log.level": "debug"})),
    ] {
        let metadata = json!({"name": name});
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
        server.create(&maps, &map).await?;
    }
    let config = format!("{maps}/argocd-image-updater-config");
    server.merge(&config, &json!({"data": {"registries.conf": REGISTRIES}})).await?;
    let mounted = async |name: &str, key: &str| {
        let map = server.get(&format!("{maps}/{name}")).await?;
        Ok::<_, anyhow::Error>(map["data"][key].as_str().unwrap_or_default().to_owned())
    };
    let script = stage.folder.join("auth.sh");
    // The shell of the image is one of its tools.
    let text = mounted("iu-auth", "auth.sh").await?.replace("#!/bin/sh", &format!("#!{tools}/sh"));
    write_program(&script, &text);
    let registries = mounted("argocd-image-updater-config", "registries.conf").await?;
    let registries = registries
        .replace("https://acme.azurecr.test", &registry.url())
        .replace("/app/auth/auth.sh", &script.display().to_string());
    write(&stage.folder, "registries.conf", &registries)
}

/// Scenario S0.1: credentials by a script, written by `argocd`.
pub(super) async fn script(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "s0-1").await?;
    let (registry, exchange) = (Registry::start().await, Exchange::start().await?);
    registry.repository("shop/web").tags(["1.0.0", "1.1.0", "1.2.0"]);
    registry.require(Access::bearer_for(USER, "first-token"));
    "first-token".clone_into(&mut exchange.gives.lock());
    let tools = image::link_tools(&stage.folder)?.display().to_string();
    mount(&stage, &registry, &tools).await?;
    write(&stage.folder, "pod-token", "from-the-pod")?;
    let name = "acme.azurecr.test/shop/web";
    let (old, new) = (format!("{name}:1.0.0"), format!("{name}:1.2.0"));
    stage.create_application("web", &old, Value::Null).await?;
    stage.apply(WEB).await?;

    let path = format!("{tools}:{}", std::env::var("PATH").unwrap_or_default());
    let token_file = stage.folder.join("pod-token").display().to_string();
    #[rustfmt::skip]
    let pod = [
        ("PATH", &*path), ("ACR_NAME", "acme"), ("EXCHANGE_URL", &exchange.url),
        ("AZURE_FEDERATED_TOKEN_FILE", &token_file),
    ];
    let words = ["--interval", "1s", "--loglevel", "trace"];
    let mut controller = stage.start_in("controller", &words, &pod)?;
    stage.until_image(&mut controller, "web", &format!("{name}={new}")).await?;
    let result = "Processing results: applications=1 images_considered=1 images_skipped=0 images_updated=1 errors=0";
    for line in [
        "found 3 from 3 tags eligible for consideration",
        &format!("Setting new image to {new}"),
        &format!(
            "Successfully updated image '{old}' to '{new}', but pending spec update (dry run=false)"
        ),
        "Successfully updated the live application spec",
        result,
    ] {
        stage.says(&mut controller, line).await?;
    }
    let tokens = registry.requests().into_iter().filter(|request| request.kind == Kind::Token);
    let by_user = tokens.filter(|token| token.authorization.as_deref() == Some("Basic")).count();
    ensure!(by_user > 0, "no token was asked for with the user");

    // Argo CD syncs; then there is nothing to do, and nothing is done.
    stage.merge_application("web", &json!({"status": {"summary": {"images": [new]}}})).await?;
    passes(&stage, &mut controller, 2).await?;
    let before = stage.asked()?;
    passes(&stage, &mut controller, 2).await?;
    let asked = stage.asked()?.since(&before);
    let of = ["patch applications 200", "create events 201"].map(|line| asked.of(line));
    ensure!(of == [0, 0], "{}", asked.shown());
    ensure!(exchange.asked.load(Ordering::SeqCst) == 1, "the script ran for each image or pass");
    let server = &world.peers.kubernetes;
    let shown = server.kubectl_do(&["get", "imageupdater", "-n", "s0-1"]).await?;
    let row: Vec<&str> = shown.lines().last().unwrap_or_default().split_whitespace().collect();
    ensure!(matches!(row.as_slice(), ["web", "1", "1", _, "True"]), "{shown}");

    // The registry takes the token back before its hour is over: one refusal, one run, no error.
    "second-token".clone_into(&mut exchange.gives.lock());
    registry.require(Access::bearer_for(USER, "second-token"));
    registry.revoke_tokens();
    let again = async |_: &Process| Ok(exchange.asked.load(Ordering::SeqCst) == 2);
    stage.until("another run of the script", &mut controller, again).await?;
    passes(&stage, &mut controller, 2).await?;
    let said = controller.said();
    ensure!(!said.contains("errors=1"), "an error was counted{said}");
    for secret in ["first-token", "second-token", "from-the-pod"] {
        ensure!(!said.contains(secret), "{secret} is in the log");
    }
    Ok(())
}

/// Waits for so many further passes.
async fn passes(stage: &Stage<'_>, controller: &mut Process, count: usize) -> Result<()> {
    let ended = |process: &Process| process.said().matches("Processing results:").count();
    let enough = ended(controller) + count;
    stage.until("further passes", controller, async |process| Ok(ended(process) >= enough)).await
}

/// Scenario S4.1: one resource, builds for development by `argocd`, releases for production by git.
pub(super) async fn two_ways(world: &World, program: &Program) -> Result<()> {
    let lab = Lab::prepare(world, program, "s4-1", "registry.test").await?;
    let worker = lab.registry.repository("shop/worker");
    let built = |day: u8| Image::new().created(&format!("2026-01-{day:02}T12:00:00Z"));
    let tags = ["v1.0.0", "v1.1.0", "v1.2.0-rc1", "test", "debug"];
    for (day, tag) in (1..).zip(tags) {
        worker.push(tag, &built(day));
    }
    lab.kustomization("deploy/prod", "registry.test/shop/worker", "v1.0.0");
    let old = "registry.test/shop/worker:v1.0.0";
    lab.stage.create_application("dev-worker", old, Value::Null).await?;
    lab.git_application("prod-worker", "deploy/prod", old, Value::Null).await?;
    lab.stage
        .apply(
            r#"apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: worker}
spec:
  applicationRefs:
    - namePattern: dev-*
      writeBackConfig: {method: argocd}
      images:
        - alias: worker
          imageName: registry.test/shop/worker
          commonUpdateSettings: {updateStrategy: newest-build}
    - namePattern: prod-*
      writeBackConfig: {method: git, gitConfig: {branch: main, writeBackTarget: kustomization}}
      images:
        - alias: worker
          imageName: registry.test/shop/worker
          commonUpdateSettings:
            updateStrategy: semver
            allowTags: "regexp:^v[0-9]+\\.[0-9]+\\.[0-9]+$"
"#,
        )
        .await?;
    lab.stage.clean_pass("pass", &[]).await?;
    same("dev", &lab.stage.image("dev-worker").await?, "registry.test/shop/worker:debug")?;
    let file = lab.remote.text("main", "deploy/prod/kustomization.yaml").unwrap_or_default();
    ensure!(file.contains("newTag: v1.1.0"), "{file}");
    same("prod", &lab.stage.image("prod-worker").await?, "")?;
    let listings = lab.registry.counts_of("shop/worker").listings;
    ensure!(listings == 1, "listed {listings} times");
    Ok(())
}

/// Scenario S4.6: who may not ask is told so in the first cycle: log, event and condition.
pub(super) async fn no_credentials(world: &World, program: &Program) -> Result<()> {
    let lab = Lab::prepare(world, program, "s4-6", "registry.test").await?;
    lab.registry.repository("shop/web").tags(["1.0.0", "1.1.0"]);
    lab.registry.require(Access::basic("ada", "s3cret"));
    let image = "registry.test/shop/web";
    lab.stage.create_application("web", &format!("{image}:1.0.0"), Value::Null).await?;
    lab.stage.create_updater("u", super::updates::selects("web", image)).await?;
    let run = lab.stage.once("pass", &[]).await?;
    ensure!(run.code == Some(1), "ended with {:?}{}", run.code, run.said);
    let line = run.said.lines().find(|line| line.contains("reason=RegistryUnauthorized"));
    let line = line.with_context(|| format!("no such line in{}", run.said))?;
    ensure!(line.contains("level=error") && line.contains(image), "{line}");
    let events = lab.stage.events().await?;
    let event = events.iter().find(|event| event.starts_with("web Warning RegistryUnauthorized: "));
    let event = event.with_context(|| format!("{events:?}"))?;
    let condition = lab.stage.condition("u", "Error").await?;
    let begins = "True PartialErrors: 1 error(s) occurred during image update checks. RegistryUnauthorized: ";
    ensure!(condition.starts_with(begins), "{condition}");
    for told in [line, event, &condition] {
        ensure!(told.contains(&lab.registry.host()), "the registry is not named: {told}");
    }
    Ok(())
}
