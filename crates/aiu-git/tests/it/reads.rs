//! Reading files from branches.

use aiu_core::edit::FileKind;
use aiu_git::{FileText, GitCounts};
use aiu_testkit::git::GitRemote;

use crate::support::{Bench, key, path};

#[tokio::test]
async fn a_second_pass_asks_once_and_fetches_nothing() {
    let remote = GitRemote::seeded([("a/values.yaml", "image: v1\n"), ("b.yaml", "b: v1\n")]);
    let bench = Bench::new();
    let first = bench.read(&key(&remote.url(), ""), &["a/values.yaml", "none.yaml"]).await;
    let texts = first.texts.unwrap();
    assert_eq!(&*texts.branch, "main");
    assert_eq!(texts.commit.as_str(), remote.tip("main").unwrap());
    let text = texts.file(&path("a/values.yaml"), FileKind::HelmValues).unwrap();
    assert_eq!(text, FileText::Text { path: path("a/values.yaml"), text: "image: v1\n".into() });
    assert_eq!(texts.file(&path("none.yaml"), FileKind::HelmValues), Some(FileText::Missing));
    assert_eq!(texts.file(&path("b.yaml"), FileKind::HelmValues), None, "nobody asked");
    let counts = bench.mirrors.counts();
    assert_eq!((counts.ls_remote, counts.fetch_tip, counts.fetch_blobs), (1, 1, 1));

    bench.read(&key(&remote.url(), ""), &["a/values.yaml", "none.yaml"]).await.texts.unwrap();
    let expected = GitCounts { ls_remote: 2, processes: counts.processes + 1, ..counts };
    assert_eq!(bench.mirrors.counts(), expected);
}
