//! Credentials from variables and scripts.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aiu_core::registries::{CredentialSource, Registries};
use aiu_registry::{Ambient, CredentialError, Credentials, Freshness, Kept, Keyring};
use aiu_testkit::registry::clock::freeze;
use secrecy::ExposeSecret as _;
use tempfile::TempDir;
use tokio::time::Instant;

fn script(name: &str) -> String {
    format!("{}/tests/scripts/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The script under a name in a folder of its own, where it may leave files.
fn script_in(folder: &TempDir, name: &str) -> PathBuf {
    let path = folder.path().join(name);
    symlink(script(name), &path).expect("a fresh folder");
    path
}

fn external(path: &Path) -> CredentialSource {
    format!("ext:{}", path.display()).parse().expect("a good source")
}

fn one_pass() -> Freshness {
    Freshness { kept: Kept::OnePass, pass_started: Instant::now() }
}

/// `user/password`, or the error.
async fn told(keyring: &Keyring, source: &CredentialSource, freshness: Freshness) -> String {
    let endpoint = Registries::builtin().endpoint_for(&"nginx".parse().expect("a name"));
    shown(keyring.credentials(source, &endpoint, freshness).await)
}

fn shown(credentials: Result<Credentials, Arc<CredentialError>>) -> String {
    match credentials {
        Ok(Credentials::Basic { user, password, .. }) => {
            format!("{user}/{}", password.expose_secret())
        }
        Ok(Credentials::Anonymous) => "anonymous".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn scripts_give_a_pair_or_a_reason() {
    #[rustfmt::skip]
    let rows = [
        // script, what comes of it (CRT-001 to CRT-009); `@` stands for its path
        (script("prints-a-pair"), "username/password"),
        (script("prints-the-environment"), concat!("aiu-registry/", env!("CARGO_PKG_VERSION"))),
        (script("prints-words"), "invalid script output, must be single line with syntax <username>:<password>, from @"),
        (script("prints-two-lines"), "invalid script output, must be single line with syntax <username>:<password>, from @"),
        (script("complains"), "error executing @: `@` failed exit status 3: oops"),
        (script("not-executable"), "error executing @: permission denied"),
        (script("not-there"), "could not stat @: no such file or directory"),
        ("relative/path".to_owned(), "path to script must be absolute, but is '@'"),
    ];
    for (path, expected) in rows {
        let told = told(&Keyring::new(), &external(Path::new(&path)), one_pass()).await;
        assert_eq!(told.replace(&path, "@"), expected);
    }
}

#[tokio::test]
async fn variables_are_read_and_secrets_are_not() {
    let keyring = Keyring::new();
    #[rustfmt::skip]
    let rows = [
        ("env:NO_SUCH_VARIABLE", "could not fetch credentials: env 'NO_SUCH_VARIABLE' is not set; set it for this program"),
        ("env:CARGO_PKG_NAME", "could not fetch credentials: value of CARGO_PKG_NAME is malformed; it must be <user>:<password>"),
        ("secret:ns/name#field", "could not fetch credentials: no Kubernetes client given for secret:ns/name#field"),
    ];
    for (source, expected) in rows {
        assert_eq!(told(&keyring, &source.parse().unwrap(), one_pass()).await, expected);
    }
}

#[tokio::test]
async fn a_script_that_never_ends_is_ended_with_all_it_started() {
    let folder = TempDir::new().unwrap();
    let path = script_in(&folder, "never-ends");
    let clock = freeze();
    let source = external(&path);
    let fetch = tokio::spawn(async move { told(&Keyring::new(), &source, one_pass()).await });
    // The program runs in real time; the clock stands still until it has got so far.
    let noted = folder.path().join("never-ends.child");
    let child = loop {
        let note = std::fs::read_to_string(&noted).unwrap_or_default();
        if note.ends_with('\n') {
            break note.trim().to_owned();
        }
        tokio::task::yield_now().await;
    };
    clock.advance(Duration::from_secs(10)).await;
    let told = fetch.await.unwrap();
    let shown = path.display();
    assert_eq!(told, format!("error executing {shown}: `{shown}` failed timeout after 10s"));
    // A killed process is still listed while the kernel takes it down: it must end, not have ended.
    tokio::time::resume();
    let ends = async {
        while is_alive(&child) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), ends).await;
    assert!(ended.is_ok(), "its child {child} lives on");
}

/// Whether a process runs; one that ended and waits for its parent to ask does not.
fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().trim().chars().next();
    !matches!(state, None | Some('Z' | 'X'))
}

#[tokio::test]
async fn good_credentials_are_kept_as_long_as_they_may() {
    let minute = Duration::from_mins(1);
    #[rustfmt::skip]
    let rows = [
        // how long they are kept, what a pass gets every 40 seconds
        (Kept::OnePass,       ["user/1", "user/2", "user/3", "user/4"]),
        (Kept::For(minute),   ["user/1", "user/1", "user/2", "user/2"]),
        (Kept::UntilRefused,  ["user/1", "user/1", "user/1", "user/1"]),
    ];
    for (kept, expected) in rows {
        let folder = TempDir::new().unwrap();
        let source = external(&script_in(&folder, "counts-its-runs"));
        let keyring = Keyring::new();
        let mut got = Vec::new();
        tokio::time::pause();
        for _ in 0..expected.len() {
            let freshness = Freshness { kept, pass_started: Instant::now() };
            // Real time for the script: a clock that stands still would end it at once.
            tokio::time::resume();
            let first = told(&keyring, &source, freshness).await;
            assert_eq!(told(&keyring, &source, freshness).await, first, "within a pass");
            tokio::time::pause();
            got.push(first);
            tokio::time::advance(Duration::from_secs(40)).await;
        }
        tokio::time::resume();
        assert_eq!(got, expected, "{kept:?}");
    }
}

#[tokio::test]
async fn a_failure_is_tried_again_by_the_next_pass_only() {
    let folder = TempDir::new().unwrap();
    let path = script_in(&folder, "fails-and-counts");
    let runs = || {
        let lines = std::fs::read_to_string(folder.path().join("fails-and-counts.runs"));
        lines.unwrap_or_default().lines().count()
    };
    let keyring = Keyring::new();
    for pass in 1..=2 {
        let kept = Kept::UntilRefused;
        let freshness = Freshness { kept, pass_started: Instant::now() };
        for _ in 0..5 {
            let told = told(&keyring, &external(&path), freshness).await;
            assert!(told.contains("exit status 1"), "{told}");
        }
        assert_eq!(runs(), pass);
    }
}

#[tokio::test]
async fn the_users_own_logins_come_from_helpers_and_from_the_file() {
    let folder = TempDir::new().unwrap();
    script_in(&folder, "docker-credential-keychain");
    let file = folder.path().join("config.json");
    let auths = r#"{"plain.test":{"auth":"dXNlcjpwYXNz"},"kept.test":{}}"#;
    let store = r#""credsStore":"keychain""#;
    let helpers =
        r#""credHelpers":{"kept.test":"keychain","https://index.docker.io/v1/":"keychain"}"#;
    let token = "error executing @/docker-credential-keychain: it keeps an identity token, which cannot be used here";
    #[rustfmt::skip]
    let rows = [
        // configuration, image, login
        (format!("{{\"auths\":{auths}}}"),           "plain.test/app", "user/pass"),
        (format!("{{\"auths\":{auths}}}"),           "kept.test/app",  "anonymous"),
        (format!("{{\"auths\":{auths}}}"),           "other.test/app", "anonymous"),
        (format!("{{\"auths\":{auths},{store}}}"),   "kept.test/app",  "kept/p2"),
        (format!("{{\"auths\":{auths},{store}}}"),   "plain.test/app", "user/pass"),
        (format!("{{{store}}}"),                     "nginx",          "hub/p1"),
        (format!("{{{store}}}"),                     "other.test/app", "anonymous"),
        (format!("{{{store}}}"),                     "token.test/app", token),
        (format!("{{{helpers}}}"),                   "kept.test/app",  "kept/p2"),
        (format!("{{{helpers}}}"),                   "docker.io/a/b",  "hub/p1"),
        (format!("{{{helpers}}}"),                   "other.test/app", "anonymous"),
        ("{}".to_owned(),                            "nginx",          "anonymous"),
    ];
    for (text, image, expected) in rows {
        std::fs::write(&file, &text).unwrap();
        let ambient = Ambient::read(&file).unwrap().helpers_in(folder.path());
        let repository = image.parse().unwrap();
        let endpoint = Registries::builtin().endpoint_for(&repository);
        let login = ambient.credentials(&endpoint, repository.path(), Instant::now()).await;
        let told = shown(login).replace(&folder.path().display().to_string(), "@");
        assert_eq!(told, expected, "{image} with {text}");
    }
    let nobody = Ambient::read(&folder.path().join("none.json")).unwrap();
    let endpoint = Registries::builtin().endpoint_for(&"nginx".parse().unwrap());
    assert_eq!(shown(nobody.credentials(&endpoint, "nginx", Instant::now()).await), "anonymous");
}

#[tokio::test]
async fn a_helper_is_asked_once_per_registry_and_pass() {
    let folder = TempDir::new().unwrap();
    script_in(&folder, "docker-credential-keychain");
    let file = folder.path().join("config.json");
    std::fs::write(&file, r#"{"credsStore":"keychain"}"#).unwrap();
    let ambient = Ambient::read(&file).unwrap().helpers_in(folder.path());
    for _pass in 0..2 {
        let started = Instant::now();
        for image in ["nginx", "org/app", "kept.test/a", "kept.test/b"] {
            let repository = image.parse().unwrap();
            let endpoint = Registries::builtin().endpoint_for(&repository);
            ambient.credentials(&endpoint, repository.path(), started).await.unwrap();
        }
    }
    let asked = folder.path().join("docker-credential-keychain.asked");
    let asked = std::fs::read_to_string(asked).unwrap();
    let pass = "get https://index.docker.io/v1/\nget kept.test\n";
    assert_eq!(asked, pass.repeat(2));
}
