//! Pages that name tests, against the tests: users' reports, rows of the specification.

use std::fmt::Write as _;
use std::path::Path;

/// All test code and code with tests, as one text.
fn code(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// Whether what stands in backticks names something that is gone.
fn is_gone(root: &Path, code: &str, name: &str) -> bool {
    if let Some(folder) = name.strip_prefix("edit/") {
        return !root.join("crates/aiu-core/tests/edit").join(folder).is_dir();
    }
    if name.starts_with("scenarios/") {
        return !root.join("tests").join(name).is_file();
    }
    let is_function = name.matches('_').count() > 1 && name.bytes().all(|b| b != b' ');
    is_function && !code.contains(&format!("fn {name}("))
}

#[test]
fn every_report_names_what_proves_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/design/users-reports.md")).unwrap();
    let (mut code_text, mut faults) = (String::new(), String::new());
    code(&root.join("crates"), &mut code_text);
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| B")).collect();
    assert_eq!(rows.len(), 105);
    for (at, row) in rows.iter().enumerate() {
        let number = format!("B{:02}", at + 1);
        let here = row.split(" | ").nth(2).unwrap_or_default();
        // Every second piece between backticks is a name.
        let names = || here.split('`').skip(1).step_by(2);
        let gone: Vec<&str> = names().filter(|name| is_gone(&root, &code_text, name)).collect();
        let is_proven = names().any(|name| name.contains(['_', '/']));
        if !row.starts_with(&format!("| {number} "))
            || !gone.is_empty()
            || (here.starts_with("holds") && !is_proven)
        {
            let _ = writeln!(faults, "{number}: {gone:?} is gone, or nothing is named: {row}");
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

/// The page of conformance names tests that are there.
#[test]
fn the_conformance_of_git_names_what_proves_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/design/conformance-git.md")).unwrap();
    let mut code_text = String::new();
    code(&root.join("crates"), &mut code_text);
    let names =
        page.split('`').skip(1).step_by(2).filter(|name| !name.contains(['*', '\n', '.', '…']));
    let scenarios = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.starts_with("scenarios/") && !name.ends_with('…'));
    let gone: Vec<&str> =
        names.chain(scenarios).filter(|it| is_gone(&root, &code_text, it)).collect();
    assert!(gone.is_empty(), "{gone:?}");
}

#[test]
fn the_rows_of_the_specification_name_what_runs_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/design/conformance-choosing.md")).unwrap();
    let mut code_text = String::new();
    code(&root.join("crates"), &mut code_text);
    let names = page.split('`').skip(1).step_by(2);
    let vectors = root.join("crates/aiu-core/tests/vectors");
    let is_missing = |name: &&str| {
        if name.split_once('.').is_some_and(|(_, ending)| ending == "json") {
            !vectors.join(name).is_file()
        } else {
            is_gone(&root, &code_text, name)
        }
    };
    let gone: Vec<&str> = names.clone().filter(is_missing).collect();
    assert!(gone.is_empty(), "{gone:?} is gone");
    assert!(names.count() > 60, "the page names what it is about");
}
