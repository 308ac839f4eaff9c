//! Remotes over HTTP: logins, refusals, and that nothing secret is told.

use aiu_testkit::git::{GitRemote, HttpGit};

use crate::support::{Bench, key, plan, subjects, told};

/// `bot:hunter2`.
const LOGIN: &str = "Basic Ym90Omh1bnRlcjI=";

#[tokio::test]
async fn a_login_in_the_url_is_used_and_never_told() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let server = HttpGit::serve(remote.path(), Some(LOGIN)).await;
    let bench = Bench::new();
    let main = key(&server.url("bot:hunter2@"), "");
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v1\n"]);
    let written = bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), ["a changed a.yaml"]);
    assert_eq!(bench.asked(), (1, 1, 1, 1));
    assert_eq!(subjects(&remote, "main"), ["update a", "seed"]);
}

#[tokio::test]
async fn a_wrong_or_missing_login_is_told_without_it() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let server = HttpGit::serve(remote.path(), Some(LOGIN)).await;
    for login in ["bot:wr0ng@", "t0ken@", ""] {
        let bench = Bench::new();
        let told = bench.texts(&key(&server.url(login), ""), &["a.yaml"]).await;
        let whose = if login == "bot:wr0ng@" { "the login in the URL" } else { "own git set-up" };
        assert!(told[0].starts_with("GitUnauthorized: http://"), "{told:?}");
        assert!(told[0].contains(whose), "{told:?}");
        assert!(!told[0].contains("wr0ng") && !told[0].contains("t0ken"), "{told:?}");
    }
}

#[tokio::test]
async fn one_users_texts_are_not_told_to_another() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let server = HttpGit::serve(remote.path(), Some(LOGIN)).await;
    let bench = Bench::new();
    assert_eq!(
        bench.texts(&key(&server.url("bot:hunter2@"), ""), &["a.yaml"]).await,
        ["web: v1\n"]
    );
    let other = bench.texts(&key(&server.url("bot:other@"), ""), &["a.yaml"]).await;
    assert!(other[0].starts_with("GitUnauthorized"), "{other:?}");
}

#[tokio::test]
async fn who_may_only_read_is_rejected_on_writing() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    remote.configure("http.receivepack", "false");
    let server = HttpGit::serve(remote.path(), Some(LOGIN)).await;
    let bench = Bench::new();
    let main = key(&server.url("bot:hunter2@"), "");
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v1\n"]);
    let written = told(&bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await);
    assert!(
        written[0].starts_with("a GitPushRejected: could not push main to origin: "),
        "{written:?}"
    );
    assert!(written[0].contains("403"), "{written:?}");
    assert_eq!(bench.mirrors.counts().rebuilt, 0);
}

#[tokio::test]
async fn branches_alone_are_asked_for_where_the_default_is_not_needed() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let server = HttpGit::serve(remote.path(), None).await;
    let bench = Bench::new();
    assert_eq!(bench.texts(&key(&server.url(""), "main"), &["a.yaml"]).await, ["web: v1\n"]);
    let requests = server.requests();
    // Two requests ask for the branches, and one each fetches the tip and the contents, after
    // the server said once more what it can do.
    let posts = requests.iter().filter(|request| request.starts_with("POST")).count();
    assert_eq!((requests.len(), posts), (6, 3), "{requests:?}");
}

#[tokio::test]
async fn behind_a_proxy_that_forces_an_old_protocol_tips_are_fetched_whole() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n"), ("b.yaml", "web: v1\n")]);
    let server = HttpGit::serve(remote.path(), None).await;
    remote.configure("http.receivepack", "true");
    server.force_old_protocol();
    let (bench, main) = (Bench::new(), key(&server.url(""), ""));
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v1\n"]);
    let written = bench.write(&main, vec![plan("a", "b.yaml web=v2")]).await;
    assert_eq!(told(&written), ["a changed b.yaml"]);
    let (_, tips, contents, _) = bench.asked();
    assert_eq!((tips, contents), (2, 1), "one try in vain, and then no more");
    assert_eq!(bench.texts(&main, &["a.yaml", "b.yaml"]).await, ["web: v1\n", "web: v2\n"]);
    assert_eq!((bench.asked().1, bench.asked().2), (2, 1));
}
