//! The reference pages against the code: every reason has its row.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words in the places of reasons that are none: kinds of YAML nodes in the reference's own
/// error texts, types of objects, operators of label selectors, and fields of templates.
const OTHER_WORDS: [&str; 28] = [
    "CosignKey",
    "BranchKey",
    "AppChanges",
    "AppNamespace",
    "NewTag",
    "OldTag",
    "TargetKey",
    "AliasNode",
    "MappingNode",
    "ScalarNode",
    "SequenceNode",
    "AppName",
    "ConfigMap",
    "ImageUpdater",
    "DoesNotExist",
    "NotIn",
    // A type, in its debug form.
    "TagFilter",
    // Of Amazon's protocols and files.
    "AccessKeyId",
    "EcsContainer",
    "ExternalId",
    "InvalidSignatureException",
    "RepositoryNotFoundException",
    "RoleArn",
    "RoleSessionName",
    "SecretAccessKey",
    "SessionToken",
    "UnrecognizedClientException",
    "WebIdentityToken",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "tests", "aiu-testkit"].contains(&name.as_str()) {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// `"TwoWords"` behind `=> `, `reason: `, `(`, or alone on a line: how reasons are written.
fn reasons(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.split("#[cfg(test)]").next().unwrap_or_default().lines() {
        for (at, _) in line.match_indices('"') {
            let before = line[..at].trim_end();
            let is_place = before.is_empty()
                || ["=>", "reason:", "(", "reason ="].iter().any(|end| before.ends_with(end));
            let word = line[at + 1..].split('"').next().unwrap_or_default();
            let capitals = word.chars().filter(char::is_ascii_uppercase).count();
            let is_word = word.starts_with(|c: char| c.is_ascii_uppercase())
                && word.chars().all(|c| c.is_ascii_alphabetic())
                && word.chars().any(|c| c.is_ascii_lowercase());
            if is_place && is_word && capitals >= 2 {
                found.insert(word.to_owned());
            }
        }
    }
    found
}

#[test]
fn every_reason_has_a_row_in_the_reference() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/reference/decisions.md")).unwrap();
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    let words: BTreeSet<String> =
        files.iter().flat_map(|file| reasons(&std::fs::read_to_string(file).unwrap())).collect();
    assert!(words.contains("WouldDowngrade") && words.contains("GitMissing"), "{words:?}");
    let missing: Vec<&String> = words
        .iter()
        .filter(|word| !OTHER_WORDS.contains(&word.as_str()))
        .filter(|word| !page.contains(&format!("`{word}`")))
        .collect();
    assert!(missing.is_empty(), "no row in docs/reference/decisions.md for {missing:?}");
}
