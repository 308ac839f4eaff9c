//! A folder that the program works on, and what it says of that.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::files::{read, subfolder, write};
use crate::process::Process;
use crate::program::{Program, Run};

/// Manifests, a registries file, an environment; and what none of the outputs may hold.
pub(in crate::cases) struct Site<'p> {
    program: &'p Program,
    pub(in crate::cases) folder: PathBuf,
    variables: Vec<(&'static str, String)>,
    secrets: Vec<String>,
}

impl<'p> Site<'p> {
    pub(in crate::cases) fn new(program: &'p Program, folder: &Path, name: &str) -> Result<Self> {
        let folder = subfolder(folder, name)?;
        Ok(Self { program, folder, variables: Vec::new(), secrets: Vec::new() })
    }

    /// Writes `registries.conf` with these items.
    pub(in crate::cases) fn registries(&self, items: &[&str]) -> Result<()> {
        let items: String = items.iter().map(|item| ["- ", item, "\n"].concat()).collect();
        write(&self.folder, "registries.conf", &format!("registries:\n{items}"))
    }

    pub(in crate::cases) fn manifest(&self, file: &str, text: &str) -> Result<()> {
        write(&self.folder, &format!("manifests/{file}"), text)
    }

    /// The text of a manifest.
    pub(in crate::cases) fn text(&self, file: &str) -> Result<String> {
        read(&self.folder, &format!("manifests/{file}"))
    }

    /// Sets a variable of the program's environment.
    pub(in crate::cases) fn set(&mut self, name: &'static str, value: &str) {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.to_owned()));
    }

    /// No output may hold this, nor its base64, from now on.
    pub(in crate::cases) fn keep_secret(&mut self, text: &str) {
        use base64::Engine as _;
        let encoded = base64::engine::general_purpose::STANDARD.encode(text);
        self.secrets.extend([text.to_owned(), encoded]);
    }

    /// Runs a command of the program here.
    pub(in crate::cases) async fn run(&self, name: &str, arguments: &[&str]) -> Result<Run> {
        let variables: Vec<(&str, &str)> =
            self.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let run = self.program.run_in(name, arguments, &self.folder, &variables).await?;
        self.check_secrets(name, &run.said)?;
        Ok(run)
    }

    /// One pass, told in full, as `name`.
    pub(in crate::cases) async fn pass(&self, name: &str) -> Result<Pass> {
        self.pass_with(name, &[]).await
    }

    /// As [`Self::pass`], with more arguments.
    pub(in crate::cases) async fn pass_with(&self, name: &str, more: &[&str]) -> Result<Pass> {
        let run = self.run(name, &[&PASS[..], more].concat()).await?;
        self.told(name, run.code)
    }

    /// A pass that is not waited for. What it told is read by [`Self::told`].
    pub(in crate::cases) fn begin_pass(&self, name: &str) -> Result<Process> {
        self.program.start_in(name, &PASS, &self.folder, &[])
    }

    /// What a pass of this name told, which ended with this code.
    pub(in crate::cases) fn told(&self, name: &str, code: Option<i32>) -> Result<Pass> {
        let log = read(&self.folder, &format!("{name}.err"))?;
        let report = read(&self.folder, &format!("{name}.out"))?;
        self.check_secrets(name, &log)?;
        self.check_secrets(name, &report)?;
        let report = serde_json::from_str(&report)
            .with_context(|| format!("{name} ended with {code:?} and no report: {log}"))?;
        Ok(Pass { code, report, log })
    }

    fn check_secrets(&self, name: &str, said: &str) -> Result<()> {
        // A token of the web begins like this, whoever made it.
        for secret in self.secrets.iter().map(String::as_str).chain(["eyJ"]) {
            ensure!(!said.contains(secret), "{name} tells a secret: {said}");
        }
        Ok(())
    }
}

#[rustfmt::skip]
const PASS: [&str; 11] = [
    "run", "--once", "--manifests", "manifests", "--registries-conf-path", "registries.conf",
    "--cache-dir=cache", "--output", "json", "--loglevel", "trace",
];

/// What a pass came to.
pub(in crate::cases) struct Pass {
    pub(in crate::cases) code: Option<i32>,
    pub(in crate::cases) report: Value,
    pub(in crate::cases) log: String,
}

impl Pass {
    /// What became of an image, named by its Application and alias: `updated to 1.1.0`, or
    /// `failed: Reason: sentence`, or the outcome's word.
    pub(in crate::cases) fn of(&self, application: &str, alias: &str) -> Result<String> {
        let application = format!("argocd/{application}");
        let images = self.report["images"].as_array().context("a report has images")?;
        let of = |image: &&Value| image["application"] == *application && image["image"] == alias;
        let image = images.iter().find(of);
        let image = image.with_context(|| format!("no {application} {alias} in {}", self.log))?;
        let text = |key: &str| image[key].as_str().unwrap_or_default();
        Ok(match text("outcome") {
            "updated" => format!("updated to {}", text("updateTo")),
            "failed" => format!("failed: {}: {}", text("reason"), text("message")),
            other => other.to_owned(),
        })
    }

    /// Fails unless each image was updated to this tag, and nothing failed.
    pub(in crate::cases) fn updated(&self, images: &[(&str, &str)], tag: &str) -> Result<()> {
        for (application, alias) in images {
            let told = self.of(application, alias)?;
            ensure!(
                told == format!("updated to {tag}"),
                "{application} {alias}: {told}{}",
                self.log
            );
        }
        ensure!(self.code == Some(0), "ended with {:?}: {}", self.code, self.log);
        Ok(())
    }

    /// Fails unless the image failed with this reason, and the sentence holds these words.
    pub(in crate::cases) fn failed(
        &self,
        application: &str,
        alias: &str,
        reason: &str,
        words: &[&str],
    ) -> Result<()> {
        let told = self.of(application, alias)?;
        ensure!(
            told.starts_with(&format!("failed: {reason}: ")),
            "no {reason}: {told}{}",
            self.log
        );
        for word in words {
            ensure!(told.contains(word), "`{word}` is not told: {told}");
        }
        ensure!(self.code == Some(1), "ended with {:?}: {}", self.code, self.log);
        Ok(())
    }
}

/// An Application of kustomize that runs these images (alias, name, tag), each of which may go to
/// any version; `more` are further annotations, each a line.
pub(super) fn application(name: &str, images: &[(&str, &str, &str)], more: &[&str]) -> String {
    let list: Vec<String> =
        images.iter().map(|(alias, image, _)| format!("{alias}={image}")).collect();
    let runs: Vec<String> =
        images.iter().map(|(_, image, tag)| format!("'{image}:{tag}'")).collect();
    let prefix = "    argocd-image-updater.argoproj.io/";
    let more: String = more.iter().map(|line| [prefix, line, "\n"].concat()).collect();
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}
  namespace: argocd
  annotations:
{prefix}image-list: {}
{more}spec: {{source: {{repoURL: u, kustomize: {{images: [{}]}}}}}}
",
        list.join(", "),
        runs.join(", ")
    )
}
