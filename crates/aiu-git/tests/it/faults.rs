//! What goes wrong at remotes and in their files: each fault has its reason word and a sentence
//! that says what to do, and the pass after it is mended ends as if it had never been.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aiu_core::batch::{BranchKey, CommitPlan};
use aiu_core::edit::FileKind;
use aiu_git::credentials::{GitLogin, SignIn};
use aiu_git::{BranchWork, GitAccess, Wanted};
use aiu_testkit::git::{Commit, GitRemote, HttpGit, write_program};
use secrecy::SecretString;

use crate::disk::leftovers;
use crate::support::{Bench, key, order, path, plan, subjects, told, work};

fn access(sign_in: SignIn) -> GitAccess {
    GitAccess::Login(Arc::new(GitLogin::new("Secret argocd/creds", sign_in)))
}

fn token(token: &str) -> GitAccess {
    access(SignIn::Bearer(SecretString::from(token)))
}

/// Reads `a.yaml`, then writes as wished; what came of either.
async fn pass(bench: &Bench, key: &BranchKey, access: &GitAccess) -> String {
    let files = vec![(path("a.yaml"), FileKind::HelmValues)];
    let folders = std::collections::BTreeSet::new();
    let wanted = Wanted { key: key.clone(), access: access.clone(), files, folders };
    if let Err(error) = bench.mirrors.read(vec![wanted]).await.remove(0).texts {
        return format!("{}: {error}", error.reason());
    }
    write(bench, key, access).await
}

async fn write(bench: &Bench, key: &BranchKey, access: &GitAccess) -> String {
    let works = vec![BranchWork { access: access.clone(), ..work(key, vec![wish()]) }];
    told(&bench.writers.write(works, &order()).await[0]).remove(0)
}

fn wish() -> CommitPlan {
    plan("a", "a.yaml web=v2")
}

const DONE: &str = "a changed a.yaml";

#[tokio::test]
async fn a_token_that_has_expired_or_may_only_read_is_told_with_its_secret() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let server = HttpGit::serve(remote.path(), Some("Bearer first")).await;
    let (bench, main) = (Bench::new(), key(&server.url(""), ""));
    remote.configure("http.receivepack", "false");
    let refused = pass(&bench, &main, &token("first")).await;
    assert!(refused.starts_with("a GitPushRejected: could not push main to origin: "), "{refused}");
    let says = "check that the credentials in use (Secret argocd/creds) may write to http://";
    assert!(refused.contains(says), "{refused}");

    remote.configure("http.receivepack", "true");
    server.let_in("Bearer second");
    let refused = write(&bench, &main, &token("first")).await;
    assert!(refused.starts_with("a GitUnauthorized: http://"), "{refused}");
    assert!(refused.contains("refused the credentials in use (Secret argocd/creds)"), "{refused}");
    let refused = pass(&bench, &main, &token("first")).await;
    assert!(refused.starts_with("GitUnauthorized: http://"), "{refused}");

    assert_eq!(pass(&bench, &main, &token("second")).await, DONE);
    assert_eq!(subjects(&remote, "main"), ["update a", "seed"]);
    assert_eq!(bench.mirrors.counts().rebuilt, 0);
}

/// A `git` that finds no other programs than those in `bin`, of which it is one, and whatever
/// stands in `more`.
fn git_among(bin: &Path, more: &str) -> PathBuf {
    let program = bin.with_extension("git");
    let script = format!(
        "#!/bin/sh\nreal=$(command -v git)\nPATH=\"{}{more}\" exec \"$real\" \"$@\"\n",
        bin.display()
    );
    std::fs::create_dir_all(bin).unwrap();
    write_program(&program, &script);
    program
}

/// An `ssh` that says what the file beside it says, or, without one, is the other side itself.
const SSH: &str = r#"#!/bin/sh
if [ -f "$(dirname "$0")/../says" ]; then cat "$(dirname "$0")/../says" >&2; exit 255; fi
for command; do :; done
exec sh -c "$command"
"#;

#[tokio::test]
async fn an_unknown_or_changed_host_key_is_told_with_where_to_add_it() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    let program = git_among(&bin, ":$PATH");
    write_program(&bin.join("ssh"), SSH);
    let bench = Bench::with(|settings| {
        settings.program = program;
        settings.private = folder.path().to_owned();
    });
    let main = key(&format!("ssh://git@127.0.0.1{}", remote.path().display()), "");
    let ssh = access(SignIn::Ssh(SecretString::from("key")));
    let unknown = "No ED25519 host key is known for 127.0.0.1 and you have requested strict checking.\r\nHost key verification failed.\r\n";
    let changed = "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nHost key verification failed.\r\n";
    for says in [unknown, changed] {
        std::fs::write(folder.path().join("says"), says).unwrap();
        let refused = pass(&bench, &main, &ssh).await;
        assert!(refused.starts_with("GitHostKeyUnknown: the host key of ssh://"), "{refused}");
        assert!(refused.contains("add the host to the known hosts (ConfigMap argocd-ssh-known-hosts-cm, or ~/.ssh/known_hosts)"), "{refused}");
    }
    std::fs::remove_file(folder.path().join("says")).unwrap();
    assert_eq!(pass(&bench, &main, &ssh).await, DONE);
}

#[tokio::test]
async fn without_an_ssh_program_that_is_said_and_other_remotes_go_on() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let folder = tempfile::tempdir().unwrap();
    let program = git_among(&folder.path().join("bin"), "");
    let bench = Bench::with(|settings| {
        settings.program = program;
        settings.private = folder.path().to_owned();
    });
    let far = key("ssh://git@127.0.0.1/r.git", "");
    // With a key git asks a shell for `ssh`, without one the system.
    for access in [GitAccess::Ambient, access(SignIn::Ssh(SecretString::from("key")))] {
        let refused = pass(&bench, &far, &access).await;
        let expected = "SshMissing: the program 'ssh', by which git reaches ssh://git@127.0.0.1/r.git, was not found; install the OpenSSH client, or correct PATH";
        assert_eq!(refused, expected);
    }
    assert_eq!(pass(&bench, &key(&remote.url(), ""), &GitAccess::Ambient).await, DONE);
}

#[tokio::test]
async fn a_git_that_is_too_old_is_named_and_used_as_soon_as_it_is_replaced() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("git");
    write_program(&program, "#!/bin/sh\necho git version 2.20.1\n");
    let bench = Bench::with(|settings| settings.program.clone_from(&program));
    let main = key(&remote.url(), "");
    let expected = format!(
        "GitTooOld: the program '{}' is git 2.20.1; install 2.34 or later, or correct PATH",
        program.display()
    );
    assert_eq!(pass(&bench, &main, &GitAccess::Ambient).await, expected);
    write_program(&program, "#!/bin/sh\nexec git \"$@\"\n");
    assert_eq!(pass(&bench, &main, &GitAccess::Ambient).await, DONE);
}

#[tokio::test]
async fn a_branch_deleted_between_reading_and_pushing_is_missed_and_not_made_again() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    remote.branch("dev", "main");
    let (bench, dev) = (Bench::new(), key(&remote.url(), "dev"));
    bench.texts(&dev, &["a.yaml"]).await;
    remote.delete_branch("dev");
    let missed = write(&bench, &dev, &GitAccess::Ambient).await;
    let expected = format!(
        "a BranchNotFound: branch 'dev' does not exist in {}; nearest are main; the remote's default is main",
        remote.url()
    );
    assert_eq!(missed, expected);
    assert_eq!(remote.branches(), ["main"]);
    remote.branch("dev", "main");
    assert_eq!(pass(&bench, &dev, &GitAccess::Ambient).await, DONE);
    assert_eq!(subjects(&remote, "dev"), ["update a", "seed"]);
}

#[tokio::test]
async fn a_default_branch_that_is_renamed_is_followed() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, default) = (Bench::new(), key(&remote.url(), ""));
    bench.texts(&default, &["a.yaml"]).await;
    let rename = |from, to| {
        remote.branch(to, from);
        remote.set_default(to);
        remote.delete_branch(from);
    };
    rename("main", "trunk");
    let written = bench.write(&default, vec![wish()]).await;
    assert_eq!((told(&written), written.branch.as_deref()), (vec![DONE.to_owned()], Some("trunk")));
    rename("trunk", "main");
    assert_eq!(bench.texts(&default, &["a.yaml"]).await, ["web: v2\n"]);
    let written = bench.write(&default, vec![plan("a", "a.yaml web=v3")]).await;
    assert_eq!((told(&written), written.branch.as_deref()), (vec![DONE.to_owned()], Some("main")));
    assert_eq!(remote.branches(), ["main"]);
}

#[tokio::test]
async fn an_empty_repository_is_written_to_once_it_has_a_commit() {
    let remote = GitRemote::empty();
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    let empty = pass(&bench, &main, &GitAccess::Ambient).await;
    assert!(
        empty.starts_with("BranchNotFound") && empty.contains("push a first commit"),
        "{empty}"
    );
    remote.commit("main", &Commit::new("first").file("a.yaml", "web: v1\n"));
    assert_eq!(pass(&bench, &main, &GitAccess::Ambient).await, DONE);
}

/// Each file refuses its own Application, says how to mend it, and is written once it is mended.
#[tokio::test]
async fn files_that_cannot_be_edited_fail_their_application_alone_until_they_are_mended() {
    let big = format!("web: v1\n#{}\n", "x".repeat(10 << 20));
    let remote = GitRemote::empty();
    let seed = Commit::new("seed")
        .file("good.yaml", "web: v1\n")
        .symlink("link.yaml", "good.yaml")
        .submodule("module")
        .file("lfs.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n")
        .file("templated.yaml", "{{ if .x }}\nweb: v1\n{{ end }}\n")
        .file("big.yaml", &big)
        .file("App/Values.yaml", "web: v1\n")
        .bytes("latin.yaml", b"web: \xe9\n");
    remote.commit("main", &seed);
    #[rustfmt::skip]
    let rows = [
        // the file, the reason, what is said
        ("app/values.yaml",    "TargetMissing",      "there is no such file, but 'App/Values.yaml', which differs in upper and lower case; correct the path"),
        ("big.yaml",           "ManifestUnreadable", "it has 10485770 bytes, and files of more than 4194304 bytes are not edited; keep the image's keys in a file of their own"),
        ("latin.yaml",         "ManifestUnreadable", "it is not encoded as UTF-8; save it as UTF-8"),
        ("lfs.yaml",           "ManifestUnreadable", "take the file out of LFS (.gitattributes)"),
        ("link.yaml",          "ManifestUnreadable", "it is a symbolic link; name the file that it points to"),
        ("module/values.yaml", "ManifestUnreadable", "'module' is not a folder"),
        ("templated.yaml",     "ManifestTemplated",  "template"),
    ];
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    let plans = || {
        let files = rows.iter().map(|row| row.0).chain(["good.yaml"]);
        files.map(|file| plan(file, &format!("{file} web=v2"))).collect::<Vec<_>>()
    };
    let written = told(&bench.write(&main, plans()).await);
    for ((file, reason, says), told) in rows.iter().zip(&written) {
        assert!(told.starts_with(&format!("{file} {reason}: {file}: ")), "{told}");
        assert!(told.contains(says), "{told}");
    }
    assert_eq!(written.last().unwrap(), "good.yaml changed good.yaml");
    assert_eq!(subjects(&remote, "main"), ["update good.yaml", "seed"]);

    let mended = Commit::new("mended").remove("module").remove("App/Values.yaml");
    let mended = rows.iter().fold(mended, |commit, (file, ..)| commit.file(file, "web: v1\n"));
    remote.commit("main", &mended);
    bench.texts(&main, &["good.yaml"]).await;
    let written = told(&bench.write(&main, plans()).await);
    let mut expected: Vec<String> =
        rows.iter().map(|(file, ..)| format!("{file} changed {file}")).collect();
    expected.push("good.yaml already so".to_owned());
    assert_eq!(written, expected);
    assert_eq!(bench.mirrors.counts().rebuilt, 0);
}

#[tokio::test]
async fn odd_names_of_branches_and_paths_are_written_or_refused_in_words() {
    let odd = ["-dash/-v.yaml", "sp ace/a b.yaml", "ü/ß 世界.yaml", "a'b\"c/$x;y.yaml"];
    let remote = GitRemote::seeded(odd.map(|file| (file, "web: v1\n")));
    let bench = Bench::new();
    for branch in ["feature/ü-世界", "a'b;$c"] {
        let plans = odd.map(|file| plan(file, &format!("{file} web=v2"))).to_vec();
        let written = bench.write(&key(&remote.url(), &format!("main:{branch}")), plans).await;
        assert_eq!(told(&written), odd.map(|file| format!("{file} changed {file}")), "{branch}");
        assert_eq!(bench.texts(&key(&remote.url(), branch), &odd).await, odd.map(|_| "web: v2\n"));
    }
    for branch in ["with space", "-dash", "a..b", "x.lock", "a:b"] {
        // A colon in a name cannot be told from one between two.
        let mut named = key(&remote.url(), "main");
        named.head = Some(branch.into());
        let written = told(&bench.write(&named, vec![plan("a", "-dash/-v.yaml web=v3")]).await);
        let expected = format!(
            "a BranchNotFound: '{branch}' is not a valid name of a branch; see `git help check-ref-format`"
        );
        assert_eq!(written, [expected]);
    }
    assert_eq!(remote.branches().len(), 3, "{:?}", remote.branches());
}

#[tokio::test]
async fn a_remote_that_hangs_in_the_middle_of_a_pack_is_given_up_and_leaves_nothing() {
    let files: Vec<(String, String)> =
        (0..300).map(|at| (format!("d{at}/f.yaml"), format!("k: {at}\n"))).collect();
    let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let remote = GitRemote::seeded(files.chain([("a.yaml", "web: v1\n")]));
    remote.configure("http.receivepack", "true");
    let server = HttpGit::serve(remote.path(), None).await;
    server.stall_after(Some(4000));
    let bench = Bench::with(|settings| settings.deadline = Duration::from_secs(8));
    let main = key(&server.url(""), "main");
    let hung = pass(&bench, &main, &GitAccess::Ambient).await;
    assert!(hung.starts_with("GitUnreachable: `git fetch` for http://"), "{hung}");
    assert!(hung.contains("failed timeout after 8s"), "{hung}");

    server.stall_after(None);
    let bench = bench.restarted();
    assert_eq!(pass(&bench, &main, &GitAccess::Ambient).await, DONE);
    assert_eq!(leftovers(&bench), Vec::<PathBuf>::new());
    assert_eq!(bench.mirrors.counts().rebuilt, 0);
}
