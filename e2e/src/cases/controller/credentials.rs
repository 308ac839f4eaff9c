//! Credentials that change while the controller runs, at a registry that checks them (spec 00 S0.1,
//! S3.4, S3.5).

use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::stage::Stage;
use super::updates::selects;
use crate::files::{read, write};
use crate::peers::registries::Guarded;
use crate::process::Process;
use crate::program::Program;

/// Two users, with passwords hashed as `htpasswd -B` does.
const ALICE: (&str, &str, &str) =
    ("alice", "s3cret-of-alice", "$2b$04$abcdefghijklmnopqrstuu.nAnwVQSlYbksAEpmghvBEUhZkyFlcy");
const BOB: (&str, &str, &str) =
    ("bob", "s3cret-renewed", "$2b$04$abcdefghijklmnopqrstuuQNEl.dvh1.AB4VBcIQB5sw4PMzwiS9y");

fn login((name, password, _): (&str, &str, &str)) -> String {
    format!("{name}:{password}")
}

/// A registry that knows alice, and one Application whose image it has.
struct Given<'w> {
    stage: Stage<'w>,
    registry: Guarded,
}

impl<'w> Given<'w> {
    /// `credentials` are the operator's, and keep eight hours.
    async fn prepare(stage: Stage<'w>, credentials: &str) -> Result<Self> {
        let (folder, images) = (&stage.folder, &stage.world.peers.registry);
        let namespace = stage.namespace;
        images.push(&format!("{namespace}/web"), &["1.0.0", "1.0.1"]).await?;
        let users = folder.join("users").display().to_string();
        write(folder, "users", &format!("{}:{}\n", ALICE.0, ALICE.2))?;
        let section = format!("auth: {{htpasswd: {{realm: e2e, path: '{users}'}}}}\n");
        let registry = Guarded::start("basic", folder, images.data(), &[], &section).await?;
        let url = registry.url();
        let registries = format!(
            "registries:\n- {{name: r, prefix: registry.example.com, api_url: '{url}', credentials: '{credentials}', credsexpire: 8h, limit: 0}}\n"
        );
        write(folder, "registries.conf", &registries)?;
        let image = format!("registry.example.com/{namespace}/web");
        stage.create_application("web", &format!("{image}:1.0.0"), Value::Null).await?;
        stage.create_updater("u", selects("web", &format!("{image}:~1.0"))).await?;
        Ok(Self { stage, registry })
    }

    /// From now on the registry knows these users alone.
    fn users(&self, users: &[(&str, &str, &str)]) -> Result<()> {
        let lines: String =
            users.iter().map(|(name, _, hash)| [name, ":", hash, "\n"].concat()).collect();
        // Replaced as a whole: the registry may read it at any moment.
        let folder = &self.stage.folder;
        write(folder, "users.new", &lines)?;
        std::fs::rename(folder.join("users.new"), folder.join("users"))
            .context("cannot rename a file")
    }

    async fn push(&self, tag: &str) -> Result<()> {
        let repository = format!("{}/web", self.stage.namespace);
        self.stage.world.peers.registry.push(&repository, &[tag]).await
    }

    async fn until_tag(&self, controller: &mut Process, tag: &str) -> Result<()> {
        let image = format!("registry.example.com/{}/web:{tag}", self.stage.namespace);
        self.stage.until_image(controller, "web", &image).await
    }

    /// Waits until passes that begin from now on have ended, that many.
    async fn passes(&self, controller: &mut Process, count: usize) -> Result<()> {
        let ended = |process: &Process| process.said().matches("Processing results: ").count();
        // The one under way may have begun before.
        let wanted = ended(controller) + 1 + count;
        let question = async |process: &Process| Ok(ended(process) >= wanted);
        self.stage.until("further passes", controller, question).await
    }
}

fn told_nothing_secret(controller: &Process) -> Result<()> {
    let said = controller.said();
    ensure!(![ALICE.1, BOB.1].iter().any(|secret| said.contains(secret)), "a secret: {said}");
    Ok(())
}

/// Spec 00 S3.5 and S3.4, with a Secret of the cluster: it comes later, then it is replaced.
pub(super) async fn by_secret(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "secrets").await?;
    let given = Given::prepare(stage, "secret:secrets/login#login").await?;
    let (stage, registry, server) = (&given.stage, &given.registry, &world.peers.kubernetes);
    let mut controller = stage.start("controller", &["--interval", "1s"])?;
    stage.says(&mut controller, "reason=CredentialSecretMissing").await?;
    same("asked without credentials", &registry.asked(0).await?.shown(), "")?;
    let secrets = "/api/v1/namespaces/secrets/secrets";
    let object = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"},
        "stringData": {"login": login(ALICE)},
    });
    server.create(secrets, &object).await?;
    given.until_tag(&mut controller, "1.0.1").await?;

    given.users(&[ALICE, BOB])?;
    let renewed = json!({"stringData": {"login": login(BOB)}});
    server.merge(&format!("{secrets}/login"), &renewed).await?;
    given.passes(&mut controller, 2).await?;
    let before = registry.asked(0).await?;
    let errors = controller.said().matches("level=error").count();
    given.users(&[BOB])?;
    given.push("1.0.2").await?;
    given.until_tag(&mut controller, "1.0.2").await?;
    let asked = registry.asked(0).await?.since(&before);
    // The new one was taken before the old one became invalid.
    ensure!(asked.of_kind("tags 401") == 0, "{}", asked.shown());
    let now = controller.said().matches("level=error").count();
    ensure!(now == errors, "{} errors more{}", now - errors, controller.said());
    told_nothing_secret(&controller)
}

/// Spec 00 S0.1 and S3.4, with a script: one run serves until the registry refuses what it gave.
pub(super) async fn by_script(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "scripts").await?;
    let script = stage.folder.join("login.sh");
    let text = "#!/bin/sh\nset -e\ncd \"$(dirname \"$0\")\"\necho run >> runs\ncat login\n";
    write(&stage.folder, "login.sh", text)?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
        .context("cannot change the mode of a file")?;
    write(&stage.folder, "login", &login(ALICE))?;
    let given = Given::prepare(stage, &format!("ext:{}", script.display())).await?;
    let (stage, registry) = (&given.stage, &given.registry);
    let runs = || Ok::<_, anyhow::Error>(read(&stage.folder, "runs")?.lines().count());
    let mut controller = stage.start("controller", &["--interval", "1s"])?;
    given.until_tag(&mut controller, "1.0.1").await?;
    given.passes(&mut controller, 2).await?;
    ensure!(runs()? == 1, "the script ran {} times", runs()?);
    let first = registry.asked(0).await?;
    ensure!(first.of_kind("tags 401") == 1, "{}", first.shown());

    // The old one becomes invalid, long before it was to be fetched anew.
    write(&stage.folder, "login", &login(BOB))?;
    given.users(&[BOB])?;
    given.push("1.0.2").await?;
    given.until_tag(&mut controller, "1.0.2").await?;
    given.passes(&mut controller, 1).await?;
    ensure!(runs()? == 2, "the script ran {} times", runs()?);
    let asked = registry.asked(0).await?.since(&first);
    ensure!(asked.of_kind("tags 401") == 1, "{}", asked.shown());
    let said = controller.said();
    ensure!(!said.contains("level=error"), "an error is told{said}");
    told_nothing_secret(&controller)
}
