//! Each folder of `tests/edit/` is one edit: its README says how to read them.

use std::fs;
use std::path::{Path, PathBuf};

use aiu_core::edit::{
    EditError, Edited, FileKind, HelmKeys, Keys, PluginKeys, SourceRef, Wish, apply, apply_in_spec,
};
use aiu_core::image::{ImageReference, TagRef};

/// What a folder holds.
struct Example {
    before: Option<String>,
    target: Target,
    wishes: Vec<Wish>,
    expected: Expected,
}

/// What is edited.
#[derive(Clone, Copy)]
enum Target {
    File(FileKind),
    Application { source: SourceRef, document: usize },
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
    assert_eq!(rows_without_folder(&folders), [""; 0], "the specification's examples are here");
    let failures: Vec<String> = folders.iter().filter_map(|folder| failure(folder)).collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// H1 to H70, K71 to K103, A104 to A117, and B3-1 to B3-6, by the beginning of a folder's name. The
/// seventh, an image that stands nowhere, is no edit but a scenario.
fn rows_without_folder(folders: &[PathBuf]) -> Vec<String> {
    let names: Vec<_> =
        folders.iter().map(|folder| folder.file_name().unwrap().to_string_lossy()).collect();
    let edits = (1..=117).map(|number| match number {
        ..=70 => format!("H{number:02}-"),
        71..=103 => format!("K{number}-"),
        _ => format!("A{number}-"),
    });
    let manifests = (1..=6).map(|number| format!("B3-{number}-"));
    edits.chain(manifests).filter(|row| !names.iter().any(|name| name.starts_with(row))).collect()
}

fn failure(folder: &Path) -> Option<String> {
    let name = folder.file_name().unwrap().to_string_lossy();
    let example = read(folder);
    let edited = example.ask(example.before.as_deref());
    match (&example.expected, edited) {
        (Expected::Text(after), Ok(Edited::Changed(text))) if text == *after => {
            let again = example.ask(Some(&text));
            (again != Ok(Edited::Unchanged)).then(|| format!("{name}: asked again, {again:?}"))
        }
        (Expected::Text(after), Ok(Edited::Changed(text))) => {
            Some(format!("{name}: wanted\n{after}got\n{text}"))
        }
        (Expected::Unchanged, Ok(Edited::Unchanged)) => None,
        (Expected::Error(words), Err(error)) if error.to_string().contains(words) => None,
        (Expected::Error(words), edited) => {
            Some(format!("{name}: wanted '{words}', got {edited:?}"))
        }
        (_, edited) => Some(format!("{name}: got {edited:?}")),
    }
}

impl Example {
    fn ask(&self, text: Option<&str>) -> Result<Edited, EditError> {
        match self.target {
            Target::File(kind) => apply(kind, text, &self.wishes),
            Target::Application { source, document } => apply_in_spec(
                text.expect("an Application is there"),
                document,
                source,
                &self.wishes,
            ),
        }
    }
}

fn read(folder: &Path) -> Example {
    let edit = text(&folder.join("edit")).expect("each folder says what is asked");
    let mut lines = edit.lines();
    let target = lines.next().expect("the first line is the kind of file");
    let expected = match (text(&folder.join("after.yaml")), text(&folder.join("error"))) {
        (Some(after), None) => Expected::Text(after),
        (None, Some(error)) => Expected::Error(error.trim().to_owned()),
        (None, None) => Expected::Unchanged,
        (Some(_), Some(_)) => panic!("{} has two ends", folder.display()),
    };
    Example {
        before: text(&folder.join("before.yaml")),
        target: target_of(target),
        wishes: wishes(lines),
        expected,
    }
}

fn target_of(line: &str) -> Target {
    let source = |word: &str| match word {
        "single" => SourceRef::Single,
        "dry" => SourceRef::DrySource,
        index => SourceRef::Multi(index.parse().unwrap()),
    };
    let words: Vec<_> = line.split(' ').collect();
    Target::File(match words[..] {
        ["kustomization"] => FileKind::Kustomization,
        ["helm-values"] => FileKind::HelmValues,
        ["helm-override"] => FileKind::HelmOverride,
        ["kustomize-override"] => FileKind::KustomizeOverride,
        ["plugin-override"] => FileKind::PluginOverride,
        ["manifest"] => FileKind::Manifest,
        ["application", word, document] => {
            return Target::Application {
                source: source(word),
                document: document.parse().unwrap(),
            };
        }
        _ => panic!("no target is called '{line}'"),
    })
}

fn wishes<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Wish> {
    let mut wishes = Vec::new();
    // The lines of a name and its tag follow each other.
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        let words: Vec<_> = line.split(' ').collect();
        wishes.push(match words[..] {
            ["image", image] => {
                let (name, image) = match image.split_once('=') {
                    Some((name, image)) => (Some(name.into()), image),
                    None => (None, image),
                };
                Wish { keys: Keys::Kustomize { name }, image: image.parse().unwrap() }
            }
            ["manifest", image] => Wish { keys: Keys::Manifest, image: image.parse().unwrap() },
            ["spec", key, image] => {
                let keys = Keys::Helm(HelmKeys::Spec(key.into()));
                Wish { keys, image: image.parse().unwrap() }
            }
            ["env-spec", key, image] => {
                let keys = Keys::Plugin(PluginKeys::Spec(key.into()));
                Wish { keys, image: image.parse().unwrap() }
            }
            [word @ ("name" | "env-name"), key, repository] => {
                let tag_word = word.replace("name", "tag");
                let tag = lines.next_if(|line| line.starts_with(&tag_word)).map(key_and_tag);
                pair(word, Some(key), repository, tag)
            }
            [word @ ("tag" | "env-tag"), ..] => pair(word, None, "any", Some(key_and_tag(line))),
            _ => panic!("'{line}' asks for nothing"),
        });
    }
    wishes
}

fn key_and_tag(line: &str) -> (&str, TagRef) {
    let words: Vec<_> = line.split(' ').collect();
    (words[1], words[2].parse().unwrap())
}

/// An image under two keys, of which one may be missing.
fn pair(word: &str, name: Option<&str>, repository: &str, tag: Option<(&str, TagRef)>) -> Wish {
    let (tag_key, tag) = tag.unzip();
    let (name, tag_key) = (name.map(Into::into), tag_key.map(Into::into));
    let keys = if word.starts_with("env") {
        Keys::Plugin(PluginKeys::NameAndTag { name, tag: tag_key })
    } else {
        Keys::Helm(HelmKeys::NameAndTag { name, tag: tag_key })
    };
    Wish { keys, image: ImageReference { repository: repository.parse().unwrap(), tag } }
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
