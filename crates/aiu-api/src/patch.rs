//! What is changed in an Application that lives in a cluster: a JSON Patch of exactly the values
//! that an edit moved, guarded by the version that was read (ARCHITECTURE.md, "Writing back").
//!
//! The edit itself is the one that a folder of manifests gets: the parts of the spec that we own
//! are kept as a small text, the editor changes that text, and the difference between the two
//! becomes the operations. Everything else of the object is never sent, so it cannot be lost.

use serde_json::{Map, Value, json};

/// The blocks of a source that images are written to, and the list of each.
const BLOCKS: [(&str, &str); 3] =
    [("helm", "parameters"), ("kustomize", "images"), ("plugin", "env")];

/// The parts of an Application's spec that edits read and write, as the text that they work on.
///
/// Positions in lists are the object's own, so that the operations fit it.
pub fn owned_text(spec: &Value) -> String {
    let mut owned = Map::new();
    if let Some(source) = spec.get("source").filter(|source| source.is_object()) {
        owned.insert("source".to_owned(), owned_source(source));
    }
    if let Some(sources) = spec.get("sources").and_then(Value::as_array) {
        owned.insert("sources".to_owned(), sources.iter().map(owned_source).collect());
    }
    if let Some(source) = spec.pointer("/sourceHydrator/drySource") {
        owned.insert("sourceHydrator".to_owned(), json!({ "drySource": owned_source(source) }));
    }
    json!({ "spec": owned }).to_string()
}

fn owned_source(source: &Value) -> Value {
    let mut owned = Map::new();
    for (block, list) in BLOCKS {
        let Some(found) = source.get(block).filter(|found| !found.is_null()) else { continue };
        let kept = match found.get(list).filter(|list| !list.is_null()) {
            Some(entries) => json!({ list: entries }),
            None => json!({}),
        };
        owned.insert(block.to_owned(), kept);
    }
    Value::Object(owned)
}

/// Why no patch can be made of an edit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the edited spec cannot be read again: {0}")]
pub struct Unpatchable(String);

/// A JSON Patch that makes an object, read at `version`, differ as `after` differs from `before`.
///
/// The API server answers 409 if the object has moved on, instead of applying positions to lists
/// that are no longer the same.
pub fn guarded(before: &str, after: &str, version: &str) -> Result<Value, Unpatchable> {
    let read = |text: &str| {
        serde_json::from_str::<Value>(text).map_err(|error| Unpatchable(error.to_string()))
    };
    let mut operations =
        vec![json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": version })];
    differences(&read(before)?, &read(after)?, "", &mut operations);
    Ok(Value::Array(operations))
}

/// Appends the operations that lead from one value to the other.
fn differences(before: &Value, after: &Value, path: &str, operations: &mut Vec<Value>) {
    let under = |step: &dyn std::fmt::Display| format!("{path}/{step}");
    match (before, after) {
        _ if before == after => {}
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in after {
                let path = under(&escaped(key));
                match before.get(key) {
                    Some(was) => differences(was, value, &path, operations),
                    None => operations.push(json!({ "op": "add", "path": path, "value": value })),
                }
            }
            let gone = before.keys().filter(|key| !after.contains_key(*key));
            let gone = gone.map(|key| json!({ "op": "remove", "path": under(&escaped(key)) }));
            operations.extend(gone);
        }
        (Value::Array(before), Value::Array(after)) if before.len() <= after.len() => {
            for (index, value) in after.iter().enumerate() {
                let path = under(&index);
                match before.get(index) {
                    Some(was) => differences(was, value, &path, operations),
                    None => operations.push(json!({ "op": "add", "path": path, "value": value })),
                }
            }
        }
        _ => operations.push(json!({ "op": "replace", "path": path, "value": after })),
    }
}

/// A key as a step of a JSON pointer (RFC 6901).
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use aiu_core::edit::{Edited, HelmKeys, Keys, PluginKeys, SourceRef, Wish, apply_in_spec};

    use super::*;

    fn helm() -> Keys {
        let key = |key: &str| Some(Arc::from(key));
        Keys::Helm(HelmKeys::NameAndTag { name: key("image.name"), tag: key("image.tag") })
    }

    /// The operations behind the guard, one line each.
    fn patched(spec: &str, source: SourceRef, keys: Keys, image: &str) -> String {
        let spec: Value = serde_saphyr::from_str(spec).unwrap();
        let before = owned_text(&spec);
        let wish = Wish { keys, image: image.parse().unwrap() };
        let after = match apply_in_spec(&before, 0, source, &[wish]).unwrap() {
            Edited::Unchanged => return "nothing".to_owned(),
            Edited::Changed(after) => after,
        };
        let patch = guarded(&before, &after, "7").unwrap();
        let operations = patch.as_array().unwrap();
        let guard = json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"});
        assert_eq!(operations[0], guard);
        let shown = operations[1..].iter().map(|operation| {
            let text = |key: &str| operation[key].as_str().unwrap().to_owned();
            format!("{} {} {}", text("op"), text("path"), operation["value"])
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    /// Spec 21 §8.1, table "Setting", as operations.
    #[test]
    fn an_edit_becomes_operations_at_its_own_places() {
        let kustomize = || Keys::Kustomize { name: None };
        let plugin = || Keys::Plugin(PluginKeys::Spec("IMAGE".into()));
        #[rustfmt::skip]
        let rows = [
            ("{source: {helm: {parameters: [{name: other, value: x}, {name: image.tag, value: 1.0.0, forceString: true}, {name: image.name, value: org/app, forceString: true}]}}}",
             SourceRef::Single, helm(), "org/app:1.0.1",
             r#"replace /spec/source/helm/parameters/1/value "1.0.1""#),
            ("{source: {helm: {values: 'a: 1'}}}", SourceRef::Single, helm(), "org/app:1.10",
             r#"add /spec/source/helm/parameters [{"forceString":true,"name":"image.name","value":"org/app"},{"forceString":true,"name":"image.tag","value":"1.10"}]"#),
            ("{source: {path: x}}", SourceRef::Single, kustomize(), "org/app:1.0.1",
             r#"add /spec/source/kustomize {"images":["org/app:1.0.1"]}"#),
            ("{source: {kustomize: {images: ['org/app:1.0.0', 'b:2']}}}", SourceRef::Single, kustomize(), "org/app:1.0.1",
             r#"replace /spec/source/kustomize/images/0 "org/app:1.0.1""#),
            ("{source: {kustomize: {images: ['org/app:1.0.1']}}}", SourceRef::Single, kustomize(), "org/app:1.0.1", "nothing"),
            ("{sources: [{ref: a}, {kustomize: {images: ['b:2']}}]}", SourceRef::Multi(1), kustomize(), "org/app:1.0.1",
             r#"add /spec/sources/1/kustomize/images/1 "org/app:1.0.1""#),
            ("{source: {plugin: null}}", SourceRef::Single, plugin(), "org/app:1",
             r#"add /spec/source/plugin {"env":[{"name":"IMAGE","value":"org/app:1"}]}"#),
            ("{sourceHydrator: {drySource: {kustomize: {}}}}", SourceRef::DrySource, kustomize(), "org/app:1",
             r#"add /spec/sourceHydrator/drySource/kustomize/images ["org/app:1"]"#),
        ];
        for (spec, source, keys, image, expected) in rows {
            assert_eq!(patched(spec, source, keys, image), expected, "{spec}");
        }
    }

    #[test]
    fn keys_are_escaped_as_pointers_want_it() {
        let patch = guarded(r#"{"a/b":{"c~d":1}}"#, r#"{"a/b":{"c~d":2}}"#, "1").unwrap();
        assert_eq!(patch[1]["path"], "/a~1b/c~0d");
    }
}
