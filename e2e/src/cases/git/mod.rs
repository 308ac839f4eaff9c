//! Write-back to git on real remotes: Debian's `sshd`, nginx with TLS and a password, and Gitea.
//! After each write the tip is rendered by the programs that Argo CD renders with.

mod examples;
mod forge;
mod guides;
mod kinds;
mod races;
mod remote;
mod scenarios;
mod sign_in;
mod stage;

use std::path::PathBuf;

use anyhow::Result;

use super::{Tally, World};
use crate::files::subfolder;
use crate::peers::{GitHttps, Gitea, Sshd};
use crate::program::Program;
use crate::render::Renderers;
use remote::Remote;
use stage::Stage;

/// The user of the forge that the program is.
const BOT: &str = "bot";
/// The address by which it commits, where signatures are to be verified.
const BOTS_ADDRESS: &str = "bot@example.com";

/// What the cases are given.
struct Given<'a> {
    world: &'a World,
    program: &'a Program,
    folder: PathBuf,
    ssh: Sshd,
    https: GitHttps,
    forge: Gitea,
    renderers: Renderers,
    /// A token of the forge's user that may read and write.
    token: String,
}

impl<'a> Given<'a> {
    async fn start(world: &'a World, program: &'a Program) -> Result<Self> {
        let folder = subfolder(&world.folder, "git-peers")?;
        let renderers = Renderers::build(world.peers.kubernetes.kubectl()).await?;
        let forge = Gitea::start(&subfolder(&folder, "gitea")?).await?;
        let ssh = Sshd::start(&subfolder(&folder, "sshd")?).await?;
        let https = GitHttps::start(&subfolder(&folder, "nginx")?).await?;
        forge.create_user(BOT, BOTS_ADDRESS).await?;
        let token = forge.token(BOT, "all", &["write:repository"]).await?;
        let registry = &world.peers.registry;
        for image in ["git/web", "git/api"] {
            registry.push(image, &["1.0.0", "1.1.0", "2.0.0"]).await?;
        }
        Ok(Self { world, program, folder, ssh, https, forge, renderers, token })
    }

    /// A folder of manifests, with the server's certificate and nothing else in it.
    fn stage(&self, name: &str) -> Result<Stage<'_>> {
        let folder = subfolder(&self.folder, &format!("stage-{name}"))?;
        Stage::prepare(self, folder, name)
    }

    async fn ssh_remote(&self, name: &str) -> Result<Remote> {
        let url = self.ssh.create(name).await?;
        Ok(Remote::on_disk(url, self.ssh.path(name)))
    }

    async fn https_remote(&self, name: &str) -> Result<Remote> {
        let url = self.https.create(name).await?;
        Ok(Remote::on_disk(url, self.https.server().path(name)))
    }

    /// A repository of the forge, which somebody with every right has pushed to.
    async fn forge_remote(&self, name: &str) -> Result<Remote> {
        let url = self.forge.create(BOT, name).await?;
        let door = url.replacen("://", &format!("://{BOT}:{}@", self.token), 1);
        Ok(Remote::behind(url, self.forge.path(BOT, name), door))
    }
}

/// Starts the servers and runs the cases about them.
pub(super) async fn run(tally: &mut Tally, world: &World, program: &Program) {
    #[rustfmt::skip]
    let names = [
        "git: a key signs in to sshd, and its host is known or refused",
        "git: a password signs in over TLS, and the certificate is known or refused",
        "git: a token of the forge pushes, and a taken back, narrow or wrong one is told apart",
        "git: a protected branch is named, and what to do about it does it",
        "git: a signed commit is verified by the forge",
        "git: of two writers neither loses anything (S1.5)",
        "git: a busy second writer loses nothing either (S1.5)",
        "git: every kind of target is planned, written and rendered",
        "git: the demo's folder is planned, written and rendered",
        "git: the examples of edits are planned as they are written",
        "git: a chart and plain manifests (S1.4)",
        "git: what is wrong is named (S2.4a to S2.4d, S2.6a, S2.6b)",
        "git: the lab's Application (S3.1, S3.2, S3.6)",
        "git: two Applications of one branch (S3.7)",
        "git: the guide to signing in does what it says",
        "git: the guide to branches does what it says",
    ];
    if names.iter().all(|name| tally.skips(name)) {
        return;
    }
    let mut given = None;
    let start = async {
        given = Some(Given::start(world, program).await?);
        Ok(())
    };
    tally.case_for("git: sshd, nginx and the forge start", start).await;
    let Some(given) = &given else { return };
    tally.case(names[0], sign_in::over_ssh(given)).await;
    tally.case(names[1], sign_in::over_tls(given)).await;
    tally.case(names[2], forge::tokens(given)).await;
    tally.case(names[3], forge::protected(given)).await;
    tally.case(names[4], forge::signed(given)).await;
    tally.case(names[5], races::once(given)).await;
    tally.case(names[6], races::busy(given)).await;
    tally.case(names[7], kinds::all(given)).await;
    tally.case(names[8], examples::demo(given)).await;
    tally.case(names[9], examples::edits(given)).await;
    tally.case(names[10], scenarios::chart_and_manifests(given)).await;
    tally.case(names[11], scenarios::faults(given)).await;
    tally.case(names[12], scenarios::lab(given)).await;
    tally.case(names[13], scenarios::shared(given)).await;
    tally.case(names[14], guides::sign_in(given)).await;
    tally.case(names[15], guides::branches(given)).await;
}
