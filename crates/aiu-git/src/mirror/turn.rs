//! The steps of reading from a remote. Between any two git commands the process may be killed;
//! the next one goes on from what is on disk, or starts afresh.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use aiu_core::batch::{BranchKey, FilePath};
use aiu_core::edit::ManifestFolder;
use sha2::{Digest, Sha256};

use super::ask::lines;
use super::{Age, Ground, Mirror, Store, Want};
use crate::answer::Trouble;
use crate::command::Step;
use crate::commit::Texts;
use crate::error::GitError;
use crate::listing::{Listing, Resolved};
use crate::object::{Content, ObjectId};
use crate::snapshot::Snapshots;
use crate::tree::{Entry, Found};

/// How often reading starts over because the branches moved or the mirror was damaged.
const ROUNDS: usize = 3;

/// What is known of a remote.
#[derive(Default)]
pub(super) struct Turn {
    store: Option<Arc<Store>>,
    /// Whether the store was made after the last success: its faults are then not old damage.
    fresh: bool,
    listing: Option<Listing>,
    /// Commits that the store holds with all their folders.
    tips: HashSet<ObjectId>,
    snapshots: Snapshots,
    /// Whether tips are fetched with all contents, since the server gives none by themselves.
    whole: bool,
}

/// What to look at, by tip.
type Tips = BTreeMap<ObjectId, Tip>;

/// The branch that a tip belongs to, and what to look at there.
struct Tip {
    branch: Arc<str>,
    paths: BTreeSet<FilePath>,
    folders: BTreeSet<ManifestFolder>,
}

impl Turn {
    fn holds(&self, store: &Arc<Store>) -> bool {
        self.store.as_ref().is_some_and(|present| Arc::ptr_eq(present, store))
    }

    /// Throws away what is on disk, and all that is known of it.
    fn discard_store(&mut self) {
        if let Some(store) = self.store.take() {
            store.condemn();
        }
        self.tips.clear();
        self.snapshots = Snapshots::default();
    }
}

impl Mirror {
    /// Finds out where the wanted branches are and what the wanted files say there.
    pub(crate) async fn ground(
        &self,
        wants: &[Want],
        age: Age,
    ) -> Vec<Result<Ground, Arc<GitError>>> {
        let mut turn = self.turn.lock().await;
        let (mut age, mut more) = (age, ROUNDS);
        loop {
            more -= 1;
            match self.try_ground(&mut turn, wants, age).await {
                Ok(grounds) => {
                    turn.fresh = false;
                    return grounds;
                }
                Err(Trouble::Moved) if more > 0 => age = Age::Now,
                Err(Trouble::NoContents) if more > 0 => {
                    // After this look, since the branches may have moved as well.
                    age = Age::Now;
                    turn.whole = true;
                    turn.discard_store();
                }
                Err(Trouble::Damaged { words, .. }) if more > 0 && !turn.fresh => {
                    self.give_up_store(&mut turn, &words);
                }
                Err(trouble) => {
                    if matches!(trouble, Trouble::Damaged { .. } | Trouble::NoSpace { .. }) {
                        // The next pass starts afresh.
                        turn.discard_store();
                    }
                    let error = Arc::new(trouble.into_error(&self.remote));
                    return wants.iter().map(|_| Err(Arc::clone(&error))).collect();
                }
            }
        }
    }

    async fn try_ground(
        &self,
        turn: &mut Turn,
        wants: &[Want],
        age: Age,
    ) -> Result<Vec<Result<Ground, Arc<GitError>>>, Trouble> {
        let resolved = self.survey(turn, wants, age).await?;
        let mut tips = Tips::new();
        for (want, resolved) in wants.iter().zip(&resolved) {
            if let Ok(Resolved { tip, read, .. }) = resolved {
                let tip = tips.entry(tip.clone()).or_insert_with(|| Tip {
                    branch: Arc::clone(read),
                    paths: BTreeSet::new(),
                    folders: BTreeSet::new(),
                });
                tip.paths.extend(want.paths.iter().cloned());
                tip.folders.extend(want.folders.iter().cloned());
            }
        }
        let Some(format) = tips.keys().next().map(ObjectId::format) else {
            return Ok(resolved.into_iter().filter_map(Result::err).map(Err).collect());
        };
        let store = self.store(turn, format, age).await?;
        self.bring(turn, &store, format, &tips).await?;
        self.look(turn, &store, &tips).await?;
        let grounds = resolved.into_iter().map(|resolved| {
            let branch = resolved?;
            let snapshot = turn.snapshots.get(&branch.tip);
            Ok(Ground { branch, snapshot, store: Arc::clone(&store) })
        });
        Ok(grounds.collect())
    }

    /// Says which branches are meant, after asking the remote where what is known does not do.
    async fn survey(
        &self,
        turn: &mut Turn,
        wants: &[Want],
        age: Age,
    ) -> Result<Vec<Result<Resolved, Arc<GitError>>>, Trouble> {
        let shown = self.remote.shown();
        let all_found =
            |listing: &Listing| wants.iter().all(|it| listing.resolve(&shown, &it.key).is_ok());
        if age == Age::Now || !turn.listing.as_ref().is_some_and(all_found) {
            let with_head = wants.iter().any(|want| wants_default(&want.key));
            let mut listing = self.list(with_head).await?;
            if !all_found(&listing) && !listing.complete {
                // To say what it is, if it is no branch, takes the tags and the default.
                listing = self.list(true).await?;
            }
            turn.listing = Some(listing);
        }
        let listing = turn.listing.get_or_insert_default();
        let resolve = |want: &Want| listing.resolve(&shown, &want.key).map_err(Arc::new);
        Ok(wants.iter().map(resolve).collect())
    }

    /// The repository on disk: the present one, one left by an earlier process, or a new one.
    async fn store(
        &self,
        turn: &mut Turn,
        format: &'static str,
        age: Age,
    ) -> Result<Arc<Store>, Trouble> {
        if let Some(store) = &turn.store {
            if age == Age::Known || !self.has_outgrown(store).await? {
                return Ok(Arc::clone(store));
            }
            self.git.counters.rebuilt();
            store.condemn();
            turn.store = None;
        }
        let (cache, name) = (Arc::clone(&self.cache), self.folder.clone());
        let (store, usable) = blocking(move || {
            let store = cache.claim(&name)?;
            let usable = store.reopen(format);
            Ok((store, usable))
        })
        .await
        .map_err(|error| self.cache_error(error))?;
        let store = Arc::new(store);
        let known = if usable { self.reopened(&store).await? } else { None };
        turn.fresh = known.is_none();
        turn.tips = match known {
            Some(tips) => tips,
            None => self.begin(&store, format).await.map(|()| HashSet::new())?,
        };
        turn.store = Some(Arc::clone(&store));
        Ok(store)
    }

    async fn has_outgrown(&self, store: &Arc<Store>) -> Result<bool, Trouble> {
        let (store, growth) = (Arc::clone(store), self.settings.growth);
        let grown = blocking(move || Ok(store.has_outgrown(&growth))).await;
        grown.map_err(|error| self.cache_error(error))
    }

    /// The commits in a store that an earlier process left; `None` if it is damaged.
    async fn reopened(&self, store: &Store) -> Result<Option<HashSet<ObjectId>>, Trouble> {
        match self.known_tips(store).await {
            Ok(tips) => Ok(Some(tips)),
            Err(Trouble::Damaged { words, .. }) => {
                self.warn_of_damage(&words);
                Ok(None)
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Makes the store an empty repository.
    async fn begin(&self, store: &Arc<Store>, format: &str) -> Result<(), Trouble> {
        let wiped = Arc::clone(store);
        blocking(move || wiped.wipe()).await.map_err(|error| self.cache_error(error))?;
        self.init(store, format).await
    }

    /// Fetches those tips that the store lacks, with their folders and without contents.
    async fn bring(
        &self,
        turn: &mut Turn,
        store: &Arc<Store>,
        format: &'static str,
        tips: &Tips,
    ) -> Result<(), Trouble> {
        let mut wanted = String::new();
        for (tip, at) in tips.iter().filter(|(tip, _)| !turn.tips.contains(*tip)) {
            let _ = writeln!(wanted, "+{tip}:{}", tip_ref(&at.branch));
        }
        if wanted.is_empty() {
            return Ok(());
        }
        self.fetch(store, Step::FetchTips, wanted, turn.whole).await?;
        let marked = Arc::clone(store);
        blocking(move || marked.complete(format)).await.map_err(|error| self.cache_error(error))?;
        turn.tips.extend(tips.keys().cloned());
        Ok(())
    }

    /// Reads what is not known yet of the wanted files.
    async fn look(&self, turn: &mut Turn, store: &Store, tips: &Tips) -> Result<(), Trouble> {
        let mut contents = turn.snapshots.contents();
        let mut found: Vec<(&ObjectId, Found)> = Vec::new();
        for (tip, Tip { paths, folders, .. }) in tips {
            let known = turn.snapshots.get(tip);
            let (unseen, unlisted) = (known.unseen(paths), known.unlisted(folders));
            if !unseen.is_empty() || !unlisted.is_empty() {
                found.push((tip, self.list_tree(store, tip, &unseen, &unlisted).await?));
            }
        }
        let entries = found.iter().flat_map(|(_, found)| found.entries.values());
        let blobs: BTreeSet<ObjectId> = entries
            .filter_map(|entry| match entry {
                Entry::File { blob, .. } if !contents.contains_key(blob) => Some(blob.clone()),
                _ => None,
            })
            .collect();
        if !blobs.is_empty() {
            contents.extend(self.read_blobs(store, &blobs, turn.whole).await?);
        }
        for (tip, found) in found {
            turn.snapshots.learn(tip, found, &contents, self.settings.max_file_bytes);
        }
        Ok(())
    }

    /// Contents by id: what is there is read, what is not is fetched at once and read then.
    async fn read_blobs(
        &self,
        store: &Store,
        blobs: &BTreeSet<ObjectId>,
        whole: bool,
    ) -> Result<HashMap<ObjectId, Content>, Trouble> {
        let (mut contents, missing) = self.cat(store, blobs).await?;
        if missing.is_empty() {
            return Ok(contents);
        }
        self.fetch(store, Step::FetchBlobs, lines(&missing), whole).await?;
        let (fetched, missing) = self.cat(store, &missing).await?;
        contents.extend(fetched);
        match missing.first() {
            None => Ok(contents),
            Some(id) => Err(Trouble::Damaged {
                step: Step::ReadBlobs,
                words: format!("{id} is missing although it was fetched"),
            }),
        }
    }

    /// A push moved the branch from `ground` to `tip`, where these files say what they say;
    /// nobody needs to ask the remote about it, or to look.
    pub(crate) async fn pushed(&self, ground: &Ground, tip: &ObjectId, changed: &Texts) {
        let mut turn = self.turn.lock().await;
        if let Some(listing) = &mut turn.listing {
            listing.heads.insert(Arc::clone(&ground.branch.pushed), tip.clone());
        }
        if turn.holds(&ground.store) {
            turn.tips.insert(tip.clone());
            turn.snapshots.put(tip, ground.snapshot.after(changed.values()));
        }
    }

    /// Throws the store away, if it is still in use, after a command failed in it for no other
    /// reason.
    pub(crate) async fn condemn(&self, store: &Arc<Store>, words: &str) {
        let mut turn = self.turn.lock().await;
        if turn.holds(store) {
            self.give_up_store(&mut turn, words);
        }
    }

    /// Throws the store away, if it is still in use, to make room.
    pub(crate) async fn make_room(&self, store: &Arc<Store>) {
        let mut turn = self.turn.lock().await;
        if turn.holds(store) {
            turn.discard_store();
        }
    }

    fn give_up_store(&self, turn: &mut Turn, words: &str) {
        self.warn_of_damage(words);
        turn.discard_store();
        turn.fresh = true;
    }

    fn warn_of_damage(&self, words: &str) {
        self.git.counters.rebuilt();
        tracing::warn!(remote = %self.remote, cause = words, "the mirror is damaged, it is built afresh");
    }

    fn cache_error(&self, cause: io::Error) -> Trouble {
        if matches!(cause.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return Trouble::NoSpace { words: cause.to_string() };
        }
        Trouble::Git(GitError::Cache { folder: self.settings.cache.clone(), cause })
    }
}

/// Where a mirror keeps the tip of a branch. Not under the branch's own name: after `a` has
/// gone a remote may have `a/b`, and git could not hold both.
pub(crate) fn tip_ref(branch: &str) -> String {
    format!("refs/tips/{}", name_of(branch))
}

/// Where a mirror keeps commits for a branch that shall not be pushed.
pub(crate) fn draft_ref(branch: &str) -> String {
    format!("refs/drafts/{}", name_of(branch))
}

/// Under which a mirror keeps those commits of ours that were pushed to a branch.
pub(crate) fn ours_ref(branch: &str) -> String {
    format!("refs/ours/{}", name_of(branch))
}

pub(super) fn name_of(branch: &str) -> String {
    let hash = Sha256::digest(branch);
    let (start, _) = hash.split_first_chunk().expect("the hash has 32 bytes");
    format!("{:032x}", u128::from_be_bytes(*start))
}

/// Whether the remote must say which its default branch is.
fn wants_default(key: &BranchKey) -> bool {
    key.base.as_deref().is_none_or(|base| matches!(base.trim(), "" | "HEAD"))
}

/// Runs work with files off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
        Err(_) => Err(io::Error::other("the program is stopping")),
    }
}
