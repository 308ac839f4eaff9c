use std::path::Path;
use std::time::{Duration, Instant};

use aiu_testkit::git::write_program;

use super::{Call, CallError, Git, Step};
use crate::settings::GitSettings;

/// A program that stands in for git.
fn stand_in(folder: &Path, script: &str) -> GitSettings {
    let program = folder.join("git");
    write_program(&program, &format!("#!/bin/sh\n{script}\n"));
    GitSettings { program, ..GitSettings::new(folder) }
}

fn call(input: Vec<u8>) -> Call<'static> {
    Call::new(Step::ReadBlobs, &[]).input(input)
}

#[tokio::test]
async fn megabytes_go_in_and_come_out_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let git = Git::new(&stand_in(folder.path(), "exec cat"));
    let input: Vec<u8> = (0..4 << 20).map(|at: u32| at.to_le_bytes()[1]).collect();
    assert_eq!(git.output(call(input.clone())).await.unwrap(), input);
}

#[tokio::test]
async fn a_child_that_does_not_read_its_input_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let git = Git::new(&stand_in(folder.path(), "echo done"));
    assert_eq!(git.output(call(vec![0; 1 << 20])).await.unwrap(), b"done\n");
}

#[tokio::test]
async fn a_failure_tells_the_last_words_without_logins() {
    let folder = tempfile::tempdir().unwrap();
    let script = "yes noise | head -c 100000 >&2; echo 'fatal: https://u:p@h/r' >&2; exit 128";
    let git = Git::new(&stand_in(folder.path(), script));
    let Err(CallError::Failed { words }) = git.output(call(Vec::new())).await else {
        panic!("it should fail")
    };
    assert!(words.ends_with("fatal: https://***@h/r\n"), "{words}");
    assert!(words.len() < 20_000, "{}", words.len());
}

#[tokio::test]
async fn at_the_deadline_the_whole_group_ends() {
    let folder = tempfile::tempdir().unwrap();
    // The child's child holds the output open and ignores the polite signal, as its parent does.
    let script = format!(
        "trap '' TERM; echo $$ > {}/pid; sh -c 'while :; do sleep 60; done'",
        folder.path().display()
    );
    let mut settings = stand_in(folder.path(), &script);
    (settings.deadline, settings.grace) = (Duration::from_millis(300), Duration::from_millis(50));
    let started = Instant::now();
    let ended = Git::new(&settings).output(call(Vec::new())).await;
    assert!(matches!(ended, Err(CallError::TimedOut { .. })), "{ended:?}");
    assert!(started.elapsed() < Duration::from_secs(20));
    let group: i32 =
        std::fs::read_to_string(folder.path().join("pid")).unwrap().trim().parse().unwrap();
    all_end(group).await;
}

#[tokio::test]
async fn a_cancelled_caller_leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 60", pid.display());
    let git = Git::new(&stand_in(folder.path(), &script));
    let seen = async {
        while !pid.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = git.output(call(Vec::new())) => panic!("it sleeps"),
        () = seen => {}
    }
    let group: i32 = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    all_end(group).await;
}

#[tokio::test]
async fn no_git_is_told_apart_from_other_trouble() {
    let settings = GitSettings { program: "no-such-git".into(), ..GitSettings::new("/") };
    let ended = Git::new(&settings).output(call(Vec::new())).await;
    assert!(matches!(&ended, Err(CallError::Missing { program }) if program == "no-such-git"));
}

/// Waits for the members of a group that was killed: the system needs a moment to end them.
async fn all_end(group: i32) {
    let started = Instant::now();
    while let Some(member) = living(group).first() {
        assert!(started.elapsed() < Duration::from_secs(20), "{member} lives on");
        tokio::task::yield_now().await;
    }
}

/// Members of the process group that have not ended (zombies have).
fn living(group: i32) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let files =
        processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let fields = files.filter_map(|stat| {
        let pid: i32 = stat.split(' ').next()?.parse().ok()?;
        let rest = stat.rsplit_once(") ")?.1.to_owned();
        let mut rest = rest.split(' ');
        let (state, _parent, group) = (rest.next()?.to_owned(), rest.next()?, rest.next()?);
        Some((pid, state, group.parse::<i32>().ok()?))
    });
    let members = fields.filter(|(_, state, of)| *of == group && state != "Z" && state != "X");
    members.map(|(pid, ..)| pid).collect()
}
