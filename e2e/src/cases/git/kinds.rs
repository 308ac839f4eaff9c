//! Every kind of target, in one repository: what `plan` shows is what a pass then commits, byte for
//! byte; and of what a deployment would get, the image moves and nothing else.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::super::same;
use super::examples::{applied, same_files};
use super::forge::login;
use super::stage::Stage;
use super::{Given, Remote};
use crate::files::{read, write};
use crate::render::Renderers;

const OLD: &str = "registry.example.com/git/web:1.0.0";
const NEW: &str = "registry.example.com/git/web:1.1.0";

/// Name, folder, target, further annotations, and what its source says besides.
#[rustfmt::skip]
const APPLICATIONS: [(&str, &str, &str, &[(&str, &str)], &str); 6] = [
    ("overlay", "overlay/prod", "kustomization", &[], ""),
    ("kustomize-override", "overlay/staging", "", &[], ""),
    ("values", "chart", "helmvalues:../env/prod.yaml", HELM, ""),
    ("spec-in-list", "chart", "helmvalues:/env/list.yaml", &[("web.helm.image-spec", "containers[1].image")], ""),
    ("helm-override", "chart", "", HELM, ", helm: {parameters: [{name: image.name, value: registry.example.com/git/web}, {name: image.tag, value: 1.0.0}]}"),
    ("plain", "plain", "manifests", &[], ""),
];

const HELM: &[(&str, &str)] =
    &[("web.helm.image-name", "image.name"), ("web.helm.image-tag", "image.tag")];

pub(super) async fn all(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("kinds")?;
    let remote = given.forge_remote("kinds").await?;
    remote.push("main", &FILES).await?;
    login(&stage, &remote, &given.token)?;
    for (name, path, target, more, spec) in APPLICATIONS {
        let source =
            format!("{{repoURL: '{}', path: {path}, targetRevision: main{spec}}}", remote.url);
        let target = [("write-back-target", target)];
        let target = target.iter().filter(|(_, value)| !value.is_empty());
        let annotations: Vec<_> = COMMON.iter().chain(target).chain(more).copied().collect();
        stage.application(name, &source, &annotations)?;
    }
    let before = remote.clone("main").await?;
    let rendered = render_all(&given.renderers, before.path()).await?;
    let count = |text: &str| text.matches(OLD).count();
    ensure!(rendered.iter().all(|text| count(text) == 1), "not all are at {OLD}: {rendered:#?}");

    planned_then_written(&mut stage, &remote, APPLICATIONS.len()).await?;
    let after = remote.clone("main").await?;
    let now = render_all(&given.renderers, after.path()).await?;
    for ((name, ..), (now, before)) in APPLICATIONS.iter().zip(now.iter().zip(&rendered)) {
        same(&format!("{name}, rendered"), now, &before.replace(OLD, NEW))?;
    }
    Ok(())
}

/// Applies what `plan` prints to a clone, lets a pass write, and compares all files.
pub(super) async fn planned_then_written(
    stage: &mut Stage<'_>,
    remote: &Remote,
    updates: usize,
) -> Result<()> {
    let tip = remote.tip("main").await?;
    let planned = stage.plan(3).await?;
    let promised = planned.out.matches("would be updated").count();
    ensure!(promised == updates, "{promised} updates are promised, not {updates}{}", planned.all);
    remote.unchanged("main", &tip).await?;
    let clone = remote.clone("main").await?;
    applied(clone.path(), &planned.out).await?;
    stage.pass(0, &[]).await?;
    let commits = remote.log("%h", &format!("{tip}..main")).await?.lines().count();
    ensure!(commits > 0, "nothing was committed");
    let written = remote.clone("main").await?;
    same_files(clone.path(), written.path())?;
    // What was done is not planned again.
    let again = stage.plan(0).await?;
    ensure!(!again.out.contains("diff --git"), "there is a diff still{}", again.all);
    Ok(())
}

/// What each Application's deployment would get, in the order of [`APPLICATIONS`].
async fn render_all(with: &Renderers, clone: &Path) -> Result<Vec<String>> {
    let chart = clone.join("chart");
    Ok(vec![
        with.kustomize(&clone.join("overlay/prod")).await?,
        kustomize_overridden(with, clone, "overlay/staging", "kustomize-override").await?,
        with.helm(&chart, &["--values", "../env/prod.yaml"]).await?,
        with.helm(&chart, &["--values", "../env/list.yaml"]).await?,
        helm_overridden(with, &chart, "helm-override").await?,
        with.manifests(&clone.join("plain"), &["pod.yaml", "service.yaml"]).await?,
    ])
}

/// What Argo CD reads beside a source.
#[derive(Default, Deserialize)]
struct Override {
    #[serde(default)]
    helm: HelmOverride,
    #[serde(default)]
    kustomize: KustomizeOverride,
}

#[derive(Default, Deserialize)]
struct HelmOverride {
    #[serde(default)]
    parameters: Vec<Parameter>,
}

#[derive(Deserialize)]
struct Parameter {
    name: String,
    value: String,
}

#[derive(Default, Deserialize)]
struct KustomizeOverride {
    #[serde(default)]
    images: Vec<String>,
}

fn overrides(folder: &Path, application: &str) -> Result<Override> {
    let name = format!(".argocd-source-{application}.yaml");
    if !folder.join(&name).is_file() {
        return Ok(Override::default());
    }
    serde_saphyr::from_str(&read(folder, &name)?).with_context(|| format!("cannot read {name}"))
}

/// A chart with the parameters of an override file, as Argo CD hands them on.
pub(super) async fn helm_overridden(
    with: &Renderers,
    chart: &Path,
    application: &str,
) -> Result<String> {
    let parameters = overrides(chart, application)?.helm.parameters;
    let pairs: Vec<String> =
        parameters.iter().map(|set| format!("{}={}", set.name, set.value)).collect();
    let arguments: Vec<&str> = pairs.iter().flat_map(|pair| ["--set-string", &**pair]).collect();
    with.helm(chart, &arguments).await
}

/// A kustomization with the images of an override file on top.
pub(super) async fn kustomize_overridden(
    with: &Renderers,
    clone: &Path,
    folder: &str,
    application: &str,
) -> Result<String> {
    let images = overrides(&clone.join(folder), application)?.kustomize.images;
    let mut text = format!("resources: [../{folder}]\nimages:\n");
    for image in &images {
        let (name, tag) = image.rsplit_once(':').with_context(|| format!("no tag in {image}"))?;
        writeln!(text, "- name: {name}\n  newTag: \"{tag}\"")?;
    }
    write(clone, "with-override/kustomization.yaml", &text)?;
    with.kustomize(&clone.join("with-override")).await
}

const COMMON: [(&str, &str); 2] =
    [("image-list", "web=registry.example.com/git/web:^1"), ("write-back-method", "git")];

const FILES: [(&str, &str); 11] = [
    ("overlay/base/kustomization.yaml", "resources: [deployment.yaml]\n"),
    ("overlay/base/deployment.yaml", DEPLOYMENT),
    (
        "overlay/prod/kustomization.yaml",
        "# Production.\nresources:\n- ../base\nnamePrefix: prod-\nimages:\n  - name: registry.example.com/git/api\n    newTag: 1.0.0\n  - name: registry.example.com/git/web   # the site\n    newTag: \"1.0.0\"   # moved by the updater\n",
    ),
    (
        "overlay/staging/kustomization.yaml",
        "resources:\n- ../base\nimages:\n- name: registry.example.com/git/web\n  newTag: 1.0.0\n",
    ),
    ("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n"),
    (
        "chart/values.yaml",
        "image: {name: registry.example.com/git/web, tag: 1.0.0}\ncontainers: []\n",
    ),
    ("chart/templates/pod.yaml", CHART),
    (
        "env/prod.yaml",
        "# of production\r\nimage:\r\n  name: 'registry.example.com/git/web'\r\n  tag: \"1.0.0\"   # by the updater\r\nreplicas: 3\r\nnote: |\r\n  tag: 1.0.0\r\n",
    ),
    (
        "env/list.yaml",
        "image: null\ncontainers:\n- name: proxy\n  image: registry.example.com/git/api:1.0.0\n- name: web\n  image: registry.example.com/git/web:1.0.0 # keep",
    ),
    (
        "plain/pod.yaml",
        "# by hand\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  annotations: {was: \"web-1.0.0\"}\nspec:\n  containers:\n  - {name: web, image: \"registry.example.com/git/web:1.0.0\"}\n  - name: api\n    image: registry.example.com/git/api:1.0.0\n",
    ),
    (
        "plain/service.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n",
    ),
];

const DEPLOYMENT: &str = r"apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example.com/git/web
      - name: api
        image: registry.example.com/git/api:1.0.0
";

const CHART: &str = r#"apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
  annotations:
    values: {{ omit .Values "image" "containers" | toJson | quote }}
spec:
  containers:
  {{- with .Values.image }}
  - name: web
    image: "{{ .name }}:{{ .tag }}"
  {{- end }}
  {{- range .Values.containers }}
  - name: {{ .name }}
    image: {{ .image }}
  {{- end }}
"#;
