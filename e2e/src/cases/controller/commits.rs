//! Write-back to git in the cluster: Argo CD's repository Secret signs in (spec 30 §3.1).

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::stage::Stage;
use crate::files::write;
use crate::git::git;
use crate::program::Program;

const KUSTOMIZATION: &str =
    "images:\n- name: registry.example.com/commits/web\n  newTag: 1.0.0 # keep\n";

/// Without a Secret nothing is pushed and the reason is told; with one there is one commit, once.
pub(super) async fn by_repository_secret(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "commits").await?;
    world.peers.registry.push("commits/web", &["1.0.0", "1.0.1"]).await?;
    let url = world.peers.git.create("commits.git").await?;
    git(&stage.folder, &["clone", "--quiet", &url, "seed"]).await?;
    let clone = stage.folder.join("seed");
    write(&clone, "web/kustomization.yaml", KUSTOMIZATION)?;
    git(&clone, &["add", "--all"]).await?;
    git(&clone, &["commit", "--quiet", "--message", "web: first version"]).await?;
    git(&clone, &["push", "--quiet", "origin", "HEAD:main"]).await?;
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

    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "repo", "labels": {"argocd.argoproj.io/secret-type": "repository"}},
        "stringData": {"url": url, "username": "ada", "password": "s3cret-of-ada"},
    });
    world.peers.kubernetes.create("/api/v1/namespaces/commits/secrets", &secret).await?;
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
