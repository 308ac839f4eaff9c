//! Fills `corpus/` from the vectors and the edit examples of `aiu-core`: one file per input, in the
//! form that its target reads. Run it again at any time; it only adds.

#![expect(clippy::print_stdout, reason = "the terminal is the interface")]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use serde_json::Value;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Inputs longer than this would only slow the fuzzer down.
const LONGEST: usize = 16 * 1024;

/// For each target without edits: the file of vectors, the field of a case's input that it is
/// about, and what stands before and behind its text.
const TEXTS: [(&str, &str, &str, &str, &str); 11] = [
    ("version", "semver_parse", "text", "", "\0v1.2.3-rc.1"),
    ("version", "semver_pick", "tags", "1.2.3+a\0", ""),
    ("constraint", "semver_constraints", "constraint", "", "\x001.2.3-rc1"),
    ("glob", "glob", "pattern", "", "\0v1.2.3-rc.1"),
    ("glob", "glob", "names", "*-[a-c]?\0", ""),
    ("regexp", "regexp", "expr", "", "\0v1.2.3-rc.1"),
    ("image", "image_ref", "identifier", "", ""),
    ("image", "image_ref", "entry", "", ""),
    ("registries", "config", "yaml", "ghcr.io/org/app\0", ""),
    ("registries", "config", "registries_conf", "nginx\0", ""),
    ("template", "templates", "template", "org/app\x001.2.3\0", ""),
];

/// For each target with edits, the first words of the `edit` files that are for it.
const EDITS: [(&str, &[&str]); 5] = [
    ("application", &["application"]),
    ("helm_values", &["helm-values"]),
    ("kustomization", &["kustomization"]),
    ("manifest", &["manifest"]),
    ("override_file", &["helm-override", "kustomize-override", "plugin-override"]),
];

fn main() -> Result<(), Box<dyn Error>> {
    for (target, file, field, before, behind) in TEXTS {
        let inputs = inputs(file)?;
        let texts: BTreeSet<&str> = inputs.iter().flat_map(|input| texts(&input[field])).collect();
        plant(target, texts.into_iter().map(|text| [before, text, behind].concat()))?;
    }
    plant("annotations", inputs("config")?.iter().filter_map(annotations))?;
    plant("yaml", inputs("helm_values_edit")?.iter().filter_map(assignment))?;
    plant("kustomization", inputs("kustomization_edit")?.iter().filter_map(kustomization))?;
    let examples = examples()?;
    for (target, kinds) in EDITS {
        let of_target = examples.iter().filter(|example| {
            kinds.contains(&example.split([' ', '\n']).next().unwrap_or_default())
        });
        plant(target, of_target.cloned())?;
    }
    Ok(())
}

/// Writes the seeds of one target, named after their content.
fn plant(target: &str, seeds: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let folder = Path::new(HERE).join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    let mut count = 0;
    for seed in seeds.filter(|seed| seed.len() <= LONGEST) {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        fs::write(folder.join(format!("seed-{:016x}", hasher.finish())), seed)?;
        count += 1;
    }
    println!("{count:5} seeds for {target}");
    Ok(())
}

/// The inputs of all cases of a file of vectors.
fn inputs(file: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let folder = Path::new(HERE).join("../crates/aiu-core/tests/vectors");
    let text = fs::read_to_string(folder.join(format!("{file}.json")))?;
    let mut file: Value = serde_json::from_str(&text)?;
    let cases = file["cases"].as_array_mut().map(std::mem::take).unwrap_or_default();
    Ok(cases.into_iter().map(|mut case| case["in"].take()).collect())
}

/// A text, or the texts of a list.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn annotations(input: &Value) -> Option<String> {
    let annotations = input["annotations"].as_object()?;
    let line = |(key, value): (&String, &Value)| Some(format!("{key}={}\n", value.as_str()?));
    annotations.iter().map(line).collect()
}

/// The first write of a case about values files.
fn assignment(input: &Value) -> Option<String> {
    let write = &input["writes"][0];
    let parts = [write["path"].as_str()?, write["value"].as_str()?, input["yaml"].as_str()?];
    Some(parts.join("\0"))
}

fn kustomization(input: &Value) -> Option<String> {
    let images = texts(&input["images"]).into_iter();
    let wishes: String = images.flat_map(|image| ["image ", image, "\n"]).collect();
    Some(["kustomization\n", &wishes, "\0", input["yaml"].as_str()?].concat())
}

/// Each example that has a text: its `edit` file, NUL, the text.
fn examples() -> Result<Vec<String>, Box<dyn Error>> {
    let mut examples = Vec::new();
    let mut folders: Vec<PathBuf> =
        fs::read_dir(Path::new(HERE).join("../crates/aiu-core/tests/edit"))?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
    folders.sort();
    for folder in folders {
        let read = |name| fs::read_to_string(folder.join(name));
        if let (Ok(edit), Ok(before)) = (read("edit"), read("before.yaml")) {
            examples.push([&edit, "\0", &before].concat());
        }
    }
    Ok(examples)
}
