//! Writing commits to branches: what is in them, and what is not written.

use aiu_core::edit::FileKind;
use aiu_git::{ChangedFile, WriteOrder, Written};
use aiu_testkit::git::{Commit, GitRemote};

use crate::support::{Bench, key, order, path, plan, plan_of, subjects, told, work};

/// A file as one value: path, text before, text after.
fn texts(file: &ChangedFile) -> (&str, Option<&str>, &str) {
    (file.path.as_str(), file.before.as_deref(), &*file.after)
}

#[tokio::test]
async fn two_plans_on_one_branch_are_two_commits_and_one_push() {
    let remote =
        GitRemote::seeded([("a/values.yaml", "web: v1\njob: v1\n"), ("b.yaml", "job: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.read(&main, &["a/values.yaml", "b.yaml"]).await.texts.unwrap();
    let plans = vec![
        plan("one", "a/values.yaml web=v2"),
        plan("two", "a/values.yaml job=v7; b.yaml job=v7"),
    ];
    let written = bench.write(&main, plans).await;
    assert_eq!(told(&written), ["one changed a/values.yaml", "two changed a/values.yaml, b.yaml"]);
    assert_eq!(written.branch.as_deref(), Some("main"));
    assert_eq!(remote.text("main", "a/values.yaml").unwrap(), "web: v2\njob: v7\n");
    assert_eq!(remote.text("main", "b.yaml").unwrap(), "job: v7\n");
    let log = remote.log("main");
    let messages: Vec<&str> = log.iter().map(|commit| commit.message.as_str()).collect();
    assert_eq!(messages, ["update two\n\njob:v7\n", "update one\n\nweb:v2\n", "seed"]);
    let by = "argocd-image-updater <noreply@argoproj.io> 1750000000 +0000";
    assert_eq!((log[0].author.as_str(), log[0].committer.as_str()), (by, by));
    let Written::Changed { commit, files, .. } = &written.commits[0].written else { panic!() };
    assert_eq!(commit.as_str(), log[1].id);
    assert_eq!(files, &[path("a/values.yaml")]);
    let changed: Vec<_> = written.files.iter().map(texts).collect();
    let expected = [
        ("a/values.yaml", Some("web: v1\njob: v1\n"), "web: v2\njob: v7\n"),
        ("b.yaml", Some("job: v1\n"), "job: v7\n"),
    ];
    assert_eq!(changed, expected, "what both come to");
    assert_eq!(bench.asked(), (1, 1, 1, 1));
    assert_eq!(bench.mirrors.counts().processes, 10);
    assert_eq!(remote.pushes(), (1, 1));

    // The next pass finds our own commits without fetching them.
    assert_eq!(bench.texts(&main, &["b.yaml"]).await, ["job: v7\n"]);
    assert_eq!(bench.asked(), (2, 1, 1, 1));
    let bench = bench.restarted();
    assert_eq!(bench.texts(&main, &["b.yaml"]).await, ["job: v7\n"]);
    assert_eq!(bench.asked(), (1, 0, 0, 0), "not even a new process");
}

#[tokio::test]
async fn what_is_so_already_is_not_written() {
    let remote = GitRemote::seeded([("a.yaml", "web: v2\njob: v1\n"), ("b.yaml", "web: v2\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    let plans =
        vec![plan("one", "b.yaml web=v2"), plan("two", "a.yaml web=v2 job=v2; b.yaml web=v2")];
    let written = bench.write(&main, plans.clone()).await;
    assert_eq!(told(&written), ["one already so", "two changed a.yaml"]);
    assert_eq!(remote.log("main")[0].message, "update two\n\njob:v2\n");
    let written = bench.write(&main, plans).await;
    assert_eq!(told(&written), ["one already so", "two already so"]);
    assert_eq!(remote.pushes(), (1, 1));
}

#[tokio::test]
async fn a_plan_that_fails_does_not_keep_others_from_being_written() {
    let remote = GitRemote::empty();
    let seed = Commit::new("seed")
        .file("good.yaml", "web: v1\n")
        .file("templated.yaml", "{{ if .x }}\nweb: v1\n{{ end }}\n")
        .symlink("link.yaml", "good.yaml")
        .bytes("latin.yaml", b"web: \xe9\n");
    remote.commit("main", &seed);
    let bench = Bench::new();
    let plans = vec![
        plan("a", "good.yaml web=v2; templated.yaml web=v2"),
        plan("b", "link.yaml web=v2"),
        plan("c", "latin.yaml web=v2"),
        plan("d", "good.yaml web=v3"),
    ];
    let written = told(&bench.write(&key(&remote.url(), ""), plans).await);
    assert!(written[0].starts_with("a ManifestTemplated: templated.yaml: "), "{written:?}");
    assert_eq!(
        written[1],
        "b ManifestUnreadable: link.yaml: it is a symbolic link; name the file that it points to"
    );
    assert_eq!(
        written[2],
        "c ManifestUnreadable: latin.yaml: it is not encoded as UTF-8; save it as UTF-8"
    );
    assert_eq!(written[3], "d changed good.yaml");
    assert_eq!(subjects(&remote, "main"), ["update d", "seed"]);
    assert_eq!(remote.bytes("main", "link.yaml").unwrap(), b"good.yaml");
}

#[tokio::test]
async fn files_keep_their_names_modes_and_line_ends() {
    let remote = GitRemote::empty();
    let odd = "sp ace/\"quo\\ted\" ü.yaml";
    let seed = Commit::new("seed")
        .file(odd, "web: v1\n")
        .executable("run.yaml", "web: v1\n")
        .file("crlf.yaml", "# first\r\nweb: v1\r\nend: 1\r\n");
    remote.commit("main", &seed);
    let bench = Bench::new();
    let plans = vec![
        plan("a", &format!("{odd} web=v2")),
        plan("b", "run.yaml web=v2"),
        plan("c", "crlf.yaml web=v2"),
        plan_of("d", "deep/.argocd-source-d.yaml web=v2", FileKind::HelmOverride),
    ];
    let written = told(&bench.write(&key(&remote.url(), ""), plans).await);
    let made = "d changed deep/.argocd-source-d.yaml";
    let expected = [&format!("a changed {odd}"), "b changed run.yaml", "c changed crlf.yaml", made];
    assert_eq!(written, expected);
    assert_eq!(remote.text("main", odd).unwrap(), "web: v2\n");
    assert_eq!(remote.mode("main", "run.yaml").unwrap(), "100755");
    assert_eq!(remote.mode("main", "deep/.argocd-source-d.yaml").unwrap(), "100644");
    assert_eq!(remote.text("main", "crlf.yaml").unwrap(), "# first\r\nweb: v2\r\nend: 1\r\n");
    assert_eq!(remote.paths("main").len(), 4);
}

#[tokio::test]
async fn a_head_is_made_from_its_base_and_then_stacked_upon() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\njob: v1\n")]);
    let bench = Bench::new();
    let updates = key(&remote.url(), "main:updates/web");
    let written = bench.write(&updates, vec![plan("one", "a.yaml web=v2")]).await;
    assert_eq!(
        (told(&written), written.branch.as_deref()),
        (vec!["one changed a.yaml".to_owned()], Some("updates/web"))
    );
    remote.commit("main", &Commit::new("elsewhere").file("b.yaml", "x: 1\n"));
    let written = bench.write(&updates, vec![plan("two", "a.yaml job=v2")]).await;
    assert_eq!(told(&written), ["two changed a.yaml"]);
    assert_eq!(subjects(&remote, "updates/web"), ["update two", "update one", "seed"]);
    assert_eq!(subjects(&remote, "main"), ["elsewhere", "seed"]);
    assert_eq!(bench.texts(&updates, &["a.yaml"]).await, ["web: v2\njob: v2\n"]);
}

#[tokio::test]
async fn refusals_carry_the_remotes_words() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, url) = (Bench::new(), remote.url());
    let main = key(&url, "");
    remote.refuse("GH006: Protected branch update failed for refs/heads/main.");
    let written = bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
    let words = "[remote rejected] (pre-receive hook declined): GH006: Protected branch update failed for refs/heads/main.";
    assert_eq!(
        told(&written),
        [format!(
            "a BranchProtected: could not push main to origin: {words}; the branch is protected in {url}: let the updater write to it, or use a pull request or another branch (git-branch: main:image-updates)"
        )]
    );

    remote.refuse("this repository is read-only, https://bot:hunter2@git.example/r");
    let written = bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
    let words = "[remote rejected] (pre-receive hook declined): this repository is read-only, https://***@git.example/r";
    assert_eq!(
        told(&written),
        [format!(
            "a GitPushRejected: could not push main to origin: {words}; check that the credentials in use (the user's own git set-up) may write to {url}"
        )]
    );

    remote.accept();
    let written = bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), ["a changed a.yaml"]);
    assert_eq!(subjects(&remote, "main"), ["update a", "seed"]);
}

#[tokio::test]
async fn a_refused_push_fails_only_what_it_carried() {
    let remote = GitRemote::seeded([
        ("a.yaml", "web: v1\n"),
        ("b.yaml", "web: v2\n"),
        ("t.yaml", "{{ web }}\n"),
    ]);
    let bench = Bench::new();
    remote.refuse("no");
    let plans = vec![
        plan("changed", "a.yaml web=v2"),
        plan("failed", "t.yaml web=v2"),
        plan("so", "b.yaml web=v2"),
        plan("so-then", "a.yaml web=v2; b.yaml web=v2"),
    ];
    let written = bench.write(&key(&remote.url(), ""), plans).await;
    let starts: Vec<String> = told(&written)
        .iter()
        .map(|line| line.split(':').next().unwrap_or_default().to_owned())
        .collect();
    let expected = [
        "changed GitPushRejected",
        "failed ManifestTemplated",
        "so already so",
        "so-then GitPushRejected",
    ];
    assert_eq!(starts, expected);
}

#[tokio::test]
async fn a_head_below_another_branch_is_refused_once() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let bench = Bench::new();
    let written =
        bench.write(&key(&remote.url(), "main:main/sub"), vec![plan("a", "a.yaml web=v2")]).await;
    let Written::Failed(error) = &written.commits[0].written else { panic!("{written:?}") };
    assert_eq!(error.reason(), "GitPushRejected", "{error}");
    assert_eq!(bench.asked().3, 1);
}

#[tokio::test]
async fn a_dry_run_does_everything_but_push() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    let dry = WriteOrder { dry_run: true, ..order() };
    let works = || vec![work(&main, vec![plan("a", "a.yaml web=v2")])];
    let tried = bench.writers.write(works(), &dry).await.remove(0);
    assert_eq!(told(&tried), ["a changed a.yaml"]);
    assert_eq!(remote.pushes(), (0, 0));
    let Written::Changed { commit, .. } = &tried.commits[0].written else { panic!() };
    assert_eq!(texts(&tried.files[0]), ("a.yaml", Some("web: v1\n"), "web: v2\n"));
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v1\n"]);

    let done = bench.writers.write(works(), &order()).await.remove(0);
    let Written::Changed { commit: pushed, .. } = &done.commits[0].written else { panic!() };
    assert_eq!(commit, pushed, "equal inputs give equal commits");
    assert_eq!(remote.tip("main").unwrap(), pushed.as_str());
}

#[tokio::test]
async fn commits_of_equal_inputs_are_equal_in_another_process() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n"), ("b.yaml", "web: v1\n")]);
    let (main, start) = (key(&remote.url(), ""), remote.tip("main").unwrap());
    let mut tips = Vec::new();
    for plans in [["one", "two"], ["two", "one"]] {
        let plans = plans
            .map(|app| plan(app, if app == "one" { "a.yaml web=v2" } else { "b.yaml web=v2" }));
        Bench::new().write(&main, plans.to_vec()).await;
        tips.push(remote.tip("main"));
        remote.branch("main", &start);
    }
    assert_eq!(tips[0], tips[1], "ordered by Application, whatever the order of plans");
}

#[tokio::test]
async fn once_the_program_stops_nothing_is_pushed() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.stop.cancel();
    let written = bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), ["a Stopped: not written: the program is stopping"]);
    bench.writers.close().await;
    assert_eq!(remote.pushes(), (0, 0));
}
