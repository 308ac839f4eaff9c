//! Many Applications: what is asked of the remote does not grow with them.

use aiu_testkit::git::GitRemote;

use crate::support::{Bench, key, plan, told};

#[tokio::test]
async fn a_hundred_applications_of_one_branch_are_one_push() {
    let files: Vec<(String, String)> = (0..2000)
        .map(|at| {
            (format!("apps/team-{}/app-{at}/values.yaml", at % 40), format!("# {at}\nweb: v1\n"))
        })
        .collect();
    let remote = GitRemote::seeded(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    let paths: Vec<&str> = files.iter().step_by(20).map(|(path, _)| path.as_str()).collect();
    let wished =
        |(at, path): (usize, &&str)| plan(&format!("app-{at:03}"), &format!("{path} web=v2"));
    let plans = || paths.iter().enumerate().map(wished).collect();
    bench.read(&main, &paths).await.texts.unwrap();
    let written = bench.write(&main, plans()).await;
    assert!(told(&written).iter().all(|line| line.contains("changed")), "{written:?}");
    assert_eq!(bench.asked(), (1, 1, 1, 1));
    let processes = bench.mirrors.counts().processes;
    assert!(processes <= 12, "{processes}");
    assert_eq!(remote.log("main").len(), 101);
    assert_eq!(remote.paths("main").len(), 2000);
    assert_eq!(remote.text("main", paths[99]).unwrap(), "# 1980\nweb: v2\n");

    bench.read(&main, &paths).await.texts.unwrap();
    let written = bench.write(&main, plans()).await;
    assert!(told(&written).iter().all(|line| line.contains("already so")), "{written:?}");
    assert_eq!(bench.asked(), (2, 1, 1, 1));
    assert_eq!(bench.mirrors.counts().processes, processes + 1, "one question and nothing else");
}
