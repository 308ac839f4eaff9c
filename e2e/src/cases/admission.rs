//! What the API server takes for an `ImageUpdater`: the rows of spec 20 §3.3 by their numbers, asked
//! of the real one, which evaluates the rules in CEL and fills in the defaults.

mod rows;

use anyhow::{Context, Result, bail, ensure};
use reqwest::Method;
use serde_json::{Value, json};

use super::World;
use crate::files::write;
use crate::peers::ApiServer;
use rows::{Outcome, ROWS};

/// What `kubectl apply -k config/crd` gives.
pub(super) const CRD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd");

const NAMESPACE: &str = "admission";

/// Where resources of a namespace are.
pub(super) fn updaters(namespace: &str) -> String {
    format!("/apis/argocd-image-updater.argoproj.io/v1alpha1/namespaces/{namespace}/imageupdaters")
}

/// Installs the definition, and waits until it is served.
pub(super) async fn install(server: &ApiServer) -> Result<()> {
    server.kubectl_do(&["apply", "--server-side", "-k", CRD]).await?;
    let name = "crd/imageupdaters.argocd-image-updater.argoproj.io";
    server
        .kubectl_do(&["wait", "--for=condition=Established", "--timeout=60s", name])
        .await
        .map(drop)
}

/// Every row; all that differ are said, not the first alone.
pub(super) async fn rows(world: &World) -> Result<()> {
    let server = &world.peers.kubernetes;
    install(server).await?;
    server.namespace(NAMESPACE).await?;
    let mut wrong = Vec::new();
    for row in ROWS {
        for (index, text) in row.objects.iter().enumerate() {
            let name = format!("row-{}-{index}", row.number);
            let outcome = submit(server, &name, &(row.build)(text)?).await?;
            if let Some(found) = differs(&row.outcome, &outcome) {
                wrong.push(format!("row {}, {text}: {found}", row.number));
            }
        }
    }
    let (count, last) = (ROWS.len(), ROWS.last().map_or(0, |row| row.number));
    ensure!(count == last, "{count} rows, and the last is number {last}");
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Creates the object and refuses unknown fields; the stored object, or the refusal's words.
async fn submit(server: &ApiServer, name: &str, spec: &Value) -> Result<Result<Value, String>> {
    let mut object = json!({
        "apiVersion": "argocd-image-updater.argoproj.io/v1alpha1",
        "kind": "ImageUpdater",
        "metadata": {"name": name},
    });
    if !spec.is_null() {
        object["spec"] = spec.clone();
    }
    let path = format!("{}?fieldValidation=Strict", updaters(NAMESPACE));
    let body = Some(("application/json", &object));
    let (code, answer) = server.request("admin", Method::POST, &path, body).await?;
    match code {
        201 => Ok(Ok(answer)),
        422 => Ok(Err(answer["message"].as_str().unwrap_or_default().to_owned())),
        _ => bail!("{name} was answered {code}: {answer}"),
    }
}

fn differs(expected: &Outcome, found: &Result<Value, String>) -> Option<String> {
    match (expected, found) {
        (Outcome::Accepted, Ok(_)) => None,
        (Outcome::Stored(path, value), Ok(object)) => {
            let stored = object.pointer(path).map(ToString::to_string);
            (stored.as_deref() != Some(*value)).then(|| format!("stored as {object}"))
        }
        (Outcome::Rejected(words), Err(said)) if said.contains(words) => None,
        (_, Ok(object)) => Some(format!("accepted as {object}")),
        (_, Err(said)) => Some(format!("rejected: {said}")),
    }
}

/// Scenario S3.9 of 00: what is read back differs in nothing that was sent, and what is applied
/// again changes nothing, so that Argo CD sees no drift.
pub(super) async fn read_back(world: &World) -> Result<()> {
    let server = &world.peers.kubernetes;
    install(server).await?;
    server.namespace(NAMESPACE).await?;
    let folder = crate::files::subfolder(&world.folder, "read-back")?;
    write(&folder, "updater.yaml", FULL)?;
    let file = folder.join("updater.yaml").display().to_string();
    let apply = ["apply", "--server-side", "-n", NAMESPACE, "-f", &file];
    let stored = format!("{}/full", updaters(NAMESPACE));
    server.kubectl_do(&apply).await?;
    let first = server.get(&stored).await?;
    let sent: Value = serde_saphyr::from_str(FULL).context("cannot read the manifest")?;
    ensure!(first["spec"] == sent["spec"], "sent {}\nread {}", sent["spec"], first["spec"]);
    server.kubectl_do(&apply).await?;
    let second = server.get(&stored).await?;
    for field in ["resourceVersion", "generation"] {
        let (before, after) = (&first["metadata"][field], &second["metadata"][field]);
        ensure!(before == after, "{field} moved from {before} to {after}");
    }
    // kubectl diff ends with 0 only where nothing would change.
    server.kubectl_do(&["diff", "--server-side", "-n", NAMESPACE, "-f", &file]).await?;
    // By client-side apply, which Argo CD also uses, the word is "unchanged".
    let other = FULL.replace("name: full", "name: client-side");
    let once = server.kubectl_fed(&["apply", "-n", NAMESPACE, "-f", "-"], &other).await?;
    ensure!(once.stdout.trim_end().ends_with(" created"), "{}{}", once.stdout, once.stderr);
    let twice = server.kubectl_fed(&["apply", "-n", NAMESPACE, "-f", "-"], &other).await?;
    ensure!(twice.stdout.trim_end().ends_with(" unchanged"), "{}{}", twice.stdout, twice.stderr);
    Ok(())
}

/// Spec 20 §1: the columns, and no short name.
pub(super) async fn columns(world: &World) -> Result<()> {
    let server = &world.peers.kubernetes;
    install(server).await?;
    server.namespace("columns").await?;
    let spec = json!({"applicationRefs": [{"namePattern": "*", "useAnnotations": true}]});
    let object = json!({
        "apiVersion": "argocd-image-updater.argoproj.io/v1alpha1",
        "kind": "ImageUpdater",
        "metadata": {"name": "shown"},
        "spec": spec,
    });
    let path = updaters("columns");
    server.create(&path, &object).await?;
    let status = json!({"status": {
        "applicationsMatched": 3, "imagesManaged": 7, "lastCheckedAt": "2026-01-02T03:04:05Z",
        "conditions": [
            {"type": "Error", "status": "False", "reason": "NoErrors", "message": "",
             "lastTransitionTime": "2026-01-02T03:04:05Z"},
            {"type": "Ready", "status": "True", "reason": "ReconcileSucceeded", "message": "",
             "lastTransitionTime": "2026-01-02T03:04:05Z"},
        ],
    }});
    server.merge(&format!("{path}/shown/status"), &status).await?;
    let printed = server.kubectl_do(&["get", "imageupdater", "-n", "columns"]).await?;
    let lines: Vec<&str> = printed.lines().collect();
    let [head, row] = lines.as_slice() else { bail!("not two lines:\n{printed}") };
    let head: Vec<&str> = head.split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    ensure!(head == ["NAME", "APPS", "IMAGES", "LAST CHECKED", "READY"], "{printed}");
    let row: Vec<&str> = row.split_whitespace().collect();
    ensure!(matches!(row.as_slice(), ["shown", "3", "7", _, "True"]), "{printed}");
    let resources = server.get("/apis/argocd-image-updater.argoproj.io/v1alpha1").await?;
    let resources = resources["resources"].as_array().context("no resources")?;
    let names: Vec<&str> =
        resources.iter().filter_map(|resource| resource["name"].as_str()).collect();
    ensure!(names == ["imageupdaters", "imageupdaters/status"], "{names:?}");
    ensure!(resources.iter().all(|resource| resource["shortNames"].is_null()), "{resources:?}");
    Ok(())
}

/// Every field once, as an author would write it.
const FULL: &str = r#"apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata:
  name: full
spec:
  commonUpdateSettings:
    updateStrategy: newest-build
    forceUpdate: true
    allowTags: regexp:^v[0-9]+
    ignoreTags: [latest, "*-rc*"]
    pullSecret: pullsecret:argocd/login
    platforms: [linux/amd64, linux/arm64/v8]
  writeBackConfig:
    method: git:secret:argocd/deploy-key
    gitConfig:
      repository: https://git.example.com/platform.git
      branch: main:images
      writeBackTarget: helmvalues:values.yaml
      pullRequest:
        gitlab: {}
        labels: [automated]
  imagesVerification:
    enabled: false
    cosignKey: {secretName: cosign, key: cosign.pub}
  applicationRefs:
  - namePattern: shop-*
    labelSelectors:
      matchLabels: {tier: web}
      matchExpressions:
      - {key: team, operator: In, values: [a, b]}
    useAnnotations: false
    commonUpdateSettings: {ignoreTags: []}
    writeBackConfig: {gitConfig: {branch: next}}
    imagesVerification: {enabled: false}
    images:
    - alias: front
      imageName: registry.example.com/shop/front:1.x
      commonUpdateSettings: {updateStrategy: digest}
      imagesVerification: {enabled: true, cosignKey: {secretName: cosign, key: cosign.pub}}
      manifestTargets: {helm: {name: front.repo, tag: front.tag}}
    - alias: back
      imageName: registry.example.com/shop/back
      manifestTargets: {kustomize: {name: back}}
    - alias: side
      imageName: registry.example.com/shop/side
      manifestTargets: {plugin: {spec: SIDE_IMAGE}}
  - namePattern: jobs
    useAnnotations: true
"#;
