//! Registries that ask who is asking: where the answer comes from, and that it is never told.

use std::fs;

use aiu_testkit::registry::{Access, Registry};

use crate::program::{IMAGE, Place, Ran, application, pass, registry, run};

const PASSWORD: &str = "s3cret-pa55";

struct World {
    registry: Registry,
    place: Place,
}

impl World {
    /// A registry for one user, and an Application with an image there. `conf` is added to the
    /// registry's entry, `annotation` to the Application.
    async fn new(access: Access, conf: &str, annotation: &str) -> Self {
        let registry = registry().await;
        registry.require(access);
        let place = Place::new(&registry, conf);
        let spec = "{source: {repoURL: u, kustomize: {images: ['registry.test/acme/web:1.0.0']}}}";
        let app = application("shop", &[IMAGE], spec);
        place.manifest("app.yaml", &app.replace("spec:", &format!("{annotation}spec:")));
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: creds, namespace: argocd}}\nstringData: {{login: 'alice:{PASSWORD}'}}\n---\n{}",
            pull_secret()
        );
        place.manifest("secrets.yaml", &secret);
        Self { registry, place }
    }

    fn run(&self) -> Ran {
        self.run_with(&[])
    }

    fn run_with(&self, arguments: &[&str]) -> Ran {
        let ran = run(pass(self.place.path())
            .args(arguments)
            .env("LOGIN", format!("alice:{PASSWORD}"))
            .env("DOCKER_CONFIG", self.place.path().join("docker"))
            .args(["--loglevel", "trace"]));
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains(PASSWORD) && !text.contains(&encoded()), "{text}");
        }
        ran
    }
}

/// `alice:…` as it stands in Docker's configuration, base64.
fn encoded() -> String {
    "YWxpY2U6czNjcmV0LXBhNTU=".to_owned()
}

fn docker_config(host: &str) -> String {
    format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"{}\"}}}}}}", encoded())
}

/// The configuration, for the registry's own name, in base64 as `kubectl` writes it.
fn pull_secret() -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: pull, namespace: argocd}}\nstringData:\n  .dockerconfigjson: '{}'\n",
        docker_config("registry.test")
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_come_from_where_they_are_named() {
    let pull = "    argocd-image-updater.argoproj.io/web.pull-secret";
    let other = format!("{pull}: secret:elsewhere/creds#login\n");
    #[rustfmt::skip]
    let rows = [
        (", credentials: 'secret:argocd/creds#login'", String::new(), "1.1.0  updated"),
        (", credentials: 'pullsecret:argocd/pull'", String::new(), "1.1.0  updated"),
        (", credentials: 'env:LOGIN'", String::new(), "1.1.0  updated"),
        ("", format!("{pull}: secret:argocd/creds#login\n"), "1.1.0  updated"),
        ("", String::new(), "failed: RegistryUnauthorized"),
        (", credentials: 'env:NOWHERE'", String::new(), "failed: CredentialSecretMissing"),
        (", credentials: 'secret:argocd/creds#nothing'", String::new(), "failed: CredentialSecretMissing"),
        (", credentials: 'secret:argocd/none#x'", String::new(), "failed: CredentialSecretMissing"),
        // Whoever may annotate may not thereby read the environment or other namespaces.
        ("", format!("{pull}: env:LOGIN\n"), "failed: CredentialSourceForbidden"),
        ("", other, "failed: CredentialSourceForbidden"),
    ];
    for (conf, annotation, expected) in rows {
        for access in [Access::basic("alice", PASSWORD), Access::bearer_for("alice", PASSWORD)] {
            let world = World::new(access, conf, &annotation).await;
            let ran = world.run();
            assert!(ran.out.contains(expected), "{conf}{annotation}: {}{}", ran.out, ran.err);
            assert_eq!(ran.code, Some(i32::from(expected.starts_with("failed"))));
        }
    }
}

/// Spec 11 G11 and G13, 40 B7: what images name for themselves, by whatever spelling.
#[tokio::test(flavor = "multi_thread")]
async fn images_name_what_is_theirs_and_what_the_operator_allows() {
    let forbidden = "failed: CredentialSourceForbidden";
    #[rustfmt::skip]
    let rows = [
        ("secret:argocd/creds#login", "", "updated"),
        ("Secret:elsewhere/creds#login", "", forbidden),
        ("a=secret:elsewhere/creds#login", "", forbidden),
        ("registry.test=PULLSECRET:elsewhere/pull", "", forbidden),
        ("secret:elsewhere/creds#login", "env,ext", forbidden),
        ("env:LOGIN", "", forbidden),
        ("a=ENV:LOGIN", "", forbidden),
        ("env:LOGIN", "ext", forbidden),
        ("ext:/bin/true", "env", forbidden),
        ("env:LOGIN", "env", "updated"),
        ("env:LOGIN", "ext, ENV", "updated"),
        ("ext:/bin/true", "ext", "failed: CredentialScriptFailed"),
    ];
    let world = World::new(Access::basic("alice", PASSWORD), "", "# source\n").await;
    let manifest = world.place.path().join("manifests/app.yaml");
    let text = fs::read_to_string(&manifest).unwrap();
    for (source, allowed, expected) in rows {
        let annotation = format!("    argocd-image-updater.argoproj.io/web.pull-secret: {source}");
        fs::write(&manifest, text.replace("# source", &annotation)).unwrap();
        let ran = world.run_with(&["--allow-image-credential-sources", allowed]);
        assert!(ran.out.contains(expected), "{source} {allowed}: {}{}", ran.out, ran.err);
        let is_secret = source.to_lowercase().contains("secret:");
        let names_switch = ran.out.contains("--allow-image-credential-sources=e");
        assert_eq!(names_switch, expected == forbidden && !is_secret, "{source}: {}", ran.out);
    }
    let ran = world.run_with(&["--allow-image-credential-sources", "env,secret"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("unknown kind of credential source 'secret'"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_source_the_users_own_docker_login_is_used() {
    let world = World::new(Access::basic("alice", PASSWORD), "", "").await;
    let docker = world.place.path().join("docker");
    fs::create_dir(&docker).unwrap();
    fs::write(docker.join("config.json"), docker_config("registry.test")).unwrap();
    let ran = world.run();
    assert!(ran.out.contains("1.1.0  updated"), "{}{}", ran.out, ran.err);
    assert_eq!(world.registry.counts().listings, 2, "asked once, refused once, then signed in");
}
