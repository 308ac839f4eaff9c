//! Others push to the same branches: everything lands, and nothing of theirs is lost.

use aiu_testkit::git::{Commit, GitRemote};

use crate::support::{Bench, key, plan, subjects, told};

#[tokio::test]
async fn a_rival_between_reading_and_pushing_costs_one_more_try() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\njob: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.texts(&main, &["a.yaml"]).await;
    remote.commit("main", &Commit::new("rival").file("a.yaml", "# theirs\nweb: v1\njob: v9\n"));
    let plans = vec![plan("one", "a.yaml web=v2"), plan("two", "a.yaml job=v2")];
    let written = bench.write(&main, plans).await;
    assert_eq!(told(&written), ["one changed a.yaml", "two changed a.yaml"]);
    assert_eq!(remote.text("main", "a.yaml").unwrap(), "# theirs\nweb: v2\njob: v2\n");
    assert_eq!(subjects(&remote, "main"), ["update two", "update one", "rival", "seed"]);
    assert_eq!(bench.asked(), (2, 2, 2, 2));
}

#[tokio::test]
async fn a_rival_who_did_our_work_leaves_nothing_to_do() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\njob: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.texts(&main, &["a.yaml"]).await;
    remote.commit("main", &Commit::new("rival").file("a.yaml", "web: v2\njob: v1\n"));
    let written = bench.write(&main, vec![plan("one", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), ["one already so"]);
    assert_eq!(subjects(&remote, "main"), ["rival", "seed"]);

    remote.commit("main", &Commit::new("rival").file("a.yaml", "web: v3\njob: v1\n"));
    let written = bench.write(&main, vec![plan("one", "a.yaml web=v3 job=v3")]).await;
    assert_eq!(told(&written), ["one changed a.yaml"]);
    assert_eq!(remote.log("main")[0].message, "update one\n\njob:v3\n", "web:v3 was theirs");
}

#[tokio::test]
async fn a_rival_who_breaks_a_file_fails_its_application_only() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n"), ("b.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.texts(&main, &["a.yaml", "b.yaml"]).await;
    remote.commit("main", &Commit::new("rival").file("a.yaml", "web: v1\nweb: v1\n"));
    let plans = vec![plan("one", "a.yaml web=v2"), plan("two", "b.yaml web=v2")];
    let written = told(&bench.write(&main, plans).await);
    assert!(written[0].starts_with("one ManifestUnreadable: a.yaml: "), "{written:?}");
    assert_eq!(written[1], "two changed b.yaml");
}

#[tokio::test]
async fn rivals_at_the_server_itself_are_waited_out() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    remote.rivals(4);
    let written = bench.write(&main, vec![plan("one", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), ["one changed a.yaml"]);
    let expected = ["update one", "rival", "rival", "rival", "rival", "seed"];
    assert_eq!(subjects(&remote, "main"), expected);
    assert_eq!(remote.pushes(), (5, 1));
    let counted = bench.mirrors.pushes();
    let counted: Vec<_> = counted.iter().map(|p| (&*p.host, p.pushes, p.races)).collect();
    assert_eq!(counted, [("local", 5, 4)]);
}

/// A hundred changes, however many of them come at a time: each pass costs one lost push.
#[tokio::test]
async fn a_rival_that_wins_every_other_push_delays_and_loses_nothing() {
    for (passes, changes) in [(1, 100), (10, 10), (25, 4)] {
        let files: Vec<String> = (0..passes * changes).map(|at| format!("f{at:02}.yaml")).collect();
        let remote = GitRemote::seeded(files.iter().map(|file| (file.as_str(), "web: v1\n")));
        remote.rival_alternates();
        let (bench, main) = (Bench::new(), key(&remote.url(), "main"));
        for pass in files.chunks(changes) {
            let wanted: Vec<&str> = pass.iter().map(String::as_str).collect();
            bench.texts(&main, &wanted).await;
            let plans = pass.iter().map(|file| plan(file, &format!("{file} web=v2"))).collect();
            let expected: Vec<String> =
                pass.iter().map(|file| format!("{file} changed {file}")).collect();
            assert_eq!(told(&bench.write(&main, plans).await), expected);
        }
        // 0.02, 0.2 and 0.5 pushes for each change.
        assert_eq!(remote.pushes(), (2 * passes, passes));
        let (theirs, ours): (Vec<_>, Vec<_>) =
            subjects(&remote, "main").into_iter().partition(|subject| subject == "rival");
        assert_eq!(theirs.len(), passes);
        let expected = files.iter().rev().map(|file| format!("update {file}"));
        let expected: Vec<String> = expected.chain(["seed".to_owned()]).collect();
        assert_eq!(ours, expected, "each once");
        let left = remote.paths("main").into_iter().filter(|path| path.starts_with("rival"));
        assert_eq!(left.count(), passes, "what the rival made is there");
        assert!(files.iter().all(|file| remote.text("main", file).unwrap() == "web: v2\n"));
    }
}

#[tokio::test]
async fn after_five_lost_races_the_next_pass_has_to_try() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    remote.rivals(5);
    let written = told(&bench.write(&main, vec![plan("one", "a.yaml web=v2")]).await);
    let start = "one GitPushRejected: could not push main to origin: others pushed to it first, 5 times in a row";
    assert!(written[0].starts_with(start), "{written:?}");
    assert_eq!(remote.pushes(), (5, 0));
    let written = bench.write(&main, vec![plan("one", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), ["one changed a.yaml"]);
    assert_eq!(remote.log("main").len(), 7);
}

#[tokio::test]
async fn two_processes_that_make_the_same_head_both_land() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\njob: v1\n")]);
    let (one, updates) = (Bench::new(), key(&remote.url(), "main:updates"));
    let two = one.beside();
    one.texts(&updates, &["a.yaml"]).await;
    two.texts(&updates, &["a.yaml"]).await;
    assert_eq!(
        told(&one.write(&updates, vec![plan("one", "a.yaml web=v2")]).await),
        ["one changed a.yaml"]
    );
    assert_eq!(
        told(&two.write(&updates, vec![plan("two", "a.yaml job=v2")]).await),
        ["two changed a.yaml"]
    );
    assert_eq!(subjects(&remote, "updates"), ["update two", "update one", "seed"]);
}

#[tokio::test]
async fn a_head_that_is_deleted_meanwhile_is_made_again() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, updates) = (Bench::new(), key(&remote.url(), "main:updates"));
    bench.write(&updates, vec![plan("one", "a.yaml web=v2")]).await;
    remote.delete_branch("updates");
    let written = bench.write(&updates, vec![plan("two", "a.yaml web=v3")]).await;
    assert_eq!(told(&written), ["two changed a.yaml"]);
    assert_eq!(subjects(&remote, "updates"), ["update two", "seed"]);
}

#[tokio::test]
async fn a_branch_taken_back_is_not_brought_forward_again() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let start = remote.tip("main").unwrap();
    remote.commit("main", &Commit::new("mistake").file("b.yaml", "x: 1\n"));
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.texts(&main, &["a.yaml"]).await;
    remote.branch("main", &start);
    let written = bench.write(&main, vec![plan("one", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), ["one changed a.yaml"]);
    assert_eq!(subjects(&remote, "main"), ["update one", "seed"]);
}

#[tokio::test]
async fn own_and_others_commits_may_alternate_for_long() {
    let remote = GitRemote::seeded([("a.yaml", "web: v0\n"), ("b.yaml", "job: v0\n")]);
    let (mut bench, main) = (Bench::new(), key(&remote.url(), ""));
    for round in 1..=9 {
        if round % 3 == 0 {
            bench = bench.restarted();
        }
        if round % 2 == 0 {
            bench.texts(&main, &["a.yaml"]).await;
        }
        remote.commit("main", &Commit::new("rival").file("b.yaml", &format!("job: v{round}\n")));
        let written = bench.write(&main, vec![plan("own", &format!("a.yaml web=v{round}"))]).await;
        assert_eq!(told(&written), ["own changed a.yaml"], "round {round}");
        let texts = [format!("web: v{round}\n"), format!("job: v{round}\n")];
        assert_eq!(bench.texts(&main, &["a.yaml", "b.yaml"]).await, texts, "round {round}");
        assert_eq!(bench.mirrors.counts().rebuilt, 0, "round {round}");
    }
    let subjects = subjects(&remote, "main");
    assert_eq!(subjects.len(), 19);
    assert!(subjects[..18].chunks(2).all(|pair| pair == ["update own", "rival"]), "{subjects:?}");
}
