//! `test IMAGE`: the rows of spec 11 §8 and 22 §8 with the built program, and what 40 B6 adds.

use std::fs;

use aiu_testkit::registry::{Access, Fault, Image, Kind, Registry};
use tempfile::TempDir;

use crate::program::{Ran, command, run};

const PASSWORD: &str = "s3cret-pa55";

struct World {
    registry: Registry,
    folder: TempDir,
}

impl World {
    /// A registry with some tags, which `registry.test` leads to. `conf` is added to its entry.
    async fn new(conf: &str) -> Self {
        let registry = Registry::start().await;
        registry.repository("nginx").tags(["1.17.9", "1.17.10", "1.19.0", "1.29.1", "stable"]);
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "registries:\n- {{name: t, prefix: registry.test, api_url: '{}'{conf}}}\n",
            registry.url()
        );
        fs::write(folder.path().join("registries.conf"), text).unwrap();
        Self { registry, folder }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut test = command(&["test", "--registries-conf-path", "registries.conf"]);
        test.args(arguments).current_dir(self.folder.path());
        test.env("LOGIN", format!("alice:{PASSWORD}"));
        let ran = run(&mut test);
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains(PASSWORD), "{text}");
        }
        ran
    }
}

/// The messages of the lines, in order; each line must be one of the command's.
fn messages(ran: &Ran) -> Vec<(String, String)> {
    let line = |line: &str| {
        assert!(line.contains(" command=test"), "{line}");
        let level = line.split("level=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        let message = line.split(" msg=").nth(1).unwrap();
        let message = match message.strip_prefix('"') {
            Some(quoted) => quoted.split("\" command=").next().unwrap().replace("\\\"", "\""),
            None => message.split(' ').next().unwrap().to_owned(),
        };
        (level.to_owned(), message)
    };
    ran.err.lines().map(line).collect()
}

fn has(ran: &Ran, level: &str, start: &str) -> bool {
    messages(ran).iter().any(|(l, message)| l == level && message.starts_with(start))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_a_choice() {
    let world = World::new("").await;
    let ran = world.run(&["web=registry.test/nginx:1.17.9", "--loglevel", "info"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    let told: Vec<String> = messages(&ran).into_iter().map(|(l, m)| format!("{l} {m}")).collect();
    let expected = [
        "info retrieving information about image",
        "info Loaded 1 registry configurations from registries.conf",
        "info Fetching available tags and metadata from registry",
        "info Found 5 tags in registry",
        "info latest image according to constraint is web=registry.test/nginx:1.29.1",
    ];
    assert_eq!(told, expected);
    let fields = "command=test image_alias=web image_name=nginx image_registry=registry.test image_tag=1.17.9";
    assert!(ran.err.lines().all(|line| line.ends_with(fields)), "{}", ran.err);
    assert_eq!(world.registry.counts().all, 1, "nothing is asked but the listing");
}

/// Spec 11 §8, the rows about choices: arguments, exit code, level and beginning of a line.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_and_what_is_told() {
    let world = World::new("").await;
    let latest = "latest image according to constraint is registry.test/nginx:";
    let nothing = "no newer version of image found";
    #[rustfmt::skip]
    let rows: &[(&[&str], i32, &str, String)] = &[
        (&[], 0, "info", format!("{latest}1.29.1")),
        (&["--semver-constraint", "1.17.X"], 0, "info", format!("{latest}1.17.10")),
        (&["--semver-constraint", "1.17.X"], 0, "debug", "found 2 from 5 tags eligible for consideration".into()),
        (&["--update-strategy", "bogus"], 0, "warning", "Unknown sort option bogus -- using semver".into()),
        (&["--update-strategy", "alphabetical"], 0, "info", format!("{latest}stable")),
        (&["--update-strategy", "name"], 0, "warning", "\"name\" strategy has been renamed to \"alphabetical\".".into()),
        (&["--semver-constraint", "foo"], 1, "error", "invalid constraint 'foo' given: '".into()),
        (&["--semver-constraint", "foo"], 1, "fatal", "could not get updateable image from tags: invalid constraint 'foo'".into()),
        (&["--semver-constraint", ">=9"], 0, "warning", "no tags for image registry.test/nginx matched constraint \">=9\"".into()),
        (&["--semver-constraint", ">=9"], 0, "info", nothing.into()),
        (&["--allow-tags", "^1x19"], 0, "info", nothing.into()),
        (&["--allow-tags", "^1x19"], 0, "info", "Found 0 tags in registry".into()),
        (&["--allow-tags", "^1x19"], 0, "warning", "no tags found for image registry.test/nginx in registry".into()),
        (&["--allow-tags", "regexp:^sta"], 0, "warning", "no tags for image registry.test/nginx matched by the semver strategy".into()),
        (&["--allow-tags", "regexp:^1.19"], 0, "info", format!("{latest}1.19.0")),
        (&["--ignore-tags", "1.29.*", "--ignore-tags", "1.19.*"], 0, "info", format!("{latest}1.17.10")),
        (&["--ignore-tags", "1.29.1,1.19.0"], 0, "info", format!("{latest}1.29.1")),
        (&["--ignore-tags", "*", "--loglevel", "trace"], 0, "trace", "Removing tag stable because it either didn't match".into()),
        (&["--update-strategy", "digest"], 1, "fatal", "could not get tags: cannot use update strategy 'digest'".into()),
        (&["--update-strategy", "digest", "--semver-constraint", "stable"], 0, "info", format!("{latest}stable@sha256:")),
        (&["--platforms", "linux"], 1, "fatal", "Could not parse platform linux: could not parse platform identifier".into()),
        (&["--platforms", "linux/amd64,darwin/amd64"], 0, "warning", "Target platform is 'darwin/amd64', but that's not a supported container platform. Forgot --platforms?".into()),
        (&["--rate-limit", "0"], 0, "info", "Overriding registry rate-limit to 0 requests per second".into()),
        (&["--rate-limit", "7"], 0, "debug", "setting rate limit to 20 requests per second".into()),
        (&["--credentials", "aws:x:y"], 1, "fatal", "could not parse credential definition 'aws:…': invalid credential spec: aws:…".into()),
        (&["--credentials", "env:NO_SUCH"], 1, "fatal", "could not fetch credentials: could not fetch credentials: env 'NO_SUCH' is not set".into()),
        (&["--credentials", "secret:ns/n#f"], 1, "fatal", "could not fetch credentials: could not fetch credentials: no Kubernetes client given".into()),
        (&["--loglevel", "loud"], 1, "fatal", "could not set log level to loud: invalid loglevel: loud".into()),
        (&["--kubeconfig", "missing"], 1, "fatal", "could not create K8s client: stat missing: no such file or directory".into()),
        (&["--registries-conf-path", "missing.yaml"], 1, "fatal", "could not load registries configuration: ".into()),
        (&["--registries-conf-path", "."], 1, "fatal", "could not load registries configuration: ".into()),
        (&["--check"], 1, "fatal", "--check compares the tag of the image with the winner; write one".into()),
        (&["registry.test/other"], 1, "fatal", "image needs to be specified".into()),
    ];
    for (arguments, code, level, start) in rows {
        let mut all = vec!["registry.test/nginx"];
        if arguments.contains(&"--registries-conf-path") {
            let mut test = command(&["test", "registry.test/nginx"]);
            let ran = run(test.args(*arguments).current_dir(world.folder.path()));
            assert_eq!(ran.code, Some(*code), "{arguments:?}: {}", ran.err);
            assert!(has(&ran, level, start), "{arguments:?}: {}", ran.err);
            continue;
        }
        all.extend(*arguments);
        let ran = world.run(&all);
        assert_eq!(ran.code, Some(*code), "{arguments:?}: {}", ran.err);
        assert!(has(&ran, level, start), "{arguments:?}: no '{level} {start}' in {}", ran.err);
    }
}

/// Spec 11 CLI-004, CLI-005.
#[tokio::test(flavor = "multi_thread")]
async fn images_of_other_platforms_are_no_tags() {
    let world = World::new("").await;
    let web = world.registry.repository("web");
    web.push("a", &Image::new().created("2024-01-01T00:00:00Z"));
    web.push("b", &Image::new().created("2023-01-01T00:00:00Z"));
    let newest = ["registry.test/web", "--update-strategy", "newest-build", "--platforms"];
    let ran = world.run(&[&newest[..], &["darwin/amd64"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(has(&ran, "info", "Found 0 tags in registry"), "{}", ran.err);
    assert!(has(&ran, "debug", "No metadata found for web:a"), "{}", ran.err);
    assert!(has(&ran, "info", "no newer version of image found"), "{}", ran.err);
    let ran = world.run(&[&newest[..], &["linux/amd64"]].concat());
    assert!(has(&ran, "info", "Found 2 tags in registry"), "{}", ran.err);
    assert!(has(&ran, "info", "latest image according to constraint is registry.test/web:a"));
}

/// Spec 11 CLI-010, CLI-016, CLI-017.
#[tokio::test(flavor = "multi_thread")]
async fn streams_and_order() {
    let world = World::new("").await;
    let ran = world.run(&[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("Usage: argocd-image-updater test"), "{}", ran.out);
    assert!(ran.out.contains("--allow-tags 'regexp:^1"), "{}", ran.out);
    let told = messages(&ran);
    assert_eq!(told, [("fatal".to_owned(), "image needs to be specified".to_owned())]);

    let ran = world.run(&["registry.test/nginx", "--allow-tags", r"^1\.19"]);
    let first = &messages(&ran)[0];
    assert!(first.1.starts_with("Invalid match option syntax '^1"), "{first:?}");
    let hint = "allowTags: 'regexp:^1";
    assert!(ran.err.contains(hint), "the expression that was meant: {}", ran.err);
}

/// Spec 11 CLI-014, CLI-015, and other failures of a registry: one line says why.
#[tokio::test(flavor = "multi_thread")]
async fn failures_are_one_fatal_line() {
    let world = World::new(", credentials: 'nonsense'").await;
    let ran = world.run(&["registry.test/nginx"]);
    assert_eq!(ran.code, Some(1));
    let start = "could not set registry credentials: invalid credential spec: nonsense";
    assert!(has(&ran, "fatal", start), "{}", ran.err);
    let ran = world.run(&["registry.test/nginx", "--credentials", "env:LOGIN"]);
    assert_eq!(ran.code, Some(0), "given credentials come first: {}", ran.err);

    let world = World::new("").await;
    world.registry.inject(Fault::status(500).on(Kind::Listing));
    let ran = world.run(&["registry.test/nginx", "--output", "json"]);
    assert_eq!(ran.code, Some(1));
    assert!(has(&ran, "fatal", "could not get tags: "), "{}", ran.err);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["reason"], "RegistryUnreachable", "{answer}");
    world.registry.stop();
    let ran = world.run(&["registry.test/nginx"]);
    assert!(has(&ran, "fatal", "could not get tags: "), "{}", ran.err);
    assert!(ran.err.contains("connection refused"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_of_every_source() {
    let world = World::new("").await;
    world.registry.require(Access::bearer_for("alice", PASSWORD));
    let script = world.folder.path().join("login");
    fs::write(&script, format!("#!/bin/sh\necho alice:{PASSWORD}\n")).unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::create_dir(world.folder.path().join("manifests")).unwrap();
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: creds, namespace: other}}\nstringData: {{login: 'alice:{PASSWORD}'}}\n"
    );
    fs::write(world.folder.path().join("manifests/s.yaml"), secret).unwrap();
    let by_script = format!("ext:{}", script.display());
    #[rustfmt::skip]
    let rows = [
        // No namespace is another's here: who runs the command may read the folder.
        ("secret:other/creds#login", 0),
        ("env:LOGIN", 0),
        (by_script.as_str(), 0),
        ("", 1),
    ];
    for (source, code) in rows {
        let ran = world.run(&[
            "registry.test/nginx",
            "--credentials",
            source,
            "--manifests",
            "manifests",
        ]);
        assert_eq!(ran.code, Some(code), "{source}: {}", ran.err);
    }
    let ran = world.run(&["registry.test/nginx"]);
    assert!(ran.err.contains("does not show 'nginx' without credentials"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_ends_with_3_if_another_tag_wins() {
    let world = World::new("").await;
    let digest = world.registry.repository("nginx").digest_of("stable").unwrap();
    let at = |tag: &str| format!("registry.test/nginx{tag}");
    let follow = ["--update-strategy", "digest", "--semver-constraint", "stable"];
    #[rustfmt::skip]
    let rows: &[(String, &[&str], i32, bool)] = &[
        (at(":1.17.9"), &[], 3, true),
        (at(":1.29.1"), &[], 0, false),
        (at(":1.17.9"), &["--semver-constraint", "1.17.9"], 0, false),
        (at(":9.0.0"), &[], 0, false),
        (at(":1.17.9"), &["--semver-constraint", ">=9"], 0, false),
        (at(":stable"), &follow, 3, true),
        (at(&format!(":stable@{digest}")), &follow, 0, false),
    ];
    for (image, arguments, code, available) in rows {
        let all = [&[image.as_str(), "--check", "--output", "json"], *arguments].concat();
        let ran = world.run(&all);
        assert_eq!(ran.code, Some(*code), "{image} {arguments:?}: {}", ran.err);
        let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(answer["updateAvailable"], *available, "{image} {arguments:?}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_on_standard_output() {
    let world = World::new("").await;
    let asked = ["registry.test/nginx", "--semver-constraint", "1.17.x", "--output"];
    let ran = world.run(&[&asked[..], &["json"]].concat());
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let told =
        ["image", "repository", "registry", "strategy", "constraint", "latest", "latestImage"]
            .map(|field| answer[field].as_str().unwrap().to_owned());
    #[rustfmt::skip]
    let expected = ["registry.test/nginx", "nginx", "registry.test", "semver", "1.17.x", "1.17.10", "registry.test/nginx:1.17.10"];
    assert_eq!(told, expected);
    assert_eq!(answer["tags"].as_array().unwrap().len(), 5, "{answer}");
    let ran = world.run(&[&asked[..], &["text"]].concat());
    assert!(ran.out.starts_with("registry.test/nginx:1.17.10\n"), "{}", ran.out);
    assert!(ran.out.contains("1.29.1 is outside the constraint"), "{}", ran.out);
}

/// On a terminal a long command shows that it goes on; elsewhere it does not.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_command_shows_on_a_terminal_that_it_goes_on() {
    use std::io::Read as _;
    let world = World::new("").await;
    world.registry.inject(Fault::hang().on(Kind::Listing));
    let line = format!(
        "{} test registry.test/nginx --registries-conf-path registries.conf",
        crate::program::path().display()
    );
    // `script` gives a terminal to the command that it runs.
    let mut child = std::process::Command::new("script")
        .args(["-qefc", &line, "/dev/null"])
        .current_dir(world.folder.path())
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("`script` of bsdutils");
    let mut shown = Vec::new();
    let mut output = child.stdout.take().unwrap();
    let mut piece = [0; 1024];
    loop {
        let read = output.read(&mut piece).unwrap();
        assert!(read > 0, "ended after {}", String::from_utf8_lossy(&shown));
        shown.extend_from_slice(&piece[..read]);
        if String::from_utf8_lossy(&shown).contains("asking registry.test: 1 requests, ") {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
