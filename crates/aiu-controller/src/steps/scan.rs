//! Asking registries which tags exist: each repository once, however many images share it.

use std::collections::BTreeMap;

use aiu_registry::{ScanKey, ScanRequest};
use tokio::time::Instant;

use super::Row;
use super::choose::Scans;
use crate::cycle::World;

/// Lists the tags of every repository that an open row needs, from listings that began no
/// earlier than the floor.
pub async fn list_tags(rows: &[Row], floor: Instant, world: &World) -> Scans {
    let wanted = rows.iter().filter(|row| {
        row.is_open() && row.image.policy.as_ref().is_ok_and(|policy| policy.strategy.lists_tags())
    });
    let requests: BTreeMap<ScanKey, ScanRequest> =
        wanted.map(|row| (row.request.key(), row.request.clone())).collect();
    let (keys, requests): (Vec<_>, Vec<_>) = requests.into_iter().unzip();
    let answers = world.scanner.list_many(&requests, floor, world.settings.concurrency).await;
    keys.into_iter().zip(answers).collect()
}
