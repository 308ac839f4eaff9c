//! What the schema says beyond the types: patterns, list kinds, and rules in CEL (spec 20 §2, §3).
//!
//! A list's kind decides how two appliers' entries are merged; a rule's message is what a user
//! reads at admission. Texts that tests of the original pin are given word by word.

use schemars::Schema;
use serde_json::{Value, json};

// The hyphen before the dot is a literal character to the API server, which is why these are not
// spelled in the way of other patterns (spec 20 §5).
pub(super) const ALIAS: &str = "^[a-zA-Z0-9][a-zA-Z0-9-._]*$";
pub(super) const METHOD: &str = "^(argocd|git|git:[a-zA-Z0-9][a-zA-Z0-9-._/:]*)$";
pub(super) const CONDITION_REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
pub(super) const CONDITION_TYPE: &str = "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

/// Longest label of a request, and the most of them.
const LABEL: u32 = 255;
const LABELS: u32 = 100;
/// Longest key of a plugin's variable.
const PLUGIN_KEY: u32 = 253;

pub(super) fn atomic(schema: &mut Schema) {
    schema.insert("x-kubernetes-list-type".to_owned(), json!("atomic"));
}

pub(super) fn at_least_zero(schema: &mut Schema) {
    schema.insert("minimum".to_owned(), json!(0));
}

fn list_by(schema: &mut Schema, key: &str) {
    schema.insert("x-kubernetes-list-type".to_owned(), json!("map"));
    schema.insert("x-kubernetes-list-map-keys".to_owned(), json!([key]));
}

pub(super) fn list_by_alias(schema: &mut Schema) {
    list_by(schema, "alias");
}

pub(super) fn list_by_type(schema: &mut Schema) {
    list_by(schema, "type");
}

pub(super) fn list_by_name_pattern(schema: &mut Schema) {
    list_by(schema, "namePattern");
    schema.insert("minItems".to_owned(), json!(1));
}

pub(super) fn request_labels(schema: &mut Schema) {
    atomic(schema);
    schema.insert("maxItems".to_owned(), json!(LABELS));
    if let Some(items) = schema.get_mut("items").and_then(Value::as_object_mut) {
        items.insert("minLength".to_owned(), json!(1));
        items.insert("maxLength".to_owned(), json!(LABEL));
    }
}

/// Adds a rule; one object may have several.
fn rule(schema: &mut Schema, rule: &str, message: &str) {
    let rules = schema.ensure_object().entry("x-kubernetes-validations").or_insert(json!([]));
    if let Some(rules) = rules.as_array_mut() {
        rules.push(json!({"rule": rule, "message": message}));
    }
}

/// How many of the fields are there, in CEL.
fn count(fields: &[&str]) -> String {
    let counted = fields.iter().map(|field| format!("(has(self.{field}) ? 1 : 0)"));
    counted.collect::<Vec<_>>().join(" + ")
}

/// Two rules, since the cost of counting five in one, for every reference of a list without a
/// bound, is above what the API server grants a rule.
pub(super) fn one_forge(schema: &mut Schema) {
    let message =
        "Exactly one of github or gitlab must be set, or of gitea, bitbucket and azureDevOps";
    let further = "has(self.gitea) || has(self.bitbucket) || has(self.azureDevOps)";
    let old = count(&["github", "gitlab"]);
    rule(schema, &format!("{old} + ({further} ? 1 : 0) == 1"), message);
    let further = count(&["gitea", "bitbucket", "azureDevOps"]);
    rule(schema, &format!("{further} <= 1"), message);
}

pub(super) fn one_target(schema: &mut Schema) {
    rule(
        schema,
        &format!("{} == 1", count(&["helm", "kustomize", "plugin"])),
        "Exactly one of helm, kustomize, or plugin must be specified within manifestTargets if the block is present.",
    );
}

pub(super) fn images_or_annotations(schema: &mut Schema) {
    rule(
        schema,
        "!(has(self.useAnnotations) && self.useAnnotations == true) ? (has(self.images) && size(self.images) > 0) : true",
        "Either useAnnotations must be true, or images must be provided with at least one item",
    );
}

pub(super) fn key_if_enabled(schema: &mut Schema) {
    rule(
        schema,
        "self.enabled == false || has(self.cosignKey)",
        "at least one verification method (cosignKey) is required when verification is enabled",
    );
}

/// Unlike the keys of Helm, those of a plugin are bounded, and one of two is needed.
pub(super) fn plugin_keys(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for key in properties.into_iter().flat_map(|map| map.values_mut()) {
        if let Some(key) = key.as_object_mut() {
            key.insert("minLength".to_owned(), json!(1));
            key.insert("maxLength".to_owned(), json!(PLUGIN_KEY));
        }
    }
    rule(
        schema,
        "has(self.spec) || has(self.name)",
        "At least one of spec or name must be specified in plugin target.",
    );
}
