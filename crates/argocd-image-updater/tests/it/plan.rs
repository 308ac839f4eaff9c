//! `plan`: what it shows is what a pass then writes, byte for byte, and it writes nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use aiu_testkit::git::GitRemote;
use aiu_testkit::registry::Registry;

use crate::program::{IMAGE, Place, Ran, application, command, pass, registry, run};

/// An Application with the method `git` and further annotations.
fn app(name: &str, remote: &GitRemote, path: &str, more: &[(&str, &str)]) -> String {
    let keys = [&[IMAGE, ("write-back-method", "git"), ("git-branch", "main")], more].concat();
    let url = remote.url();
    application(name, &keys, &format!("{{source: {{repoURL: '{url}', path: {path}}}}}"))
}

const TARGET: &str = "write-back-target";
const TAG: &str = "web.helm.image-tag";

/// What stands under the default key of names already.
const NAME: &str = "image: {name: registry.test/acme/web}\n";

async fn world(manifests: &str) -> (Registry, Place) {
    let registry = registry().await;
    let place = Place::new(&registry, "");
    place.manifest("apps.yaml", manifests);
    (registry, place)
}

fn plan(folder: &Path, more: &[&str]) -> Ran {
    let mut plan = command(&["plan", "--manifests", "manifests", "--cache-dir", "cache"]);
    plan.args(["--registries-conf-path", "registries.conf"]).args(more).current_dir(folder);
    run(&mut plan)
}

/// Applies what `plan` printed, as it stands, to a clone of the branch.
fn applied(folder: &Path, remote: &GitRemote, text: &str) -> std::path::PathBuf {
    let clone = folder.join("clone");
    let git = |within: &Path, arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(within).output().expect("git");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}\n{text}");
    };
    git(folder, &["clone", "-q", "--branch=main", &remote.url(), "clone"]);
    fs::write(folder.join("patch"), text).unwrap();
    git(&clone, &["apply", "--whitespace=nowarn", "../patch"]);
    clone
}

/// Every kind of target at once, two Applications on one file, files that are hard to print.
#[tokio::test(flavor = "multi_thread")]
async fn the_diff_of_a_plan_is_what_a_pass_then_commits() {
    let remote = GitRemote::seeded([
        ("k/kustomization.yaml", "images:\n- name: registry.test/acme/web\n  newTag: 1.0.0"),
        ("v/values.yaml", "image:\r\n  tag: 1.0.0 # dos\r\nother:\r\n  tag: 1.0.0\r\n"),
        ("v/Chart.yaml", "name: v\n"),
        (
            "o p/kustomization.yaml",
            "resources: [x.yaml]\nimages:\n- name: registry.test/acme/web\n  newTag: 1.0.0\n",
        ),
        (
            "m/pod.yaml",
            "kind: Pod\napiVersion: v1\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: registry.test/acme/web:1.0.0\n",
        ),
    ]);
    let values = |tag| [(TARGET, "helmvalues"), (TAG, tag)];
    let text = [
        app("kustomized", &remote, "k", &[(TARGET, "kustomization")]),
        app("first", &remote, "v", &values("image.tag")),
        app("second", &remote, "v", &values("other.tag")),
        app("overridden", &remote, "'o p'", &[]),
        app("plain", &remote, "m", &[(TARGET, "manifests")]),
    ]
    .concat();
    let (_registry, folder) = world(&text).await;
    let before = remote.tip("main");
    let planned = plan(folder.path(), &[]);
    assert_eq!(planned.code, Some(3), "{}{}", planned.out, planned.err);
    assert_eq!(planned.out.matches("would be updated").count(), 5, "{}", planned.out);
    assert_eq!((remote.tip("main"), remote.pushes()), (before, (0, 0)), "nothing was written");
    let clone = applied(folder.path(), &remote, &planned.out);

    let ran = run(&mut pass(folder.path()));
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let paths = remote.paths("main");
    assert_eq!(paths.len(), 6, "{paths:?}");
    for path in paths {
        let shown = fs::read_to_string(clone.join(&path)).unwrap();
        assert_eq!(shown, remote.text("main", &path).unwrap(), "{path}");
    }
    let again = plan(folder.path(), &[]);
    assert_eq!(again.code, Some(0), "{}", again.out);
    assert!(!again.out.contains("diff --git"), "{}", again.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_of_one_application_applies_without_the_others() {
    let remote = GitRemote::seeded([("v/values.yaml", &*format!("a: 1.0.0\nb: 1.0.0\n{NAME}"))]);
    let named = |key| [(TARGET, "helmvalues"), (TAG, key)];
    let text = [app("a", &remote, "v", &named("a")), app("b", &remote, "v", &named("b"))].concat();
    let (_registry, folder) = world(&text).await;
    let planned = plan(folder.path(), &["argocd/b"]);
    assert_eq!(planned.code, Some(3), "{}{}", planned.out, planned.err);
    let clone = applied(folder.path(), &remote, &planned.out);
    let text = fs::read_to_string(clone.join("v/values.yaml")).unwrap();
    assert_eq!(text, format!("a: 1.0.0\nb: 1.1.0\n{NAME}"));
    let unknown = plan(folder.path(), &["c"]);
    assert_eq!(unknown.code, Some(1), "{}", unknown.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_needs_no_right_to_write_and_is_data_on_demand() {
    let remote = GitRemote::seeded([("v/values.yaml", &*format!("a: 1.0.0\n{NAME}"))]);
    remote.refuse("read only");
    let keys = [(TARGET, "helmvalues"), (TAG, "a")];
    let broken = app("broken", &remote, "none", &[(TARGET, "kustomization")]);
    let (_registry, folder) = world(&app("a", &remote, "v", &keys)).await;
    let planned = plan(folder.path(), &["--output", "json"]);
    assert_eq!(planned.code, Some(3), "{}", planned.err);
    let answer: serde_json::Value = serde_json::from_str(&planned.out).unwrap();
    let diff = &answer["diffs"][0];
    assert_eq!(
        (diff["branch"].as_str(), diff["remote"].as_str()),
        (Some("main"), Some(&*remote.url()))
    );
    assert!(diff["diff"].as_str().unwrap().contains("\n-a: 1.0.0\n+a: 1.1.0\n"), "{diff}");
    assert_eq!(answer["images"][0]["outcome"], "updated");
    assert_eq!(remote.pushes(), (0, 0));
    let apps = app("a", &remote, "v", &keys) + &broken;
    folder.manifest("apps.yaml", &apps);
    let failed = plan(folder.path(), &[]);
    assert_eq!(failed.code, Some(1), "one failure makes it 1: {}", failed.out);
    assert!(failed.out.contains("+a: 1.1.0"), "and the rest is shown: {}", failed.out);
}
