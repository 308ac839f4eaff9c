//! Shortlists, one per repository and policy, and the decision for each image.

use std::collections::HashMap;
use std::sync::Arc;

use aiu_core::decide::{
    Current, CurrentSource, DecideOptions, Decision, Merit, Shortlist, TagList, Verdict, decide,
    findings, reselect_live, shortlist,
};
use aiu_core::outcome::{Failure, Outcome, Stage};
use aiu_core::policy::{UpdatePolicy, UpdateStrategy};
use aiu_core::report::Finding;
use aiu_registry::{ScanError, ScanKey, ScanRequest};

use super::{Row, manifests};
use crate::cycle::World;

/// What every scan came to.
pub type Scans = HashMap<ScanKey, Result<Arc<TagList>, Arc<ScanError>>>;

/// What images share: the same tags seen by the same policy.
pub type Shortlists = HashMap<(ScanKey, Arc<UpdatePolicy>), Listed>;

/// A shortlist, and whom to ask about its tags.
pub struct Listed {
    /// Whom to ask.
    pub request: ScanRequest,
    /// The list, or why there is none.
    pub list: Result<Arc<Shortlist>, Failure>,
}

/// Makes each shortlist once, however many images share it.
pub fn shortlists(rows: &[Row], scans: &Scans) -> Shortlists {
    let mut lists = Shortlists::new();
    for row in rows.iter().filter(|row| row.is_open()) {
        let Ok(policy) = &row.image.policy else { continue };
        let request = row.request.clone();
        lists.entry((request.key(), Arc::clone(policy))).or_insert_with(|| {
            let list = listed(policy, scans.get(&request.key()));
            Listed { request, list }
        });
    }
    lists
}

fn listed(
    policy: &UpdatePolicy,
    scan: Option<&Result<Arc<TagList>, Arc<ScanError>>>,
) -> Result<Arc<Shortlist>, Failure> {
    match (scan, &policy.strategy) {
        (Some(Err(error)), _) => Err(unanswered(error)),
        (Some(Ok(tags)), _) => Ok(Arc::new(shortlist(policy, tags))),
        // Nothing was listed, since this strategy knows its only tag.
        (None, UpdateStrategy::Digest(tag)) => {
            Ok(Arc::new(shortlist(policy, &TagList::new([tag.clone()]))))
        }
        (None, _) => Err(Failure {
            stage: Stage::Scanned,
            reason: "NotListed",
            message: "the tags of its repository were not listed in this pass".to_owned(),
        }),
    }
}

/// A registry that did not answer, as a failure of whoever asked.
pub fn unanswered(error: &ScanError) -> Failure {
    Failure { stage: Stage::Scanned, reason: error.reason(), message: error.to_string() }
}

/// Decides every open row; those without anything to write are done with.
pub fn decisions(rows: &mut [Row], lists: &Shortlists, world: &World) {
    for row in rows.iter_mut().filter(|row| row.is_open()) {
        let policy = match &row.image.policy {
            Ok(policy) => Arc::clone(policy),
            Err(failure) => {
                row.outcome = Some(Outcome::Failed(failure.clone()));
                continue;
            }
        };
        let key = (row.request.key(), Arc::clone(&policy));
        match lists.get(&key).map(|listed| &listed.list) {
            Some(Ok(list)) => decide_row(row, &policy, list, world),
            Some(Err(failure)) => row.outcome = Some(Outcome::Failed(failure.clone())),
            // Every open row has a list; `finish` reports one that has none.
            None => {}
        }
    }
}

fn decide_row(row: &mut Row, policy: &UpdatePolicy, list: &Arc<Shortlist>, world: &World) {
    let options = DecideOptions {
        default_registry: world.registries.default_registry(),
        kustomize_name: row.image.names.kustomize.is_some(),
        allow_downgrade: world.settings.allow_downgrade,
    };
    if let Some(sibling) = stale_sibling(row, list, &options) {
        row.current = Some(sibling);
    }
    let decision = all_places(row, policy, list, &options);
    let image = &row.image.configured;
    let found = findings(&decision, policy, image, row.current.as_ref());
    row.outcome = finished(&decision.verdict, &found);
    row.findings.extend(found);
    row.decision = Some(decision);
}

/// The decision for an image that may stand in several places of plain manifests: what holds one
/// of them holds all, and the first that is behind makes them all move (spec 40 B3).
fn all_places(
    row: &mut Row,
    policy: &UpdatePolicy,
    list: &Arc<Shortlist>,
    options: &DecideOptions,
) -> Decision {
    let image = &row.image.configured;
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Held(_) => 0,
        Verdict::UpdateTo(_) => 1,
        Verdict::UpToDate | Verdict::NoCandidate(_) => 2,
    };
    let first = (row.current.clone(), decide(list, policy, image, row.current.as_ref(), options));
    let others = manifests::references(row).into_iter().map(|reference| {
        let current =
            Some(Current { reference: Some(reference.clone()), source: CurrentSource::Target });
        let decision = decide(list, policy, image, current.as_ref(), options);
        (current, decision)
    });
    // Of equal ones the first counts.
    let (current, decision) = others.fold(first, |best, other| {
        if rank(&other.1.verdict) < rank(&best.1.verdict) { other } else { best }
    });
    row.current = current;
    decision
}

/// Under the digest strategy several containers may run one image at different ages; the one
/// that is behind counts (spec 10 §3.3).
fn stale_sibling(row: &Row, list: &Shortlist, options: &DecideOptions) -> Option<Current> {
    let live = row.image.live.as_deref()?;
    if row.current.as_ref()?.source != CurrentSource::Live {
        return None;
    }
    let Merit::Digest(Some(newest)) = &list.candidates.first()?.merit else { return None };
    let index = reselect_live(&row.image.configured, live, newest, &options.default_registry)?;
    Some(Current { reference: live.get(index).cloned(), source: CurrentSource::Live })
}

/// The outcome of a verdict that asks for no write.
fn finished(verdict: &Verdict, findings: &[Finding]) -> Option<Outcome> {
    match verdict {
        Verdict::UpdateTo(_) => None,
        Verdict::UpToDate => Some(Outcome::UpToDate),
        Verdict::Held(_) => Some(Outcome::Held),
        Verdict::NoCandidate(why) if why.is_failure() => Some(Outcome::Failed(Failure {
            stage: Stage::Chosen,
            reason: why.reason(),
            message: match findings.first() {
                Some(cause) => format!("{}; {}", cause.found, cause.fix),
                None => why.to_string(),
            },
        })),
        Verdict::NoCandidate(_) => Some(Outcome::NoCandidate),
    }
}

#[cfg(test)]
mod tests {
    use aiu_api::application::Application;
    use aiu_api::image_updater::{ApplicationRef, CommonUpdateSettings, ImageConfig, ImageUpdater};
    use aiu_api::resolve::{Context, resolve};
    use aiu_api::select::select;
    use aiu_core::registries::Registries;
    use aiu_registry::Credentials;

    use super::super::plan;
    use super::*;

    const REPOSITORIES: usize = 400;

    /// 5,000 images of 50 Applications, over 400 repositories and three policies.
    fn rows() -> Vec<Row> {
        let policies =
            [("semver", "regexp:^1"), ("semver", "regexp:^2"), ("alphabetical", "regexp:^v")];
        let image = |at: usize| {
            let (strategy, allow) = policies[at / REPOSITORIES % policies.len()];
            ImageConfig {
                alias: format!("image-{at}"),
                image_name: format!("registry.test/team/app-{}", at % REPOSITORIES),
                common_update_settings: Some(CommonUpdateSettings {
                    update_strategy: Some(strategy.to_owned()),
                    allow_tags: Some(allow.to_owned()),
                    ..CommonUpdateSettings::default()
                }),
                ..ImageConfig::default()
            }
        };
        let mut updater = ImageUpdater::default();
        let mut applications = Vec::new();
        for app in 0..50 {
            updater.spec.application_refs.push(ApplicationRef {
                name_pattern: format!("app-{app}-x"),
                images: (app * 100..(app + 1) * 100).map(image).collect(),
                ..ApplicationRef::default()
            });
            let mut application = Application::default();
            application.metadata.name = format!("app-{app}-x");
            application.spec.source =
                Some(aiu_api::application::Source { helm: true, ..Default::default() });
            applications.push(application);
        }
        let (registries, platform) = (Registries::builtin(), "linux/amd64".parse().unwrap());
        let context = Context { registries: &registries, namespace: "argocd", platform: &platform };
        let matched = select(&updater, &applications).unwrap();
        let mut plan = resolve(&updater, &matched, &context);
        plan::share_policies(&mut plan.images);
        plan.images.into_iter().map(|image| Row::new(image, Credentials::Anonymous)).collect()
    }

    /// What is listed is ranked once per repository and policy, and held once.
    #[test]
    fn images_of_one_repository_and_policy_share_a_shortlist() {
        let rows = rows();
        assert_eq!(rows.len(), 5_000);
        let tags: Arc<TagList> =
            Arc::new((0..50).map(|n| format!("{}.{n}.0", n % 3).parse().unwrap()).collect());
        let scans: Scans =
            rows.iter().map(|row| (row.request.key(), Ok(Arc::clone(&tags)))).collect();
        assert_eq!(scans.len(), REPOSITORIES);
        let mut lists = Shortlists::new();
        let spent = allocation_counter::measure(|| lists = shortlists(&rows, &scans));
        assert_eq!(lists.len(), 3 * REPOSITORIES);
        let tags_held: usize =
            lists.values().filter_map(|listed| Some(listed.list.as_ref().ok()?.len())).sum();
        assert_eq!(tags_held, 50 * lists.len());
        let held = u64::try_from(spent.bytes_current).unwrap() / tags_held as u64;
        assert!(held < 200, "{held} bytes for each of {tags_held} tags held");
    }

    /// Reading resources compiles no expression, and shortlists compile each policy's once.
    #[test]
    fn images_of_one_policy_share_what_it_compiles_to() {
        let rows = rows();
        let policies: HashMap<*const UpdatePolicy, &UpdatePolicy> = rows
            .iter()
            .filter_map(|row| row.image.policy.as_deref().ok())
            .map(|p| (std::ptr::from_ref(p), p))
            .collect();
        assert_eq!(policies.len(), 3);
        let compiled = || policies.values().filter(|policy| policy.filter.is_compiled()).count();
        assert_eq!(compiled(), 0);
        let tags: Arc<TagList> = Arc::new(["1.0.0".parse().unwrap()].into_iter().collect());
        let scans: Scans =
            rows.iter().map(|row| (row.request.key(), Ok(Arc::clone(&tags)))).collect();
        shortlists(&rows, &scans);
        assert_eq!(compiled(), 3);
    }
}
