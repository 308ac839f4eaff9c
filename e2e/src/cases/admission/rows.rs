//! The rows, as fragments: what the rest of the object is, each row's builder knows.

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// What the API server must do.
pub(super) enum Outcome {
    Accepted,
    /// Accepted, and read back with this JSON at that place.
    Stored(&'static str, &'static str),
    /// Refused with words that contain these.
    Rejected(&'static str),
}

pub(super) struct Row {
    pub(super) number: usize,
    /// Puts a fragment where the row means it; the result is the `spec`.
    pub(super) build: fn(&str) -> Result<Value>,
    pub(super) objects: &'static [&'static str],
    pub(super) outcome: Outcome,
}

const fn row(
    number: usize,
    build: fn(&str) -> Result<Value>,
    objects: &'static [&'static str],
    outcome: Outcome,
) -> Row {
    Row { number, build, objects, outcome }
}

fn parse(text: &str) -> Result<Value> {
    serde_saphyr::from_str(text).with_context(|| format!("not YAML: {text}"))
}

/// The fragment is what a reference holds besides its pattern; several stand in a list.
fn reference(text: &str) -> Result<Value> {
    let references = match parse(text)? {
        Value::Array(several) => several,
        one => vec![one],
    };
    let mut refs = Vec::new();
    for (index, mut reference) in references.into_iter().enumerate() {
        let map = reference.as_object_mut().context("a reference is a mapping")?;
        let pattern = if index == 0 { "*".to_owned() } else { format!("other-{index}-*") };
        map.entry("namePattern").or_insert(json!(pattern));
        refs.push(reference);
    }
    Ok(json!({"applicationRefs": refs}))
}

/// The fragment is what an image holds besides alias and name.
fn image(text: &str) -> Result<Value> {
    let mut image = parse(text)?;
    let map = image.as_object_mut().context("an image is a mapping")?;
    map.entry("alias").or_insert(json!("web"));
    map.entry("imageName").or_insert(json!("nginx"));
    Ok(json!({"applicationRefs": [{"namePattern": "*", "images": [image]}]}))
}

fn manifest_targets(text: &str) -> Result<Value> {
    image(&format!("{{manifestTargets: {text}}}"))
}

/// The fragment stands beside a reference that is valid.
fn beside(key: &str, fragment: Value) -> Value {
    let mut spec = json!({"applicationRefs": [{"namePattern": "*", "useAnnotations": true}]});
    spec[key] = fragment;
    spec
}

fn pull_request(text: &str) -> Result<Value> {
    let git = json!({"method": "git", "gitConfig": {"pullRequest": parse(text)?}});
    Ok(beside("writeBackConfig", git))
}

/// So many labels of so many characters each, as `COUNT LENGTH`.
fn labels(text: &str) -> Result<Value> {
    let (count, length) = text.split_once(' ').context("a count and a length")?;
    let label = "x".repeat(length.parse()?);
    let labels: Vec<_> = std::iter::repeat_n(label, count.parse()?).collect();
    pull_request(&json!({"github": {}, "labels": labels}).to_string())
}

fn method(text: &str) -> Result<Value> {
    Ok(beside("writeBackConfig", json!({"method": parse(text)?})))
}

fn verification(text: &str) -> Result<Value> {
    Ok(beside("imagesVerification", parse(text)?))
}

fn settings(text: &str) -> Result<Value> {
    Ok(beside("commonUpdateSettings", parse(text)?))
}

fn whole(text: &str) -> Result<Value> {
    parse(text)
}

const IMAGES: Outcome = Outcome::Rejected(
    "Either useAnnotations must be true, or images must be provided with at least one item",
);
const ONE_FORGE: Outcome = Outcome::Rejected("Exactly one of github or gitlab must be set");
const ONE_TARGET: Outcome = Outcome::Rejected(
    "Exactly one of helm, kustomize, or plugin must be specified within manifestTargets if the block is present.",
);
const NO_KEY: Outcome = Outcome::Rejected(
    "at least one verification method (cosignKey) is required when verification is enabled",
);

use Outcome::{Accepted, Rejected, Stored};

/// Spec 20 §3.3, by number.
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(1, reference, &["{useAnnotations: false}"], IMAGES),
    row(2, reference, &["{useAnnotations: false, images: [{alias: a, imageName: '127.0.0.1:30000/test-image:1.X.X'}]}"], Accepted),
    row(3, reference, &["{useAnnotations: true}"], Accepted),
    row(4, reference, &["{useAnnotations: true, images: [{alias: a, imageName: nginx}]}"], Accepted),
    row(5, reference, &["{}"], IMAGES),
    row(6, reference, &["{images: [{alias: a, imageName: nginx}]}"], Stored("/spec/applicationRefs/0/useAnnotations", "false")),
    row(7, reference, &["{useAnnotations: false, images: []}"], IMAGES),
    row(8, reference, &["[{useAnnotations: true}, {useAnnotations: false}]"], IMAGES),
    row(9, reference, &["[{useAnnotations: true}, {useAnnotations: false, images: [{alias: a, imageName: nginx}]}]"], Accepted),
    row(10, manifest_targets, &["{helm: {spec: image}}"], Accepted),
    row(11, manifest_targets, &["{helm: {spec: image, name: image.repository, tag: image.tag}}"], Accepted),
    row(12, manifest_targets, &["{helm: {name: image.repository, tag: image.tag}}"], Accepted),
    row(13, manifest_targets, &["{helm: {name: image.repository}}"], Accepted),
    row(14, manifest_targets, &["{helm: {tag: image.tag}}"], Accepted),
    row(15, manifest_targets, &["{helm: {}}"], Stored("/spec/applicationRefs/0/images/0/manifestTargets/helm", "{}")),
    row(16, pull_request, &["{github: {}}"], Stored("/spec/writeBackConfig/gitConfig/pullRequest/github", "{}")),
    row(17, pull_request, &["{gitlab: {}}"], Accepted),
    row(18, pull_request, &["{}"], ONE_FORGE),
    row(19, pull_request, &["{github: {}, gitlab: {}}", "{gitlab: {}, gitea: {}}", "{bitbucket: {}, azureDevOps: {}}"], ONE_FORGE),
    row(20, pull_request, &["{github: {}, labels: [image-update, automated]}", "{gitea: {}}", "{bitbucket: {}}", "{azureDevOps: {}}"], Accepted),
    row(21, pull_request, &["{github: {}, labels: ['']}"], Rejected("should be at least 1 chars long")),
    row(22, labels, &["1 256"], Rejected("spec.writeBackConfig.gitConfig.pullRequest.labels[0]: Too long")),
    row(23, labels, &["101 3"], Rejected("must have at most 100 items")),
    row(24, whole, &["{applicationRefs: []}"], Rejected("spec.applicationRefs")),
    row(25, reference, &["[{namePattern: a, useAnnotations: true, labelSelectors: {matchLabels: {a: b}}}, {namePattern: a, useAnnotations: true, labelSelectors: {matchLabels: {a: c}}}]"], Rejected("Duplicate value")),
    row(26, reference, &["{images: [{alias: a, imageName: nginx}, {alias: a, imageName: redis}]}"], Rejected("Duplicate value")),
    row(27, image, &["{alias: -x}", "{alias: ''}"], Rejected("should match '^[a-zA-Z0-9][a-zA-Z0-9-._]*$'")),
    row(28, image, &["{alias: a.b_c-1}"], Accepted),
    row(29, manifest_targets, &["{}"], ONE_TARGET),
    row(30, manifest_targets, &["{helm: {}, kustomize: {name: x}}"], ONE_TARGET),
    row(31, manifest_targets, &["{kustomize: {}}"], Rejected("manifestTargets.kustomize.name: Required value")),
    row(32, manifest_targets, &["{plugin: {tag: TAG}}"], Rejected("At least one of spec or name must be specified in plugin target.")),
    row(33, manifest_targets, &["{plugin: {name: NAME}}", "{plugin: {spec: SPEC}}"], Accepted),
    row(34, verification, &["{}"], NO_KEY),
    row(35, verification, &["{enabled: false}"], Accepted),
    row(36, verification, &["{cosignKey: {secretName: s, key: k}}"], Stored("/spec/imagesVerification/enabled", "true")),
    row(37, verification, &["{cosignKey: {secretName: s}}"], Rejected("imagesVerification.cosignKey.key: Required value")),
    row(38, method, &["argocd", "git", "git:secret:ns/name", "git:repocreds"], Accepted),
    row(39, method, &["''", "kubernetes", "'git:'", "' git'"], Rejected("spec.writeBackConfig.method")),
    row(40, settings, &["{updateStrategy: nonsense}"], Accepted),
    row(41, whole, &["null"], Accepted),
];
