//! What a person takes back stays back with `--hold-reverted`, whatever way they took
//! (spec 40 B10).

use std::path::Path;
use std::process::Command;

use aiu_testkit::git::Commit;

use crate::commits::{World, at};

/// How a value is taken back.
#[derive(Clone, Copy, Debug)]
enum Way {
    ByHand,
    GitRevert,
    PullRequest,
    ForcePush,
}

impl Way {
    fn take_back(self, world: &World) {
        let folder = tempfile::tempdir().unwrap();
        let clone = folder.path().join("clone");
        let url = world.remote.url();
        match self {
            Self::ByHand => {
                let back = Commit::new("back").file("a/kustomization.yaml", &at("1.0.0"));
                world.remote.commit("main", &back);
            }
            Self::GitRevert => {
                git(folder.path(), &["clone", "-q", "--branch=main", &url, "clone"]);
                git(&clone, &["revert", "--no-edit", "HEAD"]);
                git(&clone, &["push", "-q", "origin", "main"]);
            }
            Self::PullRequest => {
                git(folder.path(), &["clone", "-q", "--branch=main", &url, "clone"]);
                git(&clone, &["checkout", "-q", "-b", "undo"]);
                git(&clone, &["revert", "--no-edit", "HEAD"]);
                git(&clone, &["checkout", "-q", "main"]);
                git(&clone, &["merge", "-q", "--no-ff", "-m", "Merge pull request 7", "undo"]);
                git(&clone, &["push", "-q", "origin", "main"]);
            }
            Self::ForcePush => world.remote.branch("main", "main~1"),
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=P", "-c", "user.email=p@example.com"]).args(arguments);
    let output = command.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

const HOLD: &str = "--hold-reverted";

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_back_is_held_until_a_newer_tag_wins() {
    for way in [Way::ByHand, Way::GitRevert, Way::PullRequest, Way::ForcePush] {
        let world = World::new(&["a"]).await;
        let first = world.pass(&[HOLD]);
        assert_eq!(world.text("a"), at("1.1.0"), "{}{}", first.out, first.err);
        let message = &world.remote.log("main")[0].message;
        let trailer = "\nImage-Update: argocd/a/web 1.0.0 1.1.0\n";
        assert!(message.ends_with(trailer), "{message}");
        way.take_back(&world);
        let tip = world.remote.tip("main");
        for _ in 0..2 {
            let held = world.pass(&[HOLD]);
            assert_eq!(held.code, Some(0), "{way:?}: {}{}", held.out, held.err);
            assert!(held.out.contains("1.0.0  1.1.0  held"), "{way:?}: {}", held.out);
            assert!(held.out.contains("write it yourself, or run once without"), "{}", held.out);
        }
        assert_eq!((world.text("a"), world.remote.tip("main")), (at("1.0.0"), tip), "{way:?}");
        world.registry.repository("acme/web").tags(["1.2.0"]);
        let newer = world.pass(&[HOLD]);
        assert_eq!(world.text("a"), at("1.2.0"), "{way:?}: {}{}", newer.out, newer.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_switch_it_moves_again_and_no_message_changes() {
    let world = World::new(&["a"]).await;
    world.pass(&[]);
    Way::GitRevert.take_back(&world);
    world.pass(&[]);
    assert_eq!(world.text("a"), at("1.1.0"));
    let log = world.remote.log("main");
    assert!(log.iter().all(|commit| !commit.message.contains("Image-Update:")), "{log:?}");
}

/// What we wrote last and nobody touched is no revert, and a plan holds like a pass.
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_pass_holds_too_and_others_go_on() {
    let world = World::new(&["a", "b"]).await;
    world.pass(&[HOLD]);
    Way::ByHand.take_back(&world);
    let back = Commit::new("older").file("b/kustomization.yaml", &at("0.9.0"));
    world.remote.commit("main", &back);
    world.registry.repository("acme/web").tags(["1.1.1"]);
    let shown = world.pass(&[HOLD, "--dry-run"]);
    assert_eq!(shown.out.matches("would be updated").count(), 2, "{}", shown.out);
    world.pass(&[HOLD]);
    assert_eq!((world.text("a"), world.text("b")), (at("1.1.1"), at("1.1.1")));
    let quiet = world.pass(&[HOLD]);
    assert_eq!(quiet.out.matches("up to date").count(), 2, "{}", quiet.out);
}
