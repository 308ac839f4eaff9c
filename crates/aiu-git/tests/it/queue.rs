//! One worker per branch: what comes during a push is the next batch.

use std::fs;
use std::sync::Arc;

use aiu_testkit::git::GitRemote;

use crate::support::{Bench, key, order, plan, subjects, told, work};

/// Pushes wait in the remote until they are let go.
struct Gate {
    folder: tempfile::TempDir,
}

impl Gate {
    fn at(remote: &GitRemote) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("go")).status();
        assert!(made.unwrap().success());
        // Reading from the pipe ends when somebody has opened it for writing and closed it.
        remote.hook("update", &format!("#!/bin/sh\necho > {path}/waiting\ncat {path}/go\n"));
        Self { folder }
    }

    /// Until a push waits.
    async fn reached(&self) {
        while !self.folder.path().join("waiting").exists() {
            tokio::task::yield_now().await;
        }
    }

    /// Lets one push go.
    async fn open(&self) {
        self.reached().await;
        fs::remove_file(self.folder.path().join("waiting")).unwrap();
        fs::write(self.folder.path().join("go"), "").unwrap();
    }
}

#[tokio::test]
async fn wishes_that_arrive_during_a_push_are_pushed_together() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\njob: v1\n"), ("b.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.texts(&main, &["a.yaml", "b.yaml"]).await;
    let gate = Gate::at(&remote);
    let submit = |app: &str, edits: &str| {
        let (writers, works) =
            (Arc::clone(&bench.writers), vec![work(&main, vec![plan(app, edits)])]);
        tokio::spawn(async move { writers.write(works, &order()).await.remove(0) })
    };
    let first = submit("a", "a.yaml web=v2");
    gate.reached().await;
    let later =
        [submit("d", "a.yaml job=v2"), submit("b", "b.yaml web=v2"), submit("c", "a.yaml web=v2")];
    // On a runtime with one thread each of them is in the queue after one turn.
    tokio::task::yield_now().await;
    gate.open().await;
    gate.open().await;
    assert_eq!(told(&first.await.unwrap()), ["a changed a.yaml"]);
    let mut told_later = Vec::new();
    for written in later {
        told_later.extend(told(&written.await.unwrap()));
    }
    assert_eq!(told_later, ["d changed a.yaml", "b changed b.yaml", "c already so"]);
    assert_eq!(subjects(&remote, "main"), ["update d", "update b", "update a", "seed"]);
    assert_eq!(remote.pushes(), (2, 2));
}

#[tokio::test]
async fn different_names_of_one_branch_are_one_push() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n"), ("b.yaml", "web: v1\n")]);
    let bench = Bench::new();
    let plain = remote.path().display().to_string();
    let keys = [key(&remote.url(), ""), key(&plain, "main"), key(&remote.url(), "dev:main")];
    let edits = ["a.yaml web=v2", "b.yaml web=v2", "a.yaml web=v2"];
    let works = keys.iter().zip(edits).map(|(key, edit)| work(key, vec![plan(edit, edit)]));
    let written = bench.writers.write(works.collect(), &order()).await;
    let told: Vec<_> = written.iter().flat_map(told).collect();
    let expected = [
        "a.yaml web=v2 changed a.yaml",
        "b.yaml web=v2 changed b.yaml",
        "a.yaml web=v2 already so",
    ];
    assert_eq!(told, expected);
    assert_eq!(remote.pushes(), (1, 1));
}

#[tokio::test]
async fn branches_and_remotes_are_written_at_the_same_time() {
    let remotes = [0, 1].map(|_| GitRemote::seeded([("a.yaml", "web: v1\n")]));
    let bench = Bench::new();
    let gates = remotes.each_ref().map(Gate::at);
    let works =
        remotes.iter().map(|it| work(&key(&it.url(), ""), vec![plan("a", "a.yaml web=v2")]));
    let works = works.collect();
    let writers = Arc::clone(&bench.writers);
    let writing = tokio::spawn(async move { writers.write(works, &order()).await });
    // Both wait at once; one after the other would never get here.
    gates[0].reached().await;
    gates[1].reached().await;
    gates[1].open().await;
    gates[0].open().await;
    let told: Vec<_> = writing.await.unwrap().iter().flat_map(told).collect();
    assert_eq!(told, ["a changed a.yaml", "a changed a.yaml"]);
}

#[tokio::test]
async fn no_more_branches_are_pushed_at_once_than_set() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let remotes = [0, 1, 2, 3].map(|_| GitRemote::seeded([("a.yaml", "web: v1\n")]));
    for remote in &remotes {
        let note = |word| format!("#!/bin/sh\necho {word} >> {}\n", log.path().display());
        remote.hook("update", &note("begins"));
        remote.hook("post-receive", &note("ends"));
    }
    let bench = Bench::with(|settings| settings.pushes_at_once = 1);
    let works =
        remotes.iter().map(|it| work(&key(&it.url(), ""), vec![plan("a", "a.yaml web=v2")]));
    bench.writers.write(works.collect(), &order()).await;
    assert_eq!(fs::read_to_string(log.path()).unwrap(), "begins\nends\n".repeat(4));
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_undo_what_was_begun() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    let gate = Gate::at(&remote);
    let (writers, works) =
        (Arc::clone(&bench.writers), vec![work(&main, vec![plan("a", "a.yaml web=v2")])]);
    let caller = tokio::spawn(async move { writers.write(works, &order()).await });
    gate.reached().await;
    caller.abort();
    bench.stop.cancel();
    gate.open().await;
    bench.writers.close().await;
    assert_eq!(subjects(&remote, "main"), ["update a", "seed"]);
}

#[tokio::test]
async fn a_message_that_panics_fails_its_batch_and_not_the_branch() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    let mut broken = order();
    broken.message = Arc::new(|_, _| panic!("a bug in the template"));
    let works = vec![work(&main, vec![plan("a", "a.yaml web=v2")])];
    let written = bench.writers.write(works, &broken).await.remove(0);
    assert_eq!(
        told(&written),
        [
            "a GitFailed: not written: the work on the branch broke off, the log says why; the next cycle tries again"
        ]
    );
    let written = bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), ["a changed a.yaml"]);
}
