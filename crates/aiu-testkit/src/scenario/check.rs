//! What came of a step against what was expected of it.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::stage::{Snapshot, Stage};
use super::text::Expected;
use crate::registry::Kind;

/// What a pass tells of itself.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Every image: `namespace/application image` to its outcome in words.
    pub images: BTreeMap<String, String>,
    /// All that people are told.
    pub told: String,
    /// Whether the pass counts as failed.
    pub failed: bool,
    /// How often the program says that it did something: `ls-remote`, `fetch-tip`,
    /// `fetch-blobs`, `git-processes`.
    pub counts: BTreeMap<String, u64>,
}

/// Every expectation that was not met, in words.
pub(super) fn differences(
    expected: &Expected,
    observed: Option<&Observed>,
    before: &Snapshot,
    stage: &Stage,
) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    let nothing = Observed::default();
    let observed = observed.unwrap_or(&nothing);
    let after = stage.snapshot()?;
    if let Some(images) = &expected.images {
        let found =
            observed.images.iter().map(|(key, told)| (key.clone(), stage.in_its_words(told)));
        compare(&mut wrong, "images", images, &found.collect());
    }
    let told = stage.in_its_words(&observed.told);
    for text in &expected.says {
        if !told.contains(text) {
            wrong.push(format!("  nobody is told {text:?} in:\n{told}"));
        }
    }
    if let Some(failed) = expected.failed {
        compare(&mut wrong, "failed", &failed, &observed.failed);
    }
    let counts = counts(observed, before, &after, stage);
    for (name, count) in &expected.counts {
        compare(&mut wrong, name, &Some(count), &counts.get(name));
    }
    commits(&mut wrong, expected, before, &after, stage);
    files(&mut wrong, expected, &after, stage)?;
    Ok(wrong)
}

fn compare<T: PartialEq<U> + Debug, U: Debug>(
    wrong: &mut Vec<String>,
    what: &str,
    expected: &T,
    found: &U,
) {
    if expected != found {
        wrong.push(format!("  {what}\n    expected {expected:?}\n    found    {found:?}"));
    }
}

fn counts(
    observed: &Observed,
    before: &Snapshot,
    after: &Snapshot,
    stage: &Stage,
) -> BTreeMap<String, u64> {
    let requests = stage.registry().requests();
    let listings = requests[before.requests..].iter().filter(|r| r.kind == Kind::Listing);
    let written =
        after.manifests.iter().filter(|(name, file)| before.manifests.get(*name) != Some(file));
    let mut counts = observed.counts.clone();
    let own = [
        ("requests", requests.len() - before.requests),
        ("listings", listings.count()),
        ("pushes", after.pushes - before.pushes),
        ("file-writes", written.count()),
    ];
    counts.extend(own.map(|(name, count)| (name.to_owned(), count as u64)));
    counts
}

fn commits(
    wrong: &mut Vec<String>,
    expected: &Expected,
    before: &Snapshot,
    after: &Snapshot,
    stage: &Stage,
) {
    let gained = |url: &str, branch: &str| {
        let of = |snapshot: &Snapshot| {
            snapshot.commits.get(url).and_then(|b| b.get(branch)).cloned().unwrap_or_default()
        };
        of(after).split_off(of(before).len().min(of(after).len()))
    };
    for (url, branches) in &expected.commits {
        for (branch, count) in branches {
            let what = format!("commits on {branch} of {url}");
            compare(wrong, &what, count, &gained(url, branch).len());
        }
    }
    for (url, branches) in &expected.messages {
        for (branch, messages) in branches {
            let found = gained(url, branch);
            let found: Vec<String> = found.iter().map(|it| stage.in_its_words(it)).collect();
            compare(wrong, &format!("messages on {branch} of {url}"), messages, &found);
        }
    }
}

fn files(
    wrong: &mut Vec<String>,
    expected: &Expected,
    after: &Snapshot,
    stage: &Stage,
) -> anyhow::Result<()> {
    for (url, branches) in &expected.files {
        let remote = stage.remote(url)?;
        for (branch, files) in branches {
            for (path, text) in files {
                let what = format!("{path} on {branch} of {url}");
                let found = remote.text(branch, path).map(|found| stage.in_its_words(&found));
                compare(wrong, &what, &Some(text.clone()), &found);
            }
        }
    }
    for (path, text) in &expected.manifests {
        let found = after.manifests.get(path).map(|(found, _)| stage.in_its_words(found));
        compare(wrong, &format!("manifest {path}"), &Some(text.clone()), &found);
    }
    Ok(())
}
