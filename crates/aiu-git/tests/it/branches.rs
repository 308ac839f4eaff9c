//! Which branch is meant, and what is said when there is none.

use aiu_testkit::git::{Commit, GitRemote};

use crate::support::{Bench, key, plan, told};

fn remote() -> GitRemote {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    remote.branch("dev", "main");
    remote.commit("dev", &Commit::new("dev").file("a.yaml", "web: dev\n"));
    remote
}

#[tokio::test]
async fn what_is_no_branch_says_what_to_do() {
    let remote = remote();
    remote.tag("1.2.3", "main");
    let (url, commit) = (remote.url(), remote.tip("dev").unwrap());
    #[rustfmt::skip]
    let rows = [
        // base:head, how often the remote is asked, what is said
        ("",      1, "web: v1\n".to_owned()),
        ("HEAD",  1, "web: v1\n".to_owned()),
        ("refs/heads/dev", 1, "web: dev\n".to_owned()),
        ("mian",  2, format!("BranchNotFound: branch 'mian' does not exist in {url}; nearest are main, dev; the remote's default is main")),
        ("1.2.3", 2, format!("BranchNotFound: '1.2.3' is a tag of {url}, and only a branch can be written to; set the branch of the git write-back (it has main)")),
        (&commit, 2, format!("BranchNotFound: '{commit}' is a commit of {url}, and only a branch can be written to; set the branch of the git write-back (it has main)")),
        ("main:-x", 2, "BranchNotFound: '-x' is not a valid name of a branch; see `git help check-ref-format`".to_owned()),
    ];
    for (branches, asked, expected) in rows {
        let bench = Bench::new();
        assert_eq!(bench.texts(&key(&url, branches), &["a.yaml"]).await, [expected]);
        assert_eq!(bench.asked().0, asked, "given {branches}");
    }
}

#[tokio::test]
async fn a_branch_that_is_missing_does_not_keep_others_from_being_read() {
    let remote = remote();
    let bench = Bench::new();
    let keys = ["gone", "dev"].map(|branch| key(&remote.url(), branch));
    let wanted = keys.iter().map(|key| crate::support::wanted(key, &["a.yaml"]));
    let read = bench.mirrors.read(wanted.collect()).await;
    let reasons: Vec<_> =
        read.iter().map(|read| read.texts.as_ref().map_err(|error| error.reason()).err()).collect();
    assert_eq!(reasons, [Some("BranchNotFound"), None]);
}

#[tokio::test]
async fn a_repository_without_a_default_branch_needs_one_named() {
    let remote = remote();
    remote.set_default("gone");
    let bench = Bench::new();
    let expected = format!(
        "BranchNotFound: no default branch found in remote {}; set the branch (it has dev, main)",
        remote.url()
    );
    assert_eq!(bench.texts(&key(&remote.url(), ""), &["a.yaml"]).await, [expected]);
    assert_eq!(bench.texts(&key(&remote.url(), "dev"), &["a.yaml"]).await, ["web: dev\n"]);
}

#[tokio::test]
async fn an_empty_repository_is_told_as_such() {
    let remote = GitRemote::empty();
    let bench = Bench::new();
    let expected =
        format!("BranchNotFound: {} has no branches yet; push a first commit to it", remote.url());
    for branch in ["", "main"] {
        let main = key(&remote.url(), branch);
        assert_eq!(bench.texts(&main, &["a.yaml"]).await.join(", "), expected);
        let written = bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
        assert_eq!(told(&written), [format!("a {expected}")]);
    }
}

#[tokio::test]
async fn a_branch_may_take_the_place_of_a_folder_of_branches() {
    let remote = remote();
    let bench = Bench::new();
    remote.branch("team", "dev");
    assert_eq!(bench.texts(&key(&remote.url(), "team"), &["a.yaml"]).await, ["web: dev\n"]);
    remote.delete_branch("team");
    remote.branch("team/one", "main");
    remote.commit("team/one", &Commit::new("one").file("a.yaml", "web: one\n"));
    assert_eq!(bench.texts(&key(&remote.url(), "team/one"), &["a.yaml"]).await, ["web: one\n"]);
    assert_eq!(bench.mirrors.counts().rebuilt, 0);
}

#[tokio::test]
async fn a_branch_with_rewritten_history_is_followed() {
    let remote = remote();
    let (bench, dev) = (Bench::new(), key(&remote.url(), "dev"));
    bench.texts(&dev, &["a.yaml"]).await;
    remote.branch("dev", "main");
    assert_eq!(bench.texts(&dev, &["a.yaml"]).await, ["web: v1\n"]);
    remote.commit("dev", &Commit::new("again").file("a.yaml", "web: again\n"));
    assert_eq!(bench.texts(&dev, &["a.yaml"]).await, ["web: again\n"]);
    assert_eq!(bench.mirrors.counts().rebuilt, 0);
}

#[tokio::test]
async fn remotes_that_cannot_be_asked_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let gone = format!("file://{}/gone.git", folder.path().display());
    #[rustfmt::skip]
    let rows = [
        ("GitUrlInvalid",         "ext::sh"),
        ("GitUrlInvalid",         "--upload-pack=x"),
        ("GitRepositoryNotFound", gone.as_str()),
        ("GitUnreachable",        "ssh://git@127.0.0.1:1/r.git"),
        ("GitUnreachable",        "git://127.0.0.1:1/r.git"),
    ];
    let bench = Bench::new();
    for (expected, url) in rows {
        let error = bench.read(&key(url, ""), &["a.yaml"]).await.texts.unwrap_err();
        assert_eq!(error.reason(), expected, "{error}");
    }
    let strict = Bench::with(|settings| settings.local_remotes = false);
    let error = strict.read(&key(&gone, ""), &[]).await.texts.unwrap_err();
    assert_eq!(error.reason(), "GitUrlInvalid", "{error}");
    assert_eq!(strict.mirrors.counts().processes, 0);
}

#[tokio::test]
async fn without_git_there_is_one_clear_error() {
    let bench = Bench::with(|settings| settings.program = "no-such-git".into());
    let main = key("https://git.example/r.git", "");
    let expected = "GitMissing: the program 'no-such-git' was not found; install git 2.34 or later, or correct PATH";
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, [expected]);
    let written = bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), [format!("a {expected}")]);
}
