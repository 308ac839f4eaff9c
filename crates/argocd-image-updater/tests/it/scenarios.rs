//! Plays every file of `tests/scenarios` with the product's own passes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use aiu_controller::cluster::files::Manifests;
use aiu_controller::report::{FileChange, ImageReport};
use aiu_controller::unlock::Keys;
use aiu_core::decide::Verdict;
use aiu_core::outcome::Outcome;
use aiu_core::registries::Registries;
use aiu_git::GitCounts;
use aiu_testkit::scenario::{Observed, Scenario, Stage, play};
use argocd_image_updater::commands::session::{Services, services};
use argocd_image_updater::output;
use argocd_image_updater::settings::{Commits, Settings};

#[test]
fn scenarios_come_out_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() >= 5, "scenarios are missing from {}", folder.display());
    let only = std::env::var("AIU_SCENARIO").ok();
    let mut failures = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        if let Err(error) = play_text(&std::fs::read_to_string(&path).unwrap()) {
            failures.push(format!("{name}: {error:#}"));
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n\n"));
}

/// Before every pass of every scenario a dry one: what it would write is what is then written
/// (spec 40 B6).
#[test]
fn what_a_dry_run_shows_is_what_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut compared = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut scenario = Scenario::parse(&text).unwrap();
        for step in &mut scenario.steps {
            // The dry pass asks too, and changes what is still to be asked.
            step.then.counts.clear();
        }
        let played = play_each(&scenario, async |services, stage| {
            let manifests = Manifests::load(&stage.manifests(), "argocd").ok();
            let shown = match manifests {
                Some(manifests) => services[1].session.pass(manifests).await.files,
                None => Vec::new(),
            };
            let shown = output::diff(&shown);
            let (observed, written) = pass(&services[0], stage).await;
            let written = output::diff(&written);
            // What a remote will refuse cannot be known before.
            let same = if observed.failed { shown.contains(&written) } else { shown == written };
            assert!(same, "{}:\n{shown}\n{written}", path.display());
            compared += usize::from(!shown.is_empty());
            observed
        });
        played.unwrap();
    }
    assert!(compared > 10, "{compared} passes wrote something");
}

/// Plays one scenario; the error tells which step went wrong and how.
pub(crate) fn play_text(text: &str) -> anyhow::Result<()> {
    play_each(&Scenario::parse(text)?, async |services, stage| pass(&services[0], stage).await.0)
}

/// Plays one scenario with services that write, and others that only would.
fn play_each(
    scenario: &Scenario,
    mut pass: impl AsyncFnMut(&[Services; 2], &Stage) -> Observed,
) -> anyhow::Result<()> {
    // Whoever plays first in this process installs it.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut services = None;
        play(scenario, async |stage| {
            let services = services.get_or_insert_with(|| [open(stage, false), open(stage, true)]);
            pass(services, stage).await
        })
        .await
    })
}

/// Services over the stage's folders; they live as long as the scenario, like a process.
fn open(stage: &Stage, dry_run: bool) -> Services {
    let text = std::fs::read_to_string(stage.registries_file()).unwrap();
    let registries = Arc::new(Registries::parse(&text).unwrap());
    let settings = Settings::for_folder(stage.manifests(), stage.cache());
    let commits = Commits::with_default_message(&settings);
    let keys = Keys::without_user(&stage.cache());
    services(registries.into(), &settings, &commits, keys, dry_run).unwrap()
}

async fn pass(services: &Services, stage: &Stage) -> (Observed, Vec<FileChange>) {
    let before = services.mirrors.counts();
    let manifests = match Manifests::load(&stage.manifests(), "argocd") {
        Ok(manifests) => manifests,
        Err(error) => {
            let told = error.to_string();
            return (Observed { told, failed: true, ..Observed::default() }, Vec::new());
        }
    };
    let problems = manifests.problems().to_vec();
    let report = services.session.pass(manifests).await;
    let observed = Observed {
        images: report.images.iter().map(|i| (i.key.to_string(), outcome(i))).collect(),
        told: output::with_problems(&problems, &output::results(&report, false)),
        failed: report.failed() || problems.iter().any(|problem| problem.fails),
        counts: counts(before, services.mirrors.counts()),
    };
    (observed, report.files)
}

fn counts(before: GitCounts, after: GitCounts) -> BTreeMap<String, u64> {
    [
        ("ls-remote", after.ls_remote - before.ls_remote),
        ("fetch-tip", after.fetch_tip - before.fetch_tip),
        ("fetch-blobs", after.fetch_blobs - before.fetch_blobs),
        ("git-processes", after.processes - before.processes),
    ]
    .map(|(name, count)| (name.to_owned(), count))
    .into()
}

/// The outcome as scenarios write it.
fn outcome(image: &ImageReport) -> String {
    let winner = image.decision.as_ref().map(|decision| &decision.verdict);
    match (&image.outcome, winner) {
        (Outcome::Updated(_), Some(Verdict::UpdateTo(tag))) => {
            format!("updated to {}", tag.as_tag_value())
        }
        (Outcome::Updated(_), _) => "updated".to_owned(),
        (Outcome::UpToDate, _) => "up to date".to_owned(),
        (Outcome::AlreadySo, _) => "already written".to_owned(),
        (Outcome::NotLive, _) => "not live".to_owned(),
        (Outcome::NoCandidate, _) => "no candidate".to_owned(),
        (Outcome::Held, _) => "held".to_owned(),
        (Outcome::Dropped(failure), _) => format!("dropped {}", failure.reason),
        (Outcome::Failed(failure), _) => format!("failed {}", failure.reason),
    }
}
