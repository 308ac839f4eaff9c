//! What a pass leaves in the status of its `ImageUpdater` (spec 20 §4): a function of what it
//! came to and of what stood there.

use aiu_core::batch::ImageChange;
use aiu_core::image::TagRef;

use crate::image_updater::{Condition, ImageUpdaterStatus, RecentUpdate};

/// What a pass came to, as far as the status tells it.
#[derive(Clone, Debug)]
pub struct Pass<'a> {
    /// `metadata.generation` that it worked from.
    pub generation: i64,
    /// When it ended, as RFC 3339.
    pub now: &'a str,
    /// What it did, or why it failed as a whole.
    pub result: Result<Numbers, &'a str>,
    /// Why images failed, each kind of cause once, as `Reason: sentence`.
    pub causes: &'a [String],
    /// What it wrote, each as alias and change; nothing in a dry run.
    pub changes: &'a [ImageChange],
}

/// The sums of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Applications with at least one usable image.
    pub applications: usize,
    /// Images considered.
    pub images: usize,
    /// Images updated.
    pub updated: usize,
    /// Failures.
    pub errors: usize,
}

/// Longer texts make the API server refuse the whole status (spec 20 §7).
const LONGEST_MESSAGE: usize = 32_000;

/// The status while a pass is under way.
#[must_use]
pub fn in_progress(before: &ImageUpdaterStatus, generation: i64, now: &str) -> ImageUpdaterStatus {
    let mut status = before.clone();
    let message = "Image update check in progress.".to_owned();
    set(&mut status, generation, now, "Reconciling", true, "Reconciling", message);
    status
}

/// The status after a pass.
#[must_use]
pub fn after(before: &ImageUpdaterStatus, pass: &Pass<'_>) -> ImageUpdaterStatus {
    let &Pass { generation, now, ref result, causes, changes } = pass;
    let numbers = result.as_ref().copied().unwrap_or_default();
    let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    let mut status = before.clone();
    status.observed_generation = Some(generation).filter(|generation| *generation != 0);
    status.last_checked_at = Some(now.to_owned());
    status.applications_matched = count(numbers.applications);
    status.images_managed = count(numbers.images);
    if let Some(updates) = recent_updates(changes, now) {
        status.last_updated_at = Some(now.to_owned());
        status.recent_updates = Some(updates);
    }
    let idle = "Last check completed. Awaiting next cycle.".to_owned();
    set(&mut status, generation, now, "Reconciling", false, "Idle", idle);
    let Numbers { applications, updated, errors, .. } = numbers;
    let ((failing, why, what), (ready, grounds, sentence)) = match result {
        Err(error) => (
            (true, "ReconcileError", (*error).to_owned()),
            (false, "ReconcileFailed", format!("Reconciliation failed: {error}")),
        ),
        Ok(_) if errors > 0 => (
            (true, "PartialErrors", partial(errors, causes)),
            (
                true,
                "ReconcileCompletedWithErrors",
                format!(
                    "Reconciled {applications} applications with {errors} errors, {updated} images updated."
                ),
            ),
        ),
        Ok(_) => (
            (false, "NoErrors", "No errors during last reconciliation.".to_owned()),
            (
                true,
                "ReconcileSucceeded",
                format!("Reconciled {applications} applications, {updated} images updated."),
            ),
        ),
    };
    set(&mut status, generation, now, "Error", failing, why, what);
    set(&mut status, generation, now, "Ready", ready, grounds, sentence);
    status
}

/// How many causes a condition tells; the log and the events tell all.
const CAUSES: usize = 3;

/// The reference's sentence, and behind it what is wrong (spec 00 §5.2, S4.6).
fn partial(errors: usize, causes: &[String]) -> String {
    let mut text = format!("{errors} error(s) occurred during image update checks.");
    for cause in causes.iter().take(CAUSES) {
        text.push(' ');
        text.push_str(cause);
    }
    match causes.len().saturating_sub(CAUSES) {
        0 => text,
        more => format!("{text} And {more} more."),
    }
}

/// Sets one condition. When it last turned is kept unless it turns now.
fn set(
    status: &mut ImageUpdaterStatus,
    generation: i64,
    now: &str,
    kind: &str,
    holds: bool,
    reason: &str,
    mut message: String,
) {
    if message.len() > LONGEST_MESSAGE {
        let end = (0..=LONGEST_MESSAGE).rev().find(|&end| message.is_char_boundary(end));
        message.truncate(end.unwrap_or_default());
        message.push('…');
    }
    let word = if holds { "True" } else { "False" };
    let known = status.conditions.iter().position(|condition| condition.kind == kind);
    let before = known.map(|at| &status.conditions[at]);
    let since = before.filter(|before| before.status == word).map(|b| &b.last_transition_time);
    let condition = Condition {
        kind: kind.to_owned(),
        status: word.to_owned(),
        reason: reason.to_owned(),
        message,
        last_transition_time: since.filter(|t| !t.is_empty()).cloned().unwrap_or(now.to_owned()),
        observed_generation: Some(generation).filter(|generation| *generation != 0),
    };
    match known {
        Some(at) => status.conditions[at] = condition,
        None => status.conditions.push(condition),
    }
}

/// The changes of a pass by alias and new version, in the order of their first appearance
/// (spec 20 §4.1); `None` if there are none.
pub fn recent_updates(changes: &[ImageChange], now: &str) -> Option<Vec<RecentUpdate>> {
    let mut updates: Vec<RecentUpdate> = Vec::new();
    for change in changes {
        let image = change.to.repository.to_string();
        let alias = match &change.alias {
            Some(alias) => alias.as_str().to_owned(),
            None => change.to.repository.path().to_owned(),
        };
        let new = version(change.to.tag.as_ref());
        let known = updates.iter_mut().find(|u| u.alias == alias && u.new_version == new);
        if let Some(known) = known {
            known.applications_updated += 1;
            continue;
        }
        let from = version(change.from.as_ref().and_then(|from| from.tag.as_ref()));
        let message = format!("Updated from {from} to {new}.");
        updates.push(RecentUpdate {
            alias,
            image,
            new_version: new.to_owned(),
            applications_updated: 1,
            updated_at: now.to_owned(),
            message: Some(message),
        });
    }
    (!updates.is_empty()).then_some(updates)
}

/// The digest if there is one, else the tag.
fn version(tag: Option<&TagRef>) -> &str {
    tag.map(TagRef::short).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use aiu_core::image::ImageReference;

    use super::*;

    const NOW: &str = "2026-01-02T03:04:05Z";

    fn change(alias: &str, from: &str, to: &str) -> ImageChange {
        let reference = |text: &str| text.parse::<ImageReference>().unwrap();
        ImageChange {
            alias: aiu_core::image::Alias::new(alias),
            from: Some(reference(from)),
            to: reference(to),
            labels: std::collections::BTreeMap::new(),
        }
    }

    /// Spec 20 §4.1, table.
    #[test]
    fn changes_are_told_by_alias_and_version() {
        let web = || change("web", "nginx:1.20", "nginx:1.21");
        #[rustfmt::skip]
        let rows: [(&[ImageChange], &str); 6] = [
            (&[], ""),
            (&[web()], "web nginx 1.21 x1: Updated from 1.20 to 1.21."),
            (&[web(), web()], "web nginx 1.21 x2: Updated from 1.20 to 1.21."),
            (&[web(), change("cache", "redis:6.0", "redis:7.0")],
             "web nginx 1.21 x1: Updated from 1.20 to 1.21.; cache redis 7.0 x1: Updated from 6.0 to 7.0."),
            (&[change("", "nginx:1.20", "nginx:1.21")], "nginx nginx 1.21 x1: Updated from 1.20 to 1.21."),
            (&[change("", "quay.io/org/app:1", "quay.io/org/app:2")], "org/app quay.io/org/app 2 x1: Updated from 1 to 2."),
        ];
        for (changes, expected) in rows {
            let updates = recent_updates(changes, NOW);
            assert_eq!(updates.is_none(), changes.is_empty());
            let shown = updates.unwrap_or_default().into_iter().map(|u| {
                let RecentUpdate { alias, image, new_version, applications_updated, .. } = &u;
                let message = u.message.as_deref().unwrap();
                format!("{alias} {image} {new_version} x{applications_updated}: {message}")
            });
            assert_eq!(shown.collect::<Vec<_>>().join("; "), expected);
        }
    }

    fn pass(generation: i64, result: Result<Numbers, &'static str>) -> Pass<'static> {
        Pass { generation, now: NOW, result, causes: &[], changes: &[] }
    }

    fn numbers(applications: usize, updated: usize, errors: usize) -> Numbers {
        Numbers { applications, images: applications, updated, errors }
    }

    /// Spec 20 §4.2, table.
    #[test]
    fn conditions_say_what_a_pass_came_to() {
        #[rustfmt::skip]
        let rows = [
            (3, Ok(numbers(5, 2, 0)),
             "Reconciling=False Idle: Last check completed. Awaiting next cycle.\n\
              Error=False NoErrors: No errors during last reconciliation.\n\
              Ready=True ReconcileSucceeded: Reconciled 5 applications, 2 images updated."),
            (5, Ok(numbers(5, 1, 2)),
             "Reconciling=False Idle: Last check completed. Awaiting next cycle.\n\
              Error=True PartialErrors: 2 error(s) occurred during image update checks.\n\
              Ready=True ReconcileCompletedWithErrors: Reconciled 5 applications with 2 errors, 1 images updated."),
            (7, Err("connection refused"),
             "Reconciling=False Idle: Last check completed. Awaiting next cycle.\n\
              Error=True ReconcileError: connection refused\n\
              Ready=False ReconcileFailed: Reconciliation failed: connection refused"),
        ];
        for (generation, result, expected) in rows {
            let before = in_progress(&ImageUpdaterStatus::default(), generation, NOW);
            assert_eq!(before.conditions[0].status, "True");
            let status = after(&before, &pass(generation, result));
            let shown = status.conditions.iter().map(|c| {
                assert_eq!(c.observed_generation, Some(generation));
                format!("{}={} {}: {}", c.kind, c.status, c.reason, c.message)
            });
            assert_eq!(shown.collect::<Vec<_>>().join("\n"), expected);
            assert_eq!(status.observed_generation, Some(generation));
            assert_eq!(status.last_checked_at.as_deref(), Some(NOW));
            assert_eq!(status.last_updated_at, None);
        }
    }

    #[test]
    fn the_first_causes_stand_behind_the_number_of_errors() {
        let causes = ["A: one.", "B: two.", "C: three.", "D: four."].map(str::to_owned);
        let told = |count: usize| {
            let pass = Pass { causes: &causes[..count], ..pass(1, Ok(numbers(5, 0, 4))) };
            let status = after(&ImageUpdaterStatus::default(), &pass);
            let error = status.conditions.iter().find(|c| c.kind == "Error").unwrap();
            error.message.replace("4 error(s) occurred during image update checks.", "4:")
        };
        assert_eq!([0, 1, 3].map(told), ["4:", "4: A: one.", "4: A: one. B: two. C: three."]);
        assert_eq!(told(4), "4: A: one. B: two. C: three. And 1 more.");
    }

    #[test]
    fn a_condition_keeps_the_time_of_its_last_turn_and_its_place() {
        let first = after(&ImageUpdaterStatus::default(), &pass(1, Ok(numbers(1, 0, 0))));
        let later = Pass { now: "2026-01-02T04:00:00Z", ..pass(2, Ok(numbers(1, 0, 1))) };
        let second = after(&first, &later);
        let turned: Vec<_> = second
            .conditions
            .iter()
            .map(|c| format!("{} {}", c.kind, c.last_transition_time))
            .collect();
        assert_eq!(
            turned,
            [
                format!("Reconciling {NOW}"),
                "Error 2026-01-02T04:00:00Z".to_owned(),
                format!("Ready {NOW}")
            ]
        );
    }

    #[test]
    fn what_was_updated_last_stays_until_something_else_is() {
        let changes = [change("web", "nginx:1.20", "nginx:1.21")];
        let updated = Pass { changes: &changes, ..pass(1, Ok(numbers(1, 1, 0))) };
        let first = after(&ImageUpdaterStatus::default(), &updated);
        assert_eq!(first.last_updated_at.as_deref(), Some(NOW));
        let later = Pass { now: "2026-01-02T04:00:00Z", ..pass(1, Ok(numbers(1, 0, 0))) };
        let second = after(&first, &later);
        assert_eq!(second.last_updated_at.as_deref(), Some(NOW));
        assert_eq!(second.recent_updates, first.recent_updates);
    }

    /// Spec 20 §7: the schema allows 32,768 characters.
    #[test]
    fn an_endless_error_is_cut() {
        let long: &'static str = Box::leak("ä".repeat(40_000).into_boxed_str());
        let status = after(&ImageUpdaterStatus::default(), &pass(1, Err(long)));
        assert!(status.conditions.iter().all(|c| c.message.len() <= LONGEST_MESSAGE + 3));
    }
}
