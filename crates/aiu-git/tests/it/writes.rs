//! Writing commits to branches.

use aiu_testkit::git::GitRemote;

use crate::support::{Bench, key, plan, told};

#[tokio::test]
async fn two_plans_on_one_branch_are_two_commits_and_one_push() {
    let remote = GitRemote::seeded([("a/values.yaml", "image: v1\n"), ("b.yaml", "b: v1\n")]);
    let bench = Bench::new();
    let main = key(&remote.url(), "");
    bench.read(&main, &["a/values.yaml", "b.yaml"]).await.texts.unwrap();
    let plans =
        vec![plan("a", "a/values.yaml image=v2"), plan("b", "a/values.yaml b=v7; b.yaml b=v7")];
    let written = bench.write(&main, plans).await;
    assert_eq!(told(&written), ["a changed a/values.yaml", "b changed a/values.yaml, b.yaml"]);
    assert_eq!(remote.text("main", "a/values.yaml").unwrap(), "image: v2\nb: v7\n");
    assert_eq!(remote.text("main", "b.yaml").unwrap(), "b: v7\n");
    let log = remote.log("main");
    let messages: Vec<&str> = log.iter().map(|commit| commit.message.as_str()).collect();
    assert_eq!(messages, ["update b\n\nexample/b:v7\n", "update a\n\nexample/image:v2\n", "seed"]);
    assert_eq!(log[1].author, "argocd-image-updater <noreply@argoproj.io> 1750000000 +0000");
    let counts = bench.mirrors.counts();
    let asked = (counts.ls_remote, counts.fetch_tip, counts.fetch_blobs, counts.push);
    assert_eq!(asked, (1, 1, 1, 1));
    assert_eq!(remote.pushes(), (1, 1));
    assert_eq!(counts.processes, 9);
}
