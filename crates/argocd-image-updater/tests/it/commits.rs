//! Commits as the flags wish them.

use std::fs;
use std::process::Command;

use aiu_testkit::git::GitRemote;
use aiu_testkit::registry::{Fault, Image, Kind, Registry};

use crate::program::{IMAGE, Place, Ran, application, pass, registry, run};

/// Two Applications with a kustomization each on one branch, and a registry with newer tags.
pub(crate) struct World {
    pub(crate) remote: GitRemote,
    pub(crate) registry: Registry,
    place: Place,
}

/// A kustomization at a tag.
pub(crate) fn at(tag: &str) -> String {
    format!("images:\n- name: registry.test/acme/web\n  newTag: {tag}\n")
}

impl World {
    pub(crate) async fn new(applications: &[&str]) -> Self {
        let plain: Vec<_> = applications.iter().map(|name| (*name, Vec::new())).collect();
        Self::of(&plain).await
    }

    /// Applications with further annotations.
    async fn of(applications: &[(&str, Vec<(&str, &str)>)]) -> Self {
        let registry = registry().await;
        let paths: Vec<String> =
            applications.iter().map(|(name, _)| format!("{name}/kustomization.yaml")).collect();
        let text = at("1.0.0");
        let remote = GitRemote::seeded(paths.iter().map(|path| (path.as_str(), text.as_str())));
        let place = Place::new(&registry, "");
        let keys = [
            IMAGE,
            ("write-back-method", "git"),
            ("write-back-target", "kustomization"),
            ("git-branch", "main"),
        ];
        let url = remote.url();
        let app = |(name, more): &(&str, Vec<(&str, &str)>)| {
            let spec = format!("{{source: {{repoURL: '{url}', path: {name}}}}}");
            application(name, &[&keys[..], more].concat(), &spec)
        };
        place.manifest("apps.yaml", &applications.iter().map(app).collect::<String>());
        Self { remote, registry, place }
    }

    pub(crate) fn pass(&self, more: &[&str]) -> Ran {
        run(pass(self.place.path()).args(more))
    }

    pub(crate) fn text(&self, application: &str) -> String {
        self.remote.text("main", &format!("{application}/kustomization.yaml")).unwrap()
    }
}

/// Spec 30 §5.2, 40 B15: one commit for both, signed by a key and signed off.
#[tokio::test(flavor = "multi_thread")]
async fn commits_are_signed_off_signed_and_shared_on_wish() {
    let world = World::new(&["a", "b"]).await;
    let keys = tempfile::tempdir().unwrap();
    let key = keys.path().join("key");
    let mut make = Command::new("ssh-keygen");
    make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key);
    assert!(make.status().unwrap().success());
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    let allowed = keys.path().join("allowed");
    fs::write(&allowed, format!("bot@example.com {public}")).unwrap();
    let ran = world.pass(&[
        "--git-commit-user=Bot",
        "--git-commit-email=bot@example.com",
        &format!("--git-commit-signing-key={}", key.display()),
        "--git-commit-signing-method=ssh",
        "--git-commit-sign-off",
        "--commit-per=branch",
    ]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let log = world.remote.log("main");
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log[0].author.starts_with("Bot <bot@example.com> "), "{}", log[0].author);
    let lines: Vec<&str> = log[0].message.lines().collect();
    let expected = [
        "build: automatic update of a, b",
        "",
        "updates image acme/web tag '1.0.0' to '1.1.0'",
        "updates image acme/web tag '1.0.0' to '1.1.0'",
        "",
        "Signed-off-by: Bot <bot@example.com>",
    ];
    assert_eq!(lines, expected);
    let verified = Command::new("git")
        .arg("--git-dir")
        .arg(world.remote.path())
        .args(["-c", &format!("gpg.ssh.allowedSignersFile={}", allowed.display())])
        .args(["verify-commit", &log[0].id])
        .output()
        .unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    assert_eq!((world.text("a"), world.text("b")), (at("1.1.0"), at("1.1.0")));
    let refused = world.pass(&["--git-commit-signing-key=/nonexistent"]);
    assert_eq!(refused.code, Some(0), "nothing to commit, nothing to sign: {}", refused.out);
}

/// Spec 40 B16: the committer stays who pushes; other authors are other commits of one push.
#[tokio::test(flavor = "multi_thread")]
async fn the_author_is_whom_an_application_names_in_both_parts() {
    let ada = vec![("git-user", "Ada"), ("git-email", "ada@example.com")];
    let half = vec![("git-user", "Bob")];
    let odd = vec![("git-user", "Eve <eve@example.com>"), ("git-email", "eve@example.com")];
    let apps = [("a", ada), ("b", half), ("c", Vec::new()), ("d", odd)];
    let world = World::of(&apps).await;
    let ran = world.pass(&["--commit-per=branch"]);
    let shown = format!("{}{}", ran.out, ran.err);
    let log = world.remote.log("main");
    let told: Vec<(&str, &str)> = log
        .iter()
        .map(|commit| (commit.author.as_str(), commit.message.lines().next().unwrap_or_default()))
        .map(|(author, subject)| (author.split('>').next().unwrap_or_default(), subject))
        .collect();
    let own = "argocd-image-updater <noreply@argoproj.io";
    let expected = [
        (own, "build: automatic update of b, c"),
        ("Ada <ada@example.com", "build: automatic update of a"),
    ];
    assert_eq!(told[..2], expected, "{shown}");
    assert_eq!(log.len(), 3, "{log:?}");
    assert!(log[1].committer.starts_with(own), "{log:?}");
    assert_eq!(world.remote.pushes(), (1, 1));
    let half = "nothing reads argocd-image-updater.argoproj.io/git-user; give argocd-image-updater.argoproj.io/git-email as well: an author has both";
    assert!(ran.out.contains(half), "{shown}");
    let odd = "argocd-image-updater.argoproj.io/git-user cannot be the author of a commit: 'Eve <eve@example.com>'; it may hold no line break, '<' or '>'";
    assert!(ran.out.contains("left out: WriteBackInvalid") && ran.out.contains(odd), "{shown}");
    assert_eq!(world.text("d"), at("1.0.0"));
}

/// Spec 30 §5.1, row of the default template with `.Labels`: images are asked for them only where
/// the message does, each once.
#[tokio::test(flavor = "multi_thread")]
async fn messages_tell_labels_of_the_new_image_on_wish() {
    let template = "x {{ range .AppChanges }}{{ index .Labels \"org.opencontainers.image.revision\" }}{{ end }}";
    for (asks, expected, looks) in [(true, "x abc123", 2), (false, "build: automatic update", 0)] {
        let world = World::new(&["a", "b"]).await;
        let image = Image::new().label("org.opencontainers.image.revision", "abc123");
        world.registry.repository("acme/web").push("1.2.0", &image);
        let file = world.place.path().join("message");
        fs::write(&file, template).unwrap();
        let flag = format!("--git-commit-message-path={}", file.display());
        let ran = world.pass(&[flag.as_str()][usize::from(!asks)..]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        let log = world.remote.log("main");
        assert!(log[0].message.starts_with(expected), "{log:?}");
        assert!(world.text("a").contains("1.2.0") && world.text("b").contains("1.2.0"));
        let counts = world.registry.counts();
        assert_eq!(counts.manifest_gets + counts.blobs, looks, "{counts:?}");
    }
}

/// A message without the labels would say that there are none.
#[tokio::test(flavor = "multi_thread")]
async fn an_image_whose_labels_cannot_be_read_waits() {
    let world = World::new(&["a"]).await;
    let file = world.place.path().join("message");
    fs::write(&file, "{{ range .AppChanges }}{{ .Labels }}{{ end }}").unwrap();
    world.registry.inject(Fault::status(503).on(Kind::ManifestGet));
    let ran = world.pass(&[&format!("--git-commit-message-path={}", file.display())]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("failed: RegistryUnreachable"), "{}", ran.out);
    assert_eq!(world.remote.log("main").len(), 1, "nothing was pushed");
}
