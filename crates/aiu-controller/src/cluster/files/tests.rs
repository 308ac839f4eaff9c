use tempfile::TempDir;

use aiu_core::edit::{Keys, SourceRef, Wish};

use super::*;
use crate::cluster::{PatchError, Patched, Patches, SpecEdit};

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn load(folder: &TempDir) -> Manifests {
    Manifests::load(folder.path(), "argocd").unwrap()
}

const APP: &[u8] = b"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop}
spec: {source: {repoURL: u}}
";

fn names(manifests: &Manifests) -> Vec<String> {
    manifests
        .applications()
        .map(|(name, place, _)| format!("{name} in {} #{}", place.file, place.document))
        .collect()
}

#[test]
fn objects_are_found_wherever_they_stand() {
    let two = b"# first\n---\napiVersion: v1\nkind: Service\nmetadata: {name: x}\n---\n".to_vec();
    let two = [two, APP.to_vec()].concat();
    let json = br#"{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "j", "namespace": "team"}}"#;
    let updater = b"apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: all}
spec: {applicationRefs: [{namePattern: '*', useAnnotations: true}]}
";
    let config = b"apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-image-updater-config}
data: {git.user: robot}
";
    let folder = folder(&[
        ("deep/er/two.yaml", &two),
        ("app.json", json),
        ("u.yml", updater),
        ("settings.yaml", config),
        ("values.yaml", b"a: [\n"),
        ("notes.txt", APP),
        (".git/app.yaml", APP),
    ]);
    let manifests = load(&folder);
    assert_eq!(names(&manifests), ["argocd/shop in deep/er/two.yaml #1", "team/j in app.json #0"]);
    assert_eq!(
        manifests.updaters().map(|(name, _)| name.to_string()).collect::<Vec<_>>(),
        ["argocd/all"]
    );
    assert_eq!(manifests.settings()["git.user"], "robot");
    assert_eq!(manifests.problems(), []);
}

/// Each problem names the file and what to do, and the good Application is still found.
#[test]
fn what_cannot_be_used_is_told_and_the_rest_goes_on() {
    let broken =
        b"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: b\nspec: x\n";
    let template =
        b"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: {{ .Values.x }}}\n";
    let latin = b"kind: Application\nmetadata: {name: caf\xe9}\n";
    let list = b"apiVersion: v1\nkind: List\nitems: [{apiVersion: argoproj.io/v1alpha1, kind: Application}]\n";
    #[rustfmt::skip]
    let rows: [(&[u8], &str, bool, &str); 4] = [
        (broken, "ManifestUnreadable", true, "x.yaml line "),
        (template, "ManifestTemplated", false, "x.yaml line 3 is a template, not a manifest"),
        (latin, "ManifestUnreadable", true, "x.yaml is not UTF-8 (byte 38); save it as UTF-8"),
        (list, "ManifestUnreadable", true, "x.yaml holds a List"),
    ];
    for (bytes, reason, fails, message) in rows {
        let folder = folder(&[("good.yaml", APP), ("x.yaml", bytes)]);
        let manifests = load(&folder);
        assert_eq!(names(&manifests), ["argocd/shop in good.yaml #0"]);
        let [problem] = manifests.problems() else { panic!("{:?}", manifests.problems()) };
        assert_eq!((problem.reason, problem.fails), (reason, fails), "{problem}");
        assert!(problem.message.starts_with(message), "{problem}");
        assert!(!problem.message.contains('\n'), "{problem}");
    }
}

#[test]
fn two_documents_of_one_name_are_both_left_alone() {
    let folder = folder(&[("a.yaml", APP), ("b/c.yaml", APP)]);
    let manifests = load(&folder);
    assert_eq!(names(&manifests), <[&str; 0]>::default());
    assert_eq!(
        manifests.problems()[0].message,
        "the Application argocd/shop stands in a.yaml line 1 and in b/c.yaml line 1; keep one of them"
    );
}

#[test]
fn a_folder_without_applications_is_an_error_that_says_what_was_read() {
    let folder = folder(&[("values.yaml", b"a: 1\n")]);
    let error = Manifests::load(folder.path(), "argocd").unwrap_err().to_string();
    assert!(error.contains("(1 YAML and JSON files read)"), "{error}");
    let error = Manifests::load(&folder.path().join("nowhere"), "argocd").unwrap_err().to_string();
    assert!(error.starts_with("cannot read the manifests in"), "{error}");
}

/// The wish that an Application's own spec names an image.
fn wish(application: &str) -> SpecEdit {
    let image = "acme/web:2".parse().unwrap();
    let wishes = vec![Wish { keys: Keys::Kustomize { name: None }, image }];
    let application = AppName { namespace: "argocd".into(), name: application.into() };
    SpecEdit { application, source: SourceRef::Single, wishes }
}

fn patch(manifests: &mut Manifests) -> Result<Patched, PatchError> {
    manifests.patch(&[wish("shop")], false).done.remove(0).1
}

/// Each document is parsed by itself, and the file replaced once.
#[test]
fn many_applications_in_one_file_are_edited_together() {
    let apps: Vec<String> = (0..100)
        .map(|at| {
            let source = if at == 7 { "sources: []" } else { "source: {repoURL: u} # keep" };
            format!("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a{at}}}\nspec:\n  {source}\n")
        })
        .collect();
    let text = format!("# head\n---\n{}...\n# tail\n", apps.join("--- # next\n"));
    let folder = folder(&[("all.yaml", text.as_bytes())]);
    let mut manifests = load(&folder);
    let before = replace::REPLACED.get();
    let edits: Vec<SpecEdit> = (0..100).map(|at| wish(&format!("a{at}"))).collect();
    let Patches { done, files } = manifests.patch(&edits, false);
    assert_eq!(replace::REPLACED.get() - before, 1, "one replacement for all");
    for (at, (name, patched)) in done.iter().enumerate() {
        assert_eq!(*name.name, format!("a{at}"));
        match (at, patched) {
            (7, Err(error)) => {
                let line = 3 + 7 * 6;
                let expected = format!("all.yaml: line {line}: spec.source does not exist");
                assert!(error.to_string().starts_with(&expected), "{error}");
            }
            (_, Ok(Patched::Changed { file, .. })) => assert_eq!(file, "all.yaml"),
            other => panic!("{other:?}"),
        }
    }
    let after = fs::read_to_string(folder.path().join("all.yaml")).unwrap();
    assert_eq!((files.len(), files[0].before.as_deref()), (1, Some(text.as_str())));
    assert_eq!(*files[0].after, after);
    assert_eq!(after.matches("acme/web:2").count(), 99);
    assert_eq!(after.matches("# keep").count(), 99);
    assert!(after.starts_with("# head\n---\n") && after.ends_with("...\n# tail\n"), "{after}");
    let again = manifests.patch(&edits, false);
    assert!(again.files.is_empty());
    assert_eq!(
        again.done.iter().filter(|(_, it)| matches!(it, Ok(Patched::AlreadySo))).count(),
        99
    );
}

#[test]
fn a_patch_replaces_the_file_and_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder(&[("a.yaml", APP), (".a.yaml.argocd-image-updater.tmp", b"half")]);
    let path = folder.path().join("a.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let mut manifests = load(&folder);
    patch(&mut manifests).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("acme/web:2"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["a.yaml"], "nothing half-written stays, not even of an earlier process");
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let folder = folder(&[("a.yaml", APP)]);
    let mut manifests = load(&folder);
    fs::write(folder.path().join("a.yaml"), "by hand\n").unwrap();
    let error = patch(&mut manifests).unwrap_err();
    assert_eq!(error.reason(), "FileChanged");
    assert_eq!(fs::read_to_string(folder.path().join("a.yaml")).unwrap(), "by hand\n");
}

#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let elsewhere = folder(&[("a.yaml", APP)]);
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("a.yaml"), folder.path().join("a.yaml"))
        .unwrap();
    let mut manifests = load(&folder);
    let error = patch(&mut manifests).unwrap_err();
    assert!(error.to_string().contains("is a link that leaves the folder"), "{error}");
    assert_eq!(fs::read(elsewhere.path().join("a.yaml")).unwrap(), APP);
}
