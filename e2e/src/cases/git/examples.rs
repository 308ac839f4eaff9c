//! The folders of examples that stand in this repository, on a real remote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::super::same;
use super::Given;
use super::forge::login;
use super::kinds::kustomize_overridden;
use crate::files::{read, write};
use crate::git::git;

/// The root of this repository.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Applies a diff to a work tree, with whatever stands before it and behind it.
pub(super) async fn applied(clone: &Path, text: &str) -> Result<()> {
    write(clone, ".git/planned", text)?;
    let apply = ["apply", "--whitespace=nowarn", ".git/planned"];
    git(clone, &apply).await.with_context(|| format!("given {text}"))?;
    Ok(())
}

/// Checks that two work trees hold the same files with the same bytes.
pub(super) fn same_files(found: &Path, expected: &Path) -> Result<()> {
    let (found, expected) = (files(found)?, files(expected)?);
    let names = |of: &BTreeMap<String, Vec<u8>>| of.keys().cloned().collect::<Vec<_>>().join("\n");
    same("files", &names(&found), &names(&expected))?;
    for (path, bytes) in &found {
        let expected = String::from_utf8_lossy(&expected[path]);
        same(path, &format!("{:?}", String::from_utf8_lossy(bytes)), &format!("{expected:?}"))?;
    }
    Ok(())
}

/// All files below a folder, by their paths, without git's own.
pub(super) fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        let entries =
            std::fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))?;
        for path in entries.map(|entry| entry.map(|entry| entry.path())) {
            let path = path?;
            if path.is_dir() {
                open.extend((!path.ends_with(".git")).then_some(path));
            } else {
                let bytes = std::fs::read(&path)?;
                found.insert(path.strip_prefix(folder)?.display().to_string(), bytes);
            }
        }
    }
    Ok(found)
}

/// The demo: two overlays in git, a chart in the folder of manifests, and one without an answer.
pub(super) async fn demo(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("demo")?;
    let remote = given.forge_remote("demo").await?;
    let example = root().join("examples/demo");
    remote.push_bytes("main", &files(&example.join("repository"))?).await?;
    let tags: BTreeMap<String, Vec<String>> =
        serde_saphyr::from_str(&read(&example, "registry.yaml")?).context("not tags")?;
    for (repository, tags) in &tags {
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        given.world.peers.registry.push(repository, &tags).await?;
    }
    let manifests = ["shop.yaml", "site.yaml", "report.yaml"];
    for name in manifests {
        let text = read(&example.join("manifests"), name)?;
        let text = text.replace("https://git.example/platform.git", &remote.url);
        write(&stage.folder, &format!("manifests/{name}"), &text)?;
    }
    login(&stage, &remote, &given.token)?;
    let (tip, before) = (remote.tip("main").await?, remote.clone("main").await?);

    let planned = stage.plan_as_data(3).await?;
    let copy = tempfile::tempdir().context("cannot make a folder")?;
    for name in manifests {
        write(copy.path(), name, &read(&stage.folder, &format!("manifests/{name}"))?)?;
    }
    git(copy.path(), &["init", "--quiet"]).await?;
    let clone = remote.clone("main").await?;
    let diffs = planned["diffs"].as_array().context("no diffs")?;
    ensure!(diffs.len() == 2, "not one place in git and one in the folder: {diffs:#?}");
    for diff in diffs {
        let at = if diff["branch"] == "main" { clone.path() } else { copy.path() };
        applied(at, diff["diff"].as_str().context("a diff is a text")?).await?;
    }
    remote.unchanged("main", &tip).await?;
    stage.pass(0, &[]).await?.has(&["2.4.7 updated", "1.3.1 updated"])?;
    let after = remote.clone("main").await?;
    same_files(clone.path(), after.path())?;
    for name in manifests {
        let written = read(&stage.folder, &format!("manifests/{name}"))?;
        same(name, &read(copy.path(), name)?, &written)?;
    }

    let with = &given.renderers;
    let prod = async |of: &Path| with.kustomize(&of.join("overlays/prod")).await;
    let moved = prod(before.path()).await?.replace("acme/site:2.4.0", "acme/site:2.4.7");
    ensure!(moved.contains("acme/site:2.4.7"), "another image was there: {moved}");
    same("prod, rendered", &prod(after.path()).await?, &moved)?;
    let staging =
        async |of: &Path| kustomize_overridden(with, of, "overlays/staging", "site-staging").await;
    let moved = staging(before.path()).await?.replace("acme/site:2.4.1", "acme/site:2.5.0-beta.3");
    ensure!(moved.contains("acme/site:2.5.0-beta.3"), "another image was there: {moved}");
    same("staging, rendered", &staging(after.path()).await?, &moved)
}

/// The numbered examples of edits, each as an Application's target in one repository. Some are
/// refused, which `plan` and the pass do alike.
pub(super) async fn edits(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("edits")?;
    let remote = given.forge_remote("edits").await?;
    let registry = &given.world.peers.registry;
    for image in ["acme/web", "acme/db", "acme/init", "acme/new"] {
        registry.push(image, &["3.0.0"]).await?;
    }
    let folder = root().join("crates/aiu-core/tests/edit");
    let (mut seeds, mut applications) = (BTreeMap::new(), 0);
    for entry in std::fs::read_dir(&folder).context("no examples of edits")? {
        let path = entry?.path();
        if !path.is_dir() {
            continue;
        }
        let name = path.file_name().context("a name")?.to_string_lossy().to_lowercase();
        let Some(example) = Example::read(&path, &name)? else { continue };
        let text = std::fs::read(path.join("before.yaml"))?;
        seeds.extend(example.files(&name, text));
        let source = format!("{{repoURL: '{}', path: {name}, targetRevision: main}}", remote.url);
        let annotations: Vec<(&str, &str)> =
            example.annotations.iter().map(|(key, value)| (&**key, &**value)).collect();
        stage.application(&name, &source, &annotations)?;
        applications += 1;
    }
    ensure!(applications > 100, "only {applications} examples were found");
    remote.push_bytes("main", &seeds).await?;
    login(&stage, &remote, &given.token)?;
    let tip = remote.tip("main").await?;

    let planned = stage.plan(1).await?;
    let clone = remote.clone("main").await?;
    applied(clone.path(), &planned.out).await?;
    remote.unchanged("main", &tip).await?;
    let passed = stage.pass(1, &[]).await?;
    let count = |said: &str, word: &str| said.matches(word).count();
    let updated = count(&passed.out, "  updated");
    same(
        "updates planned, and made",
        &count(&planned.out, "  would be updated").to_string(),
        &updated.to_string(),
    )?;
    ensure!(updated > 80, "only {updated} examples were written{}", passed.all);
    same_files(clone.path(), remote.clone("main").await?.path())
}

/// An example of an edit, as an Application's target.
struct Example {
    annotations: Vec<(String, String)>,
    file: String,
    /// What makes the folder what it must be: another file beside it.
    beside: Option<(&'static str, &'static str)>,
}

impl Example {
    /// `None` if it is about an Application's own text, or an image that no registry here has.
    fn read(folder: &Path, name: &str) -> Result<Option<Self>> {
        let edit = read(folder, "edit")?;
        let mut lines = edit.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let kind = lines.next().context("an edit has a kind")?[0].to_owned();
        let lines: Vec<Vec<&str>> = lines.collect();
        let of = |wish: &str| lines.iter().find(|line| line[0] == wish).map(|line| line[1]);
        let image = of("image").unwrap_or("acme/web");
        let (other, image) = image.split_once('=').unwrap_or(("", image));
        let image = image.split(['@', ':']).next().unwrap_or_default();
        let own = format!(".argocd-source-{name}.yaml");
        let (target, file, beside) = match &*kind {
            "helm-values" => ("helmvalues", "values.yaml".to_owned(), None),
            "kustomization" => ("kustomization", "kustomization.yaml".to_owned(), None),
            "manifest" => ("manifests", "manifest.yaml".to_owned(), None),
            "helm-override" => ("", own, Some(("Chart.yaml", "name: c\n"))),
            "kustomize-override" => ("", own, Some(("kustomization.yaml", "resources: []\n"))),
            _ => return Ok(None),
        };
        if !image.starts_with("acme/") {
            return Ok(None);
        }
        let image = if kind == "manifest" { "ghcr.test/acme/web" } else { image };
        let keys = [
            ("web.helm.image-name", of("name")),
            ("web.helm.image-tag", of("tag")),
            ("web.helm.image-spec", of("spec")),
            ("web.kustomize.image-name", Some(other)),
            ("write-back-target", Some(target)),
        ];
        let fixed = [
            ("image-list", format!("web={image}")),
            ("web.update-strategy", "alphabetical".to_owned()),
            ("web.force-update", "true".to_owned()),
            ("write-back-method", "git".to_owned()),
        ];
        let keys = keys.into_iter().filter_map(|(key, value)| Some((key, value?.to_owned())));
        let keys = keys.filter(|(_, value)| !value.is_empty()).chain(fixed);
        let annotations = keys.map(|(key, value)| (key.to_owned(), value)).collect();
        Ok(Some(Self { annotations, file, beside }))
    }

    /// What is to stand in the repository.
    fn files(&self, folder: &str, text: Vec<u8>) -> Vec<(String, Vec<u8>)> {
        let own = (format!("{folder}/{}", self.file), text);
        let beside = self.beside.map(|(name, text)| (format!("{folder}/{name}"), text.into()));
        beside.into_iter().chain([own]).collect()
    }
}
