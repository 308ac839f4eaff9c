//! Labels of what is about to be committed, where the message of commits asks for them
//! (spec 30 §5.1, `.Labels`).
//!
//! Only winners that go to git are looked at. What was looked at already, to choose among build
//! dates, costs nothing more; the scanner keeps images by digest.

use std::sync::Arc;

use aiu_core::decide::{Inspection, Verdict};
use aiu_core::image::Tag;
use aiu_core::outcome::Outcome;
use aiu_registry::Detail;
use futures::stream::{self, StreamExt as _};
use tokio::time::Instant;

use super::Row;
use super::choose::unanswered;
use crate::cycle::World;

/// Gives the open rows the labels of their winners. A row whose image cannot be looked at for a
/// passing reason ends here: its message would say that there are none.
pub async fn label(rows: &mut [Row], started: Instant, world: &World) {
    if !world.settings.message.mentions("Labels") {
        return;
    }
    let asked: Vec<_> = rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| {
            let policy = row.image.policy.as_ref().ok()?;
            Some((at, row.request.clone(), winner(row)?.clone(), Arc::clone(policy)))
        })
        .collect();
    let told = stream::iter(asked).map(async |(at, request, tag, policy)| {
        let platforms = &policy.platforms;
        (at, world.scanner.inspect(&request, &tag, Detail::Config, platforms, started).await)
    });
    let told: Vec<_> = told.buffer_unordered(world.settings.concurrency.max(1)).collect().await;
    for (at, told) in told {
        match told {
            Ok(Inspection::Image(image)) => rows[at].labels = image.labels,
            Ok(Inspection::WrongPlatform | Inspection::NoManifest) => {}
            Err(error) => rows[at].outcome = Some(Outcome::Failed(unanswered(&error))),
        }
    }
}

/// The tag that would be committed.
fn winner(row: &Row) -> Option<&Tag> {
    row.git.as_ref().filter(|_| row.is_open())?;
    match &row.decision.as_ref()?.verdict {
        Verdict::UpdateTo(tag) => tag.name(),
        _ => None,
    }
}
