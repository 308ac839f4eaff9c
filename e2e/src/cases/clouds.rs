//! One word in `registries.conf` signs in to ECR, ACR and Artifact Registry: what the clouds give
//! opens a real registry, and moto computes every signature again. Files and commands are those of
//! the guides, word for word.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::guide::Guide;
use super::registries::Site;
use super::{Tally, World, same};
use crate::files::{subfolder, write};
use crate::peers::{ACCOUNT, Clouds, REGION};
use crate::program::Program;

/// The role of the guide.
const ROLE: &str = "arn:aws:iam::000011112222:role/image-updater";

const AZURE: &str = "S0.2: the identity of a pod signs in to Azure's registry, as the guide says";
const GOOGLE: &str = "the identity of a pod signs in to Google's registry, as the guide says";
const DATES: &str = "S1.1: date tags of Amazon's registry go into Helm parameters";
const AMAZON: &str = "keys, roles and identities sign in to Amazon's registry, as the guide says";

/// Starts the clouds and runs the cases about them.
pub(super) async fn run(tally: &mut Tally, world: &World, program: &Program) {
    if [AZURE, GOOGLE, DATES, AMAZON].into_iter().all(|name| tally.skips(name)) {
        return;
    }
    let given = match Given::prepare(world, program).await {
        Ok(given) => given,
        Err(error) => return tally.case("clouds are started", async { Err(error) }).await,
    };
    tally.case(AZURE, given.azure()).await;
    tally.case(GOOGLE, given.google()).await;
    // A pod's token is taken by moto unseen, and not at all once it checks signatures.
    tally.case(DATES, given.dates()).await;
    tally.case(AMAZON, given.amazon()).await;
}

/// A variable of the program's environment.
type Variable<'a> = (&'static str, &'a str);

struct Given<'w> {
    world: &'w World,
    program: &'w Program,
    clouds: Clouds,
    folder: PathBuf,
}

/// What a guide gives to copy, and what is made of it.
struct Copied {
    /// The registries file, which leads to the stand-in.
    registries: String,
    /// An Application with the guide's annotations, that runs `1.0.0` of the guide's image.
    application: String,
    /// The image that the guide speaks of, without a tag.
    image: String,
    /// The arguments of the guide's command.
    command: Vec<String>,
}

impl<'w> Given<'w> {
    async fn prepare(world: &'w World, program: &'w Program) -> Result<Self> {
        let folder = subfolder(&world.folder, "clouds")?;
        let clouds = Clouds::start(&folder, world.peers.registry.data()).await?;
        Ok(Self { world, program, clouds, folder })
    }

    /// Copies from a guide, and lets its image have `1.0.0` and `1.1.0`.
    async fn copy(&self, page: &str) -> Result<Copied> {
        let guide = Guide::read(page)?;
        let command = guide.command("argocd-image-updater")?;
        let image = command.get(1).context("the guide's command names no image")?.clone();
        let (host, repository) = image.split_once('/').context("an image has a host")?;
        self.world.peers.registry.push(repository, &["1.0.0", "1.1.0"]).await?;
        let registries = self.at_the_desk(&guide, host)?;
        let annotations = guide.block("yaml", "image-list:")?;
        let annotations = annotations.replace("metadata:\n", "metadata:\n  name: shop\n");
        let source = if annotations.contains(".helm.image-tag: image.tag") {
            helm(&image, "1.0.0")
        } else {
            format!("{{kustomize: {{images: ['{image}={image}:1.0.0']}}, repoURL: u, path: p}}")
        };
        let application = format!("{KIND}{annotations}spec: {{source: {source}}}\n");
        Ok(Copied { registries, application, image, command })
    }

    /// The guide's registries file, with the stand-in in place of the real host.
    fn at_the_desk(&self, guide: &Guide, host: &str) -> Result<String> {
        let registries = guide.block("yaml", "registries:")?;
        let real = format!("api_url: https://{host}\n");
        ensure!(registries.contains(&real), "the guide's registries file has no `{real}`");
        Ok(registries.replace(&real, &format!("api_url: {}\n", self.clouds.desk)))
    }

    /// A folder for the program, in these surroundings.
    fn site(&self, name: &str, surroundings: &[Variable<'_>]) -> Result<Site<'w>> {
        let mut site = Site::new(self.program, &self.folder, name)?;
        for (variable, value) in surroundings {
            site.set(variable, value);
            if variable.contains("SECRET") {
                site.keep_secret(value);
            }
        }
        site.keep_secret(&format!("{ACCOUNT}-auth-token"));
        Ok(site)
    }

    /// The guide's steps, which end in an update. `words` of its registries file may be others.
    async fn updates(&self, site: &Site<'_>, copied: &Copied, words: [&str; 2]) -> Result<()> {
        let registries = copied.registries.replace(words[0], words[1]);
        ensure!(registries.contains(words[1]), "`{}` is not in {registries}", words[0]);
        write(&site.folder, "registries.conf", &registries)?;
        site.manifest("app.yaml", &copied.application)?;
        let pass = site.pass("pass").await?;
        ensure!(pass.code == Some(0), "ended with {:?}: {}", pass.code, pass.log);
        let expected = copied.application.replace(":1.0.0'", ":1.1.0'");
        let expected = expected.replace("value: '1.0.0'", "value: '1.1.0'");
        same("the Application", &site.text("app.yaml")?, &expected).with_context(|| pass.log)?;
        let command: Vec<&str> = copied.command.iter().map(String::as_str).collect();
        let run = site.run("test", &command).await?;
        let latest = format!("latest image according to constraint is {}:1.1.0", copied.image);
        ensure!(run.said.contains(&latest), "`test` does not say so{}", run.said);
        Ok(())
    }

    /// The same steps, which end in a refusal.
    async fn refuses(&self, site: &Site<'_>, copied: &Copied, reason: &str) -> Result<String> {
        write(&site.folder, "registries.conf", &copied.registries)?;
        site.manifest("app.yaml", &copied.application)?;
        let pass = site.pass("pass").await?;
        let told = pass.report["images"][0]["message"].as_str().unwrap_or_default().to_owned();
        let found = pass.report["images"][0]["reason"].as_str().unwrap_or_default();
        ensure!(found == reason && pass.code == Some(1), "no {reason}: {found} {told}{}", pass.log);
        Ok(told)
    }

    async fn azure(&self) -> Result<()> {
        let copied = self.copy("acr.md").await?;
        let token = self.clouds.pod_token();
        let surroundings = [
            ("AZURE_AUTHORITY_HOST", &*self.clouds.desk),
            ("AZURE_FEDERATED_TOKEN_FILE", &token),
            ("AZURE_TENANT_ID", "99999999-0000-0000-0000-000000000000"),
            ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
            ("AZURE_CLIENT_ID", "11111111-2222-3333-4444-555555555555"),
        ];
        let site = self.site("azure", &surroundings)?;
        let word = "credentials: azure";
        self.updates(&site, &copied, [word, word]).await?;
        // The account lacks its annotation; the pod lacks its label.
        let site = self.site("azure-annotation", &surroundings[..4])?;
        let told = self.refuses(&site, &copied, "IdentityMissing").await?;
        let named =
            told.contains("AZURE_CLIENT_ID") && told.contains("workload.identity/client-id");
        ensure!(named, "variable and remedy are not told: {told}");
        let site = self.site("azure-label", &surroundings[2..4])?;
        let told = self.refuses(&site, &copied, "IdentityMissing").await?;
        ensure!(told.contains("AZURE_FEDERATED_TOKEN_FILE"), "the variable is not told: {told}");
        Ok(())
    }

    async fn google(&self) -> Result<()> {
        let copied = self.copy("gar.md").await?;
        let host = self.clouds.desk.replace("http://", "");
        let surroundings = [("GCE_METADATA_HOST", &*host), ("KUBERNETES_SERVICE_HOST", "10.0.0.1")];
        let site = self.site("google", &surroundings)?;
        let word = "credentials: gcp";
        self.updates(&site, &copied, [word, word]).await
    }

    /// Spec 00 S1.1.
    async fn dates(&self) -> Result<()> {
        let registry = &self.world.peers.registry;
        // Built a day after the one before, so that the last is the newest.
        registry
            .push("dates/shop", &["20260101-090000", "20260102-090000", "latest", "cache"])
            .await?;
        let host = format!("{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com");
        let token = self.clouds.pod_token();
        let site = self.site("dates", &web_identity(&self.clouds.aws, &token))?;
        let registries = self.at_the_desk(&Guide::read("ecr.md")?, &host)?;
        write(&site.folder, "registries.conf", &registries)?;
        let image = format!("{host}/dates/shop");
        let application = |tag: &str| {
            let annotations = DATES_ANNOTATIONS.replace("IMAGE", &image);
            format!("{KIND}{annotations}spec: {{source: {}}}\n", helm(&image, tag))
        };
        site.manifest("shop.yaml", &application("20260101-090000"))?;
        site.manifest("other.yaml", OTHERS)?;
        let before = self.clouds.asked(0).await?;
        let pass = site.pass("pass").await?;
        pass.updated(&[("shop", "app")], "20260102-090000")?;
        same("shop.yaml", &site.text("shop.yaml")?, &application("20260102-090000"))?;
        same("other.yaml", &site.text("other.yaml")?, OTHERS)?;
        let considered =
            "applications=1 images_considered=1 images_skipped=0 images_updated=1 errors=0";
        ensure!(pass.log.contains(considered), "{}", pass.log);
        let warnings: Vec<&str> =
            pass.log.lines().filter(|line| line.contains("level=warning")).collect();
        let old_name = |line: &&str| line.contains("latest") && line.contains("newest-build");
        ensure!(matches!(warnings[..], [line] if old_name(&line)), "{warnings:?}");
        let asked = self.clouds.asked(6).await?.since(&before);
        // Two tags are allowed, and nothing else is looked at.
        let expected = "2 blob 200, 2 manifest 200, 1 tags 200, 1 tags 401";
        same("asked", &asked.shown(), expected)?;

        let newer = ["0", "1", "2", "3", "4", "20260103-090000"];
        registry.push("dates/shop", &newer).await?;
        site.pass("newer").await?.updated(&[("shop", "app")], "20260103-090000")
    }

    async fn amazon(&self) -> Result<()> {
        let copied = self.copy("ecr.md").await?;
        let clouds = &self.clouds;
        let [id, secret] = self.user_and_role().await?;
        clouds.describe("shop", &["1.0.0", "1.1.0"]).await?;
        let token = clouds.pod_token();
        let site = self.site("aws-web-identity", &web_identity(&clouds.aws, &token))?;
        let word = "credentials: aws";
        self.updates(&site, &copied, [word, word]).await?;

        clouds.check_signatures().await?;
        let keys = |secret| {
            [
                ("AWS_ENDPOINT_URL", &*clouds.aws),
                ("AWS_ACCESS_KEY_ID", &id),
                ("AWS_SECRET_ACCESS_KEY", secret),
            ]
        };
        let role = format!("credentials: 'aws:{ROLE}'");
        let site = self.site("aws-role", &keys(&secret))?;
        self.updates(&site, &copied, [word, &role]).await?;
        // Push dates need one permission more, which the guide's policy gives.
        let site = self.site("aws-dates", &keys(&secret))?;
        let (registries, newest) = (
            copied.registries.replace(word, &format!("{role}\n    dates: pushed")),
            copied.application.replace(
                "/app.helm.image-name:",
                "/app.update-strategy: newest-build\n    argocd-image-updater.argoproj.io/app.helm.image-name:",
            ),
        );
        let dated = Copied { registries, application: newest.replace("shop:^1", "shop"), ..copied };
        ensure!(dated.application.contains("newest-build"), "{}", dated.application);
        self.updates(&site, &dated, ["dates: pushed", "dates: pushed"]).await?;
        // The user itself may assume a role and no more; and a wrong secret signs nothing.
        let plain = self.copy("ecr.md").await?;
        let site = self.site("aws-denied", &keys(&secret))?;
        self.refuses(&site, &plain, "IdentityRejected").await?;
        let wrong = "wr0ng-secret-of-nobody".to_owned();
        let site = self.site("aws-wrong", &keys(&wrong))?;
        self.refuses(&site, &plain, "IdentityRejected").await.map(drop)
    }

    /// A user who may assume the role, by its key, and the role with the guide's policy.
    async fn user_and_role(&self) -> Result<[String; 2]> {
        let iam = [("Version", "2010-05-08")];
        let ask =
            async |form: &[(&str, &str)]| self.clouds.form("iam", &[&iam[..], form].concat()).await;
        let trust = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}"#;
        let assumes = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sts:AssumeRole"],"Resource":"*"}]}"#;
        let guide = Guide::read("ecr.md")?;
        let pulls = guide.block("json", "ecr:GetAuthorizationToken")?;
        // Moto checks what is done, and takes every repository for `*`.
        let repositories = format!("arn:aws:ecr:{REGION}:{ACCOUNT}:repository/*");
        ensure!(pulls.contains(&repositories), "the guide's policy is for others: {pulls}");
        let pulls = pulls.replace(&repositories, "*");
        let role = ("RoleName", "image-updater");
        ask(&[("Action", "CreateRole"), role, ("AssumeRolePolicyDocument", trust)]).await?;
        let policy = [("PolicyName", "pull"), ("PolicyDocument", &*pulls)];
        ask(&[&[("Action", "PutRolePolicy"), role][..], &policy].concat()).await?;
        let user = ("UserName", "ci");
        ask(&[("Action", "CreateUser"), user]).await?;
        let policy = [("PolicyName", "assume"), ("PolicyDocument", assumes)];
        ask(&[&[("Action", "PutUserPolicy"), user][..], &policy].concat()).await?;
        let made = ask(&[("Action", "CreateAccessKey"), user]).await?;
        Ok([between(&made, "AccessKeyId")?, between(&made, "SecretAccessKey")?])
    }
}

const KIND: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\n";

/// The annotations of spec 00 §2.2.
const DATES_ANNOTATIONS: &str = "metadata:
  name: shop
  namespace: argocd
  annotations:
    argocd-image-updater.argoproj.io/image-list: app=IMAGE
    argocd-image-updater.argoproj.io/app.update-strategy: latest
    argocd-image-updater.argoproj.io/app.allow-tags: regexp:^[0-9]{8}-[0-9]{6}$
    argocd-image-updater.argoproj.io/write-back-method: argocd
    argocd-image-updater.argoproj.io/app.helm.image-name: image.repository
    argocd-image-updater.argoproj.io/app.helm.image-tag: image.tag
";

/// An Application without images to update, and the resource that means both.
const OTHERS: &str = r#"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: plain, namespace: argocd}
spec: {source: {repoURL: u, kustomize: {images: ['r.example/plain:1.0.0']}}}
---
apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: annotated, namespace: argocd}
spec:
  applicationRefs: [{namePattern: "*", useAnnotations: true}]
"#;

/// A source of Helm whose parameters name image and tag.
fn helm(image: &str, tag: &str) -> String {
    format!(
        "{{helm: {{parameters: [{{name: image.repository, value: '{image}', forceString: true}}, {{name: image.tag, value: '{tag}', forceString: true}}]}}, repoURL: u, chart: c}}"
    )
}

/// What EKS sets for a pod whose service account is annotated with the role.
fn web_identity<'a>(aws: &'a str, token: &'a str) -> [Variable<'a>; 3] {
    [("AWS_ENDPOINT_URL", aws), ("AWS_ROLE_ARN", ROLE), ("AWS_WEB_IDENTITY_TOKEN_FILE", token)]
}

/// The text of an element.
fn between(document: &str, name: &str) -> Result<String> {
    let rest = document.split_once(&format!("<{name}>")).map(|(_, rest)| rest);
    let text = rest.and_then(|rest| rest.split_once('<')).map(|(text, _)| text.to_owned());
    text.with_context(|| format!("no {name} in {document}"))
}
