//! Killed at any point, the program finishes the work the next time it runs, as if nothing had
//! happened: the same files, the same branches, the same commits.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use aiu_testkit::git::{Cut, GitRemote, GitWrapper};
use aiu_testkit::registry::Registry;
use tempfile::TempDir;

use crate::program::{Ran, pass, run};

/// A place to be killed at.
#[derive(Clone, Copy, Debug)]
enum Kill {
    /// Before or after a git command.
    Git(Cut),
    /// While a manifest is replaced (`aiu_controller::crash`).
    File(&'static str),
}

/// What the world looks like to everybody else.
#[derive(Debug, PartialEq, Eq)]
struct State {
    manifests: Vec<(String, String)>,
    branch_files: Vec<(String, Option<String>)>,
    /// Author and message of each commit, newest first, with the files that it changes.
    commits: Vec<(String, String, Vec<String>)>,
    branches: Vec<String>,
}

struct World {
    folder: TempDir,
    remote: GitRemote,
}

impl World {
    fn new(registry: &Registry) -> Self {
        let remote = GitRemote::seeded([
            ("a/kustomization.yaml", "images:\n- name: registry.test/acme/web\n  newTag: 1.0.0\n"),
            ("b/kustomization.yaml", "images:\n- name: registry.test/acme/web\n  newTag: 1.0.0\n"),
        ]);
        let world = Self { folder: tempfile::tempdir().unwrap(), remote };
        let path = world.folder.path();
        fs::create_dir(path.join("manifests")).unwrap();
        fs::write(path.join("manifests/apps.yaml"), world.manifests()).unwrap();
        let conf = format!(
            "registries:\n- {{name: t, prefix: registry.test, api_url: '{}'}}\n",
            registry.url()
        );
        fs::write(path.join("registries.conf"), conf).unwrap();
        world
    }

    /// One Application in its own file, two in git.
    fn manifests(&self) -> String {
        let app = |name: &str, more: &str, source: &str| {
            format!(
                "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}
  annotations:
    argocd-image-updater.argoproj.io/image-list: web=registry.test/acme/web
{more}spec: {{source: {{{source}}}}}
"
            )
        };
        let git = "    argocd-image-updater.argoproj.io/write-back-method: git
    argocd-image-updater.argoproj.io/write-back-target: kustomization\n";
        let url = self.remote.url();
        [
            app(
                "own",
                "",
                "repoURL: u, path: p, kustomize: {images: ['registry.test/acme/web:1.0.0']}",
            ),
            app("a", git, &format!("repoURL: '{url}', path: a, targetRevision: main")),
            app("b", git, &format!("repoURL: '{url}', path: b, targetRevision: main")),
        ]
        .join("---\n")
    }

    fn run(&self, kill: Option<Kill>) -> Ran {
        let mut command = pass(self.folder.path());
        match kill {
            Some(Kill::Git(cut)) => {
                self.wrap_git(&mut command, cut);
            }
            Some(Kill::File(point)) => {
                command.env("AIU_CRASH_AT", point);
            }
            None => {}
        }
        let status = command.output().unwrap().status;
        if kill.is_some() {
            assert!(status.signal().is_some(), "not killed at {kill:?}: {status}");
        }
        run(&mut pass(self.folder.path()))
    }

    /// Puts the wrapper in front of the `git` that the command finds.
    fn wrap_git(&self, command: &mut Command, cut: Cut) -> GitWrapper {
        let wrapper = GitWrapper::new(&self.folder.path().join("wrapper"), cut);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(wrapper.bin()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        wrapper
    }

    fn state(&self) -> State {
        let url = self.remote.url();
        let manifests = files(&self.folder.path().join("manifests"));
        let manifests =
            manifests.into_iter().map(|(name, text)| (name, text.replace(&url, "REMOTE")));
        let paths = self.remote.paths("main").into_iter();
        let commits = self.remote.log("main").into_iter();
        State {
            manifests: manifests.collect(),
            branch_files: paths
                .map(|path| (path.clone(), self.remote.text("main", &path)))
                .collect(),
            commits: commits
                .map(|c| (c.author.split('>').next().unwrap_or("").to_owned(), c.message, c.files))
                .collect(),
            branches: self.remote.branches(),
        }
    }
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect();
    found.sort();
    found
}

/// How many git commands an undisturbed run starts.
fn commands(registry: &Registry) -> usize {
    let world = World::new(registry);
    let mut command = pass(world.folder.path());
    let wrapper = world.wrap_git(&mut command, Cut::Never);
    assert_eq!(run(&mut command).code, Some(0));
    wrapper.calls().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_anywhere_the_next_run_ends_in_the_same_state() {
    let registry = Registry::start().await;
    registry.repository("acme/web").tags(["1.0.0", "1.1.0"]);
    let undisturbed = World::new(&registry);
    let ran = undisturbed.run(None);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    let expected = undisturbed.state();
    assert_eq!(expected.commits.len(), 3, "the seed and one commit for each application");

    let files =
        ["file.created", "file.half", "file.synced", "file.rename.before", "file.rename.after"];
    let mut places: Vec<Kill> = files.map(Kill::File).to_vec();
    for call in 1..=commands(&registry) {
        places.extend([Kill::Git(Cut::Before(call)), Kill::Git(Cut::After(call))]);
    }
    assert!(places.len() >= 20, "only {} places to be killed at", places.len());
    for place in places {
        let world = World::new(&registry);
        let again = world.run(Some(place));
        assert_eq!(again.code, Some(0), "after {place:?}: {}{}", again.out, again.err);
        assert_eq!(world.state(), expected, "after {place:?}");
    }
}
