//! Rows of the specification about a whole pass, by number: what is selected (21 §3.4), and what
//! the counters of the established line come to (21 §7.4).

use std::fmt::Write as _;
use std::fs;

use aiu_testkit::git::write_program;
use aiu_testkit::registry::{Access, Fault, Image, Kind, Registry};
use tempfile::TempDir;

use crate::program::{Ran, pass, run};

/// A digest of nothing that was ever pushed.
const OLD: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// A registry that answers for every host of the rows, and a folder.
struct World {
    registry: Registry,
    folder: TempDir,
}

impl World {
    async fn new() -> Self {
        let world =
            Self { registry: Registry::start().await, folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.folder.path().join("manifests")).unwrap();
        world.registries("");
        world
    }

    /// `more` is added to the entry of Docker Hub.
    fn registries(&self, more: &str) {
        let url = self.registry.url();
        let mut text = format!(
            "registries:\n- {{name: hub, prefix: docker.io, api_url: '{url}', default: true, defaultns: library, limit: 1000{more}}}\n"
        );
        for host in ["gcr.io", "quay.io", "example.io"] {
            let _ =
                writeln!(text, "- {{name: {host}, prefix: {host}, api_url: '{url}', limit: 1000}}");
        }
        self.write("registries.conf", &text);
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.path().join(file), text).unwrap();
    }

    fn run(&self, objects: &str) -> Ran {
        self.write("manifests/all.yaml", objects);
        run(&mut pass(self.folder.path()))
    }

    fn after(&self) -> String {
        fs::read_to_string(self.folder.path().join("manifests/all.yaml")).unwrap()
    }
}

/// The counters of the line, as `errors/skipped/considered/updated`.
fn counters(ran: &Ran) -> String {
    let line =
        ran.err.lines().find(|line| line.contains("Processing results:")).unwrap_or_default();
    let of = |name: &str| {
        let rest = line.split_once(&format!("{name}=")).map_or("?", |(_, rest)| rest);
        rest.split([' ', '"']).next().unwrap_or_default().to_owned()
    };
    let names = ["errors", "images_skipped", "images_considered", "images_updated"];
    names.map(of).join("/")
}

/// Spec 21 §3.4: the Applications that images are worked on for.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_selected_is_worked_on_by_number() {
    let app = |name: &str, namespace: &str, source: &str, env: &str| {
        let (block, status) = match source {
            "Kustomize" => ("kustomize: {images: ['quay.io/o/web:1.0.0']}", "Kustomize"),
            "Helm" => ("helm: {parameters: [{name: image.tag, value: 1.0.0}]}", "Helm"),
            _ => ("directory: {}", "Directory"),
        };
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: {namespace}, labels: {{env: {env}}}}}\nspec: {{source: {{repoURL: u, path: p, {block}}}}}\nstatus: {{sourceType: {status}, summary: {{images: ['quay.io/o/web:1.0.0', 'quay.io/o/job:1.0.0']}}}}\n---\n"
        )
    };
    let known = [
        ("app-prod", app("app-prod", "testns", "Kustomize", "prod")),
        ("app-staging", app("app-staging", "testns", "Helm", "staging")),
        ("other-prod", app("other-prod", "testns", "Kustomize", "prod")),
        ("unsupported-app", app("unsupported-app", "testns", "Directory", "prod")),
        ("elsewhere", app("app-prod", "elsewhere", "Kustomize", "prod")),
    ];
    let one = "images: [{alias: web, imageName: quay.io/o/web}]";
    let two =
        "images: [{alias: web, imageName: quay.io/o/web}, {alias: job, imageName: quay.io/o/job}]";
    let prod = "labelSelectors: {matchLabels: {env: prod}}";
    let reference = |pattern: &str, more: &str| format!("{{namePattern: '{pattern}', {more}}}");
    #[rustfmt::skip]
    let rows: [(u8, String, &[&str], &str); 10] = [
        (1, reference("app-prod", one), &["app-prod", "app-staging"], "applications=1 images_considered=1"),
        (2, reference("app-*", one), &["app-prod", "app-staging", "other-prod"], "applications=2 images_considered=2"),
        (3, reference("*", &format!("{prod}, {one}")), &["app-prod", "app-staging", "other-prod"], "applications=2 images_considered=2"),
        (4, [reference("app-*", one), reference("app-prod", two)].join(", "), &["app-prod"], "applications=1 images_considered=2"),
        (5, reference("*", &format!("{prod}, {one}")), &["app-prod", "unsupported-app"], "applications=1 images_considered=1"),
        // A folder without any Application is refused, so the one that is there is another's.
        (6, reference("*", one), &["elsewhere"], "applications=0 images_considered=0"),
        (7, reference("app-prod", "images: []"), &["app-staging"], "applications=0 images_considered=0"),
        (8, reference("app-[", one), &["app-prod", "app-staging"], "applications=0 images_considered=0"),
        (9, reference("app-prod", one), &["elsewhere"], "applications=0 images_considered=0"),
        // Row 10 is about events of registries.
        (11, reference("app-prod", "images: []"), &["app-prod"], "applications=0 images_considered=0"),
    ];
    let mut wrong = String::new();
    for (number, references, present, expected) in rows {
        let world = World::new().await;
        for name in ["o/web", "o/job"] {
            world.registry.repository(name).tags(["1.0.0"]);
        }
        let mut objects: String = known
            .iter()
            .filter(|(name, _)| present.contains(name))
            .map(|(_, text)| text.as_str())
            .collect();
        let _ = write!(
            objects,
            "apiVersion: argocd-image-updater.argoproj.io/v1alpha1\nkind: ImageUpdater\nmetadata: {{name: cr, namespace: testns}}\nspec: {{applicationRefs: [{references}]}}\n"
        );
        let ran = world.run(&objects);
        let says = |text: &str| ran.err.contains(text);
        let is_error = says("invalid application name pattern 'app-[': syntax error in pattern");
        if !says(expected)
            || is_error != (number == 8)
            || (ran.code == Some(1)) != (number == 8 || number == 5)
        {
            let _ =
                writeln!(wrong, "row {number}, ended with {:?}: {}{}", ran.code, ran.out, ran.err);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// One row of spec 21 §7.4.
struct Row {
    number: u8,
    live: &'static str,
    source: &'static str,
    images: &'static str,
    tags: &'static [(&'static str, &'static [&'static str])],
    counters: &'static str,
    /// What stands in the Application afterwards.
    after: &'static [&'static str],
}

#[rustfmt::skip]
const ROWS: [Row; 22] = [
    Row { number: 1, live: "jannfis/foobar:1.0.0", source: "kustomize: {images: ['jannfis/foobar:1.0.0']}",
        images: "{alias: a, imageName: 'jannfis/foobar:~1.0.0'}",
        tags: &[("jannfis/foobar", &["1.0.1"])], counters: "0/0/1/1", after: &["jannfis/foobar:1.0.1"] },
    Row { number: 2, live: "jannfis/foobar:1.0.0, jannfis/barbar:1.0.0",
        source: "kustomize: {images: ['jannfis/foobar:1.0.0', 'jannfis/barbar:1.0.0']}",
        images: "{alias: a, imageName: 'jannfis/foobar:~1.0.0'}, {alias: b, imageName: 'jannfis/barbar:~1.0.0'}",
        tags: &[("jannfis/foobar", &["1.0.1"]), ("jannfis/barbar", &["1.0.1"])], counters: "0/0/2/2",
        after: &["jannfis/foobar:1.0.1", "jannfis/barbar:1.0.1"] },
    Row { number: 3, live: "gcr.io/jannfis/foobar:1.0.1, gcr.io/jannfis/barbar:1.0.1",
        source: "kustomize: {images: ['jannfis/foobar:1.0.1', 'jannfis/barbar:1.0.1']}",
        images: "{alias: a, imageName: 'gcr.io/jannfis/foobar:>=1.0.1'}, {alias: b, imageName: 'gcr.io/jannfis/barbar:>=1.0.1'}",
        tags: &[("jannfis/foobar", &["1.0.2", "1.0.3"]), ("jannfis/barbar", &["1.0.2", "1.0.3"])], counters: "0/0/2/2",
        after: &["gcr.io/jannfis/foobar:1.0.3", "gcr.io/jannfis/barbar:1.0.3"] },
    Row { number: 4, live: "jannfis/foobar:1.0.0", source: "kustomize: {images: ['jannfis/foobar:1.0.0']}",
        images: "{alias: a, imageName: 'quay.io/jannfis/foobar:~1.0.0', commonUpdateSettings: {forceUpdate: true}, manifestTargets: {kustomize: {name: jannfis/foobar}}}",
        tags: &[("jannfis/foobar", &["1.0.1"])], counters: "0/0/1/1", after: &["jannfis/foobar=quay.io/jannfis/foobar:1.0.1"] },
    Row { number: 5, live: "jannfis/foobar:1.0.0", source: "kustomize: {images: ['jannfis/foobar:1.0.0']}",
        images: "{alias: a, imageName: 'quay.io/someorg/foobar:~1.0.0', commonUpdateSettings: {forceUpdate: true}, manifestTargets: {kustomize: {name: jannfis/foobar}}}",
        tags: &[("someorg/foobar", &["1.0.1"])], counters: "0/0/1/1", after: &["jannfis/foobar=quay.io/someorg/foobar:1.0.1"] },
    Row { number: 6, live: "jannfis/foobar", source: "kustomize: {images: ['jannfis/foobar']}",
        images: "{alias: a, imageName: 'jannfis/foobar:1.0.x'}",
        tags: &[("jannfis/foobar", &["1.0.1"])], counters: "0/0/1/1", after: &["jannfis/foobar:1.0.1"] },
    Row { number: 7, live: "example.io/jannfis/example:1.0.1", source: "kustomize: {images: ['example.io/jannfis/example:1.0.1']}",
        images: "{alias: a, imageName: 'example.io/jannfis/example:1.0.x'}",
        tags: &[("jannfis/example", &["1.0.1", "1.0.2"])], counters: "0/0/1/1", after: &["example.io/jannfis/example:1.0.2"] },
    Row { number: 8, live: "jannfis/foobar:1.0.0", source: "kustomize: {images: ['jannfis/foobar:1.0.0']}",
        images: "{alias: a, imageName: 'jannfis/foobar:~1.0.0', commonUpdateSettings: {pullSecret: 'secret:guestbook/own#creds'}}",
        tags: &[("jannfis/foobar", &["1.0.1"])], counters: "0/0/1/1", after: &["jannfis/foobar:1.0.1"] },
    Row { number: 9, live: "jannfis/foobar:1.0.0", source: "kustomize: {images: ['jannfis/foobar:1.0.0']}",
        images: "{alias: a, imageName: 'jannfis/foobar:~1.0.0', commonUpdateSettings: {pullSecret: 'secret:other-ns/bar#creds'}}",
        tags: &[("jannfis/foobar", &["1.0.1"])], counters: "1/0/1/0", after: &["jannfis/foobar:1.0.0"] },
    Row { number: 10, live: "jannfis/foobar:1.0.0", source: "kustomize: {images: ['jannfis/foobar:1.0.0']}",
        images: "{alias: a, imageName: 'jannfis/foobar:~1.0.0', commonUpdateSettings: {pullSecret: 'pullsecret:other-ns/docker-pull-secret'}}",
        tags: &[("jannfis/foobar", &["1.0.1"])], counters: "1/0/1/0", after: &["jannfis/foobar:1.0.0"] },
    Row { number: 14, live: "jannfis/foobar:1.0.0", source: "kustomize: {images: ['jannfis/foobar:1.0.0']}",
        images: "{alias: a, imageName: 'jannfis/barbar:1.0.1'}",
        tags: &[("jannfis/barbar", &["1.0.1"])], counters: "0/1/0/0", after: &["jannfis/foobar:1.0.0"] },
    Row { number: 15, live: "jannfis/foobar:1.0.1", source: "kustomize: {images: ['jannfis/foobar:1.0.1']}",
        images: "{alias: a, imageName: 'jannfis/foobar:1.0.1'}",
        tags: &[("jannfis/foobar", &["1.0.1"])], counters: "0/0/1/0", after: &["jannfis/foobar:1.0.1"] },
    Row { number: 16, live: "jannfis/foobar:1.0.1", source: "kustomize: {images: ['jannfis/foobar:1.0.1']}",
        images: "{alias: a, imageName: 'gcr.io/jannfis/foobar:>=1.0.1', manifestTargets: {kustomize: {name: jannfis/foobar}}}",
        tags: &[("jannfis/foobar", &["1.0.1"])], counters: "0/0/1/1", after: &["jannfis/foobar=gcr.io/jannfis/foobar:1.0.1"] },
    Row { number: 17, live: "gcr.io/jannfis/foobar:1.0.1", source: "kustomize: {images: ['gcr.io/jannfis/foobar:1.0.1']}",
        images: "{alias: a, imageName: 'gcr.io/jannfis/foobar:>=1.0.1', manifestTargets: {kustomize: {name: gcr.io/jannfis/foobar}}}",
        tags: &[("jannfis/foobar", &["1.0.1"])], counters: "0/0/1/0", after: &["gcr.io/jannfis/foobar:1.0.1"] },
    Row { number: 18, live: "jannfis/foobar:one", source: "kustomize: {images: ['jannfis/foobar:one']}",
        images: "{alias: a, imageName: jannfis/foobar, commonUpdateSettings: {updateStrategy: alphabetical, allowTags: 'regexp:^nothing$'}}",
        tags: &[("jannfis/foobar", &["one", "two", "three", "four"])], counters: "0/1/1/0", after: &["jannfis/foobar:one"] },
    Row { number: 19, live: "jannfis/foobar:one", source: "kustomize: {images: ['jannfis/foobar:one']}",
        images: "{alias: a, imageName: jannfis/foobar, commonUpdateSettings: {updateStrategy: alphabetical, ignoreTags: ['*']}}",
        tags: &[("jannfis/foobar", &["one", "two", "three", "four"])], counters: "0/1/1/0", after: &["jannfis/foobar:one"] },
    Row { number: 22, live: "jannfis/foobar:1.0.1", source: "kustomize: {images: ['jannfis/foobar:1.0.1']}",
        images: "{alias: a, imageName: 'jannfis/foobar:1.0.1'}",
        tags: &[("jannfis/foobar", &[])], counters: "0/1/1/0", after: &["jannfis/foobar:1.0.1"] },
    Row { number: 23, live: "", source: "kustomize: {images: []}",
        images: "{alias: a, imageName: jannfis/db-migrations, commonUpdateSettings: {forceUpdate: true}}",
        tags: &[("jannfis/db-migrations", &[])], counters: "0/1/1/0", after: &["kustomize: {images: []}"] },
    Row { number: 24, live: "jannfis/foobar:stable", source: "kustomize: {images: ['jannfis/foobar:stable']}",
        images: "{alias: a, imageName: 'jannfis/foobar:stable'}",
        tags: &[("jannfis/foobar", &["1.0.0", "1.0.1"])], counters: "1/0/1/0", after: &["jannfis/foobar:stable"] },
    Row { number: 25, live: "", source: "kustomize: {}",
        images: "{alias: a, imageName: 'gcr.io/org/job-image:latest', commonUpdateSettings: {updateStrategy: digest, forceUpdate: true}, manifestTargets: {kustomize: {name: org/job-image}}}",
        tags: &[("org/job-image", &["latest"])], counters: "0/0/1/1", after: &["org/job-image=gcr.io/org/job-image:latest@sha256:"] },
    Row { number: 26, live: "docker.io/nginx:latest-bookworm", source: "kustomize: {images: ['docker.io/nginx:latest-bookworm']}",
        images: "{alias: a, imageName: 'docker.io/nginx:latest-bookworm', commonUpdateSettings: {updateStrategy: digest}}",
        tags: &[("library/nginx", &["latest-bookworm"])], counters: "0/0/1/1", after: &["docker.io/nginx:latest-bookworm@NOW"] },
    Row { number: 27, live: "docker.io/nginx:latest-bookworm@NOW", source: "kustomize: {images: ['docker.io/nginx:latest-bookworm@NOW']}",
        images: "{alias: a, imageName: 'docker.io/nginx:latest-bookworm', commonUpdateSettings: {updateStrategy: digest}}",
        tags: &[("library/nginx", &["latest-bookworm"])], counters: "0/0/1/0", after: &["'docker.io/nginx:latest-bookworm@NOW'"] },
];

/// The rows with a digest under two tags, or under Helm's parameters.
#[rustfmt::skip]
const DIGESTS: [Row; 3] = [
    Row { number: 28, live: "nginx:latest@NOW", source: "kustomize: {images: ['nginx:latest@NOW']}",
        images: "{alias: a, imageName: 'nginx:latest-bookworm', commonUpdateSettings: {updateStrategy: digest}}",
        tags: &[("library/nginx", &["latest", "latest-bookworm"])], counters: "0/0/1/0", after: &["'nginx:latest@NOW'"] },
    Row { number: 29, live: "nginx:latest@NOW, nginx:latest@OLD", source: "kustomize: {images: ['nginx:latest@OLD']}",
        images: "{alias: web, imageName: 'nginx:latest', commonUpdateSettings: {updateStrategy: digest}}",
        tags: &[("library/nginx", &["latest"])], counters: "0/0/1/1", after: &["nginx:latest@NOW"] },
    Row { number: 30, live: "nginx@NOW", source: "helm: {parameters: [{name: image.name, value: nginx}, {name: image.tag, value: 'develop@NOW'}]}",
        images: "{alias: a, imageName: 'nginx:develop', commonUpdateSettings: {updateStrategy: digest}}",
        tags: &[("library/nginx", &["develop"])], counters: "0/0/1/0", after: &["value: 'develop@NOW'"] },
];

impl Row {
    /// Its objects; `now` is the digest of what was pushed.
    fn objects(&self, now: &str) -> String {
        let Self { live, source, images, .. } = self;
        let kind = source.split(':').next().unwrap_or_default();
        let kind = if kind == "helm" { "Helm" } else { "Kustomize" };
        let live: Vec<String> =
            live.split(", ").filter(|i| !i.is_empty()).map(|i| format!("'{i}'")).collect();
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: guestbook, namespace: guestbook}}\nspec:\n  source:\n    repoURL: u\n    path: p\n    {source}\nstatus: {{sourceType: {kind}, summary: {{images: [{}]}}}}\n---\napiVersion: argocd-image-updater.argoproj.io/v1alpha1\nkind: ImageUpdater\nmetadata: {{name: cr, namespace: guestbook}}\nspec: {{applicationRefs: [{{namePattern: guestbook, images: [{images}]}}]}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {{name: own, namespace: guestbook}}\nstringData: {{creds: 'ada:s3cret'}}\n",
            live.join(", ")
        );
        with_digests(&text, now)
    }
}

fn with_digests(text: &str, now: &str) -> String {
    text.replace("@NOW", &format!("@{now}")).replace("@OLD", &format!("@{OLD}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_counts_as_the_reference_by_number() {
    let mut wrong = String::new();
    for row in ROWS.iter().chain(&DIGESTS) {
        let world = World::new().await;
        let mut now = OLD.to_owned();
        for (name, tags) in row.tags {
            let repository = world.registry.repository(name);
            for tag in *tags {
                // One image, whatever it is called.
                now = repository.push(tag, &Image::new());
            }
        }
        let ran = world.run(&row.objects(&now));
        let (found, after) = (counters(&ran), world.after());
        let is_there = |text: &&str| after.contains(&with_digests(text, &now));
        if found != row.counters || !row.after.iter().all(is_there) {
            let _ = writeln!(
                wrong,
                "row {}: {found}, expected {}\n{}{}{after}",
                row.number, row.counters, ran.out, ran.err
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Rows 12, 13, 20 and 21: registries and sources of credentials that fail. Row 11, credentials of
/// an earlier pass that are refused now, is a test of `aiu-registry`; what was fetched for this very
/// pass is not fetched again.
#[tokio::test(flavor = "multi_thread")]
async fn a_pass_counts_what_registries_refuse_by_number() {
    let user = ", credentials: 'ext:SCRIPT', credsexpire: 1h";
    let script = |says: &str| Some(format!("#!/bin/sh\necho x >> times\n{says}\n"));
    let broken = Some(Fault::status(500).on(Kind::Listing));
    #[rustfmt::skip]
    let rows: [(u8, Option<String>, Option<Fault>, &str, usize); 4] = [
        (12, script("echo ada:s3cret"), broken.clone(), "1/0/1/0", 1),
        (13, script("echo ada:old"), None, "1/0/1/0", 1),
        (20, script("exit 3"), None, "1/0/1/0", 1),
        (21, None, broken, "1/0/1/0", 0),
    ];
    for (number, script, fault, expected, times) in rows {
        let world = World::new().await;
        world.registry.repository("jannfis/foobar").tags(["1.0.1"]);
        if let Some(text) = script {
            let path = world.folder.path().join("login.sh");
            write_program(&path, &text);
            let script = path.display().to_string();
            world.registries(&user.replace("SCRIPT", &script));
            world.registry.require(Access::basic("ada", "s3cret"));
        }
        if let Some(fault) = fault {
            world.registry.inject(fault);
        }
        let ran = world.run(&ROWS[0].objects(OLD));
        assert_eq!(counters(&ran), expected, "row {number}: {}{}", ran.out, ran.err);
        let asked = fs::read_to_string(world.folder.path().join("times")).unwrap_or_default();
        assert_eq!(asked.lines().count(), times, "row {number}: {}", ran.err);
    }
}
