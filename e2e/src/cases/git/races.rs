//! Somebody else writes to the same branch. What both write stays, and nothing is written twice.

use std::cell::Cell;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tokio::time::{Instant, sleep};

use super::super::same;
use super::forge::login;
use super::stage::{KUSTOMIZATION, Stage};
use super::{Given, Remote};
use crate::files::{read, write};
use crate::git::git;

/// The other one wins for sure: the forge's own hook lets it push while ours is being judged.
pub(super) async fn once(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("race")?;
    let remote = given.forge_remote("race").await?;
    let tip = remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    stage.simple("web", &remote.url, &[])?;
    login(&stage, &remote, &given.token)?;
    let rival = remote.clone("main").await?;
    commit(rival.path(), "ci", "built").await?;
    let asked = stage.folder.join("asked");
    let hook = remote.path().join("hooks/pre-receive.d");
    write(&hook, "rival", &faster_once(&asked, rival.path()))?;
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(hook.join("rival"), executable).context("cannot make a hook")?;

    stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
    let history = remote.log("%an", &format!("{tip}..main")).await?;
    same("writers, the last one first", &history, "argocd-image-updater\nAda")?;
    same("the rival's file", &remote.text("main", "ci").await?, "built")?;
    let text = remote.text("main", "p/kustomization.yaml").await?;
    same("our file", &text, KUSTOMIZATION.replace("1.0.0", "1.1.0").trim_end())?;
    let pushes = read(&stage.folder, "asked")?;
    same("pushes: ours, the rival's within it, ours", &pushes, "push\npush\npush\n")
}

/// Notes every push, and pushes for the rival while the first one waits.
fn faster_once(asked: &Path, rival: &Path) -> String {
    let (asked, rival) = (asked.display(), rival.display());
    format!(
        "#!/bin/sh
[ -e '{asked}' ] && first=no || first=yes
echo push >> '{asked}'
[ $first = no ] && exit 0
exec env -i PATH=\"$PATH\" HOME=/nonexistent git -C '{rival}' push --quiet origin HEAD:main
"
    )
}

/// How many Applications get their new version, one after the other.
const ROUNDS: usize = 6;

/// How often a pass may be needed for one of them: each tries five times by itself.
const PATIENCE: usize = 20;

/// The other one pushes again and again, for as long as ours works.
pub(super) async fn busy(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("busy")?;
    let remote = given.forge_remote("busy").await?;
    let folders: Vec<String> = (0..ROUNDS).map(|n| format!("p{n}/kustomization.yaml")).collect();
    let files: Vec<(&str, &str)> = folders.iter().map(|path| (&**path, KUSTOMIZATION)).collect();
    let tip = remote.push("main", &files).await?;
    login(&stage, &remote, &given.token)?;
    let rival = remote.clone("main").await?;
    let done = Cell::new(false);
    let (others, ours) = tokio::join!(push_until(&done, rival.path()), async {
        let outcome = move_all(&mut stage, &remote).await;
        done.set(true);
        outcome
    });
    let (others, ()) = (others?, ours?);
    let history = remote.log("%an", &format!("{tip}..main")).await?;
    let of = |name: &str| history.lines().filter(|line| *line == name).count();
    same("the rival's commits", &of("Ada").to_string(), &others.to_string())?;
    same("our commits", &of("argocd-image-updater").to_string(), &ROUNDS.to_string())?;
    for path in &folders {
        let text = remote.text("main", path).await?;
        same(path, &text, KUSTOMIZATION.replace("1.0.0", "1.1.0").trim_end())?;
    }
    for n in 0..others {
        let path = format!("ci/{n}");
        same(&path, &remote.text("main", &path).await?, &n.to_string())?;
    }
    Ok(())
}

async fn move_all(stage: &mut Stage<'_>, remote: &Remote) -> Result<()> {
    for n in 0..ROUNDS {
        let (name, path) = (format!("web{n}"), format!("p{n}"));
        stage.simple_in(&name, &remote.url, &path, &[])?;
        let mut passes = 0;
        while stage.pass_as_it_comes().await?.code != Some(0) {
            passes += 1;
            ensure!(passes < PATIENCE, "{name} is not written after {passes} passes");
        }
    }
    Ok(())
}

/// How long the rival rests when it has won, measured by how long it works: it leaves a gap that
/// ours fits into.
const REST: u32 = 3;

/// Pushes small commits, one at least; how many landed.
async fn push_until(done: &Cell<bool>, clone: &Path) -> Result<usize> {
    let mut landed = 0;
    while !done.get() || landed == 0 {
        let started = Instant::now();
        git(clone, &["fetch", "--quiet"]).await?;
        git(clone, &["reset", "--quiet", "--hard", "origin/main"]).await?;
        commit(clone, &format!("ci/{landed}"), &landed.to_string()).await?;
        // Lost against ours, it starts over at once.
        if git(clone, &["push", "--quiet", "origin", "HEAD:main"]).await.is_ok() {
            landed += 1;
            sleep(started.elapsed() * REST).await;
        }
    }
    Ok(landed)
}

async fn commit(clone: &Path, path: &str, text: &str) -> Result<()> {
    write(clone, path, text)?;
    git(clone, &["add", "--all"]).await?;
    git(clone, &["commit", "--quiet", "--message", "ci"]).await?;
    Ok(())
}
