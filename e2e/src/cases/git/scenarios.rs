//! Scenarios of users, by their numbers, in folder mode against the real remotes.

use anyhow::{Context, Result, ensure};

use super::super::same;
use super::forge::login;
use super::remote::UPDATER;
use super::stage::{KUSTOMIZATION, LAB, Stage};
use super::{BOT, Given, Remote};
use crate::files::write;
use crate::peers::{PASSWORD, USER};

const CHART: [(&str, &str); 2] = [
    ("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n"),
    (
        "chart/values.yaml",
        "# the shop\nimage:\n  name: registry.example.com/git/web\n  tag: 1.0.0 # by the updater\nsidecar:\n  name: registry.example.com/git/api\n  tag: 1.0.0\n",
    ),
];

const PLAIN: &str = "apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: registry.example.com/git/web:1.0.0 # by the updater
";

/// S1.4: the method `git` with `git-branch: main`, once with a chart, once with plain manifests
/// and no target; the author is the Application's own, the committer is not.
pub(super) async fn chart_and_manifests(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("s14")?;
    let remote = given.forge_remote("s14").await?;
    let tip = remote.push("main", &[&CHART[..], &[("plain/pod.yaml", PLAIN)]].concat()).await?;
    login(&stage, &remote, &given.token)?;
    let common = [
        ("image-list", "web=registry.example.com/git/web:^1"),
        ("write-back-method", "git"),
        ("git-branch", "main"),
        ("git-user", "Grace"),
        ("git-email", "grace@example.com"),
    ];
    let author = "Grace <grace@example.com>";
    let chart = [
        ("write-back-target", "helmvalues"),
        ("web.helm.image-name", "image.name"),
        ("web.helm.image-tag", "image.tag"),
    ];
    let source =
        |path| format!("{{repoURL: '{}', path: {path}, targetRevision: main}}", remote.url);
    stage.application("chart", &source("chart"), &[&common[..], &chart].concat())?;
    stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
    remote.one_commit_of(author, "main", &tip, "chart/values.yaml").await?;
    let text = remote.text("main", "chart/values.yaml").await?;
    same("values", &text, CHART[1].1.replacen("1.0.0", "1.1.0", 1).trim_end())?;

    let tip = remote.tip("main").await?;
    stage.application("plain", &source("plain"), &common)?;
    stage.pass(0, &[]).await?.has(&["1.1.0 updated"])?;
    remote.one_commit_of(author, "main", &tip, "plain/pod.yaml").await?;
    let text = remote.text("main", "plain/pod.yaml").await?;
    same("plain manifests", &text, PLAIN.replace("1.0.0", "1.1.0").trim_end())
}

/// S2.4a, S2.4c, S2.6a and S2.6b; S2.4b and S2.4d are cases about the forge.
pub(super) async fn faults(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("faults")?;
    let remote = given.forge_remote("faults").await?;
    let files = [&CHART[..], &[("p/kustomization.yaml", KUSTOMIZATION)]].concat();
    let tip = remote.push("main", &files).await?;
    login(&stage, &remote, &given.token)?;
    let image = ("image-list", "web=registry.example.com/git/web:^1");

    // S2.4a: the keys of git, and no method.
    let keys = [image, ("git-branch", "main"), ("write-back-target", "kustomization")];
    let source = format!(
        "{{repoURL: '{}', path: p, targetRevision: main, kustomize: {{images: ['registry.example.com/git/web:1.0.0']}}}}",
        remote.url
    );
    stage.application("web", &source, &keys)?;
    let said = stage.pass(0, &["--output", "json"]).await?;
    said.has(&["\"WriteBackNotSet\"", "write-back-method: git"])?;
    remote.unchanged("main", &tip).await?;

    // S2.4c: a branch that is called otherwise.
    stage.simple("web", &remote.url, &[("git-branch", "master")])?;
    let said = stage.pass(1, &[]).await?;
    said.has(&["BranchNotFound", "'master' does not exist", "the remote's default is main"])?;

    // S2.6a: no kustomization where one is to be edited.
    stage.simple_in("web", &remote.url, "chart", &[])?;
    let said = stage.pass(1, &[]).await?;
    said.has(&["TargetMissing", "could not find kustomization in chart", "write-back-target"])?;
    remote.unchanged("main", &tip).await?;

    // S2.6b: a chart with two images, of which one is mapped.
    let source = format!("{{repoURL: '{}', path: chart, targetRevision: main}}", remote.url);
    let two = [
        ("image-list", "web=registry.example.com/git/web:^1, api=registry.example.com/git/api:^1"),
        ("web.helm.image-name", "image.name"),
        ("web.helm.image-tag", "image.tag"),
        ("write-back-method", "git"),
        ("write-back-target", "helmvalues"),
    ];
    stage.application("web", &source, &two)?;
    let said = stage.pass(0, &[]).await?;
    said.has(&[
        "web 1.0.0 1.1.0 updated",
        "api - - skipped: ImageNotLive",
        "git/api; check the name",
    ])?;
    let text = remote.text("main", "chart/values.yaml").await?;
    same("values", &text, CHART[1].1.replacen("1.0.0", "1.1.0", 1).trim_end())
}

/// S3.1, S3.2 and S3.6: the Application of a lab, with a pull secret and tags of one content.
pub(super) async fn lab(given: &Given<'_>) -> Result<()> {
    let mut stage = given.stage("lab")?;
    let remote = given.forge_remote("platform").await?;
    let kustomization = format!(
        "resources: [deployment.yaml]\nimages:\n  - name: {LAB}/lab/sample   # the one image\n    newTag: v1\n"
    );
    let files = [("apps/dev/kustomization.yaml", &*kustomization), ("apps/plain/pod.yaml", PLAIN)];
    let tip = remote.push("main", &files).await?;
    let registry = &given.world.peers.registry;
    registry.push("lab/sample", &["v1"]).await?;
    registry.tag_again("lab/sample", "v1", "v2").await?;
    // Argo CD's Secret names the repository without `.git`.
    let url = remote.url.trim_end_matches(".git");
    let fields = [("type", "git"), ("url", url), ("username", BOT), ("password", &*given.token)];
    stage.secret("repository", &fields)?;
    stage.keep_secret("bGFiOmVjci1zM2NyZXQ=");
    let pull = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: ecr-creds, namespace: argocd}}\ntype: kubernetes.io/dockerconfigjson\nstringData:\n  .dockerconfigjson: '{{\"auths\": {{\"{LAB}\": {{\"auth\": \"bGFiOmVjci1zM2NyZXQ=\"}}}}}}'\n"
    );
    write(&stage.folder, "manifests/ecr-creds.yaml", &pull)?;
    let list = format!("app={LAB}/lab/sample");
    let annotations = [
        ("image-list", &*list),
        ("app.update-strategy", "latest"),
        ("write-back-method", "git"),
        ("git-branch", "main"),
    ];
    let source = format!("{{repoURL: '{}', path: apps/dev, targetRevision: main}}", remote.url);
    stage.application("dev-app", &source, &annotations)?;

    // S3.1
    let said = stage.pass(0, &[]).await?;
    let told = said.all.lines().filter(|line| line.contains("dev-app") && line.contains("v2"));
    ensure!(told.count() > 0, "no line of the log tells of dev-app{}", said.all);
    remote.one_commit("main", &tip, "apps/dev/.argocd-source-dev-app.yaml").await?;
    let message = remote.log("%B", "main~1..main").await?;
    let expected =
        "build: automatic update of dev-app\n\nupdates image lab/sample tag 'v1' to 'v2'";
    ensure!(message.starts_with(expected), "another message: {message}");
    let text = remote.text("main", "apps/dev/.argocd-source-dev-app.yaml").await?;
    ensure!(text.contains(&format!("{LAB}/lab/sample:v2")), "another override: {text}");
    let tip = remote.tip("main").await?;
    for _ in 0..2 {
        stage.pass(0, &[]).await?;
        remote.unchanged("main", &tip).await?;
    }

    // S3.2, in a repository of its own
    let second = given.forge_remote("platform-2").await?;
    let tip = second.push("main", &files).await?;
    login(&stage, &second, &given.token)?;
    let source = format!("{{repoURL: '{}', path: apps/dev, targetRevision: main}}", second.url);
    let targeted = [&annotations[..], &[("write-back-target", "kustomization")]].concat();
    stage.application("dev-app", &source, &targeted)?;
    stage.pass(0, &[]).await?.has(&["v2 updated"])?;
    second.one_commit("main", &tip, "apps/dev/kustomization.yaml").await?;
    let text = second.text("main", "apps/dev/kustomization.yaml").await?;
    same("the kustomization", &text, kustomization.replace("v1", "v2").trim_end())?;

    // S3.6: plain manifests, selected by an ImageUpdater that names no target.
    let tip = second.tip("main").await?;
    let source = format!("{{repoURL: '{}', path: apps/plain, targetRevision: main}}", second.url);
    stage.application("dev-app", &source, &[])?;
    write(&stage.folder, "manifests/updater.yaml", UPDATER_WITHOUT_TARGET)?;
    let said = stage.pass_as_it_comes().await?;
    said.has(&["UnsupportedSourceType", "'manifests' for plain manifests"])?;
    second.unchanged("main", &tip).await
}

const UPDATER_WITHOUT_TARGET: &str = "apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: lab, namespace: argocd}
spec:
  writeBackConfig: {method: git}
  applicationRefs:
  - namePattern: dev-*
    images:
    - {alias: web, imageName: 'registry.example.com/git/web:^1'}
";

/// S3.7: two Applications of one repository and branch cost what one costs.
pub(super) async fn shared(given: &Given<'_>) -> Result<()> {
    let mut asked = Vec::new();
    for applications in [&["one"][..], &["one", "two"]] {
        let name = format!("shared-{}.git", applications.len());
        let mut stage = given.stage(&name)?;
        let remote = given.https_remote(&name).await?;
        let files =
            [("one/kustomization.yaml", KUSTOMIZATION), ("two/kustomization.yaml", KUSTOMIZATION)];
        let tip = remote.push("main", &files).await?;
        basic(&stage, &remote)?;
        for application in applications {
            stage.simple_in(application, &remote.url, application, &[])?;
        }
        stage.pass(0, &[]).await?;
        let subjects = remote.log("%an <%ae> %s", &format!("{tip}..main")).await?;
        let mut subjects: Vec<&str> = subjects.lines().collect();
        subjects.sort_unstable();
        let expected = applications
            .iter()
            .map(|name| format!("{UPDATER} build: automatic update of {name}"))
            .collect::<Vec<_>>();
        same("commits", &subjects.join("\n"), &expected.join("\n"))?;
        let requests = given.https.server().requests(&name)?;
        let of = |what: &str| requests.iter().filter(|line| line.contains(what)).count();
        let pushes = format!("POST /{name}/git-receive-pack 200");
        same("pushes", &of(&pushes).to_string(), "1")?;
        asked.push(of(&format!("/{name}/git-upload-pack")));
    }
    let [one, two] = asked[..] else { return Err(anyhow::anyhow!("two rounds")) };
    ensure!(one > 0, "nothing was fetched");
    same("fetches of two Applications, and of one", &two.to_string(), &one.to_string())
        .context("an Application more costs a fetch more")
}

fn basic(stage: &Stage<'_>, remote: &Remote) -> Result<()> {
    stage.secret("repository", &[("url", &remote.url), ("username", USER), ("password", PASSWORD)])
}
