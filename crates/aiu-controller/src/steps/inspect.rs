//! Asking registries about the images behind tags, for the strategies that must know.

use std::sync::Arc;

use aiu_core::decide::{Needs, Shortlist};
use aiu_core::outcome::{Failure, Stage};
use aiu_core::policy::UpdatePolicy;
use aiu_registry::ScanRequest;
use futures::stream::{self, StreamExt as _};
use tokio::time::Instant;

use super::choose::{Shortlists, unanswered};
use crate::cycle::World;

/// Tells every shortlist what it must still be told. A list whose tags could not all be looked
/// at fails as a whole: the next best would be a guess (spec 10 F6).
pub async fn inspect(lists: &mut Shortlists, started: Instant, world: &World) {
    let waiting: Vec<_> = lists
        .iter()
        .filter_map(|((key, policy), listed)| {
            let list = listed.list.as_ref().ok().filter(|list| list.needs != Needs::Nothing)?;
            Some(((key.clone(), Arc::clone(policy)), listed.request.clone(), Arc::clone(list)))
        })
        .collect();
    let told = stream::iter(waiting).map(async |(key, request, list)| {
        let list = told(&key.1, &request, &list, started, world).await;
        (key, list)
    });
    let told: Vec<_> = told.buffer_unordered(world.settings.concurrency.max(1)).collect().await;
    for (key, list) in told {
        if let Some(listed) = lists.get_mut(&key) {
            listed.list = list;
        }
    }
}

async fn told(
    policy: &UpdatePolicy,
    request: &ScanRequest,
    list: &Shortlist,
    started: Instant,
    world: &World,
) -> Result<Arc<Shortlist>, Failure> {
    let metadata = world
        .scanner
        .inspect_needs(request, &list.needs, &policy.platforms, started)
        .await
        .map_err(|error| unanswered(&error))?;
    list.clone().inspected(&metadata).map(Arc::new).map_err(|error| Failure {
        stage: Stage::Scanned,
        reason: "NotInspected",
        message: error.to_string(),
    })
}
