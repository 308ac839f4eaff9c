//! Mirrors on disk: damaged, left unfinished, shared, grown.

use std::fs;
use std::path::{Path, PathBuf};

use aiu_testkit::git::{Commit, GitRemote};

use crate::support::{Bench, key, plan, told};

/// What git or we begin to write and then name otherwise or remove.
pub(crate) fn leftovers(bench: &Bench) -> Vec<PathBuf> {
    let begun = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("tmp_")
            || name.starts_with("fast_import")
            || path.extension().is_some_and(|it| it == "lock")
    };
    mirrors(bench).iter().flat_map(|mirror| files(mirror)).filter(begun).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The folders of mirrors in a cache.
pub(crate) fn mirrors(bench: &Bench) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.cache.path()).unwrap().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn packs(mirror: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(mirror.join("objects/pack")).unwrap().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|it| it == "pack")).collect()
}

fn overwrite(path: &Path, bytes: &[u8]) {
    // Packs are read-only.
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

fn remove_packs(mirror: &Path) {
    for pack in packs(mirror) {
        fs::remove_file(pack).unwrap();
    }
}

fn cut_packs(mirror: &Path) {
    for pack in packs(mirror) {
        overwrite(&pack, &fs::read(&pack).unwrap()[..40]);
    }
}

fn break_head(mirror: &Path) {
    overwrite(&mirror.join("HEAD"), b"what?");
}

fn break_config(mirror: &Path) {
    overwrite(&mirror.join("config"), b"[core\n");
}

fn break_refs(mirror: &Path) {
    let entries = fs::read_dir(mirror.join("refs/tips")).unwrap().flatten();
    for entry in entries {
        overwrite(&entry.path(), b"nothing");
    }
}

fn remove_all(mirror: &Path) {
    fs::remove_dir_all(mirror).unwrap();
}

type Damage = (&'static str, fn(&Path));
const DAMAGES: [Damage; 6] = [
    ("packs removed", remove_packs),
    ("packs cut", cut_packs),
    ("HEAD broken", break_head),
    ("configuration broken", break_config),
    ("refs broken", break_refs),
    ("all removed", remove_all),
];

#[tokio::test]
async fn a_mirror_damaged_between_two_processes_is_built_afresh() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let main = key(&remote.url(), "");
    for (what, damage) in DAMAGES {
        let bench = Bench::new();
        bench.texts(&main, &["a.yaml"]).await;
        damage(&mirrors(&bench)[0]);
        let bench = bench.restarted();
        assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v1\n"], "{what}");
        let rebuilt = bench.mirrors.counts().rebuilt;
        assert!(rebuilt <= 1, "{what}: {rebuilt}");
        let (_, tips, contents, _) = bench.asked();
        assert!(tips <= 2 && contents <= 2, "{what}: {:?}", bench.asked());
        assert_eq!(mirrors(&bench).len(), 1, "{what}");
    }
}

#[tokio::test]
async fn a_mirror_damaged_under_our_feet_is_built_afresh() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n"), ("b.yaml", "web: v1\n")]);
    let main = key(&remote.url(), "main");
    for (what, damage) in DAMAGES {
        let bench = Bench::new();
        bench.texts(&main, &["a.yaml"]).await;
        damage(&mirrors(&bench)[0]);
        let tip = remote.commit("main", &Commit::new("x").file("b.yaml", "web: v0\n"));
        assert_eq!(
            bench.texts(&main, &["a.yaml", "b.yaml"]).await,
            ["web: v1\n", "web: v0\n"],
            "{what}"
        );

        damage(&mirrors(&bench)[0]);
        let written = bench.write(&main, vec![plan("a", "b.yaml web=v9")]).await;
        assert_eq!(told(&written), ["a changed b.yaml"], "{what}");
        assert_eq!(remote.text("main", "b.yaml").unwrap(), "web: v9\n", "{what}");
        let parent = remote.log("main").into_iter().nth(1).unwrap();
        assert_eq!(parent.id, tip, "{what}");
        remote.branch("main", &remote.log("main")[2].id);
    }
}

#[tokio::test]
async fn what_a_killed_process_left_is_no_obstacle() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.texts(&main, &["a.yaml"]).await;
    let mirror = mirrors(&bench).remove(0);
    let tip = fs::read_dir(mirror.join("refs/tips")).unwrap().flatten().next().unwrap().path();
    let left = [
        mirror.join("shallow.lock"),
        mirror.join("config.lock"),
        mirror.join("packed-refs.lock"),
        tip.with_extension("lock"),
        mirror.join("objects/pack/tmp_pack_AbCdEf"),
        mirror.join("objects/pack/tmp_idx_AbCdEf"),
        mirror.join("fast_import_crash_12345"),
    ];
    for path in &left {
        fs::write(path, "left").unwrap();
    }
    let bench = bench.restarted();
    remote.commit("main", &Commit::new("x").file("a.yaml", "web: v2\n"));
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v2\n"]);
    let written = bench.write(&main, vec![plan("a", "a.yaml web=v3")]).await;
    assert_eq!(told(&written), ["a changed a.yaml"]);
    assert_eq!(bench.asked(), (1, 1, 1, 1));
    assert_eq!(bench.mirrors.counts().rebuilt, 0);
    let still: Vec<_> = left.iter().filter(|path| path.exists()).collect();
    assert!(still.is_empty(), "{still:?}");
}

#[tokio::test]
async fn the_lock_of_a_fetch_that_was_ended_is_removed() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), ""));
    bench.texts(&main, &["a.yaml"]).await;
    fs::write(mirrors(&bench)[0].join("shallow.lock"), "").unwrap();
    remote.commit("main", &Commit::new("x").file("a.yaml", "web: v2\n"));
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, ["web: v2\n"]);
    assert_eq!(bench.mirrors.counts().rebuilt, 0);
}

#[tokio::test]
async fn two_processes_do_not_share_a_folder() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (one, main) = (Bench::new(), key(&remote.url(), ""));
    let two = one.beside();
    assert_eq!(one.texts(&main, &["a.yaml"]).await, ["web: v1\n"]);
    assert_eq!(two.texts(&main, &["a.yaml"]).await, ["web: v1\n"]);
    assert_eq!(mirrors(&one).len(), 2);
    let plans = |app, tag| vec![plan(app, &format!("a.yaml web={tag}"))];
    assert_eq!(told(&one.write(&main, plans("one", "v2")).await), ["one changed a.yaml"]);
    assert_eq!(told(&two.write(&main, plans("two", "v3")).await), ["two changed a.yaml"]);
    assert_eq!(remote.text("main", "a.yaml").unwrap(), "web: v3\n");
}

#[tokio::test]
async fn a_mirror_that_has_grown_is_replaced() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let main = key(&remote.url(), "main");
    let bench = Bench::with(|settings| settings.growth.packs = 3);
    for version in 2..8 {
        let tag = format!("v{version}");
        remote.commit("main", &Commit::new(&tag).file("a.yaml", &format!("web: {tag}\n")));
        assert_eq!(bench.texts(&main, &["a.yaml"]).await, [format!("web: {tag}\n")]);
        bench.texts(&main, &["a.yaml"]).await;
    }
    assert_eq!(bench.mirrors.counts().rebuilt, 3);
    let folders = mirrors(&bench);
    assert_eq!(folders.len(), 1, "{folders:?}");
    assert!(packs(&folders[0]).len() <= 5, "{:?}", packs(&folders[0]));
}

#[tokio::test]
async fn a_cache_folder_that_cannot_be_used_is_named() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let bench = Bench::with(|settings| settings.cache = file.path().join("below"));
    let error = bench.read(&key(&remote.url(), ""), &["a.yaml"]).await.texts.unwrap_err();
    assert_eq!(error.reason(), "GitCacheUnusable", "{error}");
}
