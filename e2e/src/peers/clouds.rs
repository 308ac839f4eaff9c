//! Clouds: moto for AWS, which checks signatures, and desks of our own for Azure and Google. What
//! they give opens a registry that wants tokens: Debian's, which checks these itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use reqwest::{Client, header};
use serde_json::{Value, json};

use super::START;
use super::ports::Ports;
use super::registries::{AccessLog, Asked};
use crate::files::write;
use crate::packages;
use crate::process::Process;

/// The account of all that moto has: the one of the guide.
pub(crate) const ACCOUNT: &str = "000011112222";
/// The region that the cases are in.
pub(crate) const REGION: &str = "eu-north-1";

/// The clouds, started.
pub(crate) struct Clouds {
    /// `http://127.0.0.1:PORT` of moto.
    pub(crate) aws: String,
    /// Of the desks, and of the registry behind them.
    pub(crate) desk: String,
    folder: PathBuf,
    client: Client,
    /// Of the registry behind the desks.
    log: AccessLog,
    _processes: [Process; 3],
}

impl Clouds {
    /// Starts everything over the images in `data`, the folder of a registry.
    pub(crate) async fn start(folder: &Path, data: &Path) -> Result<Self> {
        let python = packages::python()?;
        let mut ports = Ports::default();
        let client = Client::builder().no_proxy().build().context("cannot make an HTTP client")?;
        let port = ports.free()?.to_string();
        let aws = format!("http://127.0.0.1:{port}");
        let mut command = Command::new(&python);
        let command = command.args(["-m", "moto.server", "-p", &port]);
        let mut moto = Process::start("moto", command.env("MOTO_ACCOUNT_ID", ACCOUNT), folder)?;

        let port = ports.free()?.to_string();
        let desk = format!("http://127.0.0.1:{port}");
        let at = format!("127.0.0.1:{}", ports.free()?);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/clouds/desk.py");
        let mut command = Command::new(&python);
        let desks = command.arg(script).arg(&port).arg(folder).arg(&at);
        let mut desks = Process::start("desk", desks, folder)?;
        let certificate = folder.join("desk.crt");
        desks
            .ready(START, async || client.get(&desk).send().await.is_ok() && certificate.is_file())
            .await?;

        write(folder, "registry.yml", &registry(data, &at, &desk, &certificate))?;
        let mut command = Command::new(packages::program("docker-registry")?);
        let command = command.arg("serve").arg(folder.join("registry.yml"));
        let mut behind = Process::start("registry", command, folder)?;
        let answers = async |url: &str, status: u16| {
            client.get(url).send().await.is_ok_and(|answer| answer.status() == status)
        };
        behind.ready(START, async || answers(&format!("{desk}/v2/"), 401).await).await?;
        moto.ready(START * 3, async || answers(&format!("{aws}/moto-api/data.json"), 200).await)
            .await?;
        let log = AccessLog::new(format!("http://{at}"), folder.join("registry.out"))?;
        let folder = folder.to_owned();
        Ok(Self { aws, desk, folder, client, log, _processes: [moto, desks, behind] })
    }

    /// What the program asked the registry behind the desks so far; see [`AccessLog::asked`].
    pub(crate) async fn asked(&self, expected: usize) -> Result<Asked> {
        self.log.asked(expected).await
    }

    /// The file with what a cluster gives to a pod.
    pub(crate) fn pod_token(&self) -> String {
        self.folder.join("pod-token").display().to_string()
    }

    /// Asks moto with a form, as the service that a signature names. It is not checked yet.
    pub(crate) async fn form(&self, service: &str, form: &[(&str, &str)]) -> Result<String> {
        let request = self.client.post(&self.aws).form(form);
        let answer = request.header(header::AUTHORIZATION, unchecked(service)).send().await;
        let answer = answer.context("moto does not answer")?;
        let status = answer.status();
        let text = answer.text().await.context("moto's answer is no text")?;
        ensure!(status.is_success(), "moto answered {status} to {form:?}: {text}");
        Ok(text)
    }

    /// Asks moto's ECR.
    pub(crate) async fn ecr(&self, action: &str, body: &Value) -> Result<Value> {
        let answer = self
            .client
            .post(&self.aws)
            .header(header::AUTHORIZATION, unchecked("ecr"))
            .header(header::CONTENT_TYPE, "application/x-amz-json-1.1")
            .header("x-amz-target", format!("AmazonEC2ContainerRegistry_V20150921.{action}"))
            .body(body.to_string())
            .send()
            .await
            .context("moto does not answer")?;
        let status = answer.status();
        let told: Value = answer.json().await.context("moto's answer is no JSON")?;
        ensure!(status.is_success(), "moto answered {status} to {action}: {told}");
        Ok(told)
    }

    /// From now on every request's signature is computed again and compared, and its keys must
    /// be allowed what they ask for.
    pub(crate) async fn check_signatures(&self) -> Result<()> {
        let url = format!("{}/moto-api/reset-auth", self.aws);
        let answer = self.client.post(url).body("0").send().await.context("no moto")?;
        ensure!(answer.status().is_success(), "moto answered {}", answer.status());
        Ok(())
    }

    /// A repository of ECR with these tags, as its API describes it.
    pub(crate) async fn describe(&self, repository: &str, tags: &[&str]) -> Result<()> {
        self.ecr("CreateRepository", &json!({ "repositoryName": repository })).await?;
        for tag in tags {
            let media_type = "application/vnd.oci.image.manifest.v1+json";
            let manifest = json!({ "schemaVersion": 2, "mediaType": media_type, "tag": tag });
            let image = json!({
                "repositoryName": repository, "imageTag": tag, "imageManifest": manifest.to_string(),
            });
            self.ecr("PutImage", &image).await?;
        }
        Ok(())
    }
}

/// A signature of the right form, and of nobody.
fn unchecked(service: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential=test/20260101/{REGION}/{service}/aws4_request, SignedHeaders=host, Signature=0"
    )
}

fn registry(data: &Path, address: &str, desk: &str, certificate: &Path) -> String {
    format!(
        r#"version: 0.1
log: {{ level: warn }}
storage: {{ filesystem: {{ rootdirectory: "{}" }} }}
http: {{ addr: "{address}" }}
auth:
  token:
    realm: {desk}/token
    service: clouds
    issuer: desk
    rootcertbundle: {}
"#,
        data.display(),
        certificate.display()
    )
}
