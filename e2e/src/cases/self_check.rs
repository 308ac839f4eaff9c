//! The peers alone: that they are the servers that the other cases take them for.

use anyhow::{Result, ensure};

use super::{World, same};
use crate::files::{subfolder, write};
use crate::git::git;

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
