//! The demo: the real program on `examples/demo`, with a registry and a git repository of this
//! process on loopback. It shows what was updated and why, then that nothing is left to do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::git::{Commit, GitRemote};
use crate::registry::Registry;

/// The repository's address in the example's manifests.
const GIT: &str = "https://git.example/platform.git";
/// The registry's host in the example's manifests.
const REGISTRY: &str = "registry.example";
/// What is run; settings that only the demo needs are not shown.
const RUN: &str = "argocd-image-updater run --once --manifests manifests";

/// Plays the demo with the program at `program` and gives what there is to see.
pub async fn demo(program: &Path) -> Result<String> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/demo");
    let registry = Registry::start().await;
    fill(&registry, &example)?;
    let remote = seeded(&example.join("repository"))?;
    let folder = tempfile::tempdir()?;
    let scene = Scene {
        registry,
        remote,
        folder: folder.path().to_owned(),
        program: std::path::absolute(program)?,
    };
    scene.lay_out(&example.join("manifests"))?;

    let log = ["log", "--reverse", "--format=%h %an: %s%n%w(0,4,4)%+b", "main~2..main"];
    let diff = ["diff", "--no-color", "-U1", "main~2", "main"];
    let parts = [
        format!("$ {RUN}\n{}", scene.run()?),
        format!("$ git log main\n{}", without_trailing_blanks(&scene.git(&log)?)),
        format!("$ git diff main~2 main\n{}", changes(&scene.git(&diff)?)),
        format!("$ diff -U1 before manifests\n{}", scene.difference()?),
        format!("$ {RUN}   # again\n{}", scene.run()?),
    ];
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
    Ok(parts.join("\n\n") + "\n")
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
    program: PathBuf,
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
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).args(["run", "--once", "--manifests", "manifests"]);
        command.args(["--registries-conf-path", "registries.conf", "--cache-dir", "cache"]);
        command.args(["--loglevel", "error"]);
        let words = output(&mut command).with_context(|| format!("{}", self.program.display()))?;
        Ok(words.replace(&self.remote.url(), GIT))
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        output(Command::new("git").arg("--git-dir").arg(self.remote.path()).args(arguments))
    }

    /// What changed in the folder.
    fn difference(&self) -> Result<String> {
        let mut command = Command::new("git");
        command.current_dir(&self.folder).args(["diff", "--no-index", "--no-color", "-U1"]);
        let found = command.args(["before", "manifests"]).output().context("git diff")?;
        Ok(changes(&String::from_utf8_lossy(&found.stdout)))
    }
}

/// A diff without git's head lines: the names of both sides say all that they would.
fn changes(diff: &str) -> String {
    let is_head = |line: &&str| {
        ["diff ", "index ", "new file mode"].iter().any(|head| line.starts_with(head))
    };
    diff.lines().filter(|line| !is_head(line)).collect::<Vec<_>>().join("\n")
}

fn without_trailing_blanks(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
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
