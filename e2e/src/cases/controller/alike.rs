//! One text, two clusters: the same objects in a folder and on the API server come to the same
//! images, files, commits and report (spec 40 B5).

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::super::{World, same};
use super::commits;
use super::stage::Stage;
use crate::files::{read, subfolder, write};
use crate::git::git;
use crate::program::Program;

/// `REMOTE` is the repository of the run.
const OBJECTS: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: alike}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc}
  source: {repoURL: https://git.example.com/x, path: web, kustomize: {images: ['registry.example.com/alike/web:1.0.0']}}
status: {sourceType: Kustomize, summary: {images: ['registry.example.com/alike/web:1.0.0']}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: job
  namespace: alike
  annotations:
    argocd-image-updater.argoproj.io/image-list: job=registry.example.com/alike/web:^1, gone=registry.example.com/alike/gone
    argocd-image-updater.argoproj.io/write-back-method: git
    argocd-image-updater.argoproj.io/write-back-target: kustomization
    argocd-image-updater.argoproj.io/nonsense: x
spec:
  project: default
  destination: {server: https://kubernetes.default.svc}
  source: {repoURL: 'REMOTE', path: job, targetRevision: main}
status: {sourceType: Kustomize, summary: {images: ['registry.example.com/alike/web:1.0.0']}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: twofold
  namespace: alike
  annotations:
    argocd-image-updater.argoproj.io/image-list: a=registry.example.com/alike/web:^1
    argocd-image-updater.argoproj.io/a.helm.image-name: image.name
    argocd-image-updater.argoproj.io/a.kustomize.image-name: web
spec:
  project: default
  destination: {server: https://kubernetes.default.svc}
  source: {repoURL: https://git.example.com/x, path: twofold, helm: {parameters: [{name: image.tag, value: '1.0'}]}}
status: {sourceType: Helm, summary: {images: ['registry.example.com/alike/web:1.0.0']}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: values, namespace: alike}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc}
  sources:
  - {repoURL: https://git.example.com/x, ref: values}
  - {repoURL: https://charts.example.com, chart: c, targetRevision: 1.2.3, helm: {parameters: [{name: other, value: x}]}}
status: {sourceTypes: [Directory, Helm], summary: {images: ['registry.example.com/alike/web:1.0.0']}}
---
apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: all, namespace: alike}
spec:
  applicationRefs:
  - namePattern: 'w*'
    images: [{alias: web, imageName: 'registry.example.com/alike/web:~1.0'}]
  - namePattern: values
    images: [{alias: web, imageName: 'registry.example.com/alike/web:1.x', manifestTargets: {helm: {name: image.repository, tag: image.tag}}}]
  - namePattern: '*o*'
    useAnnotations: true
---
apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: broken, namespace: alike}
spec:
  applicationRefs: [{namePattern: 'x[', useAnnotations: true}]
---
apiVersion: v1
kind: Secret
metadata: {name: repo, namespace: alike, labels: {argocd.argoproj.io/secret-type: repository}}
stringData: {url: 'REMOTE', username: ada, password: p}
";

const KUSTOMIZATION: &str =
    "images:\n- name: registry.example.com/alike/web\n  newTag: 1.0.0 # keep\n";

/// Runs both, and compares.
pub(super) async fn folder_and_server(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "alike").await?;
    world.peers.registry.push("alike/web", &["1.0.0", "1.0.1", "1.2.0"]).await?;
    let (of_folder, folder_url) = repository(&stage, "alike-folder").await?;
    let (of_server, server_url) = repository(&stage, "alike-server").await?;

    let folder = subfolder(&stage.folder, "folder")?;
    write(&folder, "manifests/all.yaml", &OBJECTS.replace("REMOTE", &folder_url))?;
    write(&folder, "registries.conf", &read(&stage.folder, "registries.conf")?)?;
    #[rustfmt::skip]
    let words = [
        "run", "--once", "--manifests", "manifests", "--registries-conf-path", "registries.conf",
        "--cache-dir", "cache", "--argocd-namespace", "alike", "--output", "json",
    ];
    let run = program.run("folder", &words, &folder).await?;
    ensure!(run.code == Some(1), "the folder ended with {:?}{}", run.code, run.said);

    let server = &world.peers.kubernetes;
    let objects = OBJECTS.replace("REMOTE", &server_url);
    let applied = server.kubectl_fed(&["apply", "--server-side", "-f", "-"], &objects).await?;
    ensure!(applied.success, "{}", applied.stderr);
    let run = stage.once("server", &["--output", "json"]).await?;
    ensure!(run.code == Some(1), "the server ended with {:?}{}", run.code, run.said);

    let reports = [read(&folder, "folder.out")?, read(&stage.folder, "server.out")?];
    let [folder_report, server_report] = reports;
    let folder_report = folder_report.replace(&folder_url, &server_url);
    let report = |text: &str| -> Result<String> {
        let mut report: Value = serde_json::from_str(text).context("not a report")?;
        // Where an Application stands is a file here and an object there.
        for of in ["writes", "diffs"] {
            let written = report[of].as_array_mut().with_context(|| format!("no {of}"))?;
            written.retain(|one| !one["remote"].is_null());
            for one in written {
                one["commit"] = Value::Null;
            }
        }
        Ok(format!("{report:#}"))
    };
    let (folder_report, server_report) = (report(&folder_report)?, report(&server_report)?);
    ensure!(folder_report.contains("\"updated\": 3"), "not what was meant: {folder_report}");
    same("report of the server", &server_report, &folder_report)?;

    let commit = async |repository: &str| {
        let repository = world.peers.git.path(repository);
        let shown = ["log", "--format=%an %cn %s%n%b", "-p", "main"];
        git(&repository, &shown).await
    };
    same("commits of the server", &commit(&of_server).await?, &commit(&of_folder).await?)?;

    same("web", &stage.image("web").await?, "registry.example.com/alike/web:1.0.1")?;
    let text = read(&folder, "manifests/all.yaml")?;
    ensure!(text.contains("registry.example.com/alike/web:1.0.1"), "web in the folder:\n{text}");
    let values = server.get(&stage.application("values")).await?;
    let parameters = values.pointer("/spec/sources/1/helm/parameters").context("no parameters")?;
    let folder_values = text.split("---").find(|document| document.contains("name: values"));
    let folder_values: Value = serde_saphyr::from_str(folder_values.context("no document")?)?;
    let in_folder = folder_values.pointer("/spec/sources/1/helm/parameters");
    ensure!(in_folder == Some(parameters), "{in_folder:?}\n{parameters}");
    Ok(())
}

/// A repository with the job's kustomization; its name and URL.
async fn repository(stage: &Stage<'_>, name: &str) -> Result<(String, String)> {
    let file = format!("{name}.git");
    let url = commits::repository(stage, name, "job/kustomization.yaml", KUSTOMIZATION).await?;
    Ok((file, url))
}
