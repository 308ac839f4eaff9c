//! Metrics by HTTPS, for whom the cluster allows (spec 22 §3), and what they say of a pass.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::Client;
use serde_json::Value;

use super::super::World;
use super::stage::Stage;
use super::updates::selects;
use crate::peers::{ELSEWHERE, ELSEWHERE_ACCOUNT};
use crate::program::Program;

/// What `config/rbac/metrics_auth.yaml` and `metrics_reader.yaml` give, under names of this case.
const ROLES: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: e2e-metrics-auth}
rules:
- {apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]}
- {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: e2e-metrics-auth}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: e2e-metrics-auth}
subjects: [{kind: ServiceAccount, name: argocd-image-updater-controller, namespace: argocd}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: e2e-metrics-reader}
rules: [{nonResourceURLs: [/metrics], verbs: [get]}]
";

const READER: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: e2e-metrics-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: e2e-metrics-reader}
subjects: [{kind: ServiceAccount, name: argocd-image-updater-controller, namespace: updater}]
";

/// Status and body of the page for a token; of nobody for an empty one.
async fn scrape(client: &Client, url: &str, token: &str) -> Result<(u16, String)> {
    let mut request = client.get(url);
    if !token.is_empty() {
        request = request.bearer_auth(token);
    }
    let response = request.send().await.context("metrics do not answer")?;
    Ok((response.status().as_u16(), response.text().await?))
}

pub(super) async fn secured(world: &World, program: &Program) -> Result<()> {
    let stage = Stage::prepare(world, program, "metrics").await?;
    let server = &world.peers.kubernetes;
    let apply = ["apply", "--server-side", "-f", "-"];
    let applied = server.kubectl_fed(&apply, ROLES).await?;
    ensure!(applied.success, "{}", applied.stderr);
    world.peers.registry.push("metrics/web", &["1.0.0", "1.0.1"]).await?;
    let image = |tag: &str| format!("registry.example.com/metrics/web:{tag}");
    stage.create_application("web", &image("1.0.0"), Value::Null).await?;
    stage.create_updater("u", selects("web", "registry.example.com/metrics/web:~1.0")).await?;
    let flags = ["--metrics-bind-address", "127.0.0.1:0", "--interval", "1h"];
    let mut controller = stage.start("controller", &flags)?;
    stage.says(&mut controller, "Serving metrics server").await?;
    let said = controller.said();
    let address = said.split("bindAddress=\"").nth(1).and_then(|rest| rest.split('"').next());
    let url = format!("https://{}/metrics", address.context("the log names the address")?);
    // As scrapers of a certificate that nobody vouches for are told to.
    let client = Client::builder().danger_accept_invalid_certs(true).no_proxy();
    let client = client.timeout(Duration::from_mins(1)).build()?;

    #[rustfmt::skip]
    let rows = [
        ("", 401, "Unauthorized\n".to_owned()),
        ("nobody-knows-this", 401, "Unauthorized\n".to_owned()),
        (ELSEWHERE, 403, format!("Authorization denied for user {ELSEWHERE_ACCOUNT}\n")),
    ];
    for (token, status, body) in rows {
        let found = scrape(&client, &url, token).await?;
        ensure!(found == (status, body), "{token:?}: {found:?}{}", controller.said());
    }
    stage.until_image(&mut controller, "web", &image("1.0.1")).await?;
    let labels = "{image_updater_cr_name=\"u\",image_updater_cr_namespace=\"metrics\"}";
    let expected = ["applications_watched", "images_watched", "images_updated"]
        .map(|name| format!("argocd_image_updater_{name}_total{labels} 1\n"));
    stage
        .until("a pass is counted", &mut controller, async |_| {
            let (status, page) = scrape(&client, &url, "admin").await?;
            ensure!(status == 200, "{status}: {page}");
            Ok(expected.iter().all(|line| page.contains(line)))
        })
        .await?;
    let (_, page) = scrape(&client, &url, "admin").await?;
    let value = |name: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().parse::<f64>().ok()).unwrap_or_default()
    };
    ensure!(value("argocd_image_updater_k8s_api_requests_total ") > 3.0, "{page}");
    ensure!(value("argocd_image_updater_update_delay_seconds_count ") > 0.0, "{page}");
    ensure!(page.contains("argocd_image_updater_registry_requests_total{registry="), "{page}");

    // Who is bound to the reader's role is let in, once the refusal is forgotten.
    let bound = server.kubectl_fed(&apply, READER).await?;
    ensure!(bound.success, "{}", bound.stderr);
    stage
        .until("the reader reads", &mut controller, async |_| {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(scrape(&client, &url, ELSEWHERE).await?.0 == 200)
        })
        .await
}
