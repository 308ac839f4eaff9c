//! One push of one branch, and what the remote answered.
//!
//! The lease names the tip that the commits stand on: the remote takes them only if the branch
//! is still there. A branch is never overwritten.

use std::sync::Arc;

use crate::answer::{self, Trouble};
use crate::command::{Call, CallError, Step};
use crate::mirror::{Ground, Mirror};
use crate::object::ObjectId;

/// A push that did not succeed.
#[derive(Debug)]
pub(crate) enum NotPushed {
    /// Somebody else moved the branch meanwhile.
    Lost { words: String },
    /// Anything else.
    Trouble(Trouble),
}

/// Pushes `commit` to the branch that the ground is for.
pub(crate) async fn push(
    mirror: &Mirror,
    ground: &Ground,
    commit: &ObjectId,
) -> Result<(), NotPushed> {
    let branch = &ground.branch.pushed;
    let lease = ground.branch.lease().map(ObjectId::as_str).unwrap_or_default();
    let lease = format!("--force-with-lease=refs/heads/{branch}:{lease}");
    let what = format!("{commit}:refs/heads/{branch}");
    let args = ["--porcelain", "--no-verify", &lease, "--", mirror.remote.url(), &what];
    let call = Call::new(Step::Push, &args)
        .within(ground.store.folder())
        .towards(&mirror.remote, &mirror.access);
    let mut output = Vec::new();
    let ran = mirror.git.run(call, &mut |piece| output.extend_from_slice(piece)).await;
    let pushed =
        ran.map_err(|error| explain(mirror, branch, &String::from_utf8_lossy(&output), error));
    let was_race = matches!(pushed, Err(NotPushed::Lost { .. }));
    mirror.git.counters.pushed(mirror.remote.host(), was_race);
    pushed
}

fn explain(mirror: &Mirror, branch: &Arc<str>, output: &str, error: CallError) -> NotPushed {
    let CallError::Failed { words } = &error else {
        return NotPushed::Trouble(answer::push(&mirror.remote, &mirror.access, branch, error));
    };
    let Some(summary) = refusal(output) else {
        return NotPushed::Trouble(answer::push(&mirror.remote, &mirror.access, branch, error));
    };
    if is_race(summary, words) {
        return NotPushed::Lost { words: summary.to_owned() };
    }
    let words = format!("{}: {}", answer::gist(summary), answer::gist(words));
    let refused = answer::refused(&mirror.remote, &mirror.access, branch, words);
    NotPushed::Trouble(Trouble::Git(refused))
}

/// The summary of the ref that was not updated: `[remote rejected] (pre-receive hook declined)`
/// of `!<tab>from:to<tab>summary`.
fn refusal(output: &str) -> Option<&str> {
    let line = output.lines().find_map(|line| line.strip_prefix("!\t"))?;
    line.split_once('\t').map(|(_, summary)| summary)
}

/// Whether the branch moved between our look at it and the push: git sees it from here (a
/// lease that does not fit), or the server when it takes the branch's lock.
fn is_race(summary: &str, words: &str) -> bool {
    const HERE: [&str; 4] = ["stale info", "fetch first", "non-fast-forward", "needs force"];
    const THERE: [&str; 4] =
        ["failed to update ref", "failed to lock", "cannot lock ref", "incorrect old value"];
    let there = THERE.iter().any(|sign| summary.contains(sign));
    HERE.iter().any(|sign| summary.contains(sign))
        || (there && !words.contains("cannot create") && !words.contains("Permission denied"))
}

#[cfg(test)]
mod tests {
    use super::{is_race, refusal};

    #[test]
    fn lost_races_are_told_from_refusals() {
        #[rustfmt::skip]
        let rows = [
            ("[rejected] (stale info)",                             "",                              true),
            ("[rejected] (fetch first)",                            "",                              true),
            ("[remote rejected] (failed to update ref)",            "is at 1 but expected 2",        true),
            ("[remote rejected] (incorrect old value provided)",    "",                              true),
            ("[remote rejected] (failed to update ref)",            "'refs/heads/a' exists; cannot create 'refs/heads/a/b'", false),
            ("[remote rejected] (pre-receive hook declined)",       "",                              false),
            ("[remote rejected] (protected branch hook declined)",  "",                              false),
        ];
        for (summary, words, expected) in rows {
            let output = format!("To https://h\n!\tabc:refs/heads/main\t{summary}\nDone\n");
            assert_eq!(refusal(&output), Some(summary));
            assert_eq!(is_race(summary, words), expected, "given {summary}, {words}");
        }
        assert_eq!(refusal("To https://h\n \tabc:refs/heads/main\tabc..def\nDone\n"), None);
    }
}
