//! The first promise: a folder of manifests, no cluster. One Application is written back to its own
//! file, one to git; a second pass finds nothing to do; a new tag moves on from there.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::{World, same};
use crate::files::{read, subfolder, write};
use crate::git::git;
use crate::program::Program;
use crate::render::kustomize;

/// The registry as manifests name it; `registries.conf` leads it to the real one.
const HOST: &str = "registry.example.com";

const REPOSITORY: &str = "platform.git";
const KUSTOMIZATION: &str = "apps/job/kustomization.yaml";
const UPDATER: &str = "argocd-image-updater <noreply@argoproj.io>";

pub(super) async fn is_updated_once(world: &World, program: &Program) -> Result<()> {
    let given = Given::prepare(world).await?;
    let tip = given.tip().await?;

    given.pass(program, "first").await?;
    let (web, kustomization) =
        (WEB.replace("1.2.0", "1.2.4"), JOB_KUSTOMIZATION.replace("7.0.0", "7.1.0"));
    given.manifests_are(&web)?;
    let updated = given.one_commit_since(&tip, &kustomization).await?;
    given.renders(world, "registry.example.com/acme/job:7.1.0").await?;

    given.pass(program, "second").await?;
    given.manifests_are(&web)?;
    same("the branch after a pass with nothing to do", &given.tip().await?, &updated)?;

    world.peers.registry.push("acme/web", &["1.2.5", "1.3.1"]).await?;
    world.peers.registry.push("acme/job", &["7.2.0"]).await?;
    given.pass(program, "third").await?;
    given.manifests_are(&web.replace("1.2.4", "1.2.5"))?;
    given.one_commit_since(&updated, &kustomization.replace("7.1.0", "7.2.0")).await?;
    given.renders(world, "registry.example.com/acme/job:7.2.0").await
}

/// Two Applications, their images and their repository.
struct Given {
    folder: PathBuf,
    /// The bare repository that is pushed to.
    repository: PathBuf,
    url: String,
    /// `job.yaml` as written, which no pass may touch.
    job: String,
}

impl Given {
    async fn prepare(world: &World) -> Result<Self> {
        let (registry, server) = (&world.peers.registry, &world.peers.git);
        registry.push("acme/web", &["1.2.0", "1.2.4", "1.3.0", "latest"]).await?;
        registry.push("acme/job", &["7.0.0", "7.1.0", "8.0.0"]).await?;
        let url = server.create(REPOSITORY).await?;
        let folder = subfolder(&world.folder, "folder")?;
        seed(&folder, &url).await?;
        let job = JOB.replace("REPOSITORY_URL", &url);
        write(&folder, "manifests/web.yaml", WEB)?;
        write(&folder, "manifests/team/job.yaml", &job)?;
        write(&folder, "registries.conf", &registries(registry.url()))?;
        Ok(Self { folder, repository: server.path(REPOSITORY), url, job })
    }

    /// Runs the program once over the folder.
    async fn pass(&self, program: &Program, name: &str) -> Result<()> {
        let arguments = [
            ["run", "--once"],
            ["--manifests", "manifests"],
            ["--registries-conf-path", "registries.conf"],
            ["--cache-dir", "cache"],
        ];
        let run = program.run(name, arguments.as_flattened(), &self.folder).await?;
        ensure!(run.code == Some(0), "the {name} pass ended with {:?}{}", run.code, run.said);
        Ok(())
    }

    fn manifests_are(&self, web: &str) -> Result<()> {
        same("web.yaml", &read(&self.folder, "manifests/web.yaml")?, web)?;
        same("job.yaml", &read(&self.folder, "manifests/team/job.yaml")?, &self.job)
    }

    async fn tip(&self) -> Result<String> {
        git(&self.repository, &["rev-parse", "main"]).await
    }

    /// Checks that one commit, by the updater, stands on `parent`, and that it changed the
    /// kustomization alone, to this text; returns the commit.
    async fn one_commit_since(&self, parent: &str, kustomization: &str) -> Result<String> {
        let range = format!("{parent}..main");
        let log =
            git(&self.repository, &["log", "--format=%an <%ae>|%cn <%ce>|%P", &range]).await?;
        same("commits of the pass", &log, &format!("{UPDATER}|{UPDATER}|{parent}"))?;
        let changed = git(&self.repository, &["diff", "--name-only", parent, "main"]).await?;
        same("files of the commit", &changed, KUSTOMIZATION)?;
        let text = git(&self.repository, &["show", &format!("main:{KUSTOMIZATION}")]).await?;
        same(KUSTOMIZATION, &text, kustomization.trim_end_matches('\n'))?;
        self.tip().await
    }

    /// Checks what a deployment would get.
    async fn renders(&self, world: &World, image: &str) -> Result<()> {
        let clone = tempfile::tempdir_in(&self.folder).context("cannot make a folder")?;
        git(clone.path(), &["clone", "--quiet", &self.url, "."]).await?;
        let rendered =
            kustomize(&world.peers.kubernetes.kubectl(), &clone.path().join("apps/job")).await?;
        ensure!(rendered.contains(&format!("image: {image}\n")), "no {image} in\n{rendered}");
        Ok(())
    }
}

/// The first commit of the repository, by somebody else.
async fn seed(folder: &Path, url: &str) -> Result<()> {
    git(folder, &["clone", "--quiet", url, "seed"]).await?;
    let clone = folder.join("seed");
    write(&clone, KUSTOMIZATION, JOB_KUSTOMIZATION)?;
    write(&clone, "apps/job/cronjob.yaml", CRONJOB)?;
    write(&clone, "README.md", "# Platform\n")?;
    git(&clone, &["add", "--all"]).await?;
    git(&clone, &["commit", "--quiet", "--message", "job: first version"]).await?;
    git(&clone, &["push", "--quiet", "origin", "HEAD:main"]).await?;
    Ok(())
}

fn registries(url: &str) -> String {
    format!("registries:\n  - name: Example\n    prefix: {HOST}\n    api_url: {url}\n")
}

const WEB: &str = r#"# The shop's front end.
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web
  namespace: argocd
  annotations:
    argocd-image-updater.argoproj.io/image-list: web=registry.example.com/acme/web:~1.2
    argocd-image-updater.argoproj.io/web.helm.image-name: image.repository
    argocd-image-updater.argoproj.io/web.helm.image-tag: image.tag
    argocd-image-updater.argoproj.io/write-back-method: argocd
spec:
  project: default
  destination: { server: https://kubernetes.default.svc, namespace: web }
  source:
    repoURL: https://charts.example.com
    chart: web
    targetRevision: 3.4.5
    helm:
      parameters:
        - { name: replicas, value: "2" }   # by hand
        - name: image.repository
          value: registry.example.com/acme/web
          forceString: true
        - name: image.tag
          value: "1.2.0"   # by the updater
          forceString: true
"#;

const JOB: &str = r"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: job
  namespace: argocd
  annotations:
    argocd-image-updater.argoproj.io/image-list: job=registry.example.com/acme/job:^7
    argocd-image-updater.argoproj.io/write-back-method: git
    argocd-image-updater.argoproj.io/write-back-target: kustomization
spec:
  project: default
  destination: { server: https://kubernetes.default.svc, namespace: job }
  source:
    repoURL: REPOSITORY_URL
    path: apps/job
    targetRevision: main
";

const JOB_KUSTOMIZATION: &str = r"apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- cronjob.yaml
images:
  # moved by the image updater
  - name: registry.example.com/acme/job
    newTag: 7.0.0   # keep the minor in step with the API
";

const CRONJOB: &str = r"apiVersion: batch/v1
kind: CronJob
metadata:
  name: job
spec:
  schedule: 0 3 * * *
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: job
            image: registry.example.com/acme/job
";
