//! Reading files: how often remotes are asked, and what is not read.

use std::collections::BTreeSet;

use aiu_core::edit::{FileKind, ManifestFolder};
use aiu_git::{FileText, GitAccess, GitCounts, Wanted};
use aiu_testkit::git::{Commit, Cut, GitRemote, GitWrapper};

use crate::support::{Bench, key, path, plan, told, wanted};

#[tokio::test]
async fn a_second_pass_asks_once_and_fetches_nothing() {
    let remote = GitRemote::seeded([("a/values.yaml", "web: v1\n"), ("b.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    let texts = bench.read(&main, &["a/values.yaml", "none.yaml"]).await.texts.unwrap();
    assert_eq!(&*texts.branch, "main");
    assert_eq!(texts.commit.as_str(), remote.tip("main").unwrap());
    let say = |file| texts.file(&path(file), FileKind::HelmValues);
    let text = FileText::Text { path: path("a/values.yaml"), text: "web: v1\n".into() };
    assert_eq!(say("a/values.yaml"), Some(text));
    assert_eq!(say("none.yaml"), Some(FileText::Missing));
    assert_eq!(say("b.yaml"), None, "nobody asked");
    assert_eq!(bench.asked(), (1, 1, 1, 0));

    let before = bench.mirrors.counts();
    bench.read(&main, &["a/values.yaml", "none.yaml"]).await.texts.unwrap();
    let expected = GitCounts { ls_remote: 2, processes: before.processes + 1, ..before };
    assert_eq!(bench.mirrors.counts(), expected);
}

#[tokio::test]
async fn no_connection_is_made_behind_our_back() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n"), ("b.yaml", "web: v1\n")]);
    let folder = tempfile::tempdir().unwrap();
    let wrapper = GitWrapper::new(folder.path(), Cut::Never);
    let bench = Bench::with(|settings| settings.program = wrapper.program());
    let main = key(&remote.url(), "main");
    bench.read(&main, &["a.yaml"]).await.texts.unwrap();
    bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
    let connections = (wrapper.connections("upload-pack"), wrapper.connections("receive-pack"));
    assert_eq!(connections, (3, 1), "{:?}", wrapper.calls());
}

#[tokio::test]
async fn a_moved_tip_is_fetched_and_only_new_contents_are() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n"), ("b.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), "main"));
    assert_eq!(bench.texts(&main, &["a.yaml", "b.yaml"]).await, ["web: v1\n", "web: v1\n"]);
    remote.commit("main", &Commit::new("elsewhere").file("c.yaml", "x: 1\n"));
    assert_eq!(bench.texts(&main, &["a.yaml", "b.yaml"]).await, ["web: v1\n", "web: v1\n"]);
    assert_eq!(bench.asked(), (2, 2, 1, 0), "no wanted file changed");
    remote.commit("main", &Commit::new("here").file("b.yaml", "web: v2\n").remove("a.yaml"));
    assert_eq!(bench.texts(&main, &["a.yaml", "b.yaml"]).await, ["missing", "web: v2\n"]);
    assert_eq!(bench.asked(), (3, 3, 2, 0));
}

#[tokio::test]
async fn a_new_process_finds_a_warm_mirror() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.texts(&main, &["a.yaml"]).await;
    let bench = bench.restarted();
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v1\n"]);
    assert_eq!(bench.asked(), (1, 0, 0, 0));
}

#[tokio::test]
async fn all_branches_of_a_remote_share_one_question_and_two_fetches() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    for name in ["dev", "prod", "feature/x"] {
        remote.branch(name, "main");
        remote.commit(name, &Commit::new("own").file("a.yaml", &format!("web: {name}\n")));
    }
    let bench = Bench::new();
    let keys = ["", "dev", "prod", "main:feature/x"].map(|branch| key(&remote.url(), branch));
    let read = bench.mirrors.read(keys.iter().map(|key| wanted(key, &["a.yaml"])).collect()).await;
    let texts = read.iter().map(|read| {
        let texts = read.texts.as_ref().unwrap();
        match texts.file(&path("a.yaml"), FileKind::HelmValues) {
            Some(FileText::Text { text, .. }) => format!("{} says {text}", texts.branch),
            other => panic!("{other:?}"),
        }
    });
    let expected = [
        "main says web: v1\n",
        "dev says web: dev\n",
        "prod says web: prod\n",
        "feature/x says web: feature/x\n",
    ];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
    assert_eq!(read.iter().map(|read| &read.key).collect::<Vec<_>>(), keys.each_ref());
    assert_eq!(bench.asked(), (1, 1, 1, 0));
}

#[tokio::test]
async fn spellings_of_one_remote_share_a_mirror() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let plain = remote.path().display().to_string();
    let bench = Bench::new();
    let urls = [remote.url(), plain.clone(), plain.trim_end_matches(".git").to_owned()];
    let wanted = urls.iter().map(|url| wanted(&key(url, ""), &["a.yaml"]));
    let read = bench.mirrors.read(wanted.collect()).await;
    assert!(read.iter().all(|read| read.texts.is_ok()), "{read:?}");
    assert_eq!(bench.asked(), (1, 1, 1, 0));
}

#[tokio::test]
async fn what_is_no_plain_text_is_not_read() {
    let remote = GitRemote::empty();
    let commit = Commit::new("seed")
        .file("real.yaml", "web: v1\n")
        .symlink("link.yaml", "real.yaml")
        .symlink("folder", "/etc")
        .submodule("module")
        .bytes("latin.yaml", b"name: caf\xe9\n")
        .file("big.yaml", &"x".repeat(101))
        .file("deep/er/values.yaml", "web: v1\n")
        .file("crlf.yaml", "web: v1\r\n")
        .file("sp ace/\"quo\\ted\" ü.yaml", "web: ü\n")
        .file("lfs.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n")
        .executable("run.yaml", "web: v1\n");
    remote.commit("main", &commit);
    let bench = Bench::with(|settings| settings.max_file_bytes = 100);
    #[rustfmt::skip]
    let rows = [
        ("real.yaml",           "web: v1\n"),
        ("crlf.yaml",           "web: v1\r\n"),
        ("run.yaml",            "web: v1\n"),
        ("sp ace/\"quo\\ted\" ü.yaml", "web: ü\n"),
        ("link.yaml",           "it is a symbolic link; name the file that it points to"),
        ("folder/passwd",       "'folder' is not a folder"),
        ("real.yaml/x.yaml",    "'real.yaml' is not a folder"),
        ("module",              "it is a submodule; name a file of this repository"),
        ("module/values.yaml",  "'module' is not a folder"),
        ("latin.yaml",          "it is not encoded as UTF-8; save it as UTF-8"),
        ("big.yaml",            "it has 101 bytes, and files of more than 100 bytes are not edited; keep the image's keys in a file of their own"),
        ("deep/er",             "it is a folder; name a file"),
        ("deep/none.yaml",      "missing"),
        ("Deep/er/values.yaml", "there is no such file, but 'deep/er/values.yaml', which differs in upper and lower case; correct the path"),
        ("lfs.yaml",            "it is a pointer of Git LFS, and what it stands for is not in the repository; take the file out of LFS (.gitattributes)"),
    ];
    let texts = bench.texts(&key(&remote.url(), ""), &rows.map(|(file, _)| file)).await;
    for ((file, expected), text) in rows.into_iter().zip(texts) {
        assert_eq!(text, expected, "{file}");
    }
}

#[tokio::test]
async fn a_kustomization_has_three_names() {
    let remote = GitRemote::seeded([
        ("a/kustomization.yaml", "first"),
        ("a/Kustomization", "last"),
        ("b/kustomization.yml", "second"),
        ("b/Kustomization", "last"),
        ("c/Kustomization", "last"),
        ("kustomization.yaml", "root"),
        ("d/values.yaml", "none"),
    ]);
    let bench = Bench::new();
    let folders = ["a", "b", "c", "", "d", "e"].map(path);
    let files = folders.iter().map(|it| (it.clone(), FileKind::Kustomization)).collect();
    let wanted = Wanted {
        key: key(&remote.url(), ""),
        access: GitAccess::Ambient,
        files,
        folders: BTreeSet::new(),
    };
    let texts = bench.mirrors.read(vec![wanted]).await.remove(0).texts.unwrap();
    let found = folders.map(|folder| match texts.file(&folder, FileKind::Kustomization) {
        Some(FileText::Text { path, text }) => format!("{path}: {text}"),
        other => format!("{other:?}"),
    });
    let expected = [
        "a/kustomization.yaml: first",
        "b/kustomization.yml: second",
        "c/Kustomization: last",
        "kustomization.yaml: root",
        "Some(Missing)",
        "Some(Missing)",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn the_manifests_of_a_folder_are_read_at_once() {
    let remote = GitRemote::seeded([
        ("app/a.yaml", "one"),
        ("app/b.json", "two"),
        ("app/readme.md", "none"),
        ("app/sub/c.yml", "three"),
        ("other/d.yaml", "none"),
    ]);
    let bench = Bench::new();
    let folder =
        |recurse| ManifestFolder { folder: path("app"), recurse, include: None, exclude: None };
    let wanted = |recurse| Wanted {
        key: key(&remote.url(), ""),
        access: GitAccess::Ambient,
        files: Vec::new(),
        folders: [folder(recurse)].into(),
    };
    let read = bench.mirrors.read(vec![wanted(false), wanted(true)]).await;
    let say = |at: usize, recurse| {
        let texts = read[at].texts.as_ref().unwrap();
        let files = texts.manifests(&folder(recurse)).unwrap().iter();
        let text = |path| match texts.file(path, FileKind::Manifest) {
            Some(FileText::Text { path, text }) => format!("{path}: {text}"),
            other => format!("{other:?}"),
        };
        files.map(text).collect::<Vec<_>>()
    };
    assert_eq!(say(0, false), ["app/a.yaml: one", "app/b.json: two"]);
    assert_eq!(say(1, true), ["app/a.yaml: one", "app/b.json: two", "app/sub/c.yml: three"]);
    assert_eq!(bench.asked(), (1, 1, 1, 0));
    bench.mirrors.read(vec![wanted(true)]).await;
    assert_eq!(bench.asked(), (2, 1, 1, 0), "nothing is fetched again");
}

#[tokio::test]
async fn a_server_without_partial_clones_is_read_all_the_same() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    remote.configure("uploadpack.allowFilter", "false");
    let bench = Bench::new();
    assert_eq!(bench.texts(&key(&remote.url(), ""), &["a.yaml"]).await, ["web: v1\n"]);
    assert_eq!(bench.asked(), (1, 1, 0, 0), "the contents came with the tip");
}

#[tokio::test]
async fn a_repository_with_longer_ids_is_read_and_written() {
    let remote = GitRemote::with_format("sha256");
    remote.commit("main", &Commit::new("seed").file("a.yaml", "web: v1\n"));
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v1\n"]);
    let written = bench.write(&main, vec![plan("a", "a.yaml web=v2")]).await;
    assert_eq!(told(&written), ["a changed a.yaml"]);
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v2\n"]);
}
