//! Edits of large files.

use std::fmt::Write as _;

use aiu_core::edit::helm_values::{Assignment, Role, set};
use aiu_core::edit::{Edited, FileKind, Keys, Wish, apply};

/// A values file of about so many bytes; [`edit`] finds its keys.
pub type Shape = fn(usize) -> String;

/// Files as charts have them, and files that are nothing but one thing.
pub const SHAPES: [(&str, Shape); 8] = [
    ("a chart's values", |bytes| {
        filled(bytes, "", "", |text, n| {
            write!(
                text,
                "service-{n}:\n  image:\n    repository: ghcr.io/acme/service-{n}   # who\n    tag: \"1.{n}.0\"\n  replicas: 3\n  resources: {{limits: {{cpu: 500m, memory: 256Mi}}}}\n  env:\n    - name: LEVEL\n      value: info   # of the log\n    - name: PEERS\n      value: 'a,b,c'\n  script: |\n    set -e\n    run --all\n\n"
            )
        })
    }),
    ("keys", |bytes| filled(bytes, "", "", |text, n| writeln!(text, "key-{n}: value {n}"))),
    ("list items", |bytes| filled(bytes, "list:\n", "", |text, n| writeln!(text, "- item {n}"))),
    ("a block scalar", |bytes| {
        filled(bytes, "script: |\n", "", |text, n| writeln!(text, "  line {n}"))
    }),
    ("a quoted scalar", |bytes| {
        filled(bytes, "quoted: \"", "\"\n", |text, n| write!(text, "word {n}\\n"))
    }),
    ("braces on one line", |bytes| {
        filled(bytes, "json: {", "\"end\": 1}\n", |text, n| {
            write!(text, "\"key-{n}\": [1, \"two\"], ")
        })
    }),
    ("comments", |bytes| filled(bytes, "", "", |text, n| writeln!(text, "# comment {n}"))),
    ("documents", |bytes| filled(bytes, "", "", |text, n| writeln!(text, "---\na: {n}"))),
];

fn filled(
    bytes: usize,
    before: &str,
    behind: &str,
    piece: impl Fn(&mut String, usize) -> std::fmt::Result,
) -> String {
    let mut text = format!("# values\nimage: {{tag: 1.0.0}}\n{before}");
    let mut number = 0;
    while text.len() < bytes {
        piece(&mut text, number).expect("a string takes any text");
        number += 1;
    }
    text + behind
}

/// Replaces one value and makes one key.
pub fn edit(text: &str) {
    let version = |path, value| Assignment { role: Role::Version, path, value };
    let edited = set(text, &[version("image.tag", "2.0.0"), version("new.image.tag", "1")]);
    assert!(matches!(edited, Ok(Edited::Changed(_))), "the edit is made");
}

/// A file of many manifests, of ten images.
pub fn manifests(bytes: usize) -> String {
    filled(bytes, "", "", |text, n| {
        write!(
            text,
            "---\nkind: Deployment\nmetadata: {{name: service-{n}}}\nspec:\n  template:\n    spec:\n      containers:\n        - name: web\n          image: ghcr.io/acme/service-{}:1.0.0\n          ports: [{{containerPort: 80}}]\n",
            n % 10
        )
    })
}

/// Moves one of the ten images.
pub fn move_in_manifests(text: &str) {
    let image = "ghcr.io/acme/service-3:2.0.0".parse().expect("an image");
    let edited = apply(FileKind::Manifest, Some(text), &[Wish { keys: Keys::Manifest, image }]);
    assert!(matches!(edited, Ok(Edited::Changed(_))), "the edit is made");
}
