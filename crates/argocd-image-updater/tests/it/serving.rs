//! `run` without an API server to talk to: what it says as it starts, what it refuses to start
//! with, what listens, and how it stops (spec 22 §3).

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};

use tempfile::TempDir;

use crate::program::{command, run};

/// A folder with a kubeconfig that leads to a port where nobody listens.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = "apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u, namespace: argocd}}]
clusters: [{name: k, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: u, user: {token: s3cret-token}}]
";
    fs::write(folder.path().join("kubeconfig"), config).unwrap();
    folder
}

fn controller(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = command(arguments);
    command.arg("run").args(["--kubeconfig", "kubeconfig", "--leader-election=false"]);
    command.env("IMAGE_UPDATER_CACHE_DIR", folder.path()).current_dir(folder.path());
    command
}

/// A controller that runs, and its log so far. Ended when it goes out of scope.
struct Running {
    child: Child,
    log: BufReader<ChildStderr>,
    lines: Vec<String>,
}

impl Running {
    fn start(folder: &TempDir, arguments: &[&str]) -> Self {
        let mut command = controller(folder, arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        Self { child, log, lines: Vec::new() }
    }

    /// Reads on until a line holds this.
    fn until(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.log.read_line(&mut line).unwrap();
            assert!(read > 0, "the program ended: {:#?}", self.lines);
            self.lines.push(line.trim_end().to_owned());
            if line.contains(text) {
                return line;
            }
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address in a field of a line.
fn address(line: &str, field: &str) -> SocketAddr {
    let start = line.split(&format!(" {field}=\"")).nth(1).expect(line);
    start.split('"').next().unwrap().parse().expect(line)
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_says_how_it_starts_serves_probes_and_metrics_and_stops_when_told_to() {
    let folder = folder();
    let mut running = Running::start(
        &folder,
        &[
            "--metrics-bind-address=127.0.0.1:0",
            "--metrics-secure=false",
            "--health-probe-bind-address=127.0.0.1:0",
            "--registries-conf-path=none.conf",
            "--interval=30s",
            "--warmup-cache=false",
        ],
    );
    let probes = address(&running.until("name=\"health probe\""), "addr");
    let metrics = address(&running.until("Serving metrics server"), "bindAddress");
    running.until("starting manager");
    let alive = get(probes, "/healthz");
    assert!(alive.starts_with("HTTP/1.1 200 OK") && alive.ends_with("\r\n\r\nok"), "{alive}");
    let ready = get(probes, "/readyz");
    assert!(ready.starts_with("HTTP/1.1 500 "), "{ready}");
    assert!(ready.contains("[-]warmup-check failed: "), "{ready}");
    let page = get(metrics, "/metrics");
    assert!(page.contains("content-type: text/plain; version=0.0.4"), "{page}");
    for name in [
        "k8s_api_requests_total ",
        "queue_depth{queue=\"passes\"} 0",
        "pass_duration_seconds_count 0",
    ] {
        assert!(page.contains(&format!("\nargocd_image_updater_{name}")), "{name}: {page}");
    }

    running.signal("-TERM");
    running.until("received shutdown signal");
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
    let all = running.lines.join("\n");
    let ours = "controller=imageupdater controllerGroup=argocd-image-updater.argoproj.io controllerKind=ImageUpdater";
    let version = env!("CARGO_PKG_VERSION");
    for (message, fields) in [
        (
            "\"Controller runtime logger initialized.\"",
            "logger=controller-setup setAppLogLevel=INFO".to_owned(),
        ),
        ("starting", format!("app=\"argocd-image-updater: v{version}+")),
        ("starting", "healthPort=0 interval=30s logger=controller-setup loglevel=INFO".to_owned()),
        (
            "\"Warning: Check interval is very low. It is not recommended to run below 1m0s\"",
            "logger=controller-setup".to_owned(),
        ),
        (
            "\"commit message template not found, using default\"",
            "path=/app/config/commit.template".to_owned(),
        ),
        (
            "\"Registry configuration not found or is a directory, using default configuration\"",
            "path=none.conf".to_owned(),
        ),
        (
            "\"Resolved controller namespace from kubeconfig context\"",
            "namespace=argocd".to_owned(),
        ),
        ("\"Watching controller namespace only\"", "namespace=argocd".to_owned()),
        ("\"Adding cache warmer to the manager.\"", "logger=controller-setup".to_owned()),
        ("\"Cache warm-up disabled, skipping cache warmer\"", "logger=controller-setup".to_owned()),
        (
            "\"webhook server is disabled, skip adding webhook server runnable to manager\"",
            "logger=controller-setup".to_owned(),
        ),
        ("\"starting manager\"", "logger=controller-setup".to_owned()),
    ] {
        let is_it =
            |line: &&String| line.contains(&format!(" msg={message} ")) && line.contains(&fields);
        let line = running.lines.iter().find(is_it);
        assert!(line.is_some_and(|line| line.contains(ours) || line.contains("controller=imageupdater")), "{message} {fields}: {all}");
    }
    assert!(!all.contains("s3cret-token"), "{all}");
    assert!(running.lines.iter().all(|line| line.starts_with("time=\"")), "{all}");
}

/// What comes after two signals is an end at once.
#[test]
fn a_second_signal_ends_at_once() {
    let folder = folder();
    let mut running = Running::start(&folder, &["--health-probe-bind-address=127.0.0.1:0"]);
    running.until("starting manager");
    running.signal("-INT");
    running.signal("-TERM");
    let code = running.child.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
}

/// "Start": each fault is one clear line, and exit code 1.
#[test]
fn what_it_cannot_start_with_is_told_in_one_line() {
    let folder = folder();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    file("broken.conf", "registries: [{prefix: x");
    file("broken.template", "{{ .AppName ");
    file("no.kubeconfig", "users: [{name: u, user: {token: s3cret-token}}");
    fs::create_dir(folder.path().join("certificates")).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let none = "--health-probe-bind-address=0";
    let port_taken = format!(
        "cannot listen at {taken}: another process has the port; stop it, or choose another port"
    );
    #[rustfmt::skip]
    let rows: [(&[&str], String); 11] = [
        (&[none, "--registries-conf-path=broken.conf"], "Error: could not load registry configuration: broken.conf: ".into()),
        (&[none, "--git-commit-message-path=broken.template"], "Error: could not parse commit message template: ".into()),
        (&[none, "--git-commit-message-path=kubeconfig/x"], "Error: could not read commit message template kubeconfig/x: ".into()),
        (&[none, "--kubeconfig=missing"], "Error: could not create K8s client: --kubeconfig missing: ".into()),
        (&[none, "--kubeconfig=no.kubeconfig"], "Error: could not create K8s client: --kubeconfig no.kubeconfig: ".into()),
        (&["--health-probe-bind-address", &taken], format!("Error: --health-probe-bind-address: {port_taken}")),
        (&[none, "--metrics-bind-address", &taken], format!("Error: --metrics-bind-address: {port_taken}")),
        (&[none, "--metrics-bind-address=8443"], "Error: --metrics-bind-address: '8443' is no address to listen at".into()),
        (&[none, "--metrics-bind-address=127.0.0.1:0", "--metrics-cert-dir=certificates"], "Error: --metrics-cert-dir: cannot read certificates/tls.crt: ".into()),
        (&[none, "--watch-namespaces= , "], "Error: --watch-namespaces flag provided but no valid namespaces specified".into()),
        (&[none, "--leader-election=true"], "Error: unable to find leader election namespace: not running in-cluster, please specify".into()),
    ];
    for (arguments, says) in rows {
        // What is said later on the line counts: these come behind what `controller` gives.
        let mut command = controller(&folder, &[]);
        let ran = run(command.args(arguments));
        assert_eq!(ran.code, Some(1), "{arguments:?}: {}", ran.err);
        let errors: Vec<&str> = ran.err.lines().filter(|l| !l.starts_with("time=\"")).collect();
        assert!(errors.len() == 1 && errors[0].starts_with(&says), "{arguments:?}: {errors:#?}");
        assert!(!ran.err.contains("s3cret-token"), "{}", ran.err);
    }
}

/// Spec 22 §5, conformance table: the namespace is the flag's, else the context's, else `default`.
#[test]
fn the_namespace_is_the_flags_or_the_contexts() {
    let folder = folder();
    let path = folder.path().join("kubeconfig");
    let config = fs::read_to_string(&path).unwrap();
    fs::write(&path, config.replace(", namespace: argocd", "")).unwrap();
    for (flag, namespace) in [("", "default"), ("argocd", "argocd")] {
        let given = format!("--argocd-namespace={flag}");
        let mut running = Running::start(&folder, &[&given, "--health-probe-bind-address=0"]);
        let line = running.until("Watching controller namespace only");
        assert!(line.contains(&format!(" namespace={namespace}")), "{line}");
    }
}

/// Spec 22 §2: how interval and port are printed.
#[test]
fn once_is_printed_as_such_and_has_no_probes() {
    let folder = folder();
    let mut running = Running::start(&folder, &["--once", "--loglevel=debug"]);
    let line = running.until(" msg=starting ");
    assert!(line.contains(" healthPort=off interval=once "), "{line}");
    assert!(line.contains(" loglevel=DEBUG"), "{line}");
}
