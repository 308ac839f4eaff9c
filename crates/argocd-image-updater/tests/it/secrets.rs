//! No secret is ever shown: every scenario is played by the built program at the most talkative
//! level, with registries that want a login, and all that it says is searched.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use aiu_testkit::registry::Access;
use aiu_testkit::scenario::{Expected, Observed, Scenario, Stage, play};

use crate::program::{Ran, command, run};

const PASSWORD: &str = "s3cret-pa55";
const KEY: &str = "s3cret-k3y";
/// Ways to show them: as they are, as a header or a file of Docker holds them, and the tokens that
/// the registry gave for them.
const SHOWN: [&str; 4] = [PASSWORD, KEY, "YWxpY2U6czNjcmV0LXBhNTU=", "token-"];

/// Where the login comes from, in turn.
const SOURCES: [&str; 4] =
    ["secret:argocd/creds#login", "pullsecret:argocd/pull", "env:LOGIN", "ext:FOLDER/login"];

/// What of the secrets a run shows.
fn leaks(ran: &Ran) -> Vec<&'static str> {
    let is_shown = |secret: &&str| ran.out.contains(secret) || ran.err.contains(secret);
    SHOWN.into_iter().filter(|secret| is_shown(secret)).collect()
}

#[test]
fn what_the_program_says_at_its_loudest_holds_no_secret() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut files: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (mut runs, mut tokens) = (0, 0);
    for (path, at) in files.iter().zip(0..) {
        let mut scenario = Scenario::parse(&fs::read_to_string(path).unwrap()).unwrap();
        for step in &mut scenario.steps {
            // Each pass is a process of its own here, which may come to something else.
            step.then = Expected::default();
        }
        let played = runtime.block_on(play(&scenario, async |stage| {
            lock(stage, SOURCES[at % SOURCES.len()]);
            for arguments in [&["explain"][..], &["run", "--once"]] {
                for output in ["text", "json"] {
                    let ran = run(&mut told_all(stage, arguments, output));
                    let has_looked = ran.err.contains("level=debug");
                    assert!(has_looked || ran.err.contains("no Application found"), "{}", ran.err);
                    assert_eq!(
                        leaks(&ran),
                        [""; 0],
                        "{path:?} {arguments:?}: {}{}",
                        ran.out,
                        ran.err
                    );
                    runs += 1;
                }
            }
            tokens += stage.registry().counts().tokens;
            Observed::default()
        }));
        played.unwrap();
    }
    assert!(runs >= 80 && tokens >= 40, "{runs} runs, {tokens} tokens");
}

/// From now on the registry wants a login, which the program finds at `source`.
fn lock(stage: &Stage, source: &str) {
    let folder = stage.cache().with_file_name("secrets");
    fs::create_dir_all(&folder).unwrap();
    let script = folder.join("login");
    fs::write(&script, format!("#!/bin/sh\necho alice:{PASSWORD}\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let source = source.replace("FOLDER", &folder.display().to_string());
    let text = stage.registries_text().replace('}', &format!(", credentials: '{source}'}}"));
    fs::write(stage.registries_file(), text).unwrap();
    let secrets = format!(
        "apiVersion: v1
kind: Secret
metadata: {{name: creds, namespace: argocd}}
stringData: {{login: 'alice:{PASSWORD}'}}
---
apiVersion: v1
kind: Secret
metadata: {{name: pull, namespace: argocd}}
stringData:
  .dockerconfigjson: '{{\"auths\": {{\"{}\": {{\"auth\": \"YWxpY2U6czNjcmV0LXBhNTU=\"}}}}}}'
---
apiVersion: v1
kind: Secret
metadata:
  name: git
  namespace: argocd
  labels: {{argocd.argoproj.io/secret-type: repo-creds}}
stringData: {{url: 'https://git.elsewhere', username: alice, password: {KEY}}}
",
        stage.registry().host()
    );
    fs::write(stage.manifests().join("zz-secrets.yaml"), secrets).unwrap();
    stage.registry().require(Access::bearer_for("alice", PASSWORD));
}

fn told_all(stage: &Stage, arguments: &[&str], output: &str) -> Command {
    let mut command = command(arguments);
    command.args(["--loglevel", "trace", "--output", output, "--manifests"]);
    command.arg(stage.manifests()).arg("--registries-conf-path").arg(stage.registries_file());
    command.arg("--cache-dir").arg(stage.cache()).env("LOGIN", format!("alice:{PASSWORD}"));
    command
}

/// The search itself finds what it looks for, on either stream and in every form.
#[test]
fn a_program_that_shows_a_secret_is_found_out() {
    let says = |text: &str, stream: &str| {
        let script = format!("echo 'time=\"x\" level=trace msg=\"{text}\"' >&{stream}");
        run(Command::new("sh").args(["-c", &script]))
    };
    for stream in ["1", "2"] {
        for secret in SHOWN {
            let line = format!("Authorization: {secret}0 was sent");
            assert_eq!(leaks(&says(&line, stream)), [secret], "{line} on {stream}");
        }
        assert_eq!(leaks(&says("alice has signed in", stream)), [""; 0]);
    }
}
