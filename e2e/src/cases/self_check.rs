//! The peers alone: that they are the servers that the other cases take them for.

use anyhow::{Result, ensure};
use reqwest::Method;

use super::{World, same};
use crate::files::{subfolder, write};
use crate::git::git;
use crate::peers::{CONTROLLER, ELSEWHERE};

pub(super) async fn registry(world: &World) -> Result<()> {
    let registry = &world.peers.registry;
    registry.push("self/check", &["1.0.0", "1.1.0"]).await?;
    let mut tags = registry.tags("self/check").await?;
    tags.sort();
    same("tags of self/check", &tags.join(" "), "1.0.0 1.1.0")?;
    ensure!(registry.tags("self/nothing").await.is_err(), "an unknown repository has tags");
    Ok(())
}

pub(super) async fn git_over_http(world: &World) -> Result<()> {
    let folder = subfolder(&world.folder, "self-check")?;
    let url = world.peers.git.create("self-check.git").await?;
    git(&folder, &["clone", "--quiet", &url, "first"]).await?;
    let first = folder.join("first");
    write(&first, "a/file", "text\n")?;
    git(&first, &["add", "--all"]).await?;
    git(&first, &["commit", "--quiet", "--message", "seed"]).await?;
    git(&first, &["push", "--quiet", "origin", "HEAD:main"]).await?;

    let partial = ["clone", "--quiet", "--bare", "--depth=1", "--filter=blob:none", &url, "second"];
    git(&folder, &partial).await?;
    let second = folder.join("second");
    let missing = git(&second, &["rev-list", "--objects", "--missing=print", "main"]).await?;
    let blobs = missing.lines().filter(|line| line.starts_with('?')).count();
    ensure!(blobs == 1, "{blobs} blobs are missing from a clone without blobs, not 1");
    same("the file, fetched on demand", &git(&second, &["show", "main:a/file"]).await?, "text")
}

pub(super) async fn kubernetes(world: &World) -> Result<()> {
    let server = &world.peers.kubernetes;
    let version = server.get("/version").await?;
    ensure!(version["gitVersion"] == "v1.36.0", "not the version that was asked for: {version}");
    server.namespace("self-check").await?;
    let path = "/api/v1/namespaces/self-check/configmaps";
    for user in [CONTROLLER, ELSEWHERE] {
        let (code, said) = server.request(user, Method::GET, path, None).await?;
        ensure!(code == 403, "{user} has no role, and yet was answered {code}: {said}");
    }
    let refused = server.asked_by(ELSEWHERE)?;
    let [refused] = refused.as_slice() else { anyhow::bail!("not one request: {refused:?}") };
    let found = (refused.line(), refused.object.namespace.as_str(), refused.code());
    ensure!(found == ("list configmaps".to_owned(), "self-check", 403), "{found:?}");

    server.pause().await;
    ensure!(server.get("/version").await.is_err(), "a server that was taken away answers");
    server.resume().await?;
    server.ready().await?;
    let names = server.kubectl_do(&["get", "namespaces", "--output=name"]).await?;
    ensure!(names.contains("namespace/self-check\n"), "the store was not kept: {names}");
    Ok(())
}
