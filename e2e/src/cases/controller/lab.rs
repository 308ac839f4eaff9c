//! Scenario S3.1 of spec 00 and its variations: tags by ECR, credentials in a pull secret, commits by
//! git over HTTP.

use std::path::Path;

use aiu_testkit::git::{Commit, GitRemote, HttpGit};
use aiu_testkit::registry::{Access, Image, Registry};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{World, same};
use super::commits::secret;
use super::stage::{PREFIX, Stage};
use crate::files::write;
use crate::process::Process;
use crate::program::Program;

const HOST: &str = "000011112222.dkr.ecr.eu-north-1.amazonaws.test";

/// The resource of S1.1, which all but one of them have.
const ANNOTATED: &str = "apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: annotated}
spec:
  applicationRefs: [{namePattern: \"*\", useAnnotations: true}]
";

/// A namespace, a registry and a repository of their own.
pub(super) struct Lab<'w> {
    pub(super) stage: Stage<'w>,
    pub(super) registry: Registry,
    pub(super) remote: GitRemote,
    http: HttpGit,
}

impl<'w> Lab<'w> {
    /// With a registry known under this name, and a Secret that signs in to the repository.
    pub(super) async fn prepare(
        world: &'w World,
        program: &'w Program,
        namespace: &'static str,
        host: &str,
    ) -> Result<Self> {
        let stage = Stage::prepare(world, program, namespace).await?;
        let registry = Registry::start().await;
        let remote = GitRemote::empty();
        remote.configure("http.receivepack", "true");
        let http = HttpGit::serve(remote.path(), None).await;
        let url = registry.url();
        let conf = format!(
            "registries:\n- {{name: lab, prefix: {host}, api_url: '{url}', limit: 1000}}\n"
        );
        write(&stage.folder, "registries.conf", &conf)?;
        // Without `.git`, as users write it.
        let address = http.url("");
        let login = secret("repo", address.trim_end_matches(".git"));
        let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
        world.peers.kubernetes.create(&secrets, &login).await?;
        Ok(Self { stage, registry, remote, http })
    }

    /// Commits a kustomization that names one image.
    pub(super) fn kustomization(&self, folder: &str, image: &str, tag: &str) {
        let text = format!(
            "resources: [deployment.yaml]\nimages:\n  - name: {image}   # the one image\n    newTag: {tag}\n"
        );
        let path = format!("{folder}/kustomization.yaml");
        self.remote.commit("main", &Commit::new("by hand").file(&path, &text));
    }

    /// Makes an Application of a folder of the repository, which runs this image.
    pub(super) async fn git_application(
        &self,
        name: &str,
        path: &str,
        image: &str,
        annotations: Value,
    ) -> Result<()> {
        self.stage.create_application(name, image, annotations).await?;
        let url = self.http.url("");
        let source =
            json!({"repoURL": url, "path": path, "targetRevision": "main", "kustomize": null});
        let policy = json!({"automated": {}});
        let spec = json!({"source": source, "syncPolicy": policy});
        self.stage.merge_application(name, &json!({"spec": spec})).await
    }

    /// The annotations of 4.1, and more.
    fn notes(more: &[(&str, &str)]) -> Value {
        let own = [
            ("image-list", "app=000011112222.dkr.ecr.eu-north-1.amazonaws.test/lab/sample"),
            ("app.update-strategy", "latest"),
            ("write-back-method", "git"),
            ("git-branch", "main"),
        ];
        let all = own.iter().chain(more);
        all.map(|(key, value)| (format!("{PREFIX}/{key}"), json!(value))).collect::<Value>()
    }

    /// S3.1 up to the push of `v2`, with further annotations; the Secret `ecr-creds` comes later.
    async fn sample(
        world: &'w World,
        program: &'w Program,
        namespace: &'static str,
        more: &[(&str, &str)],
    ) -> Result<Self> {
        let lab = Self::prepare(world, program, namespace, HOST).await?;
        let url = lab.registry.url();
        let conf = format!(
            "registries:
  - name: ecr
    prefix: {HOST}
    api_url: {url}
    credentials: pullsecret:{namespace}/ecr-creds
    credsexpire: 8h
"
        );
        write(&lab.stage.folder, "registries.conf", &conf)?;
        let image = format!("{HOST}/lab/sample");
        lab.kustomization("apps/dev", &image, "v1");
        let v1 = format!("{image}:v1");
        lab.git_application("dev-app", "apps/dev", &v1, Self::notes(more)).await?;
        // The same content twice, pushed again.
        lab.tag("v1");
        lab.tag("v2");
        lab.registry.require(Access::basic("AWS", "first"));
        Ok(lab)
    }

    fn tag(&self, tag: &str) {
        self.registry.repository("lab/sample").push(tag, &Image::new());
    }

    /// Writes the pull secret, as an operator of secrets does.
    async fn credentials(&self, password: &str) -> Result<()> {
        let config = json!({"auths": {HOST: {"username": "AWS", "password": password}}});
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ecr-creds"},
            "type": "kubernetes.io/dockerconfigjson",
            "stringData": {".dockerconfigjson": config.to_string()},
        });
        self.stage.apply(&secret.to_string()).await
    }

    fn commits(&self) -> usize {
        self.remote.log("main").len()
    }

    async fn refresh(&self, value: &str) -> Result<()> {
        let notes = json!({format!("{PREFIX}/refresh"): value});
        self.stage.merge_application("dev-app", &json!({"metadata": {"annotations": notes}})).await
    }
}

/// S3.1, S3.2 and S3.7.
pub(super) async fn commits(world: &World, program: &Program) -> Result<()> {
    let lab = Lab::sample(world, program, "s3-1", &[]).await?;
    lab.credentials("first").await?;
    lab.stage.apply(ANNOTATED).await?;
    let said = lab.stage.clean_pass("first", &[]).await?;
    let log = lab.remote.log("main");
    ensure!(log.len() == 2, "{} commits{said}", log.len());
    let commit = &log[0];
    let by = "argocd-image-updater <noreply@argoproj.io>";
    ensure!(commit.author.starts_with(by) && commit.committer.starts_with(by), "{commit:?}");
    let message = "build: automatic update of dev-app\n\nupdates image lab/sample tag 'v1' to 'v2'";
    same("message", commit.message.trim_end(), message)?;
    let file = "apps/dev/.argocd-source-dev-app.yaml";
    same("files", &commit.files.join(" "), file)?;
    let text = lab.remote.text("main", file).unwrap_or_default();
    let expected = format!("kustomize:\n  images:\n  - {HOST}/lab/sample:v2\n");
    same(file, &text, &expected)?;
    let about = said.lines().filter(|line| line.contains("dev-app"));
    ensure!(about.into_iter().any(|line| line.contains("Successfully updated image")), "{said}");
    for run in ["second", "third"] {
        lab.stage.clean_pass(run, &[]).await?;
    }
    ensure!(lab.commits() == 2, "{} commits after passes with nothing to do", lab.commits());

    // S3.2 and S3.7: two of one repository and branch, each into its own kustomization.
    let target = ("write-back-target", "kustomization");
    let lab = Lab::sample(world, program, "s3-7", &[target]).await?;
    let image = format!("{HOST}/lab/sample");
    lab.kustomization("apps/two", &image, "v1");
    lab.git_application("two-app", "apps/two", &format!("{image}:v1"), Lab::notes(&[target]))
        .await?;
    lab.credentials("first").await?;
    lab.stage.apply(ANNOTATED).await?;
    let before: Vec<String> = texts(&lab.remote);
    lab.stage.clean_pass("first", &["--warmup-cache=false"]).await?;
    let expected: Vec<String> =
        before.iter().map(|text| text.replace("newTag: v1", "newTag: v2")).collect();
    same("files", &texts(&lab.remote).join("\n"), &expected.join("\n"))?;
    let log = lab.remote.log("main");
    let told: Vec<&str> = log.iter().map(|commit| commit.message.as_str()).collect();
    let told = told.join("\n");
    ensure!(told.contains("of dev-app") && told.contains("of two-app"), "{told}");
    let requests = lab.http.requests();
    let packs = |service: &str| {
        let post = format!("POST /repository.git/{service}");
        requests.iter().filter(|request| request.starts_with(&post)).count()
    };
    let pushes = packs("git-receive-pack");
    ensure!(pushes == 1, "{pushes} pushes:\n{}", requests.join("\n"));
    println!(
        "  two Applications of one branch: {pushes} push, {} requests for packs",
        packs("git-upload-pack")
    );
    Ok(())
}

/// Every file of the branch, with its path.
fn texts(remote: &GitRemote) -> Vec<String> {
    let paths = remote.paths("main").into_iter();
    paths
        .map(|path| format!("{path}\n{}", remote.text("main", &path).unwrap_or_default()))
        .collect()
}

/// S3.3: annotations alone, and who reads them.
pub(super) async fn annotations(world: &World, program: &Program) -> Result<()> {
    let lab = Lab::sample(world, program, "s3-3", &[]).await?;
    lab.credentials("first").await?;
    let unread = "reason=AnnotationsNotRead";
    let said = lab.stage.clean_pass("never", &["--annotation-mode=never"]).await?;
    ensure!(said.contains(unread) && said.contains("dev-app"), "{said}");
    let other = super::updates::selects("other", "registry.test/other");
    lab.stage.create_updater("other", other).await?;
    let said = lab.stage.clean_pass("other", &[]).await?;
    ensure!(
        said.contains(unread) && said.contains("{namePattern: dev-app, useAnnotations: true}"),
        "{said}"
    );
    ensure!(lab.commits() == 1, "written although nobody asked");
    let free = json!({"metadata": {"finalizers": null}});
    world.peers.kubernetes.merge(&lab.stage.updater("other"), &free).await?;
    lab.stage.delete(&lab.stage.updater("other")).await?;
    lab.stage.clean_pass("auto", &[]).await?;
    ensure!(lab.commits() == 2, "not written by annotations alone");
    Ok(())
}

/// S3.4 and S3.5: the pull secret comes after the start, and is replaced before it expires.
pub(super) async fn credentials(world: &World, program: &Program) -> Result<()> {
    let lab = Lab::sample(world, program, "s3-4", &[]).await?;
    lab.stage.apply(ANNOTATED).await?;
    let mut controller = lab.stage.start("controller", &["--interval", "1h"])?;
    lab.stage.says(&mut controller, "reason=CredentialSecretMissing").await?;
    let passed = |process: &Process| process.said().matches("Processing results:").count();
    lab.stage.until("a pass", &mut controller, async |p| Ok(passed(p) == 1)).await?;
    lab.credentials("first").await?;
    lab.refresh("made").await?;
    let done = |commits, passes| {
        let lab = &lab;
        async move |process: &Process| Ok(lab.commits() == commits && passed(process) == passes)
    };
    lab.stage.until("a commit", &mut controller, done(2, 2)).await?;
    let errors = |process: &Process| process.said().matches("errors=1").count();
    let before = errors(&controller);

    lab.credentials("second").await?;
    lab.registry.require(Access::basic("AWS", "second"));
    lab.tag("v3");
    lab.refresh("replaced").await?;
    lab.stage.until("another commit", &mut controller, done(3, 3)).await?;
    ensure!(errors(&controller) == before, "an error was counted{}", controller.said());
    Ok(())
}

/// S3.6 and S3.8: a source of another type, and an image for another platform.
pub(super) async fn unsuitable(world: &World, program: &Program) -> Result<()> {
    let lab = Lab::sample(world, program, "s3-6", &[("app.platforms", "linux/arm64")]).await?;
    lab.credentials("first").await?;
    let image = format!("{HOST}/lab/sample");
    lab.git_application("plain", "apps/plain", &format!("{image}:v1"), Value::Null).await?;
    lab.stage.merge_application("plain", &json!({"status": {"sourceType": "Directory"}})).await?;
    let spec = json!({
        "writeBackConfig": {"method": "git"},
        "applicationRefs": [
            {"namePattern": "plain", "images": [{"alias": "app", "imageName": image}]},
            {"namePattern": "dev-*", "useAnnotations": true},
        ],
    });
    lab.stage.create_updater("u", spec).await?;
    let run = lab.stage.once("pass", &[]).await?;
    let line = |reason: &str| {
        let reason = format!("reason={reason}");
        let found = run.said.lines().find(|line| line.contains(&reason));
        found.with_context(|| format!("no {reason} in{}", run.said))
    };
    let unsupported = line("UnsupportedSourceType")?;
    ensure!(
        unsupported.contains("s3-6/plain") && unsupported.contains("manifests"),
        "{unsupported}"
    );
    let platform = line("WrongPlatform")?;
    ensure!(platform.contains("linux/arm64") && platform.contains("platforms"), "{platform}");
    let events = lab.stage.events().await?;
    for reason in ["plain Warning UnsupportedSourceType: ", "dev-app Warning WrongPlatform: "] {
        ensure!(events.iter().any(|event| event.starts_with(reason)), "no {reason}{events:?}");
    }
    ensure!(lab.commits() == 1, "something was committed");
    let stray = Path::new("apps/plain");
    ensure!(
        lab.remote.paths("main").iter().all(|path| !Path::new(path).starts_with(stray)),
        "a stray file"
    );
    Ok(())
}
