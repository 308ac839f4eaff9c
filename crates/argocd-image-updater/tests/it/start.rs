//! What the program needs besides itself: where that is missing or damaged one sentence says so,
//! and Applications that need none of it go on.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use aiu_testkit::git::{GitRemote, HttpGit, write_program};

use crate::program::{IMAGE, Place, Ran, application, pass, registry, run};

const OWN: &str = "{source: {repoURL: u, kustomize: {images: ['registry.test/acme/web:1.0.0']}}}";
const GIT: [(&str, &str); 4] = [
    IMAGE,
    ("write-back-method", "git"),
    ("write-back-target", "kustomization"),
    ("git-branch", "main"),
];

/// An Application that needs no git, and one of this repository.
fn manifests(url: &str) -> String {
    let spec = format!("{{source: {{repoURL: '{url}', path: a}}}}");
    application("own", &[IMAGE], OWN) + &application("a", &GIT, &spec)
}

fn remote() -> GitRemote {
    let text = "images:\n- name: registry.test/acme/web\n  newTag: 1.0.0\n";
    GitRemote::seeded([("a/kustomization.yaml", text)])
}

/// The Application without git is updated, the other says this, once.
fn assert_told(ran: &Ran, reason: &str, sentence: &str) {
    let shown = format!("{}{}", ran.out, ran.err);
    assert_eq!(ran.code, Some(1), "{shown}");
    assert!(ran.out.contains("1.1.0  updated"), "{shown}");
    assert!(ran.out.contains(&format!("failed: {reason}")), "{shown}");
    assert_eq!(ran.out.matches(sentence).count(), 1, "{sentence}: {shown}");
    assert_eq!(ran.err.matches(sentence).count(), 1, "{sentence}: {shown}");
}

fn path_to(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found.find(|path| path.is_file()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_are_missing_or_too_old_are_named_and_others_go_on() {
    let registry = registry().await;
    let bin = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let folder = bin.path().join(name);
        fs::create_dir(&folder).unwrap();
        folder
    };
    let (nothing, old, no_ssh) = (folder("nothing"), folder("old"), folder("no-ssh"));
    write_program(&old.join("git"), "#!/bin/sh\necho git version 2.20.1\n");
    symlink(path_to("git"), no_ssh.join("git")).unwrap();
    let remote = remote();
    let ssh = format!("ssh://git@127.0.0.1{}", remote.path().display());
    let rows = [
        (
            nothing,
            remote.url(),
            "GitMissing",
            "the program 'git' was not found; install git 2.34 or later, or correct PATH"
                .to_owned(),
        ),
        (
            old,
            remote.url(),
            "GitTooOld",
            "the program 'git' is git 2.20.1; install 2.34 or later, or correct PATH".to_owned(),
        ),
        (
            no_ssh,
            ssh.clone(),
            "SshMissing",
            format!(
                "the program 'ssh', by which git reaches {ssh}, was not found; install the OpenSSH client, or correct PATH"
            ),
        ),
    ];
    for (path, url, reason, sentence) in rows {
        let place = Place::new(&registry, "");
        place.manifest("apps.yaml", &manifests(&url));
        let ran = run(pass(place.path()).env("PATH", path));
        assert_told(&ran, reason, &sentence);
        if url == remote.url() {
            let ran = run(&mut pass(place.path()));
            assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        }
    }
    assert_eq!(
        remote.log("main").len(),
        2,
        "the first that could pushed, the second had nothing to"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_that_cannot_be_written_are_named_and_others_go_on() {
    let registry = registry().await;
    let remote = remote();
    remote.configure("http.receivepack", "true");
    let server = HttpGit::serve(remote.path(), None).await;
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: creds\n  namespace: argocd\n  labels: {{argocd.argoproj.io/secret-type: repository}}\nstringData: {{url: '{}', username: u, password: p}}\n",
        server.url("")
    );
    // A file stands where a folder is needed: not even root may make one there.
    let file = tempfile::NamedTempFile::new().unwrap();
    let below = file.path().join("below").display().to_string();
    for (variable, argument) in [(below.as_str(), "cache"), ("/tmp", below.as_str())] {
        let place = Place::new(&registry, "");
        place.manifest("apps.yaml", &manifests(&server.url("")));
        place.manifest("secret.yaml", &secret);
        let mut command = pass(place.path());
        command.env("TMPDIR", variable).args(["--cache-dir", argument]);
        assert_told(&run(&mut command), "GitCacheUnusable", "cannot be used: Not a directory");
        let ran = run(&mut pass(place.path()));
        assert!(!ran.out.contains("failed"), "{}{}", ran.out, ran.err);
    }
    assert_eq!(remote.log("main").len(), 2);
}

/// All packs in a folder and below.
fn packs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let below = entries.flat_map(|path| if path.is_dir() { packs(&path) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|it| it == "pack")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_mirror_is_rebuilt_with_one_warning() {
    let registry = registry().await;
    let (remote, place) = (remote(), Place::new(&registry, ""));
    place.manifest("apps.yaml", &manifests(&remote.url()));
    assert_eq!(run(&mut pass(place.path())).code, Some(0));
    let found = packs(&place.path().join("cache"));
    assert!(!found.is_empty());
    for pack in found {
        fs::remove_file(&pack).unwrap();
        fs::write(pack, "no pack").unwrap();
    }
    registry.repository("acme/web").tags(["1.2.0"]);
    let ran = run(&mut pass(place.path()));
    let shown = format!("{}{}", ran.out, ran.err);
    assert_eq!(ran.code, Some(0), "{shown}");
    let warnings = ran.err.lines().filter(|line| line.contains("level=warning"));
    let warnings: Vec<&str> = warnings.collect();
    assert_eq!(warnings.len(), 1, "{shown}");
    assert!(warnings[0].contains("the mirror is damaged, it is built afresh"), "{shown}");
    let text = remote.text("main", "a/kustomization.yaml").unwrap();
    assert!(text.contains("newTag: 1.2.0"), "{text}");
}
