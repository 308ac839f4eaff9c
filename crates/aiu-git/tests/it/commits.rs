//! What commits look like: signed by a key, shared by Applications.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use aiu_git::{Signing, SigningMethod, Written};
use aiu_testkit::git::GitRemote;
use tempfile::TempDir;

use crate::support::{Bench, key, order, plan, subjects, told, work};

/// Runs a program and gives what it says on both outputs.
fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

fn made(command: &mut Command) -> String {
    let (success, said) = run(command);
    assert!(success, "{said}");
    said
}

fn signing(method: SigningMethod, key: &Path) -> Signing {
    Signing { method, key: key.display().to_string() }
}

/// `git verify-commit` for all commits above the first, with settings and a home of `GnuPG`.
fn verified(remote: &GitRemote, settings: &[&str], home: &Path) -> usize {
    let log = remote.log("main");
    for commit in &log[..log.len() - 1] {
        let mut verify = Command::new("git");
        verify.arg("--git-dir").arg(remote.path());
        for setting in settings {
            verify.args(["-c", setting]);
        }
        verify.args(["verify-commit", &commit.id]).env("GNUPGHOME", home);
        let (success, said) = run(&mut verify);
        assert!(success, "{}: {said}", commit.id);
    }
    log.len() - 1
}

/// Two Applications' changes on one branch, and what became of them.
async fn two(bench: &Bench, remote: &GitRemote) -> Vec<String> {
    let main = key(&remote.url(), "main");
    let plans = vec![plan("a", "a.yaml web=v2"), plan("b", "b.yaml job=v2")];
    told(&bench.write(&main, plans).await)
}

fn seeded() -> GitRemote {
    GitRemote::seeded([("a.yaml", "web: v1\n"), ("b.yaml", "job: v1\n")])
}

const CHANGED: [&str; 2] = ["a changed a.yaml", "b changed b.yaml"];

/// A key as a mounted Secret holds it: readable by others, without its last line feed.
fn ssh_key(folder: &Path) -> PathBuf {
    let own = folder.join("own");
    made(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&own));
    let mounted = folder.join("mounted");
    fs::write(&mounted, fs::read_to_string(&own).unwrap().trim_end()).unwrap();
    let public = fs::read_to_string(own.with_extension("pub")).unwrap();
    fs::write(folder.join("allowed"), format!("noreply@argoproj.io {public}")).unwrap();
    mounted
}

#[tokio::test]
async fn an_ssh_key_signs_every_commit() {
    let (folder, remote) = (tempfile::tempdir().unwrap(), seeded());
    let mounted = ssh_key(folder.path());
    let plain = Bench::new();
    let bench =
        Bench::with(|settings| settings.signing = Some(signing(SigningMethod::Ssh, &mounted)));
    assert_eq!(two(&bench, &remote).await, CHANGED);
    let allowed = format!("gpg.ssh.allowedSignersFile={}", folder.path().join("allowed").display());
    assert_eq!(verified(&remote, &[&allowed], folder.path()), 2);
    assert_eq!(subjects(&remote, "main"), ["update b", "update a", "seed"]);
    let other = seeded();
    assert_eq!(two(&plain, &other).await, CHANGED);
    let more = bench.mirrors.counts().processes - plain.mirrors.counts().processes;
    assert_eq!(more, 2, "one more process per commit");
    assert_eq!(two(&bench, &remote).await, ["a already so", "b already so"]);
    // But for the signature they are the same commits.
    let same = |remote: &GitRemote| remote.log("main")[0].clone();
    let (signed, unsigned) = (same(&remote), same(&other));
    assert_eq!((signed.author, signed.committer), (unsigned.author, unsigned.committer));
    assert_eq!((signed.message, signed.files), (unsigned.message, unsigned.files));
}

struct GnuPg {
    home: TempDir,
}

impl GnuPg {
    /// A home with one key in it.
    fn new() -> Self {
        let gnupg = Self { home: tempfile::tempdir().unwrap() };
        let make = ["--batch", "--passphrase", "", "--quick-gen-key"];
        made(gnupg.gpg().args(make).args([
            "Bot <noreply@argoproj.io>",
            "ed25519",
            "sign",
            "never",
        ]));
        gnupg
    }

    fn gpg(&self) -> Command {
        let mut gpg = Command::new("gpg");
        gpg.arg("--homedir").arg(self.home.path());
        gpg
    }

    /// The private key in a file, as a Secret holds it.
    fn exported(&self) -> PathBuf {
        let file = self.home.path().join("key.asc");
        made(self.gpg().args(["--batch", "--armor", "-o"]).arg(&file).arg("--export-secret-keys"));
        file
    }
}

impl Drop for GnuPg {
    fn drop(&mut self) {
        let mut end = Command::new("gpgconf");
        end.arg("--homedir").arg(self.home.path()).args(["--kill", "gpg-agent"]);
        let _ = end.output();
    }
}

/// Processes whose arguments name this folder.
fn living(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let all = fs::read_dir("/proc").unwrap().flatten();
    let arguments = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let arguments = arguments.map(|text| String::from_utf8_lossy(&text).replace('\0', " "));
    arguments.filter(|text| text.contains(&folder)).collect()
}

/// B89: the key in a file of a read-only folder; `GnuPG` works in a private one.
#[tokio::test]
async fn an_openpgp_key_in_a_file_signs_every_commit() {
    let (gnupg, remote) = (GnuPg::new(), seeded());
    let file = gnupg.exported();
    let private = tempfile::tempdir().unwrap();
    let bench = Bench::with(|settings| {
        settings.signing = Some(signing(SigningMethod::OpenPgp, &file));
        settings.private = private.path().to_owned();
    });
    assert_eq!(two(&bench, &remote).await, CHANGED);
    assert_eq!(verified(&remote, &[], gnupg.home.path()), 2);
    let agents = living(private.path());
    assert!(agents.is_empty(), "no agent lives on: {agents:?}");
    drop(bench);
    assert_eq!(fs::read_dir(private.path()).unwrap().count(), 0, "nor does the key");
}

#[tokio::test]
async fn without_its_signature_nothing_is_pushed() {
    let folder = tempfile::tempdir().unwrap();
    let nonsense = folder.path().join("nonsense");
    fs::write(&nonsense, "no key\n").unwrap();
    let missing = folder.path().join("missing");
    #[rustfmt::skip]
    let rows = [
        (SigningMethod::Ssh,     &missing,  "cannot be read: No such file"),
        (SigningMethod::Ssh,     &nonsense, "check --git-commit-signing-key"),
        (SigningMethod::OpenPgp, &nonsense, "cannot be imported"),
    ];
    for (method, key, says) in rows {
        let remote = seeded();
        let bench = Bench::with(|settings| settings.signing = Some(signing(method, key)));
        let told = two(&bench, &remote).await;
        for line in &told {
            assert!(line.contains("CommitNotSigned") && line.contains(says), "{told:?}");
        }
        assert_eq!((remote.pushes().0, bench.mirrors.counts().rebuilt), (0, 0));
    }
}

/// Spec 40 B15.
#[tokio::test]
async fn applications_of_a_branch_share_a_commit_on_wish() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\njob: v1\n"), ("b.yaml", "job: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), "main"));
    let order = aiu_git::WriteOrder { one_per_branch: true, ..order() };
    let plans = vec![
        plan("a", "a.yaml web=v2"),
        plan("b", "a.yaml job=v2; b.yaml job=v2"),
        plan("c", "a.yaml web=v2"),
        plan("d", "a.yaml web.x=v2"),
    ];
    let written = bench.writers.write(vec![work(&main, plans)], &order).await.remove(0);
    let lines = told(&written);
    assert_eq!(lines[..3], ["a changed a.yaml", "b changed a.yaml, b.yaml", "c already so"]);
    let ids: Vec<_> = written
        .commits
        .iter()
        .filter_map(|it| match &it.written {
            Written::Changed { commit, .. } => Some(commit.to_string()),
            _ => None,
        })
        .collect();
    let log = remote.log("main");
    assert_eq!(ids, vec![log[0].id.clone(); ids.len()]);
    assert_eq!(log.len(), 2);
    assert_eq!(
        log[0].files,
        ["a.yaml", "b.yaml"].iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()
    );
    assert!(log[0].message.starts_with("update a, b"), "{}", log[0].message);
    assert_eq!(remote.text("main", "a.yaml").unwrap(), "web: v2\njob: v2\n");
}
