//! The demo: the real program on `examples/demo`, with a registry and a git repository of this
//! process on loopback. It shows what was updated and why, then that nothing is left to do.

#![expect(clippy::print_stdout, reason = "showing is what the demo is for")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use aiu_testkit::git::{Commit, GitRemote};
use aiu_testkit::registry::Registry;
use anyhow::{Context as _, Result, bail};

/// The repository's address in the example's manifests.
const GIT: &str = "https://git.example/platform.git";
/// The registry's host in the example's manifests.
const REGISTRY: &str = "registry.example";

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().context("cannot start a runtime");
    match runtime.and_then(|runtime| runtime.block_on(demo())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("the demo failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn demo() -> Result<()> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/demo");
    let registry = Registry::start().await;
    fill(&registry, &example)?;
    let remote = seeded(&example.join("repository"))?;
    let folder = tempfile::tempdir()?;
    let scene = Scene { registry, remote, folder: folder.path().to_owned() };
    scene.lay_out(&example.join("manifests"))?;

    println!(
        "# A registry, a git repository and four Applications (examples/demo), all on this machine.\n"
    );
    println!("$ argocd-image-updater run --once --manifests manifests");
    println!("{}", scene.run()?);
    println!("$ git log main");
    println!(
        "{}",
        scene.git(&["log", "--reverse", "--format=%h %an: %s%n%n%w(0,4,4)%b", "main~2..main"])?
    );
    println!("$ git diff main~2 main");
    println!("{}", scene.git(&["diff", "--no-color", "-U1", "main~2", "main"])?);
    println!("$ diff -r --unified=1 before/ manifests/");
    println!("{}", scene.difference()?);
    println!("$ argocd-image-updater run --once --manifests manifests   # again");
    println!("{}", scene.run()?.trim_end());
    Ok(())
}

/// Gives the registry the tags that the example lists.
fn fill(registry: &Registry, example: &Path) -> Result<()> {
    let text = std::fs::read_to_string(example.join("registry.yaml"))?;
    let repositories: BTreeMap<String, Vec<String>> = serde_saphyr::from_str(&text)?;
    for (name, tags) in repositories {
        registry.repository(&name).tags(tags);
    }
    Ok(())
}

/// A bare repository with the files of a folder.
fn seeded(folder: &Path) -> Result<GitRemote> {
    let remote = GitRemote::empty();
    let mut commit = Commit::new("the platform team's work so far");
    for (path, text) in files(folder, folder)? {
        commit = commit.file(&path, &text);
    }
    remote.commit("main", &commit);
    Ok(remote)
}

fn files(root: &Path, folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.append(&mut files(root, &path)?);
        } else {
            let name = path.strip_prefix(root)?.display().to_string();
            found.insert(name, std::fs::read_to_string(&path)?);
        }
    }
    Ok(found)
}

/// The peers and the folder that the program works on.
struct Scene {
    registry: Registry,
    remote: GitRemote,
    folder: PathBuf,
}

impl Scene {
    /// Copies the manifests, with this machine's repository in place of the example's, and
    /// tells the program where the example's registry is.
    fn lay_out(&self, manifests: &Path) -> Result<()> {
        for folder in ["before", "manifests"] {
            std::fs::create_dir(self.folder.join(folder))?;
            for (name, text) in files(manifests, manifests)? {
                let text = text.replace(GIT, &self.remote.url());
                std::fs::write(self.folder.join(folder).join(name), text)?;
            }
        }
        let conf = format!(
            "registries:\n- {{name: demo, prefix: {REGISTRY}, api_url: '{}'}}\n",
            self.registry.url()
        );
        std::fs::write(self.folder.join("registries.conf"), conf)?;
        Ok(())
    }

    /// One pass of the real program.
    fn run(&self) -> Result<String> {
        let program = std::env::current_exe()?.with_file_name("argocd-image-updater");
        let mut command = Command::new(&program);
        command.current_dir(&self.folder).args(["run", "--once", "--manifests", "manifests"]);
        command.args(["--registries-conf-path", "registries.conf", "--cache-dir", "cache"]);
        command.args(["--loglevel", "error"]);
        let words = output(&mut command)
            .with_context(|| format!("{} (build it first: make demo)", program.display()))?;
        Ok(words.replace(&self.remote.url(), GIT))
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        output(Command::new("git").arg("--git-dir").arg(self.remote.path()).args(arguments))
    }

    /// What changed in the folder.
    fn difference(&self) -> Result<String> {
        let mut command = Command::new("diff");
        command.current_dir(&self.folder).args(["-r", "-U1", "--label", "before/shop.yaml"]);
        command.args(["--label", "manifests/shop.yaml", "before", "manifests"]);
        let found = command.output().context("diff")?;
        let text = String::from_utf8_lossy(&found.stdout).into_owned();
        // Only lines of the change; `diff -r` also names its own command line.
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("diff ")).collect();
        Ok(lines.join("\n") + "\n")
    }
}

/// Standard output of a command that must succeed.
fn output(command: &mut Command) -> Result<String> {
    let found = command.output()?;
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    if !found.status.success() {
        bail!("{}{}", text, String::from_utf8_lossy(&found.stderr));
    }
    Ok(text)
}
