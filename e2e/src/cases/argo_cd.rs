//! The whole loop: a tag is pushed, we write, Argo CD syncs, and the object that a cluster would run
//! carries the new image. By a patch, and by a commit to each kind of write-back target.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::controller::Stage;
use super::{Tally, World, same};
use crate::files::write;
use crate::git::git;
use crate::peers::ArgoCd;
use crate::process::Process;
use crate::program::Program;

const IMAGE: &str = "registry.example.com/loop/web";

/// How long Argo CD may take for a round on a small machine, under load.
const PATIENCE: Duration = Duration::from_mins(4);

/// Passes that must write nothing once all is deployed.
const QUIET: usize = 3;

/// Every way to write: the Application, which is also its folder in the repository, and the
/// write-back of its reference. Without a target the commit is to Argo CD's own override file.
fn ways() -> [(&'static str, Value); 5] {
    let git = |target: &str| json!({"method": "git", "gitConfig": {"branch": "main", "writeBackTarget": target}});
    [
        ("patched", json!({"method": "argocd"})),
        ("override-file", json!({"method": "git", "gitConfig": {"branch": "main"}})),
        ("kustomization", git("kustomization")),
        ("chart", git("helmvalues:values.yaml")),
        ("plain", git("manifests")),
    ]
}

pub(super) async fn run(tally: &mut Tally, world: &World, program: &Program, argo: &mut ArgoCd) {
    let case = a_pushed_tag_runs(world, program, argo);
    tally.case("Argo CD: a pushed tag is deployed, and nothing is written after", case).await;
}

async fn a_pushed_tag_runs(world: &World, program: &Program, argo: &mut ArgoCd) -> Result<()> {
    let stage = Stage::beside_argo_cd(world, program).await?;
    world.peers.registry.push("loop/web", &["1.0.0"]).await?;
    let url = repository(&stage).await?;
    for (name, _) in ways() {
        create(&stage, name, &url).await?;
    }
    stage.create_updater("loop", updater()).await?;
    let deployed = until_deployed(&stage, argo, "1.0.0").await?;

    let mut controller = stage.start("controller", &["--interval", "2s"])?;
    stage.says(&mut controller, "Processing results").await?;
    ensure!(written(&stage).await? == (0, 1), "written before there is anything new");
    world.peers.registry.push("loop/web", &["1.0.0", "1.0.1"]).await?;
    let updated = until_deployed(&stage, argo, "1.0.1").await?;
    println!("    deployed after {deployed:.1} s, the new tag after {updated:.1} s");

    // One patch, and one commit for each of the other four; then rest.
    let before = (written(&stage).await?, stage.events().await?.len());
    same("patches and commits", &format!("{:?}", before.0), "(1, 5)")?;
    let passes = passes_of(&controller);
    let more = format!("{QUIET} passes after all is deployed");
    let rested = async |process: &Process| Ok(passes_of(process) > passes + QUIET);
    stage.until(&more, &mut controller, rested).await?;
    let after = (written(&stage).await?, stage.events().await?.len());
    ensure!(before == after, "written in passes that had nothing to do: {before:?}, {after:?}");
    argo.lives()
}

/// Folders of each kind, all of one Pod that runs the image.
async fn repository(stage: &Stage<'_>) -> Result<String> {
    let url = stage.world.peers.git.create("loop.git").await?;
    git(&stage.folder, &["clone", "--quiet", &url, "seed"]).await?;
    let clone = stage.folder.join("seed");
    let pod = |name: &str, image: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n  - name: web # the only one\n    image: {image}\n"
        )
    };
    let at = format!("{IMAGE}:1.0.0");
    for name in ["patched", "override-file", "kustomization"] {
        write(&clone, &format!("{name}/pod.yaml"), &pod(name, &at))?;
        write(&clone, &format!("{name}/kustomization.yaml"), "resources: [pod.yaml]\n")?;
    }
    let images =
        format!("resources: [pod.yaml]\nimages:\n- name: {IMAGE}\n  newTag: 1.0.0 # ours\n");
    write(&clone, "kustomization/kustomization.yaml", &images)?;
    write(&clone, "plain/pod.yaml", &pod("plain", &at))?;
    write(&clone, "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\n")?;
    let values = format!("image:\n  name: {IMAGE}\n  tag: 1.0.0 # ours\n");
    write(&clone, "chart/values.yaml", &values)?;
    let image = "{{ .Values.image.name }}:{{ .Values.image.tag }}";
    write(&clone, "chart/templates/pod.yaml", &pod("chart", &format!("\"{image}\"")))?;
    git(&clone, &["add", "--all"]).await?;
    git(&clone, &["commit", "--quiet", "--message", "first version"]).await?;
    git(&clone, &["push", "--quiet", "origin", "HEAD:main"]).await?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "repo", "labels": {"argocd.argoproj.io/secret-type": "repository"}},
        "stringData": {"type": "git", "url": url, "username": "ada", "password": "s3cret-of-ada"},
    });
    let secrets = format!("/api/v1/namespaces/{}/secrets", stage.namespace);
    stage.world.peers.kubernetes.create(&secrets, &secret).await?;
    Ok(url)
}

/// An Application that Argo CD syncs by itself.
async fn create(stage: &Stage<'_>, name: &str, url: &str) -> Result<()> {
    let object = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": name},
        "spec": {
            "project": "default",
            "source": {"repoURL": url, "path": name, "targetRevision": "main"},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "default"},
            "syncPolicy": {"automated": {}},
        },
    });
    stage.world.peers.kubernetes.create(&stage.application(""), &object).await.map(drop)
}

fn updater() -> Value {
    let values = json!({"helm": {"name": "image.name", "tag": "image.tag"}});
    let refs = ways().map(|(name, write_back)| {
        let mut image = json!({"alias": "web", "imageName": format!("{IMAGE}:~1.0")});
        if name == "chart" {
            image["manifestTargets"] = values.clone();
        }
        json!({"namePattern": name, "writeBackConfig": write_back, "images": [image]})
    });
    json!({"applicationRefs": refs})
}

/// Waits until every Pod carries the tag and Argo CD says so; the seconds that it took.
async fn until_deployed(stage: &Stage<'_>, argo: &mut ArgoCd, tag: &str) -> Result<f64> {
    let started = Instant::now();
    let wanted = json!(format!("{IMAGE}:{tag}"));
    for (name, _) in ways() {
        loop {
            argo.lives()?;
            let server = &stage.world.peers.kubernetes;
            let application = server.get(&stage.application(name)).await?;
            let pod = server.find(&format!("/api/v1/namespaces/default/pods/{name}")).await?;
            let runs = pod
                .as_ref()
                .is_some_and(|pod| pod.pointer("/spec/containers/0/image") == Some(&wanted));
            let images = application.pointer("/status/summary/images");
            if runs && images == Some(&json!([wanted])) {
                break;
            }
            let late = started.elapsed() > PATIENCE;
            ensure!(!late, "{name} is not at {tag}: {application}\n{pod:?}{}", argo.said());
            sleep(Duration::from_millis(100)).await;
        }
    }
    Ok(started.elapsed().as_secs_f64())
}

/// Patches of Applications that we made, and commits of the branch.
async fn written(stage: &Stage<'_>) -> Result<(usize, usize)> {
    let repository = stage.world.peers.git.path("loop.git");
    let commits = git(&repository, &["rev-list", "--count", "main"]).await?;
    let commits = commits.parse().context("a count is a number")?;
    Ok((stage.asked()?.of("patch applications 200"), commits))
}

fn passes_of(controller: &Process) -> usize {
    controller.said().matches("Processing results").count()
}
