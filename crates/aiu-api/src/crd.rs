//! The `CustomResourceDefinition` of the resource, as text (spec 20 §1).

mod text;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::PREFIX;
use crate::image_updater::{ImageUpdaterSpec, ImageUpdaterStatus};
use crate::image_updater::{KIND, PLURAL, VERSION};

pub use text::yaml;

/// The definition as YAML, as it is committed, printed and applied.
#[must_use]
pub fn definition() -> String {
    format!("---\n{}", yaml(&document()))
}

/// The definition as data.
#[must_use]
pub fn document() -> Value {
    let singular = KIND.to_lowercase();
    #[rustfmt::skip]
    let columns = [
        ("Apps", "integer", ".status.applicationsMatched"),
        ("Images", "integer", ".status.imagesManaged"),
        ("Last Checked", "date", ".status.lastCheckedAt"),
        ("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#),
    ];
    let columns =
        columns.map(|(name, of, path)| json!({"name": name, "type": of, "jsonPath": path}));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{PLURAL}.{PREFIX}")},
        "spec": {
            "group": PREFIX,
            "names": {"kind": KIND, "listKind": format!("{KIND}List"), "plural": PLURAL, "singular": singular},
            "scope": "Namespaced",
            "versions": [{
                "name": VERSION,
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": columns,
                "schema": {"openAPIV3Schema": root()},
            }],
        },
    })
}

/// The schema of a whole object. It asks for no `spec`, so that what is stored without one stays
/// readable.
fn root() -> Value {
    json!({
        "description": "Keeps images of Argo CD Applications up to date.",
        "type": "object",
        "properties": {
            "apiVersion": {"description": "Group and version of this object.", "type": "string"},
            "kind": {"description": "Kind of this object.", "type": "string"},
            "metadata": {"type": "object"},
            "spec": schema_of::<ImageUpdaterSpec>(),
            "status": schema_of::<ImageUpdaterStatus>(),
        },
    })
}

/// The schema of a type in the form that the API server takes: structural, without references,
/// and without `null`, which it drops by itself.
fn schema_of<T: schemars::JsonSchema>() -> Value {
    let mut settings = SchemaSettings::openapi3();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    settings.transforms.clear();
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(root) = schema.as_object_mut() {
        root.remove("title");
    }
    simplify(&mut schema);
    schema
}

fn simplify(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    without_null(map);
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = plain(text);
    }
    // What an absent list decodes to is no default that should be stored.
    map.retain(|key, value| key != "default" || value.is_boolean());
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(simplify);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(key) {
            simplify(inner);
        }
    }
}

/// An optional field is one that may be absent, not one that may be `null`.
fn without_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
}

/// A comment of the source as a description for users: without links and sections of the
/// specification, on one line.
fn plain(comment: &str) -> String {
    let mut text = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(start) = text.find(" (spec ") {
        let Some(end) = text[start..].find(')') else { break };
        text.replace_range(start..=start + end, "");
    }
    text
}

#[cfg(test)]
mod tests;
