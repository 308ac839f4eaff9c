use super::*;

/// A schema inside the definition: `spec.applicationRefs[].images` and the like.
fn at<'d>(document: &'d Value, path: &str) -> &'d Value {
    let mut schema = &document["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let (name, items) = step.strip_suffix("[]").map_or((step, false), |name| (name, true));
        schema = &schema["properties"][name];
        if items {
            schema = &schema["items"];
        }
        assert!(schema.is_object(), "no {step} of {path}");
    }
    schema
}

/// Spec 20 §1.
#[test]
fn identity_and_columns_are_the_originals() {
    let document = document();
    let spec = &document["spec"];
    let version = &spec["versions"][0];
    assert_eq!(document["metadata"]["name"], "imageupdaters.argocd-image-updater.argoproj.io");
    assert_eq!(spec["scope"], "Namespaced");
    assert_eq!(spec["versions"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        spec["names"],
        json!({"kind": "ImageUpdater", "listKind": "ImageUpdaterList", "plural": "imageupdaters", "singular": "imageupdater"})
    );
    assert_eq!(version["subresources"], json!({"status": {}}));
    let columns = version["additionalPrinterColumns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().filter_map(|column| column["name"].as_str()).collect();
    assert_eq!(names, ["Apps", "Images", "Last Checked", "Ready"]);
    assert!(columns.iter().all(|column| column.get("priority").is_none()));
    assert!(at(&document, "").get("required").is_none(), "a stored object may lack a spec");
}

/// Spec 20 §2, §3: what each block asks for, and how its lists are merged.
#[test]
fn blocks_ask_for_what_the_originals_ask_for() {
    let (reference, image) = ("spec.applicationRefs[]", "spec.applicationRefs[].images[]");
    #[rustfmt::skip]
    let rows: &[(String, &str, Value)] = &[
        ("spec".into(), "required", json!(["applicationRefs"])),
        ("spec.applicationRefs".into(), "minItems", json!(1)),
        ("spec.applicationRefs".into(), "x-kubernetes-list-type", json!("map")),
        ("spec.applicationRefs".into(), "x-kubernetes-list-map-keys", json!(["namePattern"])),
        (reference.into(), "required", json!(["namePattern"])),
        (format!("{reference}.useAnnotations"), "default", json!(false)),
        (format!("{reference}.labelSelectors"), "x-kubernetes-map-type", json!("atomic")),
        (format!("{reference}.labelSelectors.matchLabels"), "additionalProperties", json!({"type": "string"})),
        (format!("{reference}.labelSelectors.matchExpressions"), "x-kubernetes-list-type", json!("atomic")),
        (format!("{reference}.labelSelectors.matchExpressions[].values"), "x-kubernetes-list-type", json!("atomic")),
        (format!("{reference}.labelSelectors.matchExpressions[]"), "required", json!(["key", "operator"])),
        (format!("{reference}.images"), "x-kubernetes-list-type", json!("map")),
        (format!("{reference}.images"), "x-kubernetes-list-map-keys", json!(["alias"])),
        (image.into(), "required", json!(["alias", "imageName"])),
        (format!("{image}.alias"), "pattern", json!("^[a-zA-Z0-9][a-zA-Z0-9-._]*$")),
        (format!("{image}.manifestTargets.kustomize"), "required", json!(["name"])),
        (format!("{image}.manifestTargets.plugin.spec"), "maxLength", json!(253)),
        (format!("{image}.manifestTargets.plugin.tag"), "minLength", json!(1)),
        (format!("{image}.imagesVerification.enabled"), "default", json!(true)),
        (format!("{image}.imagesVerification.cosignKey"), "required", json!(["secretName", "key"])),
        ("spec.commonUpdateSettings.ignoreTags".into(), "x-kubernetes-list-type", json!("atomic")),
        ("spec.commonUpdateSettings.platforms".into(), "x-kubernetes-list-type", json!("atomic")),
        ("spec.writeBackConfig.method".into(), "pattern", json!("^(argocd|git|git:[a-zA-Z0-9][a-zA-Z0-9-._/:]*)$")),
        ("spec.writeBackConfig.gitConfig.pullRequest.labels".into(), "maxItems", json!(100)),
        ("spec.writeBackConfig.gitConfig.pullRequest.labels".into(), "items", json!({"type": "string", "minLength": 1, "maxLength": 255})),
        ("status.observedGeneration".into(), "format", json!("int64")),
        ("status.applicationsMatched".into(), "format", json!("int32")),
        ("status.imagesManaged".into(), "minimum", json!(0)),
        ("status.lastCheckedAt".into(), "format", json!("date-time")),
        ("status.recentUpdates".into(), "x-kubernetes-list-type", json!("atomic")),
        ("status.recentUpdates[]".into(), "required", json!(["alias", "image", "newVersion", "applicationsUpdated", "updatedAt"])),
        ("status.conditions".into(), "x-kubernetes-list-map-keys", json!(["type"])),
        ("status.conditions[]".into(), "required", json!(["type", "status", "reason", "message", "lastTransitionTime"])),
        ("status.conditions[].status".into(), "enum", json!(["True", "False", "Unknown"])),
        ("status.conditions[].reason".into(), "maxLength", json!(1024)),
        ("status.conditions[].type".into(), "maxLength", json!(316)),
        ("status.conditions[].message".into(), "maxLength", json!(32768)),
    ];
    let document = document();
    for (path, key, expected) in rows {
        assert_eq!(at(&document, path).get(key), Some(expected), "{key} of {path}");
    }
    // Nothing is asked for where the original asks for nothing.
    for path in ["spec.commonUpdateSettings", "spec.writeBackConfig", "status"] {
        assert_eq!(at(&document, path).get("required"), None, "{path}");
    }
}

/// Spec 20 §2, first paragraph; 20 §3.4: a strategy or method that was not written is not stored.
#[test]
fn nothing_is_nullable_kept_unknown_or_filled_in() {
    fn walk(value: &Value, path: &str, defaults: &mut Vec<String>) {
        let Some(map) = value.as_object() else { return };
        for (key, inner) in map {
            let path = format!("{path}.{key}");
            match key.as_str() {
                "nullable" | "$ref" | "anyOf" | "oneOf" | "allOf" | "$schema" | "title"
                | "definitions" => {
                    panic!("{path}");
                }
                "x-kubernetes-preserve-unknown-fields" => panic!("{path}"),
                "default" => defaults.push(path.clone()),
                "type" if inner.is_array() => panic!("{path} is {inner}"),
                _ => {}
            }
            walk(inner, &path, defaults);
        }
    }
    let document = document();
    let mut defaults = Vec::new();
    walk(&document["spec"]["versions"][0]["schema"], "", &mut defaults);
    let others = |path: &&String| {
        !path.ends_with("useAnnotations.default") && !path.ends_with("enabled.default")
    };
    assert_eq!(defaults.iter().find(others), None);
    assert_eq!(defaults.len(), 4, "{defaults:?}");
}

#[test]
fn descriptions_speak_to_users() {
    let text = definition();
    assert!(!text.contains("(spec"), "{text}");
    assert!(!text.contains("(40 "), "{text}");
    assert!(
        text.starts_with(
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        ),
        "{text}"
    );
}
