//! Asking registries which tags exist: each repository once, however many images share it.

use std::collections::HashSet;
use std::sync::Arc;

use aiu_api::plan::TrackedImage;
use aiu_registry::{ScanKey, ScanRequest};
use futures::stream::{self, StreamExt as _};
use tokio::time::Instant;

use super::Row;
use super::choose::Scans;
use crate::cycle::World;

/// What an image asks its registry.
pub fn scan_key(image: &TrackedImage) -> ScanKey {
    ScanKey {
        endpoint: Arc::clone(&image.endpoint),
        repository: Arc::clone(&image.wire_path),
        credentials: "anonymous".to_owned(),
    }
}

/// Lists the tags of every repository that an open row needs.
pub async fn list_tags(rows: &[Row], started: Instant, world: &World) -> Scans {
    let wanted = rows.iter().filter(|row| {
        row.is_open() && row.image.policy.as_ref().is_ok_and(|policy| policy.strategy.lists_tags())
    });
    let keys: HashSet<ScanKey> = wanted.map(|row| scan_key(&row.image)).collect();
    let scans = stream::iter(keys).map(|key| async move {
        let tags = world.scanner.list_tags(&ScanRequest { key: key.clone() }, started).await;
        (key, tags)
    });
    scans.buffer_unordered(world.settings.concurrency).collect().await
}
