//! Killed at any point, the program finishes the work the next time it runs, as if nothing had
//! happened: the same files, the same branches, the same commits.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use aiu_testkit::git::{Cut, GitRemote, GitWrapper};
use aiu_testkit::registry::Registry;

use crate::program::{self, IMAGE, Place, Ran, application, pass, run};

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
    place: Place,
    remote: GitRemote,
}

impl World {
    fn new(registry: &Registry) -> Self {
        let remote = GitRemote::seeded([
            ("a/kustomization.yaml", "images:\n- name: registry.test/acme/web\n  newTag: 1.0.0\n"),
            ("b/kustomization.yaml", "images:\n- name: registry.test/acme/web\n  newTag: 1.0.0\n"),
        ]);
        let world = Self { place: Place::new(registry, ""), remote };
        world.place.manifest("apps.yaml", &world.manifests());
        world
    }

    /// One Application in its own file, two in git.
    fn manifests(&self) -> String {
        let git = [IMAGE, ("write-back-method", "git"), ("write-back-target", "kustomization")];
        let url = self.remote.url();
        let in_git = |name: &str| {
            let source = format!("repoURL: '{url}', path: {name}, targetRevision: main");
            application(name, &git, &format!("{{source: {{{source}}}}}"))
        };
        let own = "{source: {repoURL: u, kustomize: {images: ['registry.test/acme/web:1.0.0']}}}";
        [application("own", &[IMAGE], own), in_git("a"), in_git("b")].concat()
    }

    fn run(&self, kill: Option<Kill>) -> Ran {
        let mut command = pass(self.place.path());
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
        run(&mut pass(self.place.path()))
    }

    /// Puts the wrapper in front of the `git` that the command finds.
    fn wrap_git(&self, command: &mut Command, cut: Cut) -> GitWrapper {
        let wrapper = GitWrapper::new(&self.place.path().join("wrapper"), cut);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(wrapper.bin()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        wrapper
    }

    fn state(&self) -> State {
        let url = self.remote.url();
        let manifests = files(&self.place.path().join("manifests"));
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
    let mut command = pass(world.place.path());
    let wrapper = world.wrap_git(&mut command, Cut::Never);
    assert_eq!(run(&mut command).code, Some(0));
    wrapper.calls().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_anywhere_the_next_run_ends_in_the_same_state() {
    let registry = program::registry().await;
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
