//! `run --manifests DIR` without `--once`: pass after pass over the folder as it is then.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use aiu_testkit::registry::Registry;

use crate::program::command;

const APPLICATION: &str = "
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: a
  annotations: { argocd-image-updater.argoproj.io/image-list: \"app=registry.test/org/app:^1\" }
spec: { source: { repoURL: u, path: p, kustomize: { images: [\"registry.test/org/app:1.0.0\"] } } }
";

#[tokio::test(flavor = "multi_thread")]
async fn each_pass_reads_the_folder_anew_until_a_signal_ends_them() {
    let registry = Registry::start().await;
    registry.repository("org/app").tags(["1.0.0", "1.1.0"]);
    let folder = tempfile::tempdir().unwrap();
    let (manifests, aside) = (folder.path().join("manifests"), folder.path().join("aside"));
    fs::create_dir(&manifests).unwrap();
    fs::write(manifests.join("a.yaml"), APPLICATION).unwrap();
    let conf = format!(
        "registries:\n- {{name: t, prefix: registry.test, api_url: '{}', limit: 0}}\n",
        registry.url()
    );
    fs::write(folder.path().join("registries.conf"), conf).unwrap();

    let mut command = command(&["run", "--manifests", "manifests", "--interval", "10ms"]);
    command.args(["--registries-conf-path", "registries.conf", "--cache-dir", "cache"]);
    command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut until = |text: &str| {
        let found = log.find(|line| line.contains(text));
        assert!(found.is_some(), "the program ended without '{text}'");
    };
    until("images_updated=1 errors=0");
    until("images_updated=0 errors=0");
    registry.repository("org/app").tags(["1.2.0"]);
    until("Setting new image to registry.test/org/app:1.2.0");
    let text = fs::read_to_string(manifests.join("a.yaml")).unwrap();
    assert!(text.contains("registry.test/org/app:1."), "{text}");

    fs::rename(&manifests, &aside).unwrap();
    until("cannot read the manifests in 'manifests'");
    fs::rename(&aside, &manifests).unwrap();
    until("images_updated=0 errors=0");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    until("received shutdown signal");
    drop(log);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let text = fs::read_to_string(manifests.join("a.yaml")).unwrap();
    assert!(text.contains("registry.test/org/app:1.2.0"), "{text}");
}
