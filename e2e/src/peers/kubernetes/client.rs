//! Requests of the cases: straight, to see codes and bodies; and by kubectl, as a user would.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use super::ApiServer;

/// How long the server may take to serve a kind.
const DEFINED: Duration = Duration::from_mins(1);

/// What kubectl printed, and how it ended.
pub(crate) struct Printed {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl ApiServer {
    /// Sends a request as a user; the status code and the body. A refusal is no error here.
    pub(crate) async fn request(
        &self,
        user: &str,
        method: Method,
        path: &str,
        body: Option<(&str, &Value)>,
    ) -> Result<(u16, Value)> {
        let url = format!("{}{path}", self.url());
        let mut request = self.client.request(method, url).bearer_auth(user);
        if let Some((content, body)) = body {
            request = request.header("content-type", content).body(body.to_string());
        }
        let answer = request.send().await.with_context(|| format!("cannot ask for {path}"))?;
        let code = answer.status().as_u16();
        let text = answer.text().await.context("cannot read the answer")?;
        Ok((code, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    /// Reads an object as the administrator.
    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        let (code, body) = self.request("admin", Method::GET, path, None).await?;
        ensure!(code == 200, "GET {path} was answered {code}: {body}");
        Ok(body)
    }

    /// As [`Self::get`], of an object that may not be there.
    pub(crate) async fn find(&self, path: &str) -> Result<Option<Value>> {
        let (code, body) = self.request("admin", Method::GET, path, None).await?;
        ensure!(code == 200 || code == 404, "GET {path} was answered {code}: {body}");
        Ok((code == 200).then_some(body))
    }

    /// Creates an object as the administrator, in the collection of that path.
    pub(crate) async fn create(&self, path: &str, object: &Value) -> Result<Value> {
        let body = Some(("application/json", object));
        let (code, answer) = self.request("admin", Method::POST, path, body).await?;
        ensure!(code == 201, "POST {path} was answered {code}: {answer}");
        Ok(answer)
    }

    /// Merges into an object as the administrator.
    pub(crate) async fn merge(&self, path: &str, fields: &Value) -> Result<Value> {
        let body = Some(("application/merge-patch+json", fields));
        let (code, answer) = self.request("admin", Method::PATCH, path, body).await?;
        ensure!(code == 200, "PATCH {path} was answered {code}: {answer}");
        Ok(answer)
    }

    /// Waits until every kind that was defined is served.
    pub(crate) async fn established(&self) -> Result<()> {
        let deadline = Instant::now() + DEFINED;
        loop {
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            let definitions = self.get(path).await?;
            let definitions = definitions["items"].as_array().context("a list has items")?;
            let served = |definition: &Value| {
                let conditions = definition.pointer("/status/conditions").and_then(Value::as_array);
                let mut conditions = conditions.into_iter().flatten();
                conditions.any(|is| is["type"] == "Established" && is["status"] == "True")
            };
            match definitions.iter().find(|definition| !served(definition)) {
                None => return Ok(()),
                Some(kind) => ensure!(Instant::now() < deadline, "not served: {kind}"),
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Makes a namespace, unless it is there.
    pub(crate) async fn namespace(&self, name: &str) -> Result<()> {
        let object = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let body = Some(("application/json", &object));
        let (code, answer) =
            self.request("admin", Method::POST, "/api/v1/namespaces", body).await?;
        ensure!(code == 201 || code == 409, "the namespace was answered {code}: {answer}");
        Ok(())
    }

    /// Runs kubectl as the administrator, fed with a text; the exit code is the caller's to judge.
    pub(crate) async fn kubectl_fed(&self, arguments: &[&str], input: &str) -> Result<Printed> {
        let mut command = Command::new(self.kubectl());
        command.args(arguments).env_clear().env("HOME", &self.folder);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("KUBECONFIG", self.kubeconfig("admin"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut kubectl = command.kill_on_drop(true).spawn().context("cannot start kubectl")?;
        let mut stdin = kubectl.stdin.take().context("a piped input is there to be taken")?;
        // It may end before it has read all; what it says then is the better word.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let output = kubectl.wait_with_output().await.context("cannot wait for kubectl")?;
        Ok(Printed {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Runs kubectl as the administrator; what it printed. Any failure is an error.
    pub(crate) async fn kubectl_do(&self, arguments: &[&str]) -> Result<String> {
        let printed = self.kubectl_fed(arguments, "").await?;
        let said = printed.stderr.trim();
        ensure!(printed.success, "`kubectl {}` failed: {said}", arguments.join(" "));
        Ok(printed.stdout)
    }

    /// Where the built kubectl stands.
    pub(crate) fn kubectl(&self) -> PathBuf {
        self.programs.path("kubectl")
    }
}
