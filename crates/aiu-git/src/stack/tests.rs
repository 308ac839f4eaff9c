use std::collections::BTreeMap;

use aiu_core::batch::{AppName, CommitPlan, FileEdit, FilePath, ImageChange};
use aiu_core::edit::{FileKind, HelmKeys, Keys, Wish};
use aiu_core::image::ImageReference;

use super::{Splice, Stacked, stack};
use crate::error::WriteError;
use crate::snapshot::{File, Snapshot};
use crate::tree::{FileProblem, Mode, candidates};

fn path(text: &str) -> FilePath {
    FilePath::join("", text).unwrap()
}

/// `KEY=TAG` sets in a file, such as `a.yaml image=v2 other=v3`.
fn edit(text: &str, kind: FileKind) -> FileEdit {
    let (file, sets) = text.split_once(' ').unwrap();
    let wishes = sets.split(' ').map(|set| {
        let (key, tag) = set.split_once('=').unwrap();
        let keys = match kind {
            FileKind::Kustomization => Keys::Kustomize { name: None },
            _ => Keys::Helm(HelmKeys::NameAndTag { name: None, tag: Some(key.into()) }),
        };
        Wish { keys, image: format!("{key}:{tag}").parse().unwrap() }
    });
    FileEdit { path: path(file), kind, wishes: wishes.collect() }
}

fn change(to: ImageReference) -> ImageChange {
    ImageChange { alias: None, from: None, to, labels: BTreeMap::new() }
}

/// A plan with one change for every image of its edits.
fn plan(edits: &[&str], kind: FileKind) -> CommitPlan {
    let edits: Vec<FileEdit> = edits.iter().map(|text| edit(text, kind)).collect();
    let mut changes = Vec::new();
    for wish in edits.iter().flat_map(|edit| &edit.wishes) {
        let change = change(wish.image.clone());
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    let application = AppName { namespace: "argocd".into(), name: "app".into() };
    CommitPlan { application, edits, changes, author: None }
}

/// What a run of plans comes to: per plan `file: text; …|change, …`, or why nothing.
fn run(files: &[(&str, &str)], plans: &[CommitPlan]) -> Vec<String> {
    let mut known: BTreeMap<FilePath, File> = BTreeMap::new();
    for edit in plans.iter().flat_map(|plan| &plan.edits) {
        known.extend(candidates(&edit.path, edit.kind).into_iter().map(|it| (it, File::Missing)));
    }
    for (file, text) in files {
        let file = path(file);
        let what = match *text {
            "-> link" => File::Refused(FileProblem::Symlink),
            text => File::Readable { mode: Mode::Plain, text: text.into() },
        };
        known.insert(file, what);
    }
    let mut texts: BTreeMap<FilePath, String> =
        files.iter().map(|(file, text)| (path(file), (*text).to_owned())).collect();
    let told = stack(&Snapshot::of(known), plans).plans.into_iter().map(|draft| match draft {
        Ok(Stacked::AlreadySo) => "already so".to_owned(),
        Ok(Stacked::SoByOthers) => "so by others".to_owned(),
        Err(WriteError::Edit { path, cause }) => format!("{path} {}", cause.reason()),
        Err(error) => error.to_string(),
        Ok(Stacked::Draft(draft)) => {
            let files = draft.files.iter().map(|splice| {
                let text = texts.entry(splice.path.clone()).or_default();
                splice.apply(text);
                format!("{}: {text}", splice.path)
            });
            let files: Vec<String> = files.collect();
            let changes: Vec<String> = draft.changes.iter().map(|it| it.to.to_string()).collect();
            format!("{}|{}", files.join("; "), changes.join(", "))
        }
    });
    told.collect()
}

#[test]
fn each_plan_builds_on_the_ones_before() {
    use FileKind::{HelmOverride, HelmValues, Kustomization};
    const KUSTOMIZATION: &str = "images:\n- name: web\n  newTag: v1\n";
    let values = |edits: &[&str]| plan(edits, HelmValues);
    let two = "x: v1\ny: v1\n";
    #[rustfmt::skip]
    let rows: Vec<(&str, Vec<(&str, &str)>, Vec<CommitPlan>, Vec<&str>)> = vec![
        ("two plans share a file", vec![("a", two)],
            vec![values(&["a x=v2"]), values(&["a y=v2"])],
            vec!["a: x: v2\ny: v1\n|x:v2", "a: x: v2\ny: v2\n|y:v2"]),
        ("the second wants what the first did", vec![("a", two)],
            vec![values(&["a x=v2"]), values(&["a x=v2"])],
            vec!["a: x: v2\ny: v1\n|x:v2", "so by others"]),
        ("a failed plan leaves no trace", vec![("a", two), ("t", "{{ x }}\n")],
            vec![values(&["a x=v2", "t x=v2"]), values(&["a y=v2"])],
            vec!["t ManifestTemplated", "a: x: v1\ny: v2\n|y:v2"]),
        ("a change that is there already is not told", vec![("a", "x: v2\ny: v1\n")],
            vec![values(&["a x=v2 y=v2"])],
            vec!["a: x: v2\ny: v2\n|y:v2"]),
        ("a change is told if one of its files needs it", vec![("a", "x: v2\n"), ("b", "x: v1\n")],
            vec![values(&["a x=v2", "b x=v2"])],
            vec!["b: x: v2\n|x:v2"]),
        ("the same file twice in a plan", vec![("a", two)],
            vec![values(&["a x=v2", "a y=v2"])],
            vec!["a: x: v2\ny: v2\n|x:v2, y:v2"]),
        ("links are not followed", vec![("a", "-> link"), ("b", "x: v1\n")],
            vec![values(&["a x=v2"]), values(&["b x=v2"])],
            vec!["a: it is a symbolic link; name the file that it points to", "b: x: v2\n|x:v2"]),
        ("the first kustomization that can be read", vec![("d/kustomization.yaml", "-> link"), ("d/Kustomization", KUSTOMIZATION)],
            vec![plan(&["d web=v2"], Kustomization)],
            vec!["d/Kustomization: images:\n- name: web\n  newTag: v2\n|web:v2"]),
        ("no kustomization", vec![],
            vec![plan(&["d web=v2"], Kustomization)],
            vec!["d TargetMissing"]),
        ("a file cannot stand where one was just made", vec![],
            vec![plan(&["d/o.yaml x=v2"], HelmOverride), plan(&["d/o.yaml/p x=v2"], HelmOverride), plan(&["d x=v2"], HelmOverride)],
            vec!["d/o.yaml: helm:\n  parameters:\n  - name: x\n    value: v2\n    forcestring: true\n|x:v2",
                 "d/o.yaml/p: 'd/o.yaml' is not a folder", "d: it is a folder; name a file"]),
    ];
    for (title, files, plans, expected) in rows {
        assert_eq!(run(&files, &plans), expected, "{title}");
    }
}

#[test]
fn a_change_without_a_wish_of_its_own_is_told() {
    let mut plan = plan(&["a x=v2"], FileKind::HelmValues);
    plan.changes = vec![change("other:v9".parse().unwrap())];
    assert_eq!(run(&[("a", "x: v1\n")], &[plan]), ["a: x: v2\n|other:v9"]);
}

#[test]
fn without_a_change_to_tell_there_is_no_commit() {
    let mut plan = plan(&["a x=v2 y=v2"], FileKind::HelmValues);
    plan.changes.pop();
    assert_eq!(run(&[("a", "x: v2\ny: v1\n")], &[plan]), ["already so"]);
}

#[test]
fn a_splice_makes_of_one_text_the_other_and_holds_the_difference_alone() {
    #[rustfmt::skip]
    let rows = [
        ("a: 1\nb: 1\n",  "a: 1\nb: 2\n",  "2"),
        ("",              "new\n",         "new\n"),
        ("gone\n",        "",              ""),
        ("aaa",           "aaaa",          "a"),
        ("aaaa",          "aaa",           ""),
        ("x: ü\n",        "x: ö\n",        "ö"),
        ("x: é世\n",      "x: è丗\n",      "è丗"),
        ("same",          "same",          ""),
    ];
    for (before, after, kept) in rows {
        let splice = Splice::between(path("a"), Mode::Plain, before, after);
        assert_eq!(&*splice.text, kept, "{before:?} {after:?}");
        let mut text = before.to_owned();
        splice.apply(&mut text);
        assert_eq!(text, after);
    }
}

/// A large file that many share is held a few times, not once for each of them.
#[test]
fn many_plans_on_one_file_hold_their_own_lines_alone() {
    let text =
        (0..400).fold(String::new(), |text, at| format!("{text}k{at}: v1 # {}\n", "-".repeat(80)));
    let plans: Vec<CommitPlan> =
        (0..400).map(|at| plan(&[&format!("a k{at}=v2")], FileKind::HelmValues)).collect();
    let file = File::Readable { mode: Mode::Plain, text: text.as_str().into() };
    let stacked = stack(&Snapshot::of([(path("a"), file)]), &plans);
    let held = stacked.plans.iter().map(|plan| match plan {
        Ok(Stacked::Draft(draft)) => {
            draft.files.iter().map(|splice| splice.text.len()).sum::<usize>()
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(held.sum::<usize>(), 400, "a digit each");
    let changed = &stacked.files[&path("a")];
    assert_eq!(changed.before.as_deref(), Some(text.as_str()));
    assert_eq!(*changed.after, text.replace(": v1", ": v2"));
}
