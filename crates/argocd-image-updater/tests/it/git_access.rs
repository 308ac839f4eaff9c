//! Remotes that ask who is pushing: where the answer comes from, and that it is never told.

use std::fs;

use aiu_testkit::cloud::{Azure, pod_token};
use aiu_testkit::git::{AppServer, GitRemote, HttpGit};
use aiu_testkit::registry::{AUTHORITY, Registry};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::program::{IMAGE, Place, Ran, application, command, pass, registry, run};

const PASSWORD: &str = "hunter2-s3cret";
const MARK: &str = "AIU_TEST_MARK";

/// The header that a user and a password make.
fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

struct World {
    remote: GitRemote,
    server: HttpGit,
    _registry: Registry,
    place: Place,
}

impl World {
    /// An Application with the method `git`, whose repository lets `login` in.
    async fn new(method: &str, tls: bool, login: &str) -> Self {
        let registry = registry().await;
        let remote = GitRemote::seeded([(
            "p/kustomization.yaml",
            "images:\n- name: registry.test/acme/web\n  newTag: 1.0.0\n",
        )]);
        remote.configure("http.receivepack", "true");
        let server = if tls {
            HttpGit::serve_tls(remote.path(), Some(login)).await
        } else {
            HttpGit::serve(remote.path(), Some(login)).await
        };
        let place = Place::new(&registry, "");
        fs::create_dir(place.path().join("private")).unwrap();
        let keys = [
            IMAGE,
            ("write-back-method", method),
            ("write-back-target", "kustomization"),
            ("git-branch", "main"),
        ];
        let url = server.url("");
        let spec = format!("{{project: shop, source: {{repoURL: '{url}', path: p}}}}");
        let world = Self { remote, server, _registry: registry, place };
        world.place.manifest("app.yaml", &application("shop", &keys, &spec));
        world
    }

    /// A Secret in the folder: the label's value, or none, and its fields.
    fn secret(&self, kind: &str, fields: &[(&str, &str)]) {
        let label = match kind {
            "" => String::new(),
            kind => format!("  labels: {{argocd.argoproj.io/secret-type: {kind}}}\n"),
        };
        let fields = fields.iter().fold(String::new(), |fields, (name, value)| {
            format!("{fields}  {name}: {}\n", STANDARD.encode(value))
        });
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: creds\n  namespace: argocd\n{label}data:\n{fields}"
        );
        self.place.manifest("secret.yaml", &text);
    }

    fn run(&self) -> Ran {
        self.run_with(&[])
    }

    fn run_with(&self, variables: &[(&str, &str)]) -> Ran {
        self.server.watch(MARK);
        run(pass(self.place.path())
            .envs(variables.iter().copied())
            .env(MARK, "1")
            .env("TMPDIR", self.place.path().join("private"))
            .args(["--loglevel", "trace"]))
    }

    fn assert_updated(&self, ran: &Ran) {
        assert!(ran.out.contains("1.1.0  updated"), "{}{}", ran.out, ran.err);
        let text = self.remote.text("main", "p/kustomization.yaml").unwrap();
        assert!(text.contains("newTag: 1.1.0"), "{text}");
        let left: Vec<_> =
            fs::read_dir(self.place.path().join("private")).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Looked at during every request: arguments and environments of all our processes; and
    /// what was said in the end.
    fn assert_silent(&self, ran: &Ran, secrets: &[&str]) {
        let seen = self.server.seen();
        assert!(seen.iter().any(|text| text.contains("git-remote-http")), "{seen:#?}");
        for text in seen.iter().chain([&ran.out, &ran.err]) {
            for secret in secrets {
                assert!(!text.contains(secret), "{secret} in {text}");
            }
        }
    }
}

/// Spec 30 §3.1, §3.3; 00 §6. No kind shows its secret to the process list.
#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_login_pushes_and_is_seen_nowhere() {
    let encoded = STANDARD.encode(format!("bot:{PASSWORD}"));
    #[rustfmt::skip]
    let rows: [(&str, Vec<(&str, &str)>, String); 5] = [
        ("repository", vec![("username", "bot"), ("password", PASSWORD)], basic("bot", PASSWORD)),
        ("repository", vec![("password", PASSWORD)], basic("x-access-token", PASSWORD)),
        ("repository", vec![("username", "bot"), ("password", PASSWORD), ("forceHttpBasicAuth", "true")], basic("bot", PASSWORD)),
        ("repository", vec![("bearerToken", PASSWORD)], format!("Bearer {PASSWORD}")),
        ("repo-creds", vec![("username", "bot"), ("password", PASSWORD)], basic("bot", PASSWORD)),
    ];
    for (kind, mut fields, login) in rows {
        let world = World::new("git", false, &login).await;
        let url = world.server.url("");
        let url = if kind == "repository" { url } else { url.replace("repository.git", "") };
        fields.push(("url", &url));
        world.secret(kind, &fields);
        let ran = world.run();
        world.assert_updated(&ran);
        world.assert_silent(&ran, &[PASSWORD, &encoded]);
    }
}

/// Spec 30 §3.2: a Secret by its name, over TLS with the certificates of Argo CD's `ConfigMap`
/// (F1, F13).
#[tokio::test(flavor = "multi_thread")]
async fn a_named_secret_signs_in_and_the_certificate_is_checked() {
    let authority = AUTHORITY.replace('\n', "\n    ");
    let certificates = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-tls-certs-cm, namespace: argocd}}\ndata:\n  127.0.0.1: |\n    {authority}\n"
    );
    let fields = [("username", "bot"), ("password", PASSWORD)];
    let careless = [fields[0], fields[1], ("insecure", "true")];
    #[rustfmt::skip]
    let rows = [
        ("git:secret:creds",        &fields[..],   true,  "updated"),
        ("git:secret:argocd/creds", &fields[..],   true,  "updated"),
        ("git:secret:creds",        &careless[..], false, "updated"),
        ("git:secret:creds",        &fields[..],   false, "GitUnreachable"),
        ("git:secret:creds",        &fields[..1],  true,  "GitCredentialsMissing"),
        ("git:secret:none",         &fields[..],   true,  "GitCredentialsMissing"),
        ("git:secret:other/creds",  &fields[..],   true,  "CredentialSourceForbidden"),
    ];
    for (method, fields, trusted, expected) in rows {
        let world = World::new(method, true, &basic("bot", PASSWORD)).await;
        world.secret("", fields);
        if trusted {
            world.place.manifest("certificates.yaml", &certificates);
        }
        let ran = world.run();
        assert!(ran.out.contains(expected), "{method} {trusted}: {}{}", ran.out, ran.err);
        if expected == "updated" {
            world.assert_updated(&ran);
            world.assert_silent(&ran, &[PASSWORD]);
        } else {
            assert_eq!(ran.code, Some(1));
        }
        if expected == "GitUnreachable" {
            let hint = "to go on without this check, as with earlier versions, set insecure";
            assert!(ran.out.contains(hint), "{}", ran.out);
        }
    }
}

/// B88; spec 30 §3.3, rows GitHub App and Google, F21.
#[tokio::test(flavor = "multi_thread")]
async fn an_app_and_a_service_account_fetch_one_token_and_push_with_it() {
    let forge = AppServer::start().await;
    let (base, google) = (forge.base_url(), forge.google_key());
    for (number, as_github_does) in [(1, true), (2, false)] {
        let login = basic("x-access-token", &format!("ghs_s3cret{number}"));
        let world = World::new("git", false, &login).await;
        let (url, key) = (world.server.url(""), forge.key(as_github_does));
        world.secret(
            "repository",
            &[
                ("url", &url),
                ("githubAppID", "123"),
                ("githubAppInstallationID", "456"),
                ("githubAppPrivateKey", &key),
                ("githubAppEnterpriseBaseUrl", &base),
            ],
        );
        let ran = world.run();
        world.assert_updated(&ran);
        world.assert_silent(&ran, &["ghs_s3cret", &key[100..140]]);
        assert_eq!(forge.given(), number, "one token for all commands");
    }
    let world = World::new("git", false, &basic("bot@project.test", "ghs_s3cret3")).await;
    let url = world.server.url("");
    world.secret("repository", &[("url", &url), ("gcpServiceAccountKey", &google)]);
    let ran = world.run();
    world.assert_updated(&ran);
    world.assert_silent(&ran, &["ghs_s3cret"]);
}

/// Spec 30 F17: a Secret that asks for the pod's identity in Azure.
#[tokio::test(flavor = "multi_thread")]
async fn the_pods_identity_in_azure_signs_in_where_a_secret_asks_for_it() {
    const SUBJECT: &str = "system:serviceaccount:argocd:argocd-image-updater";
    let azure = Azure::start("tenant").await;
    azure.federate("client", SUBJECT);
    let world = World::new("git", false, "Bearer SECRET-entra-1").await;
    let url = world.server.url("");
    world.secret("repository", &[("url", &url), ("useAzureWorkloadIdentity", "true")]);
    let ran = world.run();
    assert!(ran.out.contains("failed: GitUnauthorized"), "{}", ran.out);
    let missing = "AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_FEDERATED_TOKEN_FILE are not all set";
    assert!(ran.out.contains(missing), "{}", ran.out);

    let (token, proof) = (world.place.path().join("token"), pod_token(SUBJECT));
    fs::write(&token, format!("{proof}\n")).unwrap();
    let (token, authority) = (token.display().to_string(), azure.url());
    let variables = |client| {
        [
            ("AZURE_CLIENT_ID", client),
            ("AZURE_TENANT_ID", "tenant"),
            ("AZURE_FEDERATED_TOKEN_FILE", token.as_str()),
            ("AZURE_AUTHORITY_HOST", authority.as_str()),
        ]
    };
    let ran = world.run_with(&variables("stranger"));
    let refused = "AADSTS700213: No matching federated identity record found";
    assert!(ran.out.contains("failed: GitUnauthorized"), "{}", ran.out);
    assert!(ran.out.contains(refused) && !ran.out.contains(&proof), "{}", ran.out);

    let ran = world.run_with(&variables("client"));
    world.assert_updated(&ran);
    world.assert_silent(&ran, &["SECRET-entra", &proof]);
    assert_eq!(azure.asked().len(), 2, "one token for all commands: {:?}", azure.asked());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_is_refused_or_cannot_be_made_is_told_with_its_source() {
    let forge = AppServer::start().await;
    let (base, key, other) =
        (forge.base_url(), forge.key(true), AppServer::start().await.key(true));
    let app = |installation: &'static str, key: &str| {
        let fields = [
            ("githubAppID", "123"),
            ("githubAppInstallationID", installation),
            ("githubAppPrivateKey", key),
            ("githubAppEnterpriseBaseUrl", base.as_str()),
        ];
        fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    };
    let plain = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    #[rustfmt::skip]
    let rows: [(Vec<(String, String)>, &str, &str); 6] = [
        (plain(&[("username", "bot"), ("password", "wr0ng-s3cret")]), "GitUnauthorized", "repository Secret argocd/creds"),
        (app("999", &key), "GitUnauthorized", "404 Not Found (Not Found)"),
        (app("456", &other), "GitUnauthorized", "A JSON web token could not be decoded"),
        (app("456", "nonsense"), "GitUnauthorized", "give the PEM text of an RSA key"),
        (plain(&[("gcpServiceAccountKey", "{}")]), "GitUnauthorized", "credentials for Google Cloud Source repositories are invalid"),
        (plain(&[("password", PASSWORD), ("insecure", "maybe")]), "GitCredentialsMissing", "field insecure is neither true nor false"),
    ];
    for (fields, reason, says) in rows {
        let world = World::new("git", false, &basic("bot", PASSWORD)).await;
        let url = world.server.url("");
        let mut fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.push(("url", &url));
        world.secret("repository", &fields);
        let ran = world.run();
        let shown = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(1), "{shown}");
        assert!(ran.out.contains(reason) && ran.out.contains(says), "{reason} {says}: {shown}");
        assert!(!shown.contains("wr0ng-s3cret") && !shown.contains(PASSWORD), "{shown}");
    }
}

/// Another project's Secret is no use; without any, the owner of the folder signs in.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_fitting_secret_the_owner_of_the_folder_signs_in() {
    let world = World::new("git", false, &basic("bot", PASSWORD)).await;
    let url = world.server.url("");
    let fields = [("url", url.as_str()), ("project", "other"), ("password", PASSWORD)];
    world.secret("repository", &fields);
    let ran = world.run();
    assert!(ran.out.contains("GitUnauthorized"), "{}", ran.out);
    assert!(ran.out.contains("the user's own git set-up"), "{}", ran.out);
}

/// Spec 22 §1, table of the secondary personality.
#[test]
fn under_its_second_name_the_program_answers_git() {
    #[rustfmt::skip]
    let rows: [(&[&str], Option<&str>, &str); 4] = [
        (&[], Some("0123"), "Error: expected 1 argument, got 0\n"),
        (&["Username"], None, "Error: ARGOCD_GIT_ASKPASS_NONCE is not set\n"),
        (&["Unknown"], Some("0123"), "Error: unknown credential type 'Unknown'\n"),
        (&["Username"], Some("0123"), "Error: nobody answers at /nonexistent/s: No such file or directory (os error 2)\n"),
    ];
    for (words, nonce, expected) in rows {
        let mut asked = command(words);
        asked.env("ARGOCD_BINARY_NAME", "argocd-git-ask-pass");
        asked.env("ARGOCD_ASK_PASS_SOCK", "/nonexistent/s");
        if let Some(nonce) = nonce {
            asked.env("ARGOCD_GIT_ASKPASS_NONCE", nonce);
        }
        let ran = run(&mut asked);
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), expected), "{words:?}");
    }
}
