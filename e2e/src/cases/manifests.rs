//! The install manifests: the rows of spec 24 §1.3 by number, of the files and of what a real API
//! server makes of them; the kustomize bases; and who may do what afterwards.

mod objects;
mod permissions;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::process::Command;

use super::World;
use crate::files::{read, subfolder, write};
use crate::peers::ApiServer;
use objects::{Objects, named};

const CONTAINER: &str = "argocd-image-updater-controller";

/// The folder of the manifests.
pub(super) fn config() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../config")
}

/// Rows M-01 to M-08 and M-10 to M-12, of the file as it is committed.
pub(super) async fn file(world: &World) -> Result<()> {
    let objects = Objects::parse(&read(&config(), "install.yaml")?)?;
    let mut wrong = Vec::new();
    for (row, check) in objects::ROWS {
        if let Err(error) = check(&objects) {
            wrong.push(format!("{row}: {error:#}"));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Both ways of installing give the same objects.
    let server = &world.peers.kubernetes;
    let base = Objects::parse(&kustomize(server, &config().join("default")).await?)?;
    ensure!(base.sorted() == objects.sorted(), "config/default differs from install.yaml");
    Ok(())
}

/// Row M-12, with the definition as the program prints it.
pub(super) fn definition(printed: &str) -> Result<()> {
    let installed = read(&config(), "install.yaml")?;
    ensure!(printed.starts_with("---\n"), "no document marker: {printed}");
    ensure!(installed.contains(printed), "M-12: install.yaml holds another definition");
    let base = "crd/bases/argocd-image-updater.argoproj.io_imageupdaters.yaml";
    ensure!(read(&config(), base)? == printed, "{base} is another definition");
    Ok(())
}

/// Row M-09: a user's patch by the container's name adds, and takes nothing away.
pub(super) async fn patched(world: &World) -> Result<()> {
    let server = &world.peers.kubernetes;
    let folder = subfolder(&world.folder, "patched")?;
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(config()).arg(folder.join("config"));
    let copied = copy.status().await.context("cannot start cp")?;
    ensure!(copied.success(), "cp ended with {copied}");
    write(&folder, "user/kustomization.yaml", USER)?;
    let objects = Objects::parse(&kustomize(server, &folder.join("user")).await?)?;
    let pod = &objects.one("Deployment", CONTAINER)?["spec"]["template"]["spec"];
    let containers = pod["containers"].as_array().context("no containers")?;
    ensure!(containers.len() == 1, "M-09: {} containers", containers.len());
    let before = Objects::parse(&read(&config(), "install.yaml")?)?;
    let before = &before.one("Deployment", CONTAINER)?["spec"]["template"]["spec"];
    for (list, added) in [("env", "ACR_NAME"), ("volumeMounts", "scripts")] {
        let mut expected = named(&before["containers"][0][list]);
        expected.push(added.to_owned());
        expected.sort();
        let mut found = named(&containers[0][list]);
        found.sort();
        ensure!(found == expected, "M-09: {list} is {found:?}");
    }
    ensure!(named(&pod["volumes"]).contains(&"scripts".to_owned()), "M-09: no volume");
    Ok(())
}

const USER: &str = "resources: [../config/default]
namespace: argocd
patches:
- patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: argocd-image-updater-controller}
    spec:
      template:
        spec:
          containers:
          - name: argocd-image-updater-controller
            env: [{name: ACR_NAME, value: acme}]
            volumeMounts: [{name: scripts, mountPath: /scripts}]
          volumes: [{name: scripts, configMap: {name: scripts}}]
";

/// Row M-13, and that a second time changes nothing, server-side and client-side.
pub(super) async fn applied(world: &World) -> Result<()> {
    let server = &world.peers.kubernetes;
    apply(server, "argocd").await?;
    let file = config().join("install.yaml").display().to_string();
    let versions = versions(server, "argocd").await?;
    let again = ["apply", "--server-side", "-n", "argocd", "-f", &file];
    server.kubectl_do(&again).await?;
    let after = self::versions(server, "argocd").await?;
    ensure!(versions == after, "applied again, objects moved:\n{versions:?}\n{after:?}");
    // Ends with another code than 0 where anything would change.
    server.kubectl_do(&["diff", "--server-side", "-n", "argocd", "-f", &file]).await?;

    server.namespace("client-side").await?;
    let apply = ["apply", "-n", "client-side", "-f", &file];
    server.kubectl_do(&apply).await?;
    let said = server.kubectl_do(&apply).await?;
    let moved: Vec<&str> = said.lines().filter(|line| !line.ends_with(" unchanged")).collect();
    ensure!(moved.is_empty() && said.lines().count() == 19, "M-13: {said}");

    // A user's keys outlive an upgrade (M-10).
    let settings = "/api/v1/namespaces/argocd/configmaps/argocd-image-updater-config";
    server.merge(settings, &json!({"data": {"interval": "5m"}})).await?;
    server.kubectl_do(&again).await?;
    ensure!(server.get(settings).await?["data"]["interval"] == "5m", "an upgrade took a key away");
    server.merge(settings, &json!({"data": null})).await?;
    Ok(())
}

/// Applies `install.yaml` into a namespace.
pub(super) async fn apply(server: &ApiServer, namespace: &str) -> Result<()> {
    server.namespace(namespace).await?;
    let file = config().join("install.yaml").display().to_string();
    server.kubectl_do(&["apply", "--server-side", "-n", namespace, "-f", &file]).await.map(drop)
}

/// What each applied object's version is: it moves whenever the object does.
async fn versions(server: &ApiServer, namespace: &str) -> Result<Vec<String>> {
    let kinds = "serviceaccounts,roles,rolebindings,configmaps,secrets,services,deployments,networkpolicies,crd,clusterroles,clusterrolebindings";
    let columns = "-o=jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{'\\n'}{end}";
    let said = server.kubectl_do(&["get", kinds, "-n", namespace, columns]).await?;
    let ours = said.lines().filter(|line| line.contains("image") || line.contains("-traffic"));
    let ours: Vec<String> = ours.map(str::to_owned).collect();
    ensure!(ours.len() >= 19, "M-13: {} objects: {ours:?}", ours.len());
    Ok(ours)
}

/// Row M-11 as the API server sees it: the account may do what the table says, and little else; and
/// the variants for more namespaces give what they are for.
pub(super) async fn permitted(world: &World) -> Result<()> {
    let server = &world.peers.kubernetes;
    apply(server, "argocd").await?;
    let refused = permissions::ask(server, "argocd", permissions::NEEDED, true).await?;
    ensure!(refused.is_empty(), "refused in argocd: {refused:?}");
    let allowed = permissions::ask(server, "argocd", permissions::NEVER, false).await?;
    ensure!(allowed.is_empty(), "allowed in argocd: {allowed:?}");
    server.namespace("team").await?;
    let allowed = permissions::ask(server, "team", permissions::IN_WATCHED, false).await?;
    ensure!(allowed.is_empty(), "allowed in a namespace that is not watched: {allowed:?}");

    let watched = config().join("watched-namespace").display().to_string();
    server.kubectl_do(&["apply", "--server-side", "-n", "team", "-k", &watched]).await?;
    let refused = permissions::ask(server, "team", permissions::IN_WATCHED, true).await?;
    ensure!(refused.is_empty(), "refused in a watched namespace: {refused:?}");
    server.kubectl_do(&["delete", "-n", "team", "-k", &watched]).await?;

    let text = kustomize(server, &config().join("cluster-wide")).await?;
    let objects = Objects::parse(&text)?;
    let (role, binding) =
        ("argocd-image-updater-manager-role", "argocd-image-updater-manager-rolebinding");
    ensure!(objects.one("Role", role).is_err(), "the manager's Role stayed");
    ensure!(objects.one("RoleBinding", binding).is_err(), "the manager's RoleBinding stayed");
    let bound = objects.one("ClusterRoleBinding", binding)?;
    ensure!(bound["roleRef"]["kind"] == "ClusterRole", "{bound}");
    let printed =
        server.kubectl_fed(&["apply", "--server-side", "-n", "argocd", "-f", "-"], &text).await?;
    ensure!(printed.success, "{}", printed.stderr);
    let everywhere = ["create /events", "list argoproj.io/applications"];
    let refused = permissions::ask(server, "team", &everywhere, true).await?;
    ensure!(refused.is_empty(), "refused cluster-wide: {refused:?}");
    let secrets = permissions::ask(server, "team", &["get /secrets"], false).await?;
    ensure!(secrets.is_empty(), "cluster-wide, it reads everybody's Secrets");
    // Other cases want the narrow roles.
    server.kubectl_do(&["delete", "clusterrole", role]).await?;
    server.kubectl_do(&["delete", "clusterrolebinding", binding]).await.map(drop)
}

/// What a kustomize base gives.
async fn kustomize(server: &ApiServer, folder: &Path) -> Result<String> {
    server.kubectl_do(&["kustomize", &folder.display().to_string()]).await
}

/// A field that must be there.
fn field<'v>(value: &'v Value, pointer: &str) -> Result<&'v Value> {
    value.pointer(pointer).with_context(|| format!("no {pointer} in {value}"))
}
