//! The branches of a remote as `ls-remote` tells them, and which of them is meant.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aiu_core::batch::BranchKey;

use crate::error::GitError;
use crate::object::ObjectId;

/// What one `ls-remote` said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    /// All branches with their tips.
    pub(crate) heads: BTreeMap<Arc<str>, ObjectId>,
    /// Names of tags, if they were asked for.
    pub(crate) tags: BTreeSet<Arc<str>>,
    /// The branch that `HEAD` names, if it exists.
    pub(crate) default: Option<Arc<str>>,
    /// Whether `HEAD` and the tags were asked for, and not the branches alone.
    pub(crate) complete: bool,
}

/// The branches that are meant by a [`BranchKey`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// The branch that is pushed.
    pub(crate) pushed: Arc<str>,
    /// The branch that is read, and on whose tip commits are made.
    pub(crate) read: Arc<str>,
    /// Its tip.
    pub(crate) tip: ObjectId,
}

impl Resolved {
    /// The tip that the pushed branch must still have; `None` if it must not exist yet.
    pub(crate) fn lease(&self) -> Option<&ObjectId> {
        (self.pushed == self.read).then_some(&self.tip)
    }
}

impl Listing {
    /// Reads the output of `ls-remote --symref`.
    pub(crate) fn parse(output: &str, complete: bool) -> Self {
        let mut listing = Self { complete, ..Self::default() };
        let (mut head, mut symref) = (None, None);
        for (left, name) in output.lines().filter_map(|line| line.split_once('\t')) {
            if let Some(target) = left.strip_prefix("ref: ") {
                if name == "HEAD" {
                    symref = target.strip_prefix("refs/heads/");
                }
                continue;
            }
            let Some(id) = ObjectId::parse(left) else { continue };
            if name == "HEAD" {
                head = Some(id);
            } else if let Some(branch) = name.strip_prefix("refs/heads/") {
                listing.heads.insert(branch.into(), id);
            } else if let Some(tag) = name.strip_prefix("refs/tags/") {
                listing.tags.insert(tag.strip_suffix("^{}").unwrap_or(tag).into());
            }
        }
        let default = match symref {
            Some(name) => listing.heads.get_key_value(name),
            None => listing.only_branch_at(head.as_ref()),
        };
        listing.default = default.map(|(name, _)| Arc::clone(name));
        listing
    }

    /// Servers without symrefs tell `HEAD`'s commit only.
    fn only_branch_at(&self, head: Option<&ObjectId>) -> Option<(&Arc<str>, &ObjectId)> {
        let mut at = self.heads.iter().filter(|(_, tip)| Some(*tip) == head);
        let first = at.next()?;
        at.next().is_none().then_some(first)
    }

    /// The branches that `key` means (spec 30 §2.3): the head if it exists, else the base; no
    /// base is the remote's default branch.
    pub(crate) fn resolve(&self, remote: &Arc<str>, key: &BranchKey) -> Result<Resolved, GitError> {
        let head = key.head.as_deref().map(short);
        if let Some(head) = head {
            if !is_branch_name(head) {
                return Err(GitError::BranchName { name: head.into() });
            }
            if let Some((name, tip)) = self.heads.get_key_value(head) {
                let (pushed, read) = (Arc::clone(name), Arc::clone(name));
                return Ok(Resolved { pushed, read, tip: tip.clone() });
            }
        }
        let (base, tip) = self.base(remote, key.base.as_deref())?;
        let pushed = head.map_or_else(|| Arc::clone(base), Arc::from);
        Ok(Resolved { pushed, read: Arc::clone(base), tip: tip.clone() })
    }

    fn base(
        &self,
        remote: &Arc<str>,
        base: Option<&str>,
    ) -> Result<(&Arc<str>, &ObjectId), GitError> {
        let base = base.map(short).filter(|base| !base.is_empty() && *base != "HEAD");
        let wanted = base.or(self.default.as_deref());
        if let Some(found) = wanted.and_then(|name| self.heads.get_key_value(name)) {
            return Ok(found);
        }
        Err(match base {
            _ if self.heads.is_empty() => GitError::Empty { remote: Arc::clone(remote) },
            Some(name) => self.not_a_branch(remote, name),
            None => {
                let nearest = self.heads.keys().take(3).cloned().collect();
                GitError::NoDefaultBranch { remote: Arc::clone(remote), nearest }
            }
        })
    }

    fn not_a_branch(&self, remote: &Arc<str>, name: &str) -> GitError {
        let (remote, default) = (Arc::clone(remote), self.default.clone());
        let tag = name.strip_prefix("refs/tags/").unwrap_or(name);
        if self.tags.contains(tag) {
            return GitError::NotABranch { remote, name: name.into(), kind: "a tag", default };
        }
        if name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return GitError::NotABranch { remote, name: name.into(), kind: "a commit", default };
        }
        GitError::BranchNotFound {
            remote,
            branch: name.into(),
            nearest: self.nearest(name),
            default,
        }
    }

    /// The up to three names that need the fewest keystrokes to become `name`.
    fn nearest(&self, name: &str) -> Vec<Arc<str>> {
        let mut names: Vec<_> =
            self.heads.keys().map(|head| (distance(head, name), head)).collect();
        names.sort();
        names.into_iter().take(3).map(|(_, head)| Arc::clone(head)).collect()
    }
}

/// The name without `refs/heads/`.
fn short(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix("refs/heads/").unwrap_or(name)
}

/// How many characters must be inserted, removed or replaced to turn one text into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, left) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (at, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[b.len()]
}

/// The rules of `git check-ref-format --branch`.
fn is_branch_name(name: &str) -> bool {
    let wrong = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let part_ok = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none()
    };
    name != "@"
        && name != "HEAD"
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(wrong)
        && name.split('/').all(part_ok)
}

#[cfg(test)]
#[path = "listing/tests.rs"]
mod tests;
