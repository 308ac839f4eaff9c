//! Write-back to git in the cluster: Argo CD's repository Secret signs in (spec 30 §3.1).

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::stage::Stage;
use crate::files::write;
use crate::git::git;
use crate::process::Process;
use crate::program::Program;

const FILE: &str = "web/kustomization.yaml";
const KUSTOMIZATION: &str =
    "images:\n- name: registry.example.com/commits/web\n  newTag: 1.0.0 # keep\n";

/// A repository with one tag behind, an Application of it by git, and a Secret that signs in. Gives
/// the number of its commits, 1 at first.
pub(super) async fn seed<'s>(
    stage: &'s Stage<'_>,
    name: &'static str,
) -> Result<impl AsyncFn() -> Result<usize> + 's> {
    let server = &stage.world.peers.kubernetes;
    let image = format!("registry.example.com/{name}/web");
    stage.world.peers.registry.push(&format!("{name}/web"), &["1.0.0", "1.0.1"]).await?;
    let text = KUSTOMIZATION.replace("commits/web", &format!("{name}/web"));
    let url = repository(stage, name, FILE, &text).await?;
    stage.create_application(name, &format!("{image}:1.0.0"), Value::Null).await?;
    let source =
        json!({"repoURL": url, "path": "web", "targetRevision": "main", "kustomize": null});
    stage.merge_application(name, &json!({"spec": {"source": source}})).await?;
    let spec = json!({
        "writeBackConfig": {"method": "git", "gitConfig": {"writeBackTarget": "kustomization"}},
        "applicationRefs": [{"namePattern": name, "images": [
            {"alias": "web", "imageName": format!("{image}:~1.0")}]}],
    });
    stage.create_updater(name, spec).await?;
    let secrets = format!("/api/v1/namespaces/{}/secrets", stage.namespace);
    server.create(&secrets, &secret(name, &url)).await?;
    let repository = stage.world.peers.git.path(&format!("{name}.git"));
    Ok(async move || {
        let commits = git(&repository, &["rev-list", "--count", "main"]).await?;
        commits.parse().context("a number of commits")
    })
}

/// A Secret of a repository, as Argo CD has them.
pub(super) fn secret(name: &str, url: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "labels": {"argocd.argoproj.io/secret-type": "repository"}},
        "stringData": {"url": url, "username": "ada", "password": "s3cret-of-ada"},
    })
}

/// A repository with this one file; its URL.
pub(super) async fn repository(
    stage: &Stage<'_>,
    name: &str,
    path: &str,
    text: &str,
) -> Result<String> {
    let url = stage.world.peers.git.create(&format!("{name}.git")).await?;
    git(&stage.folder, &["clone", "--quiet", &url, name]).await?;
    let clone = stage.folder.join(name);
    write(&clone, path, text)?;
    git(&clone, &["add", "--all"]).await?;
    git(&clone, &["commit", "--quiet", "--message", "first version"]).await?;
    git(&clone, &["push", "--quiet", "origin", "HEAD:main"]).await?;
    Ok(url)
}

/// What Argo CD knows of git is watched: passes cost the API server no list and no read, and a Secret
/// that is replaced counts in the next one.
pub(super) async fn watched(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "watched").await?;
    let pushed = seed(&stage, "watched").await?;
    let mut controller = stage.start("controller", &["--interval", "1s"])?;
    stage.until("a commit", &mut controller, async |_| Ok(pushed().await? == 2)).await?;
    let results = |process: &Process| process.said().matches("Processing results:").count();
    let before = stage.asked()?;
    let enough = results(&controller) + 5;
    stage.until("five passes", &mut controller, async |p| Ok(results(p) >= enough)).await?;
    let asked = stage.asked()?.since(&before);
    let of_git =
        ["list secrets 200", "get secrets 200", "get configmaps 200", "list configmaps 200"];
    let counts = of_git.map(|line| asked.of(line));
    ensure!(counts == [0; 4], "{}", asked.shown());
    let all = stage.asked()?;
    ensure!(all.of("list secrets 200") == 1, "{}", all.shown());
    ensure!(all.of("list configmaps 200") == 2, "{}", all.shown());

    // Without it nobody signs in; the next pass that has something to write says so.
    stage.delete("/api/v1/namespaces/watched/secrets/watched").await?;
    world.peers.registry.push("watched/web", &["1.0.0", "1.0.1", "1.0.2"]).await?;
    stage.says(&mut controller, "are not configured in Argo CD settings").await?;
    let url = format!("{}/watched.git", world.peers.git.base());
    let secrets = "/api/v1/namespaces/watched/secrets";
    world.peers.kubernetes.create(secrets, &secret("watched", &url)).await?;
    stage.until("another commit", &mut controller, async |_| Ok(pushed().await? == 3)).await
}

/// Without a Secret nothing is pushed and the reason is told; with one there is one commit, once.
pub(super) async fn by_repository_secret(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "commits").await?;
    world.peers.registry.push("commits/web", &["1.0.0", "1.0.1"]).await?;
    let url = repository(&stage, "commits", FILE, KUSTOMIZATION).await?;
    let image = "registry.example.com/commits/web:1.0.0";
    stage.create_application("web", image, Value::Null).await?;
    let source =
        json!({"repoURL": url, "path": "web", "targetRevision": "main", "kustomize": null});
    stage.merge_application("web", &json!({"spec": {"source": source}})).await?;
    let spec = json!({
        "writeBackConfig": {"method": "git", "gitConfig": {"writeBackTarget": "kustomization"}},
        "applicationRefs": [{"namePattern": "web", "images": [
            {"alias": "web", "imageName": "registry.example.com/commits/web:~1.0"}]}],
    });
    stage.create_updater("u", spec).await?;

    let run = stage.once("without", &[]).await?;
    ensure!(run.code == Some(1), "ended with {:?}{}", run.code, run.said);
    ensure!(run.said.contains("are not configured in Argo CD settings"), "{}", run.said);

    let secrets = "/api/v1/namespaces/commits/secrets";
    world.peers.kubernetes.create(secrets, &secret("repo", &url)).await?;
    let said = stage.clean_pass("first", &[]).await?;
    ensure!(!said.contains("s3cret-of-ada"), "the password is in the log");
    let repository = world.peers.git.path("commits.git");
    let text = git(&repository, &["show", "main:web/kustomization.yaml"]).await?;
    same("the file", &text, KUSTOMIZATION.replace("1.0.0", "1.0.1").trim_end())?;
    let commits = git(&repository, &["rev-list", "--count", "main"]).await?;
    same("commits", &commits, "2")?;
    let asked = stage.asked()?;
    ensure!(asked.of("patch applications 200") == 0, "{}", asked.shown());

    stage.clean_pass("second", &[]).await?;
    let commits = git(&repository, &["rev-list", "--count", "main"]).await?;
    same("commits after a pass with nothing to do", &commits, "2")
}
