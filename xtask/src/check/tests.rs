//! The rules together, over a folder on disk: what git lists is what is judged.

use std::path::Path;
use std::process::Command;

use super::*;

/// Writes the files into a new repository; only those that `tracked` names are added.
fn repository(files: &[(&str, &str)], tracked: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &[&["add", "--"], tracked].concat());
    folder
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git").args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

const BANS: &str = include_str!("../../../crates/aiu-core/clippy.toml");

#[test]
fn every_planted_fault_is_found_and_nothing_else() {
    let long = "fn f() {}\n".repeat(601);
    let folder = repository(
        &[
            ("crates/aiu-core/clippy.toml", BANS),
            ("crates/aiu-core/Cargo.toml", "[dependencies]\ntokio.workspace = true\n"),
            ("crates/aiu-core/src/lib.rs", "mod utils;\nuse std::fs;\n"),
            ("crates/aiu-git/src/long.rs", &long),
            ("crates/aiu-git/src/lib.rs", "#[allow(dead_code)]\nfn f() {}\n"),
            ("README.md", "# Title\n\nSee [the guide](docs/guide.md), in ~home/ada/x.\n"),
            ("target/ignored.rs", &long),
            (".gitignore", "/target\n"),
        ],
        &["README.md", "crates"],
    );
    let readme = folder.path().join("README.md");
    let text = std::fs::read_to_string(&readme).unwrap().replace('~', "/");
    std::fs::write(readme, text).unwrap();
    let graph = Graph::parse(
        br#"{"workspace_root": "/w", "packages": [
            {"name": "aiu-core", "manifest_path": "/w/crates/aiu-core/Cargo.toml",
             "dependencies": [{"name": "tokio", "kind": null}]}
        ]}"#,
    );

    let found = findings(&Tree::load(folder.path()).unwrap(), &graph.unwrap());

    let places: Vec<String> = found.iter().map(|f| format!("{}:{}", f.path, f.line)).collect();
    assert_eq!(
        places,
        [
            "README.md:3",
            "README.md:3",
            "crates/aiu-core/Cargo.toml:2",
            "crates/aiu-core/src/lib.rs:1",
            "crates/aiu-core/src/lib.rs:2",
            "crates/aiu-git/src/lib.rs:1",
            "crates/aiu-git/src/long.rs:601",
        ]
    );
}

#[test]
fn a_finding_says_where_what_and_what_to_do() {
    let finding = Finding::new("a/b.rs", 7, "a fault", "mend it");
    assert_eq!(finding.to_string(), "a/b.rs:7: a fault; mend it");
}

#[test]
fn a_deleted_file_is_not_judged_before_the_deletion_is_committed() {
    let folder = repository(&[("kept.rs", ""), ("gone.rs", "")], &["kept.rs", "gone.rs"]);
    std::fs::remove_file(folder.path().join("gone.rs")).unwrap();
    let tree = Tree::load(folder.path()).unwrap();
    assert_eq!((tree.has("kept.rs"), tree.has("gone.rs"), tree.len()), (true, false, 1));
}
