//! Killed at any point, the next process brings about the same end.

use std::path::Path;
use std::process::Command;

use aiu_testkit::git::{Cut, GitRemote, GitWrapper};

use crate::support::{Bench, key, plan, settings, subjects, told};

/// Name, to the process that will be killed, its cache folder, its git and the remote.
const CACHE: &str = "AIU_GIT_TEST_KILLED_CACHE";
const PROGRAM: &str = "AIU_GIT_TEST_KILLED_PROGRAM";
const REMOTE: &str = "AIU_GIT_TEST_KILLED_REMOTE";

/// Where git commands are cut before the work is done anyway; more than it takes.
const CUTS: usize = 11;

/// The work of a pass: read, then write what two Applications want.
async fn pass(bench: &Bench, url: &str) -> Vec<String> {
    let main = key(url, "");
    bench.texts(&main, &["a.yaml", "b.yaml"]).await;
    let plans = vec![plan("one", "a.yaml web=v2"), plan("two", "a.yaml job=v2; b.yaml web=v2")];
    told(&bench.write(&main, plans).await)
}

/// Does nothing but in the process that [`killed`] starts.
#[tokio::test]
async fn the_process_that_is_killed() {
    let [Ok(cache), Ok(program), Ok(url)] = [CACHE, PROGRAM, REMOTE].map(std::env::var) else {
        return;
    };
    let bench = Bench::with(|ours| {
        *ours = settings(Path::new(&cache));
        ours.program = program.into();
    });
    pass(&bench, &url).await;
}

/// Runs the pass in a process of its own; whether it was killed, and the git commands it ran.
fn killed(folder: &Path, url: &str, cut: Cut) -> (bool, Vec<String>) {
    let wrapper = GitWrapper::new(folder, cut);
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::the_process_that_is_killed", "--nocapture"])
        .env(CACHE, folder.join("cache"))
        .env(PROGRAM, wrapper.program())
        .env(REMOTE, url)
        .output()
        .unwrap();
    (!ended.status.success(), wrapper.calls())
}

#[tokio::test]
async fn killed_between_any_two_git_commands_the_next_process_ends_the_same() {
    let (mut kills, mut seen_whole) = (0, false);
    for cut in (1..=CUTS).flat_map(|call| [Cut::Before(call), Cut::After(call)]) {
        let remote = GitRemote::seeded([("a.yaml", "web: v1\njob: v1\n"), ("b.yaml", "web: v1\n")]);
        let folder = tempfile::tempdir().unwrap();
        let (was_killed, calls) = killed(folder.path(), &remote.url(), cut);
        kills += usize::from(was_killed);
        seen_whole |= !was_killed;
        let pushed_before = remote.log("main").len() == 3;

        let bench = Bench::with(|ours| *ours = settings(&folder.path().join("cache")));
        let told = pass(&bench, &remote.url()).await;
        let expected = if pushed_before {
            ["one already so", "two already so"]
        } else {
            ["one changed a.yaml", "two changed a.yaml, b.yaml"]
        };
        assert_eq!(told, expected, "{cut:?} of {calls:?}");
        assert_eq!(subjects(&remote, "main"), ["update two", "update one", "seed"], "{cut:?}");
        assert_eq!(remote.text("main", "a.yaml").unwrap(), "web: v2\njob: v2\n", "{cut:?}");
        assert_eq!(remote.text("main", "b.yaml").unwrap(), "web: v2\n", "{cut:?}");
        assert_eq!(bench.mirrors.counts().rebuilt, 0, "{cut:?} of {calls:?}");
    }
    assert!(seen_whole, "there are more git commands than cuts");
    assert_eq!(kills, 20, "before and after each of ten commands");
}
