//! Exit codes, messages and streams of the built program.

use std::fs;

use aiu_testkit::git::GitRemote;
use aiu_testkit::registry::{Image, Registry};
use tempfile::TempDir;

use crate::program::{command, pass, run};

const UPDATABLE: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
  annotations:
    argocd-image-updater.argoproj.io/image-list: web=registry.test/acme/web:^1
spec: {source: {repoURL: u, path: p, kustomize: {images: ['registry.test/acme/web:1.0.0']}}}
";

/// A folder with manifests and a registries file that leads to `registry`.
fn folder(manifests: &[(&str, &str)], registry: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("manifests")).unwrap();
    for (name, text) in manifests {
        fs::write(folder.path().join("manifests").join(name), text).unwrap();
    }
    let conf =
        format!("registries:\n- {{name: t, prefix: registry.test, api_url: '{registry}'}}\n");
    fs::write(folder.path().join("registries.conf"), conf).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_on_standard_output_and_log_lines_on_standard_error() {
    let registry = Registry::start().await;
    registry.repository("acme/web").tags(["1.0.0", "1.1.0", "2.0.0"]);
    let folder = folder(&[("a.yaml", UPDATABLE)], &registry.url());
    let ran = run(&mut pass(folder.path()));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("argocd/shop  web    1.0.0  1.1.0  updated"), "{}", ran.out);
    let summary = "msg=\"Processing results: applications=1 images_considered=1 images_skipped=0 images_updated=1 errors=0\"";
    assert!(ran.err.contains(summary), "{}", ran.err);
    assert!(ran.err.lines().all(|line| line.starts_with("time=\"")), "{}", ran.err);
    let text = fs::read_to_string(folder.path().join("manifests/a.yaml")).unwrap();
    assert_eq!(text, UPDATABLE.replace("1.0.0", "1.1.0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_writes_nothing_and_prints_a_diff_that_git_applies() {
    let registry = Registry::start().await;
    registry.repository("acme/web").tags(["1.0.0", "1.1.0"]);
    let folder = folder(&[("a.yaml", UPDATABLE)], &registry.url());
    let ran = run(pass(folder.path()).arg("--dry-run"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let file = folder.path().join("manifests/a.yaml");
    assert_eq!(fs::read_to_string(&file).unwrap(), UPDATABLE);
    let diff = &ran.out[ran.out.find("diff --git").expect("a diff")..];
    let patch = folder.path().join("patch");
    fs::write(&patch, diff).unwrap();
    let applied = std::process::Command::new("git")
        .current_dir(folder.path().join("manifests"))
        .args(["apply", "../patch"])
        .output()
        .unwrap();
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    assert_eq!(fs::read_to_string(&file).unwrap(), UPDATABLE.replace("1.0.0", "1.1.0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn json_holds_every_tag_with_its_reason() {
    let registry = Registry::start().await;
    registry.repository("acme/web").tags(["1.0.0", "1.1.0", "2.0.0", "edge"]);
    let folder = folder(&[("a.yaml", UPDATABLE)], &registry.url());
    let mut explain = command(&["explain", "shop", "--manifests", "manifests", "--output", "json"]);
    explain.args(["--registries-conf-path", "registries.conf"]).current_dir(folder.path());
    let ran = run(&mut explain);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let image = &answer["images"][0];
    assert_eq!(image["updateTo"], "1.1.0");
    let verdicts: Vec<String> = image["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| format!("{} {}", tag["tag"].as_str().unwrap(), tag["verdict"].as_str().unwrap()))
        .collect();
    let expected = ["1.1.0 Chosen", "1.0.0 Outranked", "2.0.0 OutsideConstraint", "edge NotSemver"];
    assert_eq!(verdicts, expected);
    let text = fs::read_to_string(folder.path().join("manifests/a.yaml")).unwrap();
    assert_eq!(text, UPDATABLE, "explaining writes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_git_only_what_needs_git_fails() {
    let registry = Registry::start().await;
    registry.repository("acme/web").tags(["1.0.0", "1.1.0"]);
    let remote = GitRemote::seeded([("p/kustomization.yaml", "images: []\n")]);
    let by_git = UPDATABLE
        .replace("name: shop", "name: by-git")
        .replace("spec:", "    argocd-image-updater.argoproj.io/write-back-method: git\nspec:")
        .replace("repoURL: u", &format!("repoURL: '{}'", remote.url()));
    let folder = folder(&[("a.yaml", UPDATABLE), ("b.yaml", &by_git)], &registry.url());
    let ran = run(pass(folder.path()).env("PATH", "/nonexistent"));
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("argocd/shop    web    1.0.0  1.1.0  updated"), "{}", ran.out);
    assert!(ran.out.contains("failed: GitMissing"), "{}", ran.out);
    let why = ran.out.lines().find(|line| line.starts_with("argocd/by-git web: ")).unwrap();
    assert!(why.contains("install"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_tags_over_many_pages_are_all_seen() {
    let registry = Registry::start().await;
    registry.paging(aiu_testkit::registry::Paging {
        page_size: 100,
        links: aiu_testkit::registry::Links::Relative,
    });
    registry.repository("acme/web").tags((0..5000).map(|minor| format!("1.{minor}.0")));
    let folder = folder(&[("a.yaml", UPDATABLE)], &registry.url());
    let ran = run(&mut pass(folder.path()));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("1.4999.0 wins among 5000 tags"), "{}", ran.out);
    let counts = registry.counts();
    assert_eq!((counts.listings, counts.all), (50, 50), "one request a page and nothing else");
}

/// The strategies that look at images: the youngest build, and a tag by its digest.
#[tokio::test(flavor = "multi_thread")]
async fn build_dates_and_digests_are_asked_for_where_a_strategy_needs_them() {
    let registry = Registry::start().await;
    let web = registry.repository("acme/web");
    web.push("zebra", &Image::new().created("2024-01-01T00:00:00Z"));
    web.push("aardvark", &Image::new().created("2025-01-01T00:00:00Z"));
    web.push("arm", &Image::new().created("2026-01-01T00:00:00Z").platform("linux/riscv64"));
    let with = |strategy: &str, tag: &str| {
        let key = "argocd-image-updater.argoproj.io/web.update-strategy";
        UPDATABLE.replace("web:^1", &format!("web{tag}\n    {key}: {strategy}"))
    };
    let newest = folder(&[("a.yaml", &with("newest-build", ""))], &registry.url());
    let ran = run(&mut pass(newest.path()));
    assert!(ran.out.contains("1.0.0  aardvark  updated"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("not built for a wanted platform: arm"), "{}", ran.out);

    registry.reset_counts();
    let digest = folder(&[("a.yaml", &with("digest", ":zebra"))], &registry.url());
    let ran = run(&mut pass(digest.path()));
    let pinned = format!("zebra@{}", web.digest_of("zebra").unwrap());
    assert!(ran.out.contains(&format!("1.0.0  {pinned}  updated")), "{}{}", ran.out, ran.err);
    assert_eq!(registry.counts().listings, 0, "the digest strategy knows its only tag");
    let again = run(&mut pass(digest.path()));
    assert!(again.out.contains("up to date"), "{}", again.out);
}

/// Spec 40 B1, rows B1-1 and B1-3 to B1-5.
#[tokio::test(flavor = "multi_thread")]
async fn annotations_count_by_the_mode() {
    let registry = Registry::start().await;
    registry.repository("acme/web").tags(["1.0.0", "1.1.0"]);
    let updater = "apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: other}
spec: {applicationRefs: [{namePattern: plain, images: [{alias: web, imageName: registry.test/acme/web}]}]}
";
    let plain = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: plain, annotations: {argocd-image-updater.argoproj.io/image-list: registry.test/acme/none}}
spec: {source: {repoURL: u, kustomize: {images: ['registry.test/acme/web:1.0.0']}}}
";
    #[rustfmt::skip]
    let rows = [
        // mode, is there a resource, is the annotated one updated, is it told that nothing reads it
        ("auto", false, true, false),
        ("auto", true, false, true),
        ("always", false, true, false),
        ("always", true, true, false),
        ("never", false, false, true),
        ("never", true, false, true),
    ];
    for (mode, resource, updated, told) in rows {
        let mut files = vec![("a.yaml", UPDATABLE)];
        if resource {
            files.extend([("plain.yaml", plain), ("updater.yaml", updater)]);
        }
        let folder = folder(&files, &registry.url());
        let ran = run(pass(folder.path()).args(["--annotation-mode", mode]));
        let shown = format!("{mode} {resource}: {}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(0), "{shown}");
        let is_updated = |app: &str| {
            ran.out.lines().any(|line| line.starts_with(app) && line.ends_with("1.1.0  updated"))
        };
        assert_eq!(is_updated("argocd/shop "), updated, "{shown}");
        assert_eq!(is_updated("argocd/plain "), resource, "{shown}");
        assert_eq!(ran.out.contains("argocd/shop: it has image annotations"), told, "{shown}");
    }
}
