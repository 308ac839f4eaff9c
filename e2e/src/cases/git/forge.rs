//! The forge: tokens of several rights, a branch that nobody may push to, and a key whose
//! signatures it verifies.

use anyhow::{Context, Result, ensure};

use super::stage::{KUSTOMIZATION, Stage};
use super::{BOT, BOTS_ADDRESS, Given, Remote};
use crate::peers::new_key;

/// A token that may write; before that one that may only read, one that was taken back, and one
/// that never was.
pub(super) async fn tokens(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("tokens")?;
    let remote = given.forge_remote("tokens").await?;
    let tip = remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    stage.simple("web", &remote.url, &[])?;
    let forge = &given.forge;
    let narrow = forge.token(BOT, "narrow", &["read:repository"]).await?;
    let gone = forge.token(BOT, "gone", &["write:repository"]).await?;
    forge.revoke(BOT, "gone").await?;
    let wrong = "0123456789abcdef0123456789abcdef01234567";
    let unknown = ["GitUnauthorized", "Authentication failed", "repository Secret argocd/creds"];
    let rows = [
        (&*narrow, ["GitPushRejected", "may write to", "repository Secret argocd/creds"]),
        (&gone, unknown),
        (wrong, unknown),
    ];
    for (token, words) in rows {
        stage.keep_secret(token);
        login(&stage, &remote, token)?;
        stage.pass(1, &[]).await?.has(&words)?;
        stage.was_seen("git-remote-http")?;
        remote.unchanged("main", &tip).await?;
    }
    login(&stage, &remote, &given.token)?;
    stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
    remote.one_commit("main", &tip, "p/kustomization.yaml").await
}

/// What the sentence proposes is done as it stands there, and the branch is another one then.
pub(super) async fn protected(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("protected")?;
    let remote = given.forge_remote("protected").await?;
    let tip = remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    given.forge.protect(BOT, "protected", "main").await?;
    stage.simple("web", &remote.url, &[])?;
    login(&stage, &remote, &given.token)?;
    let said = stage.pass(1, &[]).await?;
    said.has(&["BranchProtected", "protected branch main", "use a pull request"])?;
    remote.unchanged("main", &tip).await?;

    let branch = said.out.split_once("(git-branch: ").and_then(|(_, rest)| rest.split_once(')'));
    let (branch, _) = branch.with_context(|| format!("no branch is proposed{}", said.all))?;
    stage.simple("web", &remote.url, &[("git-branch", branch)])?;
    stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
    remote.unchanged("main", &tip).await?;
    remote.one_commit("image-updates", &tip, "p/kustomization.yaml").await
}

/// The forge's own word on two commits, one of them signed.
pub(super) async fn signed(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("signed")?;
    let remote = given.forge_remote("signed").await?;
    let tip = remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    stage.simple("web", &remote.url, &[])?;
    login(&stage, &remote, &given.token)?;
    let keys = given.forge.folder();
    new_key(keys, "signer").await?;
    given.forge.trust_key(BOT, "signer").await?;
    let key = keys.join("signer").display().to_string();
    let secret = crate::files::read(keys, "signer")?;
    stage.keep_secret(secret.lines().nth(2).unwrap_or(&secret));
    let arguments = [
        ["--git-commit-user", BOT],
        ["--git-commit-email", BOTS_ADDRESS],
        ["--git-commit-signing-method", "ssh"],
        ["--git-commit-signing-key", &key],
    ];
    stage.pass(0, arguments.as_flattened()).await?.has(&["1.1.0 updated"])?;
    let verdict = async |commit: &str| -> Result<(bool, String)> {
        let commit = given.forge.commit(BOT, "signed", commit).await?;
        let verdict = &commit["commit"]["verification"];
        let verified = verdict["verified"].as_bool().context("the forge gives no verdict")?;
        Ok((verified, verdict.to_string()))
    };
    let (verified, verdict_on_ours) = verdict(&remote.tip("main").await?).await?;
    ensure!(verified, "the forge does not verify our commit: {verdict_on_ours}");
    ensure!(verdict_on_ours.contains(BOTS_ADDRESS), "signed by another: {verdict_on_ours}");
    let (verified, verdict_on_other) = verdict(&tip).await?;
    ensure!(!verified, "the forge verifies what nobody signed: {verdict_on_other}");
    Ok(())
}

/// Argo CD's Secret for the repository, with a token of the forge's user.
pub(super) fn login(stage: &Stage<'_>, remote: &Remote, token: &str) -> Result<()> {
    let fields = [("url", &*remote.url), ("username", BOT), ("password", token)];
    stage.secret("repository", &fields)
}
