//! The texts of `tests/scenarios`, each played twice: over a folder, and against the API server. What
//! the passes report, what is committed, and what the Applications say then must be equal (spec 40
//! B5).
//!
//! To the server goes besides what a cluster always has: what Argo CD demands of an Application, and a
//! Secret for each repository, where a folder is worked on as its owner.

use std::collections::BTreeMap;
use std::path::Path;

use aiu_testkit::git::HttpGit;
use aiu_testkit::scenario::{Deed, Expected, Observed, Scenario, Stage as Peers, play};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::commits::secret;
use super::stage::Stage;
use crate::files::{read, subfolder};
use crate::program::Program;

const TEXTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/scenarios");

/// Where objects are that name no namespace.
const NAMESPACE: &str = "argocd";

/// What cannot be played against a server, and why.
const FOLDERS_ALONE: [(&str, &str); 2] = [
    ("nothing-to-work-on", "a folder without Applications is refused; a cluster may be empty"),
    ("one-failure-stays-one", "no server takes half a document, or two objects of one name"),
];

/// What came of one pass.
#[derive(Debug, PartialEq, Eq)]
struct Came {
    code: Option<i32>,
    report: String,
    /// By repository and branch: messages, oldest first, and the files of the tip.
    branches: BTreeMap<String, String>,
    /// The spec of each Application.
    specs: BTreeMap<String, String>,
}

/// Plays every text.
pub(super) async fn alike(world: &World, program: &Program) -> Result<()> {
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(TEXTS).context("no scenarios")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".yaml").map(str::to_owned));
    }
    names.sort();
    ensure!(names.len() > 15, "scenarios are missing");
    let server = &world.peers.kubernetes;
    // Both begin with a server that has our kind, and Argo CD's.
    let stage = Stage::prepare(world, program, "texts").await?;
    server.namespace(NAMESPACE).await?;
    let permissions = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/watched-namespace");
    server.kubectl_do(&["apply", "-n", NAMESPACE, "-k", permissions]).await?;
    let (mut wrong, mut passes) = (Vec::new(), 0);
    for name in &names {
        if let Some((_, why)) = FOLDERS_ALONE.iter().find(|(alone, _)| alone == name) {
            println!("  not against the server: {name}: {why}");
            continue;
        }
        match both(&stage, program, name).await {
            Ok(count) => passes += count,
            Err(error) => wrong.push(format!("{name}: {error:#}")),
        }
    }
    clean(&stage).await?;
    ensure!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    println!("  {} texts, {passes} passes each way", names.len() - FOLDERS_ALONE.len());
    Ok(())
}

/// Plays one text both ways; how many passes it has.
async fn both(stage: &Stage<'_>, program: &Program, name: &str) -> Result<usize> {
    let text = read(Path::new(TEXTS), &format!("{name}.yaml"))?;
    let scenario = || {
        let mut scenario = Scenario::parse(&text)?;
        // What must come of it in a folder is judged elsewhere; here both are compared.
        scenario.steps.iter_mut().for_each(|step| step.then = Expected::default());
        Ok::<_, anyhow::Error>(scenario)
    };
    let folder = subfolder(&stage.folder, name)?;
    let mut of_folder = Vec::new();
    let player = Player { stage, program, name, scenario: scenario()? };
    play(&player.scenario, async |peers| {
        of_folder.push(player.over_folder(peers, &folder).await);
        Observed::default()
    })
    .await?;
    clean(stage).await?;
    let (mut of_server, mut applied) = (Vec::new(), Applied::default());
    play(&player.scenario, async |peers| {
        of_server.push(player.against_server(peers, &mut applied, &folder).await);
        Observed::default()
    })
    .await?;
    let count = player.scenario.steps.iter().filter(|step| matches!(step.deed, Deed::Pass)).count();
    ensure!(of_folder.len() == count && of_server.len() == count, "not every pass was made");
    for (number, (folder, server)) in (1..).zip(of_folder.into_iter().zip(of_server)) {
        let (folder, server) = (folder?, server?);
        let at = |what: &str| format!("pass {number}, {what} of the server");
        same(&at("report"), &server.report, &folder.report)?;
        ensure!(
            server.code == folder.code,
            "{}: {:?}, not {:?}",
            at("end"),
            server.code,
            folder.code
        );
        same(
            &at("branches"),
            &format!("{:#?}", server.branches),
            &format!("{:#?}", folder.branches),
        )?;
        same(
            &at("Applications"),
            &format!("{:#?}", server.specs),
            &format!("{:#?}", folder.specs),
        )?;
    }
    Ok(count)
}

/// What the server has of a text.
#[derive(Default)]
struct Applied {
    /// The objects of each file.
    objects: BTreeMap<String, Vec<Value>>,
    /// The remotes by their address on this disk, which a cluster may not use.
    served: Vec<(String, HttpGit)>,
}

impl Applied {
    /// With the addresses that a cluster may use.
    fn as_on_server(&self, text: &str) -> String {
        let served = self.served.iter();
        served.fold(text.to_owned(), |text, (disk, http)| text.replace(disk, &http.url("")))
    }

    /// With those of the disk again.
    fn as_on_disk(&self, text: &str) -> String {
        let served = self.served.iter();
        served.fold(text.to_owned(), |text, (disk, http)| text.replace(&http.url(""), disk))
    }
}

struct Player<'w> {
    stage: &'w Stage<'w>,
    program: &'w Program,
    name: &'w str,
    scenario: Scenario,
}

impl Player<'_> {
    async fn over_folder(&self, peers: &Peers, folder: &Path) -> Result<Came> {
        let path = |path: std::path::PathBuf| path.display().to_string();
        let (manifests, registries) = (path(peers.manifests()), path(peers.registries_file()));
        let cache = path(folder.join("cache"));
        #[rustfmt::skip]
        let words = [
            "run", "--once", "--manifests", &manifests, "--registries-conf-path", &registries,
            "--cache-dir", &cache, "--argocd-namespace", NAMESPACE, "--output", "json",
        ];
        let run = self.program.run("folder", &words, folder).await?;
        let report = read(folder, "folder.out")?;
        let mut specs = BTreeMap::new();
        for object in objects(&peers.manifests())?.into_values().flatten() {
            if object["kind"] == "Application" {
                specs.insert(named(&object), spec(peers, &object["spec"]));
            }
        }
        self.came(peers, run.code, &report, specs)
    }

    async fn against_server(
        &self,
        peers: &Peers,
        applied: &mut Applied,
        folder: &Path,
    ) -> Result<Came> {
        if applied.served.is_empty() {
            for url in self.scenario.given.git.keys() {
                let remote = peers.remote(url)?;
                remote.configure("http.receivepack", "true");
                applied.served.push((remote.url(), HttpGit::serve(remote.path(), None).await));
            }
        }
        self.apply(peers, applied).await?;
        let registries = peers.registries_file().display().to_string();
        let cache = folder.join("cache-of-server").display().to_string();
        // What has no status in a folder is taken for live; an object always has one.
        let has_status =
            |object: &Value| object["kind"] != "Application" || !object["status"].is_null();
        let live = applied.objects.values().flatten().all(has_status);
        let live = format!("--require-live={live}");
        #[rustfmt::skip]
        let words = [
            "--watch-namespaces", NAMESPACE, "--argocd-namespace", NAMESPACE, "--output", "json",
            "--registries-conf-path", &registries, "--cache-dir", &cache, &live,
        ];
        let out = format!("server-{}", self.name);
        let run = self.stage.once(&out, &words).await?;
        let report = applied.as_on_disk(&read(&self.stage.folder, &format!("{out}.out"))?);
        let mut specs = BTreeMap::new();
        let path = format!("/apis/argoproj.io/v1alpha1/namespaces/{NAMESPACE}/applications");
        let list = self.stage.world.peers.kubernetes.get(&path).await?;
        for object in list["items"].as_array().context("a list has items")? {
            let theirs = serde_json::from_str(&applied.as_on_disk(&object["spec"].to_string()))?;
            specs.insert(named(object), spec(peers, &theirs));
        }
        self.came(peers, run.code, &report, specs).with_context(|| format!("it said{}", run.said))
    }

    /// Applies what was written since the last time.
    async fn apply(&self, peers: &Peers, applied: &mut Applied) -> Result<()> {
        let server = &self.stage.world.peers.kubernetes;
        let now = objects(&peers.manifests())?;
        for (file, objects) in &now {
            if applied.objects.get(file) == Some(objects) {
                continue;
            }
            for object in objects {
                let ours = ["Application", "ImageUpdater", "Secret"];
                if ours.iter().any(|kind| object["kind"] == *kind) {
                    let text = applied.as_on_server(&Self::completed(object).to_string());
                    let apply =
                        ["apply", "--server-side", "--force-conflicts", "-n", NAMESPACE, "-f", "-"];
                    let printed = server.kubectl_fed(&apply, &text).await?;
                    ensure!(printed.success, "{file}: {}\n{text}", printed.stderr);
                }
            }
        }
        applied.objects = now;
        for (number, (_, remote)) in applied.served.iter().enumerate() {
            let secret = secret(&format!("repo-{number}"), &remote.url(""));
            let apply = ["apply", "--server-side", "-n", NAMESPACE, "-f", "-"];
            let printed = server.kubectl_fed(&apply, &secret.to_string()).await?;
            ensure!(printed.success, "{}", printed.stderr);
        }
        Ok(())
    }

    /// An Application as Argo CD takes it: with a project and a destination.
    fn completed(object: &Value) -> Value {
        let mut object = object.clone();
        if object["kind"] != "Application" {
            return object;
        }
        if object["spec"]["project"].is_null() {
            object["spec"]["project"] = json!("default");
            object["spec"]["destination"] = json!({"server": "https://kubernetes.default.svc"});
        }
        object
    }

    fn came(
        &self,
        peers: &Peers,
        code: Option<i32>,
        report: &str,
        specs: BTreeMap<String, String>,
    ) -> Result<Came> {
        let report =
            peers.in_its_words(report).replace(peers.registry().url().as_str(), "REGISTRY");
        let report = report.replace(&peers.registry().host(), "REGISTRY");
        let mut report: Value = serde_json::from_str(&report).context("not a report")?;
        // Where an Application stands is a file here and an object there.
        for of in ["writes", "diffs"] {
            let written = report[of].as_array_mut().with_context(|| format!("no {of}"))?;
            written.retain(|one| !one["remote"].is_null());
            for one in written {
                one["commit"] = Value::Null;
            }
        }
        let mut branches = BTreeMap::new();
        for url in self.scenario.given.git.keys() {
            let remote = peers.remote(url)?;
            for branch in remote.branches() {
                let messages = remote.log(&branch).into_iter().map(|logged| logged.message);
                let files = remote.paths(&branch).into_iter().map(|path| {
                    let text = remote.text(&branch, &path).unwrap_or_default();
                    format!("{path}:\n{text}")
                });
                let all: Vec<String> = messages.chain(files).collect();
                branches.insert(format!("{url} {branch}"), peers.in_its_words(&all.join("\n")));
            }
        }
        Ok(Came { code, report: format!("{report:#}"), branches, specs })
    }
}

fn named(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// A spec without what Argo CD demands, in the scenario's words.
fn spec(peers: &Peers, spec: &Value) -> String {
    let mut spec = spec.clone();
    if let Some(fields) = spec.as_object_mut() {
        fields.remove("project");
        fields.remove("destination");
    }
    peers.in_its_words(&format!("{spec:#}"))
}

/// Every document below a folder, by file.
fn objects(folder: &Path) -> Result<BTreeMap<String, Vec<Value>>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).context("no manifests")? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(objects(&path)?);
            continue;
        }
        let text = std::fs::read_to_string(&path).context("no text")?;
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(&text).with_context(|| format!("{}", path.display()))?;
        found.insert(path.display().to_string(), documents);
    }
    Ok(found)
}

/// Takes away what an earlier text, or another case, left in the namespace.
async fn clean(stage: &Stage<'_>) -> Result<()> {
    let server = &stage.world.peers.kubernetes;
    // kubectl waits where the server has only just learned of the kind.
    let names = ["get", "imageupdaters", "-n", NAMESPACE, "-o", "name"];
    for name in server.kubectl_do(&names).await?.lines() {
        let free = ["--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#];
        server.kubectl_do(&[&["patch", name, "-n", NAMESPACE][..], &free].concat()).await?;
    }
    let kinds = "imageupdaters.argocd-image-updater.argoproj.io,applications.argoproj.io,secrets";
    server.kubectl_do(&["delete", kinds, "--all", "-n", NAMESPACE]).await.map(drop)
}
