//! Credentials that a registry refuses: fetched anew once, for all who were refused (spec 11
//! §5.3, G21).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use aiu_core::registries::CredentialSource;
use aiu_registry::{Freshness, Kept, Keyring, ScanRequest};
use aiu_testkit::registry::{Access, Registry};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::{about, scanner, told};

/// A script that prints the file beside it, and counts how often it does.
struct Script {
    folder: TempDir,
    keyring: Keyring,
}

impl Script {
    fn printing(password: &str) -> Self {
        let folder = TempDir::new().expect("a folder of its own");
        let path = folder.path().join("login");
        let text = "#!/bin/sh\ncd \"$(dirname \"$0\")\" && echo run >> runs && cat answer\n";
        fs::write(&path, text).expect("a folder of its own");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a folder of its own");
        let script = Self { folder, keyring: Keyring::new() };
        script.prints(password);
        script
    }

    fn prints(&self, password: &str) {
        fs::write(self.folder.path().join("answer"), format!("alice:{password}"))
            .expect("a folder of its own");
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.folder.path().join("runs")).unwrap_or_default().lines().count()
    }

    /// The same request with this script's credentials, as a pass has them.
    async fn signing(
        &self,
        request: ScanRequest,
        kept: Kept,
        pass_started: Instant,
    ) -> ScanRequest {
        let path = self.folder.path().join("login");
        let source: CredentialSource =
            format!("ext:{}", path.display()).parse().expect("a folder of its own");
        let freshness = Freshness { kept, pass_started };
        let fetched = self.keyring.credentials(&source, &request.endpoint, freshness).await;
        let credentials = fetched.expect("a folder of its own");
        ScanRequest { credentials, ..request }
    }
}

const REPOSITORIES: usize = 12;

fn name(number: usize) -> String {
    format!("org/app-{number}")
}

async fn registry(access: Access) -> Registry {
    let registry = Registry::start().await;
    for number in 0..REPOSITORIES {
        registry.repository(&name(number)).tags(["1.0"]);
    }
    registry.require(access);
    registry
}

/// All repositories at once, as a pass asks for them: how many answered.
async fn pass(registry: &Registry, scanner: &aiu_registry::Scanner, script: &Script) -> usize {
    let (mut requests, started) = (Vec::new(), Instant::now());
    for number in 0..REPOSITORIES {
        let kept = Kept::For(Duration::from_hours(1));
        requests.push(script.signing(about(registry, &name(number)), kept, started).await);
    }
    let answers = scanner.list_many(&requests, started, 10).await;
    answers.iter().filter(|answer| answer.is_ok()).count()
}

/// Spec 00 S3.4: what was replaced before its time is fetched again at the first refusal, and
/// nothing fails.
#[tokio::test]
async fn a_password_that_was_replaced_costs_one_refusal_and_one_fetch() {
    for access in [Access::basic, Access::bearer_for] {
        let registry = registry(access("alice", "first")).await;
        let (scanner, script) = (scanner(), Script::printing("first"));
        assert_eq!(pass(&registry, &scanner, &script).await, REPOSITORIES);
        assert_eq!(
            (registry.counts().unauthorized, script.runs()),
            (1, 1),
            "{:?}",
            access("a", "b")
        );

        registry.reset_counts();
        registry.require(access("alice", "second"));
        registry.revoke_tokens();
        script.prints("second");
        assert_eq!(pass(&registry, &scanner, &script).await, REPOSITORIES);
        assert_eq!(script.runs(), 2, "fetched again once");

        registry.reset_counts();
        assert_eq!(pass(&registry, &scanner, &script).await, REPOSITORIES);
        assert_eq!((registry.counts().unauthorized, script.runs()), (0, 2), "and kept");
    }
}

#[tokio::test]
async fn credentials_that_stay_refused_are_fetched_once_a_pass() {
    let registry = registry(Access::basic("alice", "right")).await;
    let (scanner, script) = (scanner(), Script::printing("wrong"));
    assert_eq!(pass(&registry, &scanner, &script).await, 0);
    assert_eq!(script.runs(), 1, "what this pass fetched is as new as any");
    for runs in [2, 3] {
        assert_eq!(pass(&registry, &scanner, &script).await, 0);
        assert_eq!(script.runs(), runs);
    }
}

#[tokio::test]
async fn a_fetch_that_fails_is_told_beside_the_refusal() {
    let registry = registry(Access::basic("alice", "second")).await;
    let (scanner, script) = (scanner(), Script::printing("first"));
    let request =
        script.signing(about(&registry, &name(0)), Kept::UntilRefused, Instant::now()).await;
    fs::remove_file(script.folder.path().join("answer")).unwrap();
    // A later pass; with the credentials that an earlier one fetched.
    let request = script.signing(request, Kept::UntilRefused, Instant::now()).await;
    let told = told(&scanner, &request, &registry).await;
    let beside = "authentication required; and fetching them anew failed: error executing";
    assert!(told.starts_with("RegistryUnauthorized: HOST") && told.contains(beside), "{told}");
    assert!(!told.contains("first"), "{told}");
}
