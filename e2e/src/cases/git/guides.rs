//! The guides to signing in and to branches: their blocks are read from the pages, as a reader
//! would copy them, and do what the pages say. Names of a reader's own are put in their place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::super::same;
use super::examples::root;
use super::forge::login;
use super::remote::UPDATER;
use super::stage::{KUSTOMIZATION, Stage};
use super::{BOT, BOTS_ADDRESS, Given, Remote};
use crate::files::{read, subfolder, write};
use crate::peers::PASSWORD;
use crate::{packages, tool};

/// A page, as a reader sees it.
struct Guide {
    name: &'static str,
    text: String,
}

impl Guide {
    fn read(name: &'static str) -> Result<Self> {
        Ok(Self { name, text: read(&root().join("docs/guides"), name)? })
    }

    /// The blocks of a language, in order.
    fn blocks(&self, language: &str) -> Vec<&str> {
        let fence = format!("```{language}\n");
        let rest = self.text.split(&*fence).skip(1);
        rest.filter_map(|rest| rest.split_once("```").map(|(block, _)| block)).collect()
    }

    /// The commands of all blocks for a shell, one a line, without what is said about them.
    fn commands(&self) -> Vec<String> {
        let text = self.blocks("sh").concat().replace("\\\n", " ");
        let lines = text.lines().map(|line| line.split(" # ").next().unwrap_or(line).trim());
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// Words that the page says somewhere in a line.
    fn says(&self, words: &str) -> Result<()> {
        ensure!(self.text.contains(words), "{} does not say `{words}` any more", self.name);
        Ok(())
    }
}

/// Runs a command as a shell would, with these programs before all others; what it printed.
async fn shell(line: &str, folder: &Path, variables: &[(&str, &str)]) -> Result<String> {
    tool::output("sh", &["-e", "-c", line], folder, variables).await
}

/// Every command of the guide to signing in, in the order of the page.
pub(super) async fn sign_in(given: &Given<'_>) -> Result<()> {
    let guide = Guide::read("git-sign-in.md")?;
    guide.says("`write-back-method: git:secret:NAME`")?;
    let mut reader = Reader::new(given, "guide-sign-in").await?;
    let commands = guide.commands();
    same("commands of the guide", &commands.len().to_string(), "7")?;
    for command in commands {
        let done = match &*command {
            line if line.contains("=TOKEN") => reader.password(line).await,
            line if line.contains("sshPrivateKey=") => reader.ssh_key(line).await,
            line if line.contains("githubAppID=") => reader.app(line).await,
            line if line.starts_with("ssh-keyscan") => reader.scan(line).await,
            line if line.contains("--git-commit-signing-key=") => reader.signs(line).await,
            line => bail!("nothing tries `{line}`"),
        };
        done.with_context(|| format!("`{command}` of {}", guide.name))?;
    }
    ensure!(reader.scanned, "no host was looked up");
    Ok(())
}

/// Who follows the guide.
struct Reader<'a> {
    given: &'a Given<'a>,
    stage: Stage<'a>,
    https: Remote,
    ssh: Remote,
    scanned: bool,
}

impl<'a> Reader<'a> {
    async fn new(given: &'a Given<'a>, name: &str) -> Result<Self> {
        let mut stage = given.stage(name)?;
        let https = given.https_remote("guide.git").await?;
        let ssh = given.ssh_remote("guide.git").await?;
        for remote in [&https, &ssh] {
            remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
        }
        let key = given.ssh.private_key("client")?;
        write(&stage.folder, "id_ed25519", &key)?;
        make_keys(&stage.folder).await?;
        stage.set("GNUPGHOME", &stage.folder.join("gnupg").display().to_string());
        Ok(Self { given, stage, https, ssh, scanned: false })
    }

    async fn password(&mut self, line: &str) -> Result<()> {
        self.make_secret(&line.replace("TOKEN", PASSWORD)).await?;
        self.updates(&[], Over::Https).await
    }

    /// The Secret is made; it signs in when the host is known, which is a later step.
    async fn ssh_key(&mut self, line: &str) -> Result<()> {
        self.make_secret(line).await?;
        self.applies(Over::Ssh)?;
        self.stage.pass(1, &[]).await?.has(&["GitHostKeyUnknown"])?;
        let secret = read(&self.stage.folder, "manifests/secret.yaml")?;
        write(&self.stage.folder, "ssh-secret.yaml", &secret)
    }

    /// The forge is nginx, which gives every App a token.
    async fn app(&mut self, line: &str) -> Result<()> {
        let base = format!("{}/api/v3", self.given.https.url());
        let more = format!(" --from-literal=githubAppEnterpriseBaseUrl={base}");
        self.make_secret(&(line.to_owned() + &more)).await?;
        self.updates(&[], Over::Https).await
    }

    async fn scan(&mut self, line: &str) -> Result<()> {
        let host = format!("-p {} 127.0.0.1", self.given.ssh.port());
        ensure!(line.contains("git.example.com"), "another host is looked up");
        let line = line.replace("git.example.com", &host);
        let found = shell(&line, &self.stage.folder, &[]).await?;
        self.stage.config_map("argocd-ssh-known-hosts-cm", "ssh_known_hosts", &found)?;
        let secret = read(&self.stage.folder, "ssh-secret.yaml")?;
        write(&self.stage.folder, "manifests/secret.yaml", &secret)?;
        self.scanned = true;
        self.updates(&[], Over::Ssh).await
    }

    /// The command as it stands, with the folder of keys and the id that the reader has.
    async fn signs(&mut self, line: &str) -> Result<()> {
        let folder = self.stage.folder.display().to_string();
        let id = read(&self.stage.folder, "id")?;
        let line = line.replace("=/keys/", &format!("={folder}/")).replace("0123ABCD", &id);
        let mut words = line.split_whitespace();
        ensure!(words.next() == Some("argocd-image-updater"), "another program");
        ensure!(words.next() == Some("run"), "another command");
        let identity = [["--git-commit-user", BOT], ["--git-commit-email", BOTS_ADDRESS]];
        let arguments: Vec<&str> = words.chain(identity.into_iter().flatten()).collect();
        self.updates(&arguments, Over::Ssh).await?;
        let home = self.home();
        let signers = self.stage.folder.join("signers").display().to_string();
        let signers = format!("gpg.ssh.allowedSignersFile={signers}");
        let verify = ["-c", &signers, "verify-commit", "main"];
        let variables = [("GNUPGHOME", &*home)];
        tool::output("git", &verify, self.ssh.path(), &variables).await?;
        Ok(())
    }

    fn home(&self) -> String {
        self.stage.folder.join("gnupg").display().to_string()
    }

    /// Makes a Secret in a cluster, and takes it from there into the folder of manifests.
    async fn make_secret(&self, line: &str) -> Result<()> {
        let cluster = &self.given.world.peers.kubernetes;
        cluster.namespace("argocd").await?;
        let kubectl = cluster.kubectl();
        let programs = before_others(kubectl.parent().context("kubectl is in a folder")?);
        let configuration = cluster.kubeconfig("admin").display().to_string();
        let variables = [("PATH", &*programs), ("KUBECONFIG", &configuration)];
        shell(line, &self.stage.folder, &variables).await?;
        let shown =
            cluster.kubectl_do(&["get", "secret", "deploy", "-n", "argocd", "-oyaml"]).await?;
        cluster.kubectl_do(&["delete", "secret", "deploy", "-n", "argocd"]).await?;
        write(&self.stage.folder, "manifests/secret.yaml", &shown)
    }

    fn applies(&self, over: Over) -> Result<()> {
        let url = &self.remote(over).url;
        self.stage.simple("web", url, &[("write-back-method", "git:secret:deploy")])
    }

    fn remote(&self, over: Over) -> &Remote {
        match over {
            Over::Https => &self.https,
            Over::Ssh => &self.ssh,
        }
    }

    /// One pass over a fresh file, which is written.
    async fn updates(&mut self, arguments: &[&str], over: Over) -> Result<()> {
        self.applies(over)?;
        let fresh = format!("{KUSTOMIZATION}# once more\n");
        let now = self.remote(over).text("main", "p/kustomization.yaml").await?;
        let text = if now.contains("once more") { KUSTOMIZATION } else { &fresh };
        let tip = self.remote(over).push("main", &[("p/kustomization.yaml", text)]).await?;
        self.stage.pass(0, arguments).await?.has(&["1.1.0 updated"])?;
        let log = self.remote(over).log("%P", &format!("{tip}..main")).await?;
        same("commits of the pass", &log, &tip)
    }
}

#[derive(Clone, Copy)]
enum Over {
    Https,
    Ssh,
}

/// Keys as the guide names them: of an App, and of one who signs; and what proves the signatures.
async fn make_keys(folder: &Path) -> Result<()> {
    let openssl = packages::program("openssl")?;
    tool::output(openssl, &["genrsa", "-traditional", "-out", "app.pem", "2048"], folder, &[])
        .await?;
    let home = subfolder(folder, "gnupg")?;
    let home = home.display().to_string();
    let variables = [("GNUPGHOME", &*home)];
    let gpg = packages::program("gpg")?;
    let who = format!("{BOT} <{BOTS_ADDRESS}>");
    let quick = ["--batch", "--quiet", "--passphrase", "", "--quick-generate-key", &who];
    tool::output(&gpg, &[&quick[..], &["ed25519", "sign", "never"]].concat(), folder, &variables)
        .await?;
    let export = ["--batch", "--armor", "--export-secret-keys"];
    write(folder, "key.asc", &tool::output(&gpg, &export, folder, &variables).await?)?;
    let list = ["--batch", "--with-colons", "--list-keys"];
    let list = tool::output(&gpg, &list, folder, &variables).await?;
    let id = list.lines().find_map(|line| line.strip_prefix("fpr:")).context("no key")?;
    write(folder, "id", id.trim_matches(':'))?;
    let public = ["-y", "-f", "id_ed25519"];
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(folder.join("id_ed25519"), mode).context("cannot hide a key")?;
    let keygen = packages::program("ssh-keygen")?;
    let public = tool::output(keygen, &public, folder, &[]).await?;
    write(folder, "signers", &format!("{BOTS_ADDRESS} {public}"))?;
    // Nobody asks the agent any more, and it shall not outlive the run.
    tool::output("gpgconf", &["--kill", "all"], folder, &variables).await?;
    Ok(())
}

/// The path, with this folder first.
fn before_others(folder: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", folder.display())
}

/// The branches that the settings of the page lead to, in its order.
const BRANCHES: [&str; 4] = ["main", "image-updates", "image-updates-shop", "image-updates"];

/// Every block of the guide to branches.
pub(super) async fn branches(given: &Given<'_>) -> Result<()> {
    let guide = Guide::read("branches.md")?;
    let settings = settings(&guide)?;
    same("settings of the guide", &settings.len().to_string(), &BRANCHES.len().to_string())?;
    let mut stage = given.stage("guide-branches")?;
    for (number, (setting, branch)) in settings.iter().zip(BRANCHES).enumerate() {
        let remote = given.forge_remote(&format!("guide-{number}")).await?;
        let tip = remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
        login(&stage, &remote, &given.token)?;
        stage.simple("shop", &remote.url, &[("git-branch", setting)])?;
        stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
        remote
            .one_commit(branch, &tip, "p/kustomization.yaml")
            .await
            .with_context(|| format!("git-branch: {setting}"))?;
        if branch != "main" {
            remote.unchanged("main", &tip).await?;
        }
    }
    one_commit_for_all(given, &guide, &mut stage).await?;
    taken_back(given, &guide).await?;
    look_first(given, &guide).await
}

/// The values of `git-branch`, each of its own line.
fn settings(guide: &Guide) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for line in guide.blocks("yaml").concat().lines() {
        let pair: BTreeMap<String, String> =
            serde_saphyr::from_str(line).with_context(|| format!("not one key: {line}"))?;
        let value = pair.get(&format!("{}/git-branch", super::stage::PREFIX));
        found.push(value.with_context(|| format!("nothing tries `{line}`"))?.clone());
    }
    Ok(found)
}

async fn one_commit_for_all(given: &Given<'_>, guide: &Guide, stage: &mut Stage<'_>) -> Result<()> {
    guide.says("`--commit-per branch`")?;
    let remote = given.forge_remote("guide-all").await?;
    let files = [("p/kustomization.yaml", KUSTOMIZATION), ("q/kustomization.yaml", KUSTOMIZATION)];
    let tip = remote.push("main", &files).await?;
    login(stage, &remote, &given.token)?;
    stage.simple("shop", &remote.url, &[])?;
    stage.simple_in("other", &remote.url, "q", &[])?;
    stage.pass(0, &["--commit-per", "branch"]).await?;
    remote.one_commit("main", &tip, "p/kustomization.yaml q/kustomization.yaml").await?;
    std::fs::remove_file(stage.folder.join("manifests/other.yaml")).context("cannot remove a file")
}

/// The line under a commit, and what it is for.
async fn taken_back(given: &Given<'_>, guide: &Guide) -> Result<()> {
    guide.says("`--hold-reverted`")?;
    let [line] = guide.blocks("text")[..] else { bail!("not one block of text") };
    let mut stage = given.stage("guide-hold")?;
    let remote = given.forge_remote("guide-hold").await?;
    remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    login(&stage, &remote, &given.token)?;
    stage.simple("shop", &remote.url, &[])?;
    stage.pass(0, &["--hold-reverted"]).await?.has(&["1.1.0 updated"])?;
    let message = remote.log("%B", "main~1..main").await?;
    ensure!(message.trim_end().ends_with(line.trim_end()), "another last line: {message}");
    let tip = remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    stage.pass(0, &["--hold-reverted"]).await?.has(&["Reverted"])?;
    remote.unchanged("main", &tip).await?;
    stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
    remote.one_commit("main", &tip, "p/kustomization.yaml").await
}

/// `plan` in a clone of one's own, with and without `git apply`.
async fn look_first(given: &Given<'_>, guide: &Guide) -> Result<()> {
    guide.says("It ends with 0 if there is nothing to do, with 3 if there\nis, with 1 if something failed.")?;
    let [table, piped] = &guide.commands()[..] else { bail!("not two commands") };
    let mut stage = given.stage("guide-plan")?;
    let remote = given.forge_remote("guide-plan").await?;
    stage.simple("shop", &remote.url, &[])?;
    login(&stage, &remote, &given.token)?;
    let conf = read(&stage.folder, "registries.conf")?;
    stage.config_map("argocd-image-updater-config", "registries.conf", &conf)?;
    let tip = remote.push("main", &[("p/kustomization.yaml", KUSTOMIZATION)]).await?;
    let clone = remote.clone("main").await?;
    for name in ["shop", "secret", "argocd-image-updater-config"] {
        let text = read(&stage.folder, &format!("manifests/{name}.yaml"))?;
        write(clone.path(), &format!("apps/{name}.yaml"), &text)?;
    }
    let programs = stage.folder.join("bin");
    std::fs::create_dir(&programs)?;
    let program: PathBuf = given.program.path().to_owned();
    std::os::unix::fs::symlink(program, programs.join("argocd-image-updater"))?;
    let (programs, home) = (before_others(&programs), stage.folder.display().to_string());
    let variables = [("PATH", &*programs), ("HOME", &home), ("TMPDIR", &home)];

    let coded = format!("{table} && echo ended with 0 || echo ended with $?");
    let shown = shell(&coded, clone.path(), &variables).await?;
    ensure!(shown.ends_with("ended with 3\n"), "no news, or a failure: {shown}");
    let kustomization = "p/kustomization.yaml";
    same(kustomization, &read(clone.path(), kustomization)?, KUSTOMIZATION)?;
    shell(piped, clone.path(), &variables).await?;
    remote.unchanged("main", &tip).await?;
    stage.pass(0, &[]).await?;
    let author = remote.log("%an <%ae>", &format!("{tip}..main")).await?;
    same("writer", &author, UPDATER)?;
    let written = remote.clone("main").await?;
    same(
        kustomization,
        &read(clone.path(), kustomization)?,
        &read(written.path(), kustomization)?,
    )?;
    let shown = shell(&coded, clone.path(), &variables).await?;
    ensure!(shown.ends_with("ended with 0\n"), "there is news still: {shown}");
    Ok(())
}
