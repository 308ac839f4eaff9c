//! What a person took back stays back (`--hold-reverted`, spec 40 B10).
//!
//! Every commit of ours then ends with a line per change. Before a value is moved, and only
//! then, the branch's past is asked: if we moved this very image to this very value before,
//! and the branch no longer says what we last wrote, somebody has taken it back.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aiu_api::plan::Target;
use aiu_core::batch::{AppName, CommitPlan, ImageChange};
use aiu_core::decide::{HoldReason, Verdict};
use aiu_core::image::TagRef;
use aiu_core::outcome::{Failure, Outcome, Stage};
use aiu_core::report::{Finding, Severity};
use aiu_git::GitAccess;

use super::Row;
use super::read::{Seen, read_key};
use crate::cycle::World;

/// How such a line begins.
const TRAILER: &str = "Image-Update:";

/// What a commit of ours did to one image.
#[derive(Debug, PartialEq, Eq)]
struct Move<'a> {
    key: &'a str,
    to: &'a str,
}

/// A message with a line for every change.
pub fn with_trailers(message: &str, plans: &[&CommitPlan], changes: &[ImageChange]) -> String {
    let mut message = message.trim_end().to_owned() + "\n\n";
    for plan in plans {
        for change in changes.iter().filter(|change| plan.changes.contains(change)) {
            let image = match &change.alias {
                Some(alias) => alias.to_string(),
                None => change.to.repository.to_string(),
            };
            let key = key(&plan.application, &image);
            let from = change.from.as_ref().and_then(|from| from.tag.as_ref());
            let _ = writeln!(
                message,
                "{TRAILER} {key} {} {}",
                value(from),
                value(change.to.tag.as_ref())
            );
        }
    }
    message
}

fn key(app: &AppName, image: &str) -> String {
    format!("{app}/{image}")
}

fn value(tag: Option<&TagRef>) -> String {
    tag.map_or_else(|| "-".to_owned(), TagRef::as_tag_value)
}

/// The moves that a message tells of.
fn moves(message: &str) -> impl Iterator<Item = Move<'_>> {
    message.lines().filter_map(|line| {
        let mut words = line.strip_prefix(TRAILER)?.split_whitespace();
        let (key, _from, to) = (words.next()?, words.next()?, words.next()?);
        words.next().is_none().then_some(Move { key, to })
    })
}

/// Whether a value was taken back: `messages` are ours and others', newest first.
fn is_reverted(messages: &[String], key: &str, now: &str, wanted: &str) -> bool {
    let ours: Vec<Move<'_>> =
        messages.iter().flat_map(|it| moves(it)).filter(|it| it.key == key).collect();
    match ours.first() {
        Some(last) if last.to == now => false,
        _ => ours.iter().any(|it| it.to == wanted),
    }
}

/// Ends the rows whose new value a person took back.
pub async fn hold(rows: &mut [Row], world: &World) {
    if !world.settings.hold_reverted {
        return;
    }
    let mut asked: BTreeMap<Seen, GitAccess> = BTreeMap::new();
    for row in rows.iter() {
        if let Some((seen, access)) = moving(row) {
            asked.entry(seen).or_insert(access);
        }
    }
    let (seen, questions): (Vec<Seen>, Vec<_>) = asked
        .into_iter()
        .map(|(seen, access)| {
            let question = (seen.0.clone(), access);
            (seen, question)
        })
        .unzip();
    let told = world.mirrors.histories(questions).await;
    let told: BTreeMap<Seen, _> = seen.into_iter().zip(told).collect();
    for row in rows.iter_mut() {
        let Some((seen, _)) = moving(row) else { continue };
        match told.get(&seen) {
            Some(Ok(messages)) => judge(row, messages),
            // What cannot be asked is not guessed.
            Some(Err(error)) => {
                let (stage, reason, message) = (Stage::Written, error.reason(), error.to_string());
                row.outcome = Some(Outcome::Failed(Failure { stage, reason, message }));
            }
            None => {}
        }
    }
}

/// The branch of a row that is about to move.
fn moving(row: &Row) -> Option<(Seen, GitAccess)> {
    let (Target::File(target), Some(access)) = (&row.image.target, &row.git) else { return None };
    let verdict = row.decision.as_ref().map(|decision| &decision.verdict);
    let moves = row.is_open() && matches!(verdict, Some(Verdict::UpdateTo(_)));
    moves.then(|| (read_key(target, access), access.clone()))
}

fn judge(row: &mut Row, messages: &[String]) {
    let Some(decision) = &mut row.decision else { return };
    let Verdict::UpdateTo(wanted) = &decision.verdict else { return };
    let wanted = wanted.as_tag_value();
    let now = row.current.as_ref().and_then(|current| current.reference.as_ref());
    let now = value(now.and_then(|reference| reference.tag.as_ref()));
    let key = key(&row.image.key.application, &row.image.key.image);
    if !is_reverted(messages, &key, &now, &wanted) {
        return;
    }
    row.findings.push(Finding {
        severity: Severity::Warning,
        reason: "Reverted",
        found: format!("it was moved to '{wanted}' before, and somebody has put '{now}' back"),
        fix: format!(
            "to have '{wanted}' after all, write it yourself, or run once without --hold-reverted; a newer tag is written by itself"
        ),
    });
    decision.verdict = Verdict::Held(HoldReason::Reverted { now, wanted });
    row.outcome = Some(Outcome::Held);
}

#[cfg(test)]
mod tests {
    use super::is_reverted;

    #[test]
    fn only_what_we_wrote_and_somebody_took_back_is_held() {
        let ours = |to: &str| format!("build: x\n\nImage-Update: argocd/shop/web 1.0 {to}\n");
        let other = "Image-Update: argocd/other/web 1.0 2.0\n".to_owned();
        let revert = "Revert \"build: x\"\n".to_owned();
        #[rustfmt::skip]
        let rows = [
            // newest first, the present value, what is wanted, is it held
            (vec![],                                       "1.0", "2.0", false),
            (vec![ours("2.0")],                            "1.0", "2.0", true),
            (vec![revert.clone(), ours("2.0")],            "1.0", "2.0", true),
            (vec![revert.clone(), ours("2.0")],            "1.0", "3.0", false),
            (vec![other],                                  "1.0", "2.0", false),
            // What we wrote last still stands: nobody took anything back.
            (vec![ours("3.0"), ours("2.0")],               "3.0", "2.0", false),
            (vec![revert, ours("3.0"), ours("2.0")],       "2.0", "3.0", true),
            (vec!["Image-Update: broken".to_owned()],      "1.0", "2.0", false),
        ];
        for (messages, now, wanted, expected) in rows {
            let held = is_reverted(&messages, "argocd/shop/web", now, wanted);
            assert_eq!(held, expected, "{messages:?} at {now} to {wanted}");
        }
    }
}
