//! A namespace of the real API server with our permissions and nothing else in it, and the program
//! that works there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::super::World;
use super::super::admission::{install, updaters};
use crate::files::{subfolder, write};
use crate::peers::{CONTROLLER, argo_cd};
use crate::process::Process;
use crate::program::{Program, Run};

/// What `kubectl apply -k config/watched-namespace` gives.
const PERMISSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/watched-namespace");

/// How long anything that is awaited may take on a loaded machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// The kinds that Argo CD brings, as far as we read them.
const ARGO_CD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/argo-cd.yaml");

/// The prefix of annotations.
pub(in crate::cases) const PREFIX: &str = "argocd-image-updater.argoproj.io";

/// A namespace of its own for one case.
pub(in crate::cases) struct Stage<'w> {
    pub(in crate::cases) world: &'w World,
    program: &'w Program,
    pub(in crate::cases) namespace: &'static str,
    pub(in crate::cases) folder: PathBuf,
}

impl<'w> Stage<'w> {
    /// A namespace where the controller may do what the install manifests allow.
    pub(in crate::cases) async fn prepare(
        world: &'w World,
        program: &'w Program,
        namespace: &'static str,
    ) -> Result<Self> {
        install(&world.peers.kubernetes).await?;
        Self::without_definition(world, program, namespace).await
    }

    /// The same on a server that may not know our kind.
    pub(super) async fn without_definition(
        world: &'w World,
        program: &'w Program,
        namespace: &'static str,
    ) -> Result<Self> {
        let stage = Self::bare(world, program, namespace).await?;
        let server = &world.peers.kubernetes;
        server.kubectl_do(&["apply", "-n", namespace, "-k", PERMISSIONS]).await?;
        Ok(stage)
    }

    /// The namespace of the real Argo CD, which has brought the definitions of its kinds.
    pub(in crate::cases) async fn beside_argo_cd(
        world: &'w World,
        program: &'w Program,
    ) -> Result<Self> {
        install(&world.peers.kubernetes).await?;
        let stage = Self::empty(world, program, argo_cd::NAMESPACE).await?;
        let server = &world.peers.kubernetes;
        server.kubectl_do(&["apply", "-n", stage.namespace, "-k", PERMISSIONS]).await?;
        Ok(stage)
    }

    /// A namespace where the controller may do nothing.
    pub(super) async fn bare(
        world: &'w World,
        program: &'w Program,
        namespace: &'static str,
    ) -> Result<Self> {
        let server = &world.peers.kubernetes;
        server.kubectl_do(&["apply", "--server-side", "-f", ARGO_CD]).await?;
        server.established().await?;
        Self::empty(world, program, namespace).await
    }

    async fn empty(
        world: &'w World,
        program: &'w Program,
        namespace: &'static str,
    ) -> Result<Self> {
        world.peers.kubernetes.namespace(namespace).await?;
        let folder = subfolder(&world.folder, namespace)?;
        let registry = world.peers.registry.url();
        let registries = format!(
            "registries:\n- {{name: e2e, prefix: registry.example.com, api_url: '{registry}', limit: 1000}}\n"
        );
        write(&folder, "registries.conf", &registries)?;
        Ok(Self { world, program, namespace, folder })
    }

    fn arguments(&self, more: &[&str]) -> Vec<String> {
        let kubeconfig = self.world.peers.kubernetes.kubeconfig(CONTROLLER);
        let kubeconfig = kubeconfig.display().to_string();
        let namespace = self.namespace;
        let usual = [
            ("--kubeconfig", &*kubeconfig),
            ("--watch-namespaces", namespace),
            ("--argocd-namespace", namespace),
            ("--health-probe-bind-address", "0"),
            ("--registries-conf-path", "registries.conf"),
            ("--cache-dir", "cache"),
            ("--leader-election", "false"),
            ("--loglevel", "debug"),
        ];
        // Who names the election's namespace wants an election.
        let is_given = |flag: &str| more.iter().any(|word| word.starts_with(flag));
        let usual = usual.into_iter().filter(|(flag, _)| !is_given(flag));
        let usual = usual.map(|(flag, value)| format!("{flag}={value}"));
        let more = more.iter().map(|word| (*word).to_owned());
        std::iter::once("run".to_owned()).chain(usual).chain(more).collect()
    }

    /// One pass over everything; what was said.
    pub(super) async fn once(&self, name: &str, more: &[&str]) -> Result<Run> {
        let mut words = self.arguments(more);
        words.push("--once".to_owned());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.program.run(name, &words, &self.folder).await
    }

    /// A pass that must not fail.
    pub(super) async fn clean_pass(&self, name: &str, more: &[&str]) -> Result<String> {
        let run = self.once(name, more).await?;
        ensure!(run.code == Some(0), "{name} ended with {:?}{}", run.code, run.said);
        Ok(run.said)
    }

    /// The controller, until the value is dropped.
    pub(in crate::cases) fn start(&self, name: &str, more: &[&str]) -> Result<Process> {
        self.start_in(name, more, &[])
    }

    /// The controller with these variables.
    pub(super) fn start_in(
        &self,
        name: &str,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Process> {
        let words = self.arguments(more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.program.start_in(name, &words, &self.folder, variables)
    }

    /// Waits until the question is answered with yes, or the process ends.
    pub(in crate::cases) async fn until(
        &self,
        what: &str,
        process: &mut Process,
        mut question: impl AsyncFnMut(&Process) -> Result<bool>,
    ) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !question(process).await? {
            if let Some(status) = process.status()? {
                anyhow::bail!("it ended with {status} before {what}{}", process.said());
            }
            ensure!(Instant::now() < deadline, "not seen: {what}{}", process.said());
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Waits until the log says this.
    pub(in crate::cases) async fn says(&self, process: &mut Process, words: &str) -> Result<()> {
        self.until(words, process, async |process| Ok(process.said().contains(words))).await
    }

    /// Where an Application of the namespace is; all of them for an empty name.
    pub(in crate::cases) fn application(&self, name: &str) -> String {
        let path = format!("/apis/argoproj.io/v1alpha1/namespaces/{}/applications", self.namespace);
        if name.is_empty() { path } else { format!("{path}/{name}") }
    }

    /// Where an `ImageUpdater` is; all of them for an empty name.
    pub(super) fn updater(&self, name: &str) -> String {
        let path = updaters(self.namespace);
        if name.is_empty() { path } else { format!("{path}/{name}") }
    }

    /// Makes an Application of kustomize that runs this image.
    pub(super) async fn create_application(
        &self,
        name: &str,
        image: &str,
        annotations: Value,
    ) -> Result<()> {
        let object = json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"name": name, "annotations": annotations},
            "spec": {
                "project": "default",
                "destination": {"server": "https://kubernetes.default.svc"},
                "source": {"repoURL": "https://git.example.com/x", "path": name,
                           "kustomize": {"namePrefix": "kept-", "images": [image]}},
            },
            "status": {"sourceType": "Kustomize", "summary": {"images": [image]}},
        });
        self.world.peers.kubernetes.create(&self.application(""), &object).await.map(drop)
    }

    /// Makes an `ImageUpdater`.
    pub(in crate::cases) async fn create_updater(&self, name: &str, spec: Value) -> Result<()> {
        let object = json!({
            "apiVersion": "argocd-image-updater.argoproj.io/v1alpha1", "kind": "ImageUpdater",
            "metadata": {"name": name}, "spec": spec,
        });
        self.world.peers.kubernetes.create(&self.updater(""), &object).await.map(drop)
    }

    /// Applies YAML to the namespace, as users do.
    pub(super) async fn apply(&self, text: &str) -> Result<()> {
        let apply = ["apply", "--server-side", "-n", self.namespace, "-f", "-"];
        let printed = self.world.peers.kubernetes.kubectl_fed(&apply, text).await?;
        ensure!(printed.success, "{}\n{text}", printed.stderr);
        Ok(())
    }

    /// The image that an Application's spec names first.
    pub(super) async fn image(&self, name: &str) -> Result<String> {
        let application = self.world.peers.kubernetes.get(&self.application(name)).await?;
        let image = application.pointer("/spec/source/kustomize/images/0");
        Ok(image.and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// How often an Application's spec was written: once when it was made, and at each change.
    pub(super) async fn generation(&self, name: &str) -> Result<u64> {
        let application = self.world.peers.kubernetes.get(&self.application(name)).await?;
        let generation = application.pointer("/metadata/generation").and_then(Value::as_u64);
        generation.with_context(|| format!("no generation in {application}"))
    }

    /// Waits until an Application's spec names this image.
    pub(super) async fn until_image(
        &self,
        process: &mut Process,
        name: &str,
        image: &str,
    ) -> Result<()> {
        let what = format!("{name} at {image}");
        self.until(&what, process, async |_| Ok(self.image(name).await? == image)).await
    }

    /// The condition of an `ImageUpdater`, as `True ReconcileSucceeded: message`.
    pub(super) async fn condition(&self, name: &str, kind: &str) -> Result<String> {
        let object = self.world.peers.kubernetes.get(&self.updater(name)).await?;
        let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
        let found = conditions.into_iter().flatten().find(|condition| condition["type"] == kind);
        let found = found.with_context(|| format!("no condition {kind} in {object}"))?;
        let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
        Ok(format!("{} {}: {}", text("status"), text("reason"), text("message")))
    }

    /// The events of the namespace, as `web Normal ImagesUpdated: message`.
    pub(in crate::cases) async fn events(&self) -> Result<Vec<String>> {
        let path = format!("/api/v1/namespaces/{}/events", self.namespace);
        let events = self.world.peers.kubernetes.get(&path).await?;
        let items = events["items"].as_array().cloned().unwrap_or_default();
        let shown = items.iter().map(|event| {
            let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default();
            let (of, kind) = (text("/involvedObject/name"), text("/type"));
            format!("{of} {kind} {}: {}", text("/reason"), text("/message"))
        });
        Ok(shown.collect())
    }

    /// What the controller has asked for in this namespace so far, counted by kind of request.
    pub(in crate::cases) fn asked(&self) -> Result<Asked> {
        let mut asked = Asked::default();
        for request in self.world.peers.kubernetes.asked_by(CONTROLLER)? {
            if request.object.namespace == self.namespace {
                *asked.0.entry(format!("{} {}", request.line(), request.code())).or_default() += 1;
            }
        }
        Ok(asked)
    }

    /// Merges into an Application as somebody else.
    pub(super) async fn merge_application(&self, name: &str, fields: &Value) -> Result<()> {
        self.world.peers.kubernetes.merge(&self.application(name), fields).await.map(drop)
    }

    /// Deletes an object as somebody else.
    pub(super) async fn delete(&self, path: &str) -> Result<()> {
        let server = &self.world.peers.kubernetes;
        let (code, answer) = server.request("admin", Method::DELETE, path, None).await?;
        ensure!(code == 200, "DELETE {path} was answered {code}: {answer}");
        Ok(())
    }
}

/// Requests by what they were and how they were answered, such as `patch applications 200`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cases) struct Asked(BTreeMap<String, usize>);

impl Asked {
    /// What came after an earlier count.
    pub(in crate::cases) fn since(&self, before: &Self) -> Self {
        let more = self.0.iter().map(|(line, count)| {
            (line.clone(), count - before.0.get(line).copied().unwrap_or_default())
        });
        Self(more.filter(|(_, count)| *count > 0).collect())
    }

    /// How many there were of one kind.
    pub(in crate::cases) fn of(&self, line: &str) -> usize {
        self.0.get(line).copied().unwrap_or_default()
    }

    /// All but watches and leases, as lines.
    pub(in crate::cases) fn shown(&self) -> String {
        let counted = self.0.iter().filter(|(line, _)| !line.starts_with("watch "));
        let lines = counted.map(|(line, count)| format!("{count} {line}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}
