//! Each folder of `tests/edit/` is one edit: its README says how to read them.

use std::fs;
use std::path::{Path, PathBuf};

use aiu_core::edit::{Edited, FileKind, HelmKeys, Keys, PluginKeys, Wish, apply};
use aiu_core::image::{ImageReference, TagRef};

/// What a folder holds.
struct Example {
    before: Option<String>,
    kind: FileKind,
    wishes: Vec<Wish>,
    expected: Expected,
}

enum Expected {
    Text(String),
    Unchanged,
    Error(String),
}

#[test]
fn every_example_gives_its_bytes_and_nothing_when_asked_again() {
    let mut folders = folders();
    folders.sort();
    assert!(folders.len() > 100, "the examples are there");
    let failures: Vec<String> = folders.iter().filter_map(|folder| failure(folder)).collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

fn failure(folder: &Path) -> Option<String> {
    let name = folder.file_name().unwrap().to_string_lossy();
    let example = read(folder);
    let edited = apply(example.kind, example.before.as_deref(), &example.wishes);
    match (example.expected, edited) {
        (Expected::Text(after), Ok(Edited::Changed(text))) if text == after => {
            let again = apply(example.kind, Some(&text), &example.wishes);
            (again != Ok(Edited::Unchanged)).then(|| format!("{name}: asked again, {again:?}"))
        }
        (Expected::Text(after), Ok(Edited::Changed(text))) => {
            Some(format!("{name}: wanted\n{after}got\n{text}"))
        }
        (Expected::Unchanged, Ok(Edited::Unchanged)) => None,
        (Expected::Error(words), Err(error)) if error.to_string().contains(&words) => None,
        (Expected::Error(words), edited) => {
            Some(format!("{name}: wanted '{words}', got {edited:?}"))
        }
        (_, edited) => Some(format!("{name}: got {edited:?}")),
    }
}

fn read(folder: &Path) -> Example {
    let edit = text(&folder.join("edit")).expect("each folder says what is asked");
    let mut lines = edit.lines();
    let kind = lines.next().expect("the first line is the kind of file");
    let expected = match (text(&folder.join("after.yaml")), text(&folder.join("error"))) {
        (Some(after), None) => Expected::Text(after),
        (None, Some(error)) => Expected::Error(error.trim().to_owned()),
        (None, None) => Expected::Unchanged,
        (Some(_), Some(_)) => panic!("{} has two ends", folder.display()),
    };
    Example {
        before: text(&folder.join("before.yaml")),
        kind: kind_of(kind),
        wishes: wishes(lines, kind_of(kind) == FileKind::PluginOverride),
        expected,
    }
}

fn kind_of(word: &str) -> FileKind {
    match word {
        "kustomization" => FileKind::Kustomization,
        "helm-values" => FileKind::HelmValues,
        "helm-override" => FileKind::HelmOverride,
        "kustomize-override" => FileKind::KustomizeOverride,
        "plugin-override" => FileKind::PluginOverride,
        _ => panic!("no kind of file is called '{word}'"),
    }
}

/// `image [NAME=]REFERENCE`, `spec KEY REFERENCE`, or `name KEY REPOSITORY` and `tag KEY TAG`,
/// which belong together.
fn wishes<'a>(lines: impl Iterator<Item = &'a str>, plugin: bool) -> Vec<Wish> {
    let mut wishes = Vec::new();
    let (mut name, mut tag) = (None, None);
    let mut pair: ImageReference = "any".parse().unwrap();
    for line in lines {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["image", image] => {
                let (name, image) = match image.split_once('=') {
                    Some((name, image)) => (Some(name.into()), image),
                    None => (None, image),
                };
                let keys = Keys::Kustomize { name };
                wishes.push(Wish { keys, image: image.parse().unwrap() });
            }
            ["spec", key, image] => {
                let keys = if plugin {
                    Keys::Plugin(PluginKeys::Spec(key.into()))
                } else {
                    Keys::Helm(HelmKeys::Spec(key.into()))
                };
                wishes.push(Wish { keys, image: image.parse().unwrap() });
            }
            ["name", key, repository] => {
                name = Some(key.into());
                pair.repository = repository.parse().unwrap();
            }
            ["tag", key, value] => {
                tag = Some(key.into());
                pair.tag = Some(value.parse::<TagRef>().unwrap());
            }
            _ => panic!("'{line}' asks for nothing"),
        }
    }
    if name.is_some() || tag.is_some() {
        let keys = if plugin {
            Keys::Plugin(PluginKeys::NameAndTag { name, tag })
        } else {
            Keys::Helm(HelmKeys::NameAndTag { name, tag })
        };
        wishes.push(Wish { keys, image: pair });
    }
    wishes
}

#[expect(clippy::disallowed_methods, reason = "tests may read fixture files")]
fn text(path: &Path) -> Option<String> {
    path.exists().then(|| fs::read_to_string(path).unwrap())
}

#[expect(clippy::disallowed_methods, reason = "tests may list fixture files")]
fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edit");
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}
