//! Confirming what is about to be written: that it is signed, where it must be (spec 10 §10).
//!
//! Only winners that would be written are checked, each once however many images it is for.
//! What fails is not replaced by the next best: that would turn a missing signature into a
//! silent downgrade.

use std::collections::HashMap;

use aiu_core::decide::Verdict;
use aiu_core::image::{Digest, ImageReference, TagRef};
use aiu_core::outcome::{Failure, Outcome, Stage};
use aiu_registry::{CosignKey, ScanKey, ScanRequest, SignatureError, Signed};
use futures::stream::{self, StreamExt as _};
use tracing::{debug, info};

use super::Row;
use crate::cycle::World;

/// One thing to be checked; the images that share it share the answer.
type Question = (ScanKey, TagRef, CosignKey);

/// Checks the signatures of what would be written. Rows whose check fails end here.
pub async fn confirm(rows: &mut [Row], world: &World) {
    let mut questions: HashMap<Question, (ScanRequest, String)> = HashMap::new();
    for row in rows.iter() {
        if let Some((question, image)) = question(row) {
            questions.entry(question).or_insert_with(|| (row.request.clone(), image));
        }
    }
    let answers = stream::iter(questions).map(async |(question, (request, image))| {
        let answer = answer(&question, &request, &image, world).await;
        (question, answer)
    });
    let answers: HashMap<Question, Result<(), Failure>> =
        answers.buffer_unordered(world.settings.concurrency.max(1)).collect().await;
    for row in rows {
        let Some((question, _)) = question(row) else { continue };
        if let Some(Err(failure)) = answers.get(&question) {
            row.outcome = Some(Outcome::Failed(failure.clone()));
        }
    }
}

/// What must be checked before this row is written, and the image in words.
fn question(row: &Row) -> Option<(Question, String)> {
    let key = row.key.clone().filter(|_| row.is_open())?;
    let Verdict::UpdateTo(tag) = &row.decision.as_ref()?.verdict else { return None };
    let repository = row.image.configured.repository.clone();
    let image = ImageReference { repository, tag: Some(tag.clone()) }.to_string();
    Some(((row.request.key(), tag.clone(), key), image))
}

async fn answer(
    (_, tag, key): &Question,
    request: &ScanRequest,
    image: &str,
    world: &World,
) -> Result<(), Failure> {
    debug!("Fetching cosign signature for {image}");
    let checked = match tag.name() {
        Some(name) => {
            let signed = Signed { image, tag: name, digest: tag.pinned_digest(), key };
            world.scanner.check_signature(request, signed).await
        }
        None => Err(SignatureError::Digest { digest: Digest::new("") }),
    };
    match checked {
        Ok(digest) => {
            info!(image_digest = %digest, "Cosign signature verified successfully for {image}");
            Ok(())
        }
        Err(error) => Err(Failure {
            stage: Stage::Chosen,
            reason: error.reason(),
            message: format!("Unable to verify image {image} with public key: {error}"),
        }),
    }
}
