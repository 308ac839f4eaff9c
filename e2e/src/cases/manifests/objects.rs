//! The objects of a manifest, and what each row finds in them.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{CONTAINER, field};

pub(super) struct Objects(Vec<Value>);

impl Objects {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let documents = text.split("---\n").filter(|document| document.contains("kind:"));
        let read = |document| serde_saphyr::from_str(document).context("not a document");
        documents.map(read).collect::<Result<_>>().map(Self)
    }

    /// The object of that kind and name; an error if there is none.
    pub(super) fn one(&self, kind: &str, name: &str) -> Result<&Value> {
        let found = self.0.iter().find(|o| o["kind"] == kind && o["metadata"]["name"] == name);
        found.with_context(|| format!("no {kind} {name}"))
    }

    /// All of them, whatever order they stood in.
    pub(super) fn sorted(&self) -> BTreeSet<String> {
        self.0.iter().map(ToString::to_string).collect()
    }

    fn container(&self) -> Result<&Value> {
        field(self.deployment()?, "/spec/template/spec/containers/0")
    }

    fn deployment(&self) -> Result<&Value> {
        self.one("Deployment", CONTAINER)
    }
}

/// The names of a list's entries.
pub(super) fn named(list: &Value) -> Vec<String> {
    let entries = list.as_array().into_iter().flatten();
    entries.filter_map(|entry| entry["name"].as_str()).map(str::to_owned).collect()
}

type Check = fn(&Objects) -> Result<()>;

pub(super) const ROWS: [(&str, Check); 11] = [
    ("M-01", nineteen_objects),
    ("M-02", no_namespace),
    ("M-03", selector),
    ("M-04", pod_labels),
    ("M-05", one_container),
    ("M-06", variables),
    ("M-07", volumes),
    ("M-08", configuration_files),
    ("M-10", no_data),
    ("M-11", rules),
    ("24 §1.2", labels),
];

fn same(found: &Value, expected: &Value) -> Result<()> {
    ensure!(found == expected, "found {found}, expected {expected}");
    Ok(())
}

/// Spec 22 §13.
#[rustfmt::skip]
const NAMES: [(&str, &str); 19] = [
    ("CustomResourceDefinition", "imageupdaters.argocd-image-updater.argoproj.io"),
    ("ServiceAccount", "argocd-image-updater-controller"),
    ("Role", "argocd-image-updater"),
    ("RoleBinding", "argocd-image-updater"),
    ("Role", "argocd-image-updater-leader-election-role"),
    ("RoleBinding", "argocd-image-updater-leader-election-rolebinding"),
    ("Role", "argocd-image-updater-manager-role"),
    ("RoleBinding", "argocd-image-updater-manager-rolebinding"),
    ("ClusterRole", "argocd-image-updater-metrics-auth-role"),
    ("ClusterRoleBinding", "argocd-image-updater-metrics-auth-rolebinding"),
    ("ClusterRole", "argocd-image-updater-metrics-reader"),
    ("ClusterRoleBinding", "argocd-image-updater-metrics-reader-rolebinding"),
    ("ConfigMap", "argocd-image-updater-config"),
    ("ConfigMap", "argocd-image-updater-ssh-config"),
    ("Secret", "argocd-image-updater-secret"),
    ("Service", "argocd-image-updater-controller-metrics-service"),
    ("Deployment", "argocd-image-updater-controller"),
    ("NetworkPolicy", "allow-metrics-traffic"),
    ("NetworkPolicy", "allow-webhook-traffic"),
];

fn nineteen_objects(objects: &Objects) -> Result<()> {
    for (kind, name) in NAMES {
        objects.one(kind, name)?;
    }
    ensure!(objects.0.len() == NAMES.len(), "{} objects", objects.0.len());
    Ok(())
}

fn no_namespace(objects: &Objects) -> Result<()> {
    for object in &objects.0 {
        ensure!(object["metadata"]["namespace"].is_null(), "{object}");
    }
    Ok(())
}

fn selector(objects: &Objects) -> Result<()> {
    same(
        &objects.deployment()?["spec"]["selector"],
        &json!({"matchLabels": {"control-plane": CONTAINER}}),
    )
}

fn pod_labels(objects: &Objects) -> Result<()> {
    let labels = field(objects.deployment()?, "/spec/template/metadata/labels")?;
    same(
        labels,
        &json!({"control-plane": CONTAINER, "app.kubernetes.io/name": "argocd-image-updater"}),
    )
}

fn one_container(objects: &Objects) -> Result<()> {
    let pod = field(objects.deployment()?, "/spec/template/spec")?;
    ensure!(named(&pod["containers"]) == [CONTAINER], "{pod}");
    let container = objects.container()?;
    same(&container["args"], &json!(["--metrics-bind-address=:8443", "run"]))?;
    ensure!(container["command"].is_null() && container["ports"].is_null(), "{container}");
    same(&container["livenessProbe"]["httpGet"], &json!({"path": "/healthz", "port": 8081}))?;
    same(&container["readinessProbe"]["httpGet"], &json!({"path": "/readyz", "port": 8081}))?;
    same(
        &container["resources"],
        &json!({"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"cpu": "500m", "memory": "1Gi"}}),
    )?;
    let secure = &container["securityContext"];
    same(&secure["readOnlyRootFilesystem"], &json!(true))?;
    same(&secure["capabilities"], &json!({"drop": ["ALL"]}))?;
    same(&secure["allowPrivilegeEscalation"], &json!(false))?;
    same(&secure["seccompProfile"], &json!({"type": "RuntimeDefault"}))?;
    same(&pod["terminationGracePeriodSeconds"], &json!(10))?;
    same(&pod["serviceAccountName"], &json!(CONTAINER))
}

/// Key and variable: spec 22 §10, §11.
#[rustfmt::skip]
const VARIABLES: [(&str, &str); 28] = [
    ("argocd.namespace", "ARGOCD_NAMESPACE"),
    ("watch.namespaces", "IMAGE_UPDATER_WATCH_NAMESPACES"),
    ("interval", "IMAGE_UPDATER_INTERVAL"),
    ("log.level", "IMAGE_UPDATER_LOGLEVEL"),
    ("log.format", "IMAGE_UPDATER_LOGFORMAT"),
    ("max_concurrent_apps", "MAX_CONCURRENT_APPS"),
    ("max_concurrent_reconciles", "MAX_CONCURRENT_RECONCILES"),
    ("git.user", "GIT_COMMIT_USER"),
    ("git.email", "GIT_COMMIT_EMAIL"),
    ("git.commit-signing-key", "GIT_COMMIT_SIGNING_KEY"),
    ("git.commit-signing-method", "GIT_COMMIT_SIGNING_METHOD"),
    ("git.commit-sign-off", "GIT_COMMIT_SIGN_OFF"),
    ("kube.events", "IMAGE_UPDATER_KUBE_EVENTS"),
    ("webhook.enable", "ENABLE_WEBHOOK"),
    ("webhook.require-secret", "WEBHOOK_REQUIRE_SECRET"),
    ("webhook.port", "WEBHOOK_PORT"),
    ("webhook.ratelimit-allowed", "WEBHOOK_RATELIMIT_ALLOWED"),
    ("disable-tls", "DISABLE_TLS"),
    ("tls.min-version", "TLS_MIN_VERSION"),
    ("tls.max-version", "TLS_MAX_VERSION"),
    ("tls.ciphers", "TLS_CIPHERS"),
    ("webhook.docker-secret", "DOCKER_WEBHOOK_SECRET"),
    ("webhook.ghcr-secret", "GHCR_WEBHOOK_SECRET"),
    ("webhook.harbor-secret", "HARBOR_WEBHOOK_SECRET"),
    ("webhook.quay-secret", "QUAY_WEBHOOK_SECRET"),
    ("webhook.aliyun-acr-secret", "ALIYUN_ACR_WEBHOOK_SECRET"),
    ("webhook.acr-secret", "ACR_WEBHOOK_SECRET"),
    ("webhook.cloudevents-secret", "CLOUDEVENTS_WEBHOOK_SECRET"),
];

fn variables(objects: &Objects) -> Result<()> {
    let container = objects.container()?;
    let env = container["env"].as_array().context("no env")?;
    for variable in env {
        let source = variable["valueFrom"].as_object().with_context(|| format!("{variable}"))?;
        let (_, source) = source.iter().next().context("an empty source")?;
        ensure!(source["optional"] == true, "{variable} is not optional");
    }
    for (key, name) in VARIABLES {
        let (kind, object) = if key.starts_with("webhook.")
            && key.ends_with("-secret")
            && key != "webhook.require-secret"
        {
            ("secretKeyRef", "argocd-image-updater-secret")
        } else {
            ("configMapKeyRef", "argocd-image-updater-config")
        };
        let found = env.iter().find(|variable| variable["name"] == name);
        let found = found.with_context(|| format!("no {name}"))?;
        same(&found["valueFrom"], &json!({kind: {"name": object, "key": key, "optional": true}}))?;
    }
    let mut names = named(&container["env"]);
    names.sort();
    ensure!(names.windows(2).all(|pair| pair[0] != pair[1]), "twice: {names:?}");
    Ok(())
}

fn volumes(objects: &Objects) -> Result<()> {
    let volumes = field(objects.deployment()?, "/spec/template/spec/volumes")?;
    let names = [
        "image-updater-conf",
        "ssh-known-hosts",
        "ssh-config",
        "ssh-signing-key",
        "argocd-image-updater-tls",
        "tmp",
    ];
    ensure!(named(volumes) == names, "{volumes}");
    for volume in volumes.as_array().into_iter().flatten().filter(|volume| volume["name"] != "tmp")
    {
        let source = volume.get("configMap").or_else(|| volume.get("secret"));
        ensure!(source.is_some_and(|source| source["optional"] == true), "{volume}");
    }
    let mounts = objects.container()?["volumeMounts"].as_array().context("no mounts")?;
    let at: Vec<&str> = mounts.iter().filter_map(|mount| mount["mountPath"].as_str()).collect();
    let expected = [
        "/app/config",
        "/app/config/ssh",
        "/app/.ssh",
        "/app/ssh-keys/id_rsa",
        "/app/config/tls",
        "/tmp",
    ];
    ensure!(at == expected, "{at:?}");
    Ok(())
}

fn configuration_files(objects: &Objects) -> Result<()> {
    let files = field(objects.deployment()?, "/spec/template/spec/volumes/0/configMap/items")?;
    same(
        files,
        &json!([
            {"key": "registries.conf", "path": "registries.conf"},
            {"key": "git.commit-message-template", "path": "commit.template"},
        ]),
    )
}

fn no_data(objects: &Objects) -> Result<()> {
    for object in objects.0.iter().filter(|o| o["kind"] == "ConfigMap" || o["kind"] == "Secret") {
        ensure!(object["data"].is_null() && object["stringData"].is_null(), "{object}");
    }
    Ok(())
}

/// Spec 22 §13: role, group, resources, verbs.
#[rustfmt::skip]
const RULES: [(&str, &str, &[&str], &str); 9] = [
    ("argocd-image-updater", "", &["secrets", "configmaps"], "get list watch"),
    ("argocd-image-updater-manager-role", "", &["events"], "create"),
    ("argocd-image-updater-manager-role", "argocd-image-updater.argoproj.io", &["imageupdaters"], "create delete get list patch update watch"),
    ("argocd-image-updater-manager-role", "argocd-image-updater.argoproj.io", &["imageupdaters/finalizers"], "update"),
    ("argocd-image-updater-manager-role", "argocd-image-updater.argoproj.io", &["imageupdaters/status"], "get patch update"),
    ("argocd-image-updater-manager-role", "argoproj.io", &["applications"], "get list patch update watch"),
    ("argocd-image-updater-leader-election-role", "", &["configmaps"], "get list watch create update patch delete"),
    ("argocd-image-updater-leader-election-role", "coordination.k8s.io", &["leases"], "get list watch create update patch delete"),
    ("argocd-image-updater-leader-election-role", "", &["events"], "create patch"),
];

fn rules(objects: &Objects) -> Result<()> {
    let mut count = 0;
    for object in objects.0.iter().filter(|o| o["kind"] == "Role" || o["kind"] == "ClusterRole") {
        ensure!(!object["rules"].to_string().contains('*'), "{object}");
        if object["kind"] == "Role" {
            count += object["rules"].as_array().map_or(0, Vec::len);
        }
    }
    ensure!(count == RULES.len(), "{count} rules");
    for (role, group, resources, verbs) in RULES {
        let verbs: Vec<&str> = verbs.split(' ').collect();
        let rule = json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
        let found = objects.one("Role", role)?["rules"].as_array().context("no rules")?;
        ensure!(found.contains(&rule), "{role} lacks {rule}");
    }
    let reviews = &objects.one("ClusterRole", "argocd-image-updater-metrics-auth-role")?["rules"];
    same(
        reviews,
        &json!([
            {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
            {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
        ]),
    )?;
    let reader = &objects.one("ClusterRole", "argocd-image-updater-metrics-reader")?["rules"];
    same(reader, &json!([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]))
}

/// Kind, name, and labels: `name`, `part-of`, `component`, `managed-by`, control plane.
#[rustfmt::skip]
const LABELS: [(&str, &str, [&str; 5]); 12] = [
    ("ServiceAccount", "argocd-image-updater-controller", ["argocd-image-updater", "", "", "kustomize", ""]),
    ("Role", "argocd-image-updater-leader-election-role", ["argocd-image-updater", "", "", "kustomize", ""]),
    ("RoleBinding", "argocd-image-updater-manager-rolebinding", ["argocd-image-updater", "", "", "kustomize", ""]),
    ("Role", "argocd-image-updater-manager-role", ["", "", "", "", ""]),
    ("ClusterRole", "argocd-image-updater-metrics-auth-role", ["", "", "", "", ""]),
    ("ClusterRoleBinding", "argocd-image-updater-metrics-reader-rolebinding", ["", "", "", "", ""]),
    ("Role", "argocd-image-updater", ["argocd-image-updater", "argocd-image-updater", "argocd-image-updater-controller", "", ""]),
    ("ConfigMap", "argocd-image-updater-ssh-config", ["argocd-image-updater-ssh-config", "argocd-image-updater-controller", "", "", ""]),
    ("Secret", "argocd-image-updater-secret", ["argocd-image-updater-secret", "argocd-image-updater-controller", "", "", ""]),
    ("Service", "argocd-image-updater-controller-metrics-service", ["argocd-image-updater", "", "", "kustomize", CONTAINER]),
    ("Deployment", "argocd-image-updater-controller", ["argocd-image-updater-controller", "", "", "kustomize", CONTAINER]),
    ("NetworkPolicy", "allow-webhook-traffic", ["argocd-image-updater-controller", "", "", "kustomize", CONTAINER]),
];

fn labels(objects: &Objects) -> Result<()> {
    let well_known = ["name", "part-of", "component", "managed-by"];
    for (kind, name, labels) in LABELS {
        let keys = well_known.map(|key| format!("app.kubernetes.io/{key}"));
        let keys = keys.into_iter().chain(["control-plane".to_owned()]);
        let set = keys.zip(labels).filter(|(_, value)| !value.is_empty());
        let expected: serde_json::Map<String, Value> =
            set.map(|(key, value)| (key, Value::from(value))).collect();
        let found = objects.one(kind, name)?["metadata"].get("labels").cloned();
        let found = found.unwrap_or_else(|| json!({}));
        ensure!(found == Value::Object(expected), "{kind} {name}: {found}");
    }
    Ok(())
}
