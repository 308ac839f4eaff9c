//! Who may depend on whom: the graph of `ARCHITECTURE.md` section 2, as data.
//!
//! A crate exists because of what it must not depend on. The three tables below are the whole
//! rule; to move a fence, change the table and the section in one commit.

use super::graph::{Dependency, Kind, Package};
use super::{Finding, Graph, Tree};

/// For each crate of ours, the crates of ours that it ships with.
const FENCES: [(&str, &[&str]); 12] = [
    ("aiu-core", &[]),
    ("aiu-api", &["aiu-core"]),
    ("aiu-http", &["aiu-core"]),
    ("aiu-registry", &["aiu-core", "aiu-http"]),
    ("aiu-git", &["aiu-core", "aiu-http"]),
    ("aiu-web", &["aiu-core"]),
    ("aiu-controller", &["aiu-api", "aiu-core", "aiu-git", "aiu-registry"]),
    (
        "argocd-image-updater",
        &[
            "aiu-api",
            "aiu-controller",
            "aiu-core",
            "aiu-git",
            "aiu-http",
            "aiu-registry",
            "aiu-web",
        ],
    ),
    (TESTKIT, &[]),
    ("benches", &["aiu-core"]),
    ("e2e", &["aiu-core", "benches"]),
    ("xtask", &[]),
];

/// For the crates that do no I/O, everything from outside that they ship with: pure libraries.
const PURE: [(&str, &[&str]); 2] = [
    (
        "aiu-core",
        &[
            "granit-parser",
            "jiff",
            "regex",
            "regex-syntax",
            "serde",
            "serde-saphyr",
            "sha2",
            "thiserror",
        ],
    ),
    (
        "aiu-api",
        &[
            "k8s-openapi",
            "kube-core",
            "schemars",
            "serde",
            "serde-saphyr",
            "serde_json",
            "thiserror",
        ],
    ),
];

/// For the heavy crates from outside, the crates of ours that may use them.
const OWNERS: [(&str, &[&str]); 4] = [
    ("kube", &["aiu-controller", "argocd-image-updater"]),
    ("reqwest", &["aiu-http", "e2e"]),
    ("axum", &["aiu-web", TESTKIT, "e2e"]),
    ("hyper-util", &["aiu-web"]),
];

/// Crates that are no part of what ships: they may use the testkit as they like.
const NEVER_SHIPPED: [&str; 2] = ["benches", "e2e"];

/// A development dependency of all but the core, and shipped with nothing.
const TESTKIT: &str = "aiu-testkit";

pub(super) fn check(tree: &Tree, graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &graph.packages {
        let Some(fence) = row(&FENCES, &package.name) else {
            let what = format!("crate `{}` has no row in the table of fences", package.name);
            let remedy = "say in xtask/src/check/fences.rs what it may depend on";
            findings.push(Finding::new(&package.manifest, 1, what, remedy));
            continue;
        };
        for dependency in &package.dependencies {
            if let Some((what, remedy)) = judge(package, fence, dependency) {
                let line = tree.text(&package.manifest).map_or(1, |text| line_of(text, dependency));
                findings.push(Finding::new(&package.manifest, line, what, remedy));
            }
        }
    }
    findings
}

/// What is wrong with one dependency, and what to do about it.
fn judge(
    package: &Package,
    fence: &[&str],
    dependency: &Dependency,
) -> Option<(String, &'static str)> {
    let (name, used) = (package.name.as_str(), dependency.name.as_str());
    let shipped = dependency.kind != Kind::Dev;
    if used == TESTKIT {
        return match name {
            "aiu-core" => Some((
                "`aiu-core` must not know `aiu-testkit`, which runs servers".to_owned(),
                "the core's tests need text only; a test with a server belongs to an adapter",
            )),
            _ if shipped && !NEVER_SHIPPED.contains(&name) => {
                Some((format!("`{name}` ships with `{used}`"), "make it a development dependency"))
            }
            _ => None,
        };
    }
    if dependency.ours && !fence.contains(&used) {
        let what = format!("`{name}` must not depend on `{used}`");
        return Some((what, "turn the dependency round, or pass the value through the caller"));
    }
    let forbidden = |table: &[_], of, wanted| {
        shipped && row(table, of).is_some_and(|names| !names.contains(&wanted))
    };
    if !dependency.ours && forbidden(&PURE, name, used) {
        let what = format!("`{used}` is not on the list of pure libraries of `{name}`");
        return Some((what, "leave I/O to an adapter; a library that does none goes on the list"));
    }
    if forbidden(&OWNERS, used, name) {
        let what = format!("`{used}` is not for `{name}`");
        return Some((what, "go through the crate that owns it"));
    }
    None
}

fn row(table: &[(&str, &'static [&'static str])], name: &str) -> Option<&'static [&'static str]> {
    table.iter().find(|(of, _)| *of == name).map(|&(_, names)| names)
}

/// The line of a manifest where the dependency stands.
fn line_of(manifest: &str, dependency: &Dependency) -> usize {
    let section = match dependency.kind {
        Kind::Normal => "dependencies",
        Kind::Dev => "dev-dependencies",
        Kind::Build => "build-dependencies",
    };
    let mut inside = false;
    for (at, line) in manifest.lines().enumerate() {
        if let Some(header) = line.trim().strip_prefix('[') {
            let header = header.trim_end_matches(']');
            if header == format!("{section}.{}", dependency.key) {
                return at + 1;
            }
            inside = header == section || header.ends_with(&format!(".{section}"));
        } else if inside && line.split(['.', '=', ' ']).next() == Some(&dependency.key) {
            return at + 1;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph of one crate with one dependency, and what is found in it.
    fn found(package: &str, kind: &str, used: &str) -> Vec<Finding> {
        let path = if used.starts_with("aiu-") { r#""/w/x""# } else { "null" };
        let json = format!(
            r#"{{"workspace_root": "/w", "packages": [{{"name": "{package}",
                "manifest_path": "/w/crates/{package}/Cargo.toml", "dependencies":
                [{{"name": "{used}", "kind": {kind}, "path": {path}, "rename": null}}]}}]}}"#
        );
        let manifest = format!("crates/{package}/Cargo.toml");
        let text = format!(
            "[dependencies]\n{used}.workspace = true\n\n[dev-dependencies]\n{used} = \"1\"\n"
        );
        check(&Tree::of(&[(&manifest, &text)]), &Graph::parse(json.as_bytes()).unwrap())
    }

    #[test]
    fn a_dependency_is_drawn_or_forbidden() {
        #[rustfmt::skip]
        let rows = [
            // crate, kind, what it uses, the line found and the start of the message
            ("aiu-registry",         "null",      "aiu-http",    ""),
            ("argocd-image-updater", "null",      "aiu-web",     ""),
            ("aiu-git",              "\"dev\"",   "aiu-testkit", ""),
            ("aiu-core",             "\"dev\"",   "proptest",    ""),
            ("aiu-core",             "null",      "regex",       ""),
            ("aiu-controller",       "null",      "tokio",       ""),
            ("aiu-registry",         "null",      "aiu-git",     "2: `aiu-registry` must not depend on `aiu-git`"),
            ("aiu-core",             "null",      "aiu-http",    "2: `aiu-core` must not depend on `aiu-http`"),
            ("aiu-core",             "\"build\"", "tokio",       "1: `tokio` is not on the list of pure libraries"),
            ("aiu-api",              "null",      "reqwest",     "2: `reqwest` is not on the list of pure libraries"),
            ("aiu-registry",         "null",      "reqwest",     "2: `reqwest` is not for `aiu-registry`"),
            ("aiu-controller",       "null",      "axum",        "2: `axum` is not for `aiu-controller`"),
            ("aiu-git",              "null",      "aiu-testkit", "2: `aiu-git` ships with `aiu-testkit`"),
            ("benches",              "null",      "aiu-testkit", ""),
            ("aiu-core",             "\"dev\"",   "aiu-testkit", "5: `aiu-core` must not know `aiu-testkit`"),
            ("aiu-testkit",          "null",      "aiu-core",    "2: `aiu-testkit` must not depend on `aiu-core`"),
            ("aiu-git",              "\"dev\"",   "aiu-registry", "5: `aiu-git` must not depend on `aiu-registry`"),
            ("xtask",                "null",      "aiu-core",    "2: `xtask` must not depend on `aiu-core`"),
            ("aiu-extra",            "null",      "serde",       "1: crate `aiu-extra` has no row"),
        ];
        for (package, kind, used, expected) in rows {
            let found = found(package, kind, used);
            let said: Vec<_> = found.iter().map(|f| format!("{}: {}", f.line, f.what)).collect();
            let as_expected = match said.as_slice() {
                [] => expected.is_empty(),
                [one] => !expected.is_empty() && one.starts_with(expected),
                _ => false,
            };
            assert!(as_expected, "{package} uses {used}: {said:?}");
        }
    }

    #[test]
    fn the_line_of_a_dependency_with_a_table_of_its_own() {
        let manifest = "[package]\nname = \"x\"\n\n[dependencies.tokio]\nversion = \"1\"\n";
        let dependency = Dependency {
            name: "tokio".into(),
            key: "tokio".into(),
            kind: Kind::Normal,
            ours: false,
        };
        assert_eq!(line_of(manifest, &dependency), 4);
    }
}
