//! The answers of the reference program on annotations, levels and write-back settings; the README
//! beside the file tells how to read it.

use std::collections::BTreeMap;

use aiu_api::annotations;
use aiu_api::image_updater::{CommonUpdateSettings, WriteBackConfig};
use aiu_api::write_back::{GitWriteBack, TargetSetting, WriteBack, parse, target_path};
use aiu_core::batch::AppName;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The cases of one kind: id, input, the right answer.
fn cases(kind: &str) -> Vec<(String, Value, Value)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../aiu-core/tests/vectors/config.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let of_kind = file["cases"].as_array().unwrap().iter().filter(|case| case["kind"] == kind);
    let case = |case: &Value| {
        let right = if case["upstream_fault"] == true { "want" } else { "out" };
        (case["id"].as_str().unwrap().to_owned(), case["in"].clone(), case[right].clone())
    };
    let cases: Vec<_> = of_kind.map(case).collect();
    assert!(cases.len() > 50, "cases of {kind} are missing");
    cases
}

/// Merges the levels of every case of a kind, the most specific one last.
fn merges<T: DeserializeOwned + Serialize + Default>(kind: &str, over: impl Fn(&T, &T) -> T) {
    for (id, input, right) in cases(kind) {
        let levels: Vec<Option<T>> = serde_json::from_value(input["levels"].clone()).unwrap();
        let merged = levels.iter().flatten().fold(T::default(), |general, own| over(own, &general));
        let mut merged = serde_json::to_value(&merged).unwrap();
        // A list that was set to nothing is not printed by the reference.
        merged.as_object_mut().unwrap().retain(|_, value| *value != json!([]));
        assert_eq!(merged, right["merged"], "{id}: {input}");
    }
}

#[test]
fn levels_are_merged_field_by_field() {
    merges("merge_write_back", WriteBackConfig::over);
    merges("merge_update_settings", CommonUpdateSettings::over);
}

/// What a key that is not set reads as; the reference says null where nothing is set.
fn set(value: &Value) -> Value {
    if value.is_null() { json!({}) } else { value.clone() }
}

/// An error anywhere stops the whole Application, in the reference too, and in its words up to
/// what its library says.
#[test]
fn annotations_are_read_as_the_reference_does() {
    let app = AppName { namespace: "argocd".into(), name: "my-app".into() };
    for (id, input, right) in cases("annotations") {
        let prefix = input["prefix"].as_str().unwrap();
        let notes: BTreeMap<String, String> =
            serde_json::from_value(input["annotations"].clone()).unwrap();
        let notes = notes.into_iter().map(|(key, text)| (format!("{prefix}{key}"), text)).collect();
        let told = ["images", "wide_settings"].map(|part| right[part]["error"].as_str());
        let error = told.into_iter().flatten().next();
        let error = error.and_then(|text| text.split(": strconv").next());
        match (annotations::read(&app, &notes), error) {
            (Ok(read), None) => {
                let ours = json!([read.images, read.settings, read.write_back]);
                let right = json!([
                    right["images"],
                    set(&right["wide_settings"]),
                    set(&right["write_back"])
                ]);
                assert_eq!(ours, right, "{id}: {input}");
            }
            (Err(ours), Some(error)) => {
                assert!(ours.to_string().starts_with(error), "{id}: {ours}, wanted {error}");
            }
            (ours, error) => panic!("{id}: {input}: {ours:?}, wanted {error:?}"),
        }
    }
}

/// A path as the reference prints it.
fn shown(path: &str) -> String {
    if path.is_empty() { ".".to_owned() } else { path.to_owned() }
}

fn of_git(git: &GitWriteBack, input: &Value) -> Result<Value, String> {
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let app = AppName {
        namespace: text("application_namespace").into(),
        name: text("application").into(),
    };
    let path = |target: &TargetSetting| {
        let path = target_path(target, text("source_path"), &app, text("client_namespace"));
        path.map(|path| shown(path.as_str())).map_err(|error| error.to_string())
    };
    let own = path(&git.target)?;
    let (target, base) = match &git.target {
        TargetSetting::Kustomization { .. } => (path(&TargetSetting::Override)?, own),
        _ => (own, String::new()),
    };
    let name = |name: &Option<std::sync::Arc<str>>| name.as_deref().unwrap_or_default().to_owned();
    let repository = git.repository.as_deref().unwrap_or("https://git.example.com/team/deploy.git");
    Ok(json!({
        "branch": name(&git.base), "kustomize_base": base, "labels": [], "method": "git",
        "pull_request": "", "push_branch_template": name(&git.push), "repository": repository,
        "target": target,
    }))
}

/// Where we differ on purpose, by what the case says.
fn deviation(config: &WriteBackConfig) -> Option<&'static str> {
    let git = config.git_config.as_ref();
    if git.is_some_and(|git| git.pull_request.is_some()) {
        return Some("pull requests are not opened yet, and nothing is pushed past them");
    }
    if git.and_then(|git| git.repository.as_deref()) == Some("") {
        return Some("an empty repository is none");
    }
    if git.and_then(|git| git.branch.as_deref()) == Some(" main : feature ") {
        return Some("blanks are no part of a branch's name");
    }
    match config.method.as_deref() {
        Some("") => return Some("an empty method is none"),
        Some("git:secret:") => return Some("a Secret without a name is told at once"),
        _ => {}
    }
    let target = git.and_then(|git| git.write_back_target.as_deref())?;
    TARGETS.iter().find(|(known, _)| *known == target).map(|(_, why)| *why)
}

/// Targets that are read another way, and why.
#[rustfmt::skip]
const TARGETS: &[(&str, &str)] = &[
    ("",                              "an empty target is none"),
    ("/abs/file.yaml",                "a leading slash means the root, as behind the words"),
    ("kustomization:/",               "the root of the repository is a folder like others"),
    ("kustomization://x",             "slashes in a row are one"),
    ("helmvalues://x.yaml",           "slashes in a row are one"),
    ("kustomization: x",              "blanks around a path are not part of it"),
    ("helmvalues: values.yaml",       "blanks around a path are not part of it"),
    ("helmvalues:",                   "nothing behind the colon is the word alone"),
    ("helmvalues:/",                  "refused when it is looked at: it is a folder"),
    ("helmvalues:dir/",               "refused when it is looked at: it is a folder"),
    ("helmvaluesX",                   "what is almost a known word is told, not made a file"),
    ("Helmvalues:x.yaml",             "what is almost a known word is told, not made a file"),
    ("Kustomization:x",               "what is almost a known word is told, not made a file"),
    ("kustomization-prod",            "what is almost a known word is told, not made a file"),
    ("overlays/kustomization.yaml/",  "refused when it is looked at: it is a folder"),
];

#[test]
fn settings_are_understood_as_the_reference_does() {
    let (mut same, mut different) = (0, Vec::new());
    for (id, input, right) in cases("write_back") {
        let config: WriteBackConfig =
            serde_json::from_value(input["writeBackConfig"].clone()).unwrap();
        if deviation(&config).is_some() {
            continue;
        }
        let ours = match parse(&config) {
            Ok(WriteBack::Application) => Ok(None),
            Ok(WriteBack::Git(git)) => of_git(&git, &input).map(Some),
            Err(error) => Err(error.to_string()),
        };
        let agrees = match (&ours, &right["error"]) {
            (Err(_), Value::String(_)) => true,
            // Without the git method its settings mean nothing.
            (Ok(None), Value::Null) => right["method"] == "argocd",
            (Ok(Some(answer)), Value::Null) => *answer == right,
            _ => false,
        };
        if agrees {
            same += 1;
        } else {
            different.push(format!("{id}: {input}\n  ours  {ours:?}\n  right {right}"));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert!(same > 160, "only {same} were judged");
}
