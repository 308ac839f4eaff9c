//! A folder of manifests, and runs of the program over it, none of which may tell a secret.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Given;
use crate::files::{read, write};
use crate::peers::MARK;
use crate::program::Run;

/// The registry as manifests name it.
pub(super) const HOST: &str = "registry.example.com";

/// The same registry, as the lab of S3.1 names it.
pub(super) const LAB: &str = "000011112222.dkr.ecr.eu-north-1.amazonaws.test";

/// The prefix of annotations.
pub(super) const PREFIX: &str = "argocd-image-updater.argoproj.io";

pub(super) struct Stage<'a> {
    given: &'a Given<'a>,
    pub(super) folder: PathBuf,
    name: String,
    secrets: Vec<String>,
    variables: Vec<(String, String)>,
    runs: usize,
}

/// What a run came to.
pub(super) struct Said {
    /// `None` if a signal ended it.
    pub(super) code: Option<i32>,
    /// Its standard output.
    pub(super) out: String,
    /// Both outputs.
    pub(super) all: String,
}

impl<'a> Stage<'a> {
    pub(super) fn prepare(given: &'a Given<'a>, folder: PathBuf, name: &str) -> Result<Self> {
        let registry = given.world.peers.registry.url();
        let conf = format!(
            "registries:
- {{name: Default, prefix: {HOST}, api_url: '{registry}', default: true}}
- {{name: Demo, prefix: registry.example, api_url: '{registry}'}}
- {{name: Edits, prefix: ghcr.test, api_url: '{registry}'}}
- {{name: Lab, prefix: {LAB}, api_url: '{registry}', credentials: pullsecret:argocd/ecr-creds, credsexpire: 8h}}
"
        );
        write(&folder, "registries.conf", &conf)?;
        let mut stage = Self {
            given,
            folder,
            name: name.to_owned(),
            secrets: Vec::new(),
            variables: Vec::new(),
            runs: 0,
        };
        let certificate = given.https.authority();
        stage.config_map("argocd-tls-certs-cm", "127.0.0.1", certificate)?;
        stage.keep_secret(&given.token);
        stage.keep_secret(crate::peers::PASSWORD);
        // What of a private key is nobody else's.
        for key in ["client", "stranger"] {
            let key = given.ssh.private_key(key)?;
            stage.keep_secret(key.lines().nth(2).unwrap_or(&key));
        }
        Ok(stage)
    }

    /// From now on no run may tell this.
    pub(super) fn keep_secret(&mut self, secret: &str) {
        self.secrets.push(secret.to_owned());
    }

    /// Sets a variable for the runs to come.
    pub(super) fn set(&mut self, variable: &str, value: &str) {
        self.variables.push((variable.to_owned(), value.to_owned()));
    }

    /// An Application whose annotations lack the prefix. `source` is what its spec holds behind
    /// `source:`, on one line.
    pub(super) fn application(
        &self,
        name: &str,
        source: &str,
        annotations: &[(&str, &str)],
    ) -> Result<()> {
        let mut text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\n  namespace: argocd\n  annotations:\n"
        );
        for (key, value) in annotations {
            writeln!(text, "    {PREFIX}/{key}: {value:?}")?;
        }
        writeln!(text, "spec:\n  project: default\n  source: {source}")?;
        write(&self.folder, &format!("manifests/{name}.yaml"), &text)
    }

    /// An Application that writes `web` to a kustomization in the folder `p` of `main`; further
    /// annotations win over the usual ones.
    pub(super) fn simple(&self, name: &str, url: &str, more: &[(&str, &str)]) -> Result<()> {
        self.simple_in(name, url, "p", more)
    }

    /// The same in another folder.
    pub(super) fn simple_in(
        &self,
        name: &str,
        url: &str,
        path: &str,
        more: &[(&str, &str)],
    ) -> Result<()> {
        let source = format!("{{repoURL: '{url}', path: '{path}', targetRevision: main}}");
        let usual = SIMPLE.iter().filter(|(key, _)| more.iter().all(|(other, _)| other != key));
        let annotations: Vec<_> = usual.chain(more).copied().collect();
        self.application(name, &source, &annotations)
    }

    /// A Secret, with the label that tells Argo CD what it is for unless that is empty.
    pub(super) fn secret(&self, kind: &str, fields: &[(&str, &str)]) -> Result<()> {
        let labels = match kind {
            "" => String::new(),
            kind => format!("\n  labels: {{argocd.argoproj.io/secret-type: {kind}}}"),
        };
        let data = block(fields);
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: creds\n  namespace: argocd{labels}\nstringData:\n{data}"
        );
        write(&self.folder, "manifests/secret.yaml", &text)
    }

    pub(super) fn config_map(&self, name: &str, key: &str, text: &str) -> Result<()> {
        let data = block(&[(key, text)]);
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: argocd}}\ndata:\n{data}"
        );
        write(&self.folder, &format!("manifests/{name}.yaml"), &text)
    }

    /// One pass, which must end with this code.
    pub(super) async fn pass(&mut self, code: i32, more: &[&str]) -> Result<Said> {
        self.run(&[&["run", "--once"], more].concat()).await?.ended_with(code)
    }

    /// One pass, whose end is the caller's to judge.
    pub(super) async fn pass_as_it_comes(&mut self) -> Result<Said> {
        self.run(&["run", "--once"]).await
    }

    /// What a pass would do; ends with 3 if there is something.
    pub(super) async fn plan(&mut self, code: i32) -> Result<Said> {
        self.run(&["plan"]).await?.ended_with(code)
    }

    /// The same, as data.
    pub(super) async fn plan_as_data(&mut self, code: i32) -> Result<Value> {
        let said = self.run(&["plan", "--output", "json"]).await?.ended_with(code)?;
        serde_json::from_str(&said.out).with_context(|| format!("not JSON{}", said.all))
    }

    async fn run(&mut self, arguments: &[&str]) -> Result<Said> {
        self.runs += 1;
        let (name, run) = (format!("{}-{}", self.name, self.runs), format!("run-{}", self.runs));
        let manifests = [
            ["--manifests", "manifests"],
            ["--registries-conf-path", "registries.conf"],
            ["--cache-dir", "cache"],
            ["--loglevel", "trace"],
        ];
        let arguments = [arguments, manifests.as_flattened()].concat();
        let program = self.given.program;
        let set = self.variables.iter().map(|(name, value)| (&**name, &**value));
        let variables: Vec<_> = set.chain([(MARK, &*name)]).collect();
        let Run { code, said: all } =
            program.run_in(&run, &arguments, &self.folder, &variables).await?;
        self.told_nothing(&name, &all)?;
        Ok(Said { code, out: read(&self.folder, &format!("{run}.out"))?, all })
    }

    /// Looks for secrets in what was said, and in the arguments and environments of all
    /// processes of the run, as they were when they spoke to a server.
    fn told_nothing(&self, mark: &str, said: &str) -> Result<()> {
        let seen = self.processes(mark);
        for text in seen.iter().map(String::as_str).chain([said]) {
            for secret in &self.secrets {
                ensure!(!text.contains(secret), "{mark}: a secret is told in {text}");
            }
        }
        Ok(())
    }

    fn processes(&self, mark: &str) -> Vec<String> {
        let given = self.given;
        [given.ssh.watch(), given.https.watch(), given.forge.watch()]
            .into_iter()
            .flat_map(|watch| watch.seen(mark))
            .collect()
    }

    /// Checks that a program was among the processes of the last run that were looked at.
    pub(super) fn was_seen(&self, program: &str) -> Result<()> {
        let mark = format!("{}-{}", self.name, self.runs);
        let seen = self.processes(&mark);
        let there = seen.iter().any(|text| text.lines().take(2).any(|line| line.contains(program)));
        ensure!(there, "no {program} was looked at in {mark}, only {seen:#?}");
        Ok(())
    }
}

impl Said {
    fn ended_with(self, code: i32) -> Result<Self> {
        ensure!(self.code == Some(code), "ended with {:?}, not {code}{}", self.code, self.all);
        Ok(self)
    }

    /// Checks that the report has these words, all of them; how far apart columns are is no matter.
    pub(super) fn has(&self, words: &[&str]) -> Result<()> {
        let out = self.out.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        for word in words {
            ensure!(out.contains(word), "no `{word}` in what was said{}", self.all);
        }
        Ok(())
    }
}

/// Annotations of [`Stage::simple`].
const SIMPLE: [(&str, &str); 4] = [
    ("image-list", "web=registry.example.com/git/web:^1"),
    ("write-back-method", "git"),
    ("write-back-target", "kustomization"),
    ("git-branch", "main"),
];

/// The kustomization that [`Stage::simple`] is about.
pub(super) const KUSTOMIZATION: &str =
    "images:\n- name: registry.example.com/git/web\n  newTag: 1.0.0 # keep\n";

/// Fields with their texts as blocks.
fn block(fields: &[(&str, &str)]) -> String {
    fields.iter().fold(String::new(), |all, (name, text)| {
        let text = text.trim_end().replace('\n', "\n    ");
        format!("{all}  {name}: |-\n    {text}\n")
    })
}
