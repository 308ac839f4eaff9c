//! One word in `registries.conf` signs in to ECR, ACR and Artifact Registry: what the clouds give
//! opens a real registry, and moto computes every signature again. The steps are those of the
//! guides.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::{Tally, World, same};
use crate::files::{read, subfolder, write};
use crate::peers::{ACCOUNT, Clouds, REGION};
use crate::program::Program;

const REPOSITORY: &str = "clouds/shop";
const ROLE: &str = "arn:aws:iam::123456789012:role/pull";
const ACR: &str = "acme.azurecr.io";
const GAR: &str = "europe-docker.pkg.dev";

/// Starts the clouds and runs the cases about them.
pub(super) async fn run(tally: &mut Tally, world: &World, program: &Program) {
    let name = "the identity of a pod signs in to the registries of clouds";
    if tally.skips(name) {
        return;
    }
    let case = async {
        let registry = &world.peers.registry;
        registry.push(REPOSITORY, &["1.0.0", "1.1.0"]).await?;
        let folder = subfolder(&world.folder, "clouds")?;
        let clouds = Clouds::start(&folder, registry.data()).await?;
        let given = Given { clouds, folder: folder.display().to_string() };
        given.azure(program).await?;
        given.google(program).await?;
        given.aws(program).await
    };
    tally.case(name, case).await;
}

struct Given {
    clouds: Clouds,
    folder: String,
}

impl Given {
    async fn azure(&self, program: &Program) -> Result<()> {
        let token = self.clouds.pod_token();
        let surroundings = [
            ("AZURE_AUTHORITY_HOST", &*self.clouds.desk),
            ("AZURE_FEDERATED_TOKEN_FILE", &token),
            ("AZURE_CLIENT_ID", "11111111-2222-3333-4444-555555555555"),
            ("AZURE_TENANT_ID", "99999999-0000-0000-0000-000000000000"),
        ];
        self.updates(program, "azure", ACR, "credentials: azure", &surroundings).await?;
        let missing = &surroundings[..1];
        let kubernetes = [missing, &[("KUBERNETES_SERVICE_HOST", "10.0.0.1")]].concat();
        self.fails(program, "azure-missing", ACR, "credentials: azure", &kubernetes).await
    }

    async fn google(&self, program: &Program) -> Result<()> {
        let host = self.clouds.desk.replace("http://", "");
        let surroundings = [("GCE_METADATA_HOST", &*host), ("KUBERNETES_SERVICE_HOST", "10.0.0.1")];
        self.updates(program, "google", GAR, "credentials: gcp", &surroundings).await
    }

    async fn aws(&self, program: &Program) -> Result<()> {
        let clouds = &self.clouds;
        let ecr = format!("{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com");
        let iam = [("Version", "2010-05-08")];
        let ask =
            async |form: &[(&str, &str)]| clouds.form("iam", &[&iam[..], form].concat()).await;
        let trust = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}"#;
        let policy = |actions: &str| {
            format!(
                r#"{{"Version":"2012-10-17","Statement":[{{"Effect":"Allow","Action":[{actions}],"Resource":"*"}}]}}"#
            )
        };
        ask(&[("Action", "CreateRole"), ("RoleName", "pull"), ("AssumeRolePolicyDocument", trust)])
            .await?;
        let pulls = policy(r#""ecr:GetAuthorizationToken","ecr:DescribeImages""#);
        ask(&[
            ("Action", "PutRolePolicy"),
            ("RoleName", "pull"),
            ("PolicyName", "pull"),
            ("PolicyDocument", &pulls),
        ])
        .await?;
        ask(&[("Action", "CreateUser"), ("UserName", "ci")]).await?;
        let assumes = policy(r#""sts:AssumeRole""#);
        ask(&[
            ("Action", "PutUserPolicy"),
            ("UserName", "ci"),
            ("PolicyName", "assume"),
            ("PolicyDocument", &assumes),
        ])
        .await?;
        let made = ask(&[("Action", "CreateAccessKey"), ("UserName", "ci")]).await?;
        let (id, secret) = (between(&made, "AccessKeyId")?, between(&made, "SecretAccessKey")?);
        clouds.describe(REPOSITORY, &["1.0.0", "1.1.0"]).await?;

        // A pod's token; moto takes any, and cannot take one while it checks signatures.
        let token = clouds.pod_token();
        let web = [
            ("AWS_ENDPOINT_URL", &*clouds.aws),
            ("AWS_ROLE_ARN", ROLE),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", &token),
        ];
        self.updates(program, "aws-web-identity", &ecr, "credentials: aws", &web).await?;

        clouds.check_signatures().await?;
        let keys = [
            ("AWS_ENDPOINT_URL", &*clouds.aws),
            ("AWS_ACCESS_KEY_ID", &id),
            ("AWS_SECRET_ACCESS_KEY", &secret),
        ];
        let role = format!("credentials: 'aws:{ROLE}', dates: pushed");
        self.updates(program, "aws-role", &ecr, &role, &keys).await?;
        // The user itself may assume a role and no more; and a wrong secret signs nothing.
        self.fails(program, "aws-denied", &ecr, "credentials: aws", &keys).await?;
        let wrong = [keys[0], keys[1], ("AWS_SECRET_ACCESS_KEY", "wrong")];
        self.fails(program, "aws-wrong", &ecr, &role, &wrong).await
    }

    /// One pass over an Application with an image there, which is updated.
    async fn updates(
        &self,
        program: &Program,
        name: &str,
        host: &str,
        entry: &str,
        surroundings: &[(&str, &str)],
    ) -> Result<()> {
        let said = self.pass(program, name, host, entry, surroundings, 0).await?;
        let expected = application(host).replace(":1.0.0'", ":1.1.0'");
        let folder = Path::new(&self.folder).join(name);
        same(name, &read(&folder, "manifests/app.yaml")?, &expected).with_context(|| said)?;
        let image = format!("{host}/{REPOSITORY}");
        let arguments = ["test", &image, "--registries-conf-path", "registries.conf"];
        let run = program.run_in("test", &arguments, &folder, surroundings).await?;
        let latest = format!("latest image according to constraint is {image}:1.1.0");
        ensure!(run.said.contains(&latest), "`test` does not say so{}", run.said);
        told_nothing_secret(name, &run.said, surroundings)
    }

    /// One pass that signs in nowhere, and says why.
    async fn fails(
        &self,
        program: &Program,
        name: &str,
        host: &str,
        entry: &str,
        surroundings: &[(&str, &str)],
    ) -> Result<()> {
        let said = self.pass(program, name, host, entry, surroundings, 1).await?;
        let reason = if name.ends_with("missing") { "IdentityMissing" } else { "IdentityRejected" };
        ensure!(said.contains(reason), "{name}: no {reason} in {said}");
        Ok(())
    }

    async fn pass(
        &self,
        program: &Program,
        name: &str,
        host: &str,
        entry: &str,
        surroundings: &[(&str, &str)],
        code: i32,
    ) -> Result<String> {
        let folder = subfolder(self.folder.as_ref(), name)?;
        write(&folder, "manifests/app.yaml", &application(host))?;
        let conf = format!(
            "registries:\n  - {{ name: cloud, prefix: {host}, api_url: {}, {entry} }}\n",
            self.clouds.desk
        );
        write(&folder, "registries.conf", &conf)?;
        let arguments = [
            ["run", "--once"],
            ["--manifests", "manifests"],
            ["--registries-conf-path", "registries.conf"],
            ["--cache-dir", "cache"],
            ["--loglevel", "trace"],
        ];
        let run = program.run_in(name, arguments.as_flattened(), &folder, surroundings).await?;
        ensure!(run.code == Some(code), "{name} ended with {:?}{}", run.code, run.said);
        told_nothing_secret(name, &run.said, surroundings)?;
        Ok(run.said)
    }
}

fn told_nothing_secret(name: &str, said: &str, surroundings: &[(&str, &str)]) -> Result<()> {
    for (variable, value) in surroundings {
        let secret = variable.contains("SECRET_ACCESS_KEY");
        ensure!(!secret || !said.contains(value), "{name}: {variable} is told");
    }
    ensure!(!said.contains("eyJ"), "{name}: a token is told: {said}");
    ensure!(!said.contains("auth-token"), "{name}: a password is told: {said}");
    Ok(())
}

fn application(host: &str) -> String {
    let image = format!("{host}/{REPOSITORY}");
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
  annotations:
    argocd-image-updater.argoproj.io/image-list: app={image}
    argocd-image-updater.argoproj.io/app.update-strategy: newest-build
    argocd-image-updater.argoproj.io/app.allow-tags: regexp:^1
spec: {{source: {{repoURL: u, kustomize: {{images: ['{image}:1.0.0']}}}}}}
"
    )
}

/// The text of an element.
fn between(document: &str, name: &str) -> Result<String> {
    let rest = document.split_once(&format!("<{name}>")).map(|(_, rest)| rest);
    let text = rest.and_then(|rest| rest.split_once('<')).map(|(text, _)| text.to_owned());
    text.with_context(|| format!("no {name} in {document}"))
}
