//! The steps of reading from a remote. Between any two git commands the process may be killed;
//! the next one goes on from what is on disk, or starts afresh.
//!
//! The mirror's configuration names no promisor: no command fetches anything behind our back,
//! and what is missing is fetched here, in as few requests as possible.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::sync::Arc;

use aiu_core::batch::{BranchKey, FilePath};
use sha2::{Digest, Sha256};

use super::{Age, Ground, Mirror, Store, Want};
use crate::answer::{self, Trouble};
use crate::command::{Call, Step};
use crate::error::GitError;
use crate::listing::{Listing, Resolved};
use crate::object::{BlobReader, Content, ObjectId};
use crate::snapshot::Snapshots;
use crate::tree::{Entry, TreeReader};

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
}

/// Paths to look at, by tip, and the branch that the tip belongs to.
type Tips = BTreeMap<ObjectId, (Arc<str>, BTreeSet<FilePath>)>;

impl Mirror {
    /// Finds out where the wanted branches are and what the wanted files say there.
    pub(crate) async fn ground(
        &self,
        wants: &[Want],
        age: Age,
    ) -> Vec<Result<Ground, Arc<GitError>>> {
        let mut turn = self.turn.lock().await;
        let mut age = age;
        for round in 1.. {
            match self.try_ground(&mut turn, wants, age).await {
                Ok(grounds) => {
                    turn.fresh = false;
                    return grounds;
                }
                Err(Trouble::Moved) if round < ROUNDS => age = Age::Now,
                Err(Trouble::Damaged { words, .. }) if round < ROUNDS && !turn.fresh => {
                    self.give_up_store(&mut turn, &words);
                }
                Err(trouble) => {
                    let error = Arc::new(trouble.into_error(&self.remote));
                    return wants.iter().map(|_| Err(Arc::clone(&error))).collect();
                }
            }
        }
        unreachable!("the rounds are bounded")
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
                let (_, paths) =
                    tips.entry(tip.clone()).or_insert_with(|| (Arc::clone(read), BTreeSet::new()));
                paths.extend(want.paths.iter().cloned());
            }
        }
        let Some(format) = tips.keys().next().map(ObjectId::format) else {
            return Ok(resolved.into_iter().filter_map(Result::err).map(Err).collect());
        };
        let store = self.store(turn, format, &tips).await?;
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

    /// Asks the remote. Branches alone are cheap; with `HEAD` the server sends all its refs,
    /// on some forges one per pull request ever made.
    async fn list(&self, complete: bool) -> Result<Listing, Trouble> {
        let mut args = match complete {
            true => vec!["--symref".to_owned()],
            false => vec!["--heads".to_owned()],
        };
        args.extend(["--".to_owned(), self.remote.url().to_owned()]);
        if complete {
            args.extend(["HEAD", "refs/heads/*", "refs/tags/*"].map(str::to_owned));
        }
        let call = Call {
            step: Step::LsRemote,
            repository: None,
            remote: Some((&self.remote, &self.access)),
            config: Vec::new(),
            args,
            input: Vec::new(),
        };
        let output = self.git.output(call).await.map_err(|error| {
            let trouble = answer::remote(&self.remote, &self.access, Step::LsRemote, error);
            Trouble::Git(trouble.into_error(&self.remote))
        })?;
        Ok(Listing::parse(&String::from_utf8_lossy(&output), complete))
    }

    /// The repository on disk: the present one, one left by an earlier process, or a new one.
    async fn store(
        &self,
        turn: &mut Turn,
        format: &'static str,
        tips: &Tips,
    ) -> Result<Arc<Store>, Trouble> {
        if let Some(store) = &turn.store {
            let must_fetch = tips.keys().any(|tip| !turn.tips.contains(tip));
            if !must_fetch || !store.has_outgrown(&self.settings.growth) {
                return Ok(Arc::clone(store));
            }
            self.git.counters.rebuilt();
            store.condemn();
            turn.tips.clear();
        }
        let (cache, name) = (self.settings.cache.clone(), self.folder.clone());
        let (store, usable) = blocking(move || {
            let store = Store::claim(&cache, &name)?;
            let usable = store.reopen(format);
            Ok((store, usable))
        })
        .await
        .map_err(|error| self.cache_error(error))?;
        let store = Arc::new(store);
        turn.store = Some(Arc::clone(&store));
        if !usable {
            self.init(turn, &store, format).await?;
            return Ok(store);
        }
        match self.known_tips(&store).await {
            Ok(tips) => turn.tips = tips,
            Err(Trouble::Damaged { words, .. }) => {
                self.warn_of_damage(&words);
                self.init(turn, &store, format).await?;
            }
            Err(trouble) => return Err(trouble),
        }
        Ok(store)
    }

    /// The commits that an earlier process fetched or made.
    async fn known_tips(&self, store: &Store) -> Result<HashSet<ObjectId>, Trouble> {
        let args = ["--format=%(objectname)", "refs/tips/"].map(str::to_owned).to_vec();
        let output = self.local(store, Step::ListRefs, args, Vec::new()).await?;
        Ok(String::from_utf8_lossy(&output).lines().filter_map(ObjectId::parse).collect())
    }

    async fn init(&self, turn: &mut Turn, store: &Arc<Store>, format: &str) -> Result<(), Trouble> {
        turn.tips.clear();
        turn.fresh = true;
        let wiped = Arc::clone(store);
        blocking(move || wiped.wipe()).await.map_err(|error| self.cache_error(error))?;
        let args = ["--quiet", "--bare", "--template=", &format!("--object-format={format}")];
        let args = args.map(str::to_owned).to_vec();
        self.local(store, Step::Init, args, Vec::new()).await?;
        Ok(())
    }

    /// Fetches those tips that the store lacks, with their folders and without contents.
    async fn bring(
        &self,
        turn: &mut Turn,
        store: &Arc<Store>,
        format: &'static str,
        tips: &Tips,
    ) -> Result<(), Trouble> {
        let mut input = String::new();
        for (tip, (branch, _)) in tips.iter().filter(|(tip, _)| !turn.tips.contains(*tip)) {
            input.push_str(&format!("+{tip}:{}\n", ref_of(branch)));
        }
        if !input.is_empty() {
            self.fetch(store, Step::FetchTips, input).await?;
        }
        let marked = Arc::clone(store);
        blocking(move || marked.complete(format)).await.map_err(|error| self.cache_error(error))?;
        turn.tips.extend(tips.keys().cloned());
        Ok(())
    }

    /// Reads what is not known yet of the wanted files.
    async fn look(&self, turn: &mut Turn, store: &Store, tips: &Tips) -> Result<(), Trouble> {
        let mut contents = turn.snapshots.contents();
        let mut found: Vec<(&ObjectId, HashMap<FilePath, Entry>)> = Vec::new();
        for (tip, (_, paths)) in tips {
            let unseen = turn.snapshots.get(tip).unseen(paths);
            if !unseen.is_empty() {
                found.push((tip, self.list_tree(store, tip, &unseen).await?));
            }
        }
        let entries = found.iter().flat_map(|(_, entries)| entries.values());
        let blobs: BTreeSet<ObjectId> = entries
            .filter_map(|entry| match entry {
                Entry::File { blob, .. } if !contents.contains_key(blob) => Some(blob.clone()),
                _ => None,
            })
            .collect();
        if !blobs.is_empty() {
            contents.extend(self.read_blobs(store, &blobs).await?);
        }
        for (tip, entries) in found {
            turn.snapshots.learn(tip, entries, &contents, self.settings.max_file_bytes);
        }
        Ok(())
    }

    async fn list_tree(
        &self,
        store: &Store,
        tip: &ObjectId,
        paths: &BTreeSet<FilePath>,
    ) -> Result<HashMap<FilePath, Entry>, Trouble> {
        let mut reader = TreeReader::new(paths);
        let args = ["-r", "-z", "--full-tree", tip.as_str()].map(str::to_owned).to_vec();
        let call = local_call(store, Step::ListTree, args, Vec::new());
        let listed = self.git.run(call, &mut |piece| reader.take(piece)).await;
        listed.map_err(|error| answer::local(&self.remote, Step::ListTree, error))?;
        Ok(reader.finish())
    }

    /// Contents by id: what is there is read, what is not is fetched at once and read then.
    async fn read_blobs(
        &self,
        store: &Store,
        blobs: &BTreeSet<ObjectId>,
    ) -> Result<HashMap<ObjectId, Content>, Trouble> {
        let (mut contents, missing) = self.cat(store, blobs).await?;
        if missing.is_empty() {
            return Ok(contents);
        }
        let input = missing.iter().map(|id| format!("{id}\n")).collect();
        self.fetch(store, Step::FetchBlobs, input).await?;
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

    async fn cat(
        &self,
        store: &Store,
        blobs: &BTreeSet<ObjectId>,
    ) -> Result<(HashMap<ObjectId, Content>, BTreeSet<ObjectId>), Trouble> {
        let mut reader = BlobReader::new(self.settings.max_file_bytes);
        let input: String = blobs.iter().map(|id| format!("{id}\n")).collect();
        let args = vec!["--batch".to_owned()];
        let call = local_call(store, Step::ReadBlobs, args, input.into_bytes());
        let read = self.git.run(call, &mut |piece| reader.take(piece)).await;
        read.map_err(|error| answer::local(&self.remote, Step::ReadBlobs, error))?;
        if reader.confused || reader.found.len() != blobs.len() {
            let words = "the contents of files came out garbled".to_owned();
            return Err(Trouble::Damaged { step: Step::ReadBlobs, words });
        }
        let (mut contents, mut missing) = (HashMap::new(), BTreeSet::new());
        for (id, content) in reader.found {
            match content {
                Some(content) => drop(contents.insert(id, content)),
                None => drop(missing.insert(id)),
            }
        }
        Ok((contents, missing))
    }

    /// One fetch of what stands on the lines of `input`.
    async fn fetch(&self, store: &Store, step: Step, input: String) -> Result<(), Trouble> {
        let mut config = vec![
            format!("remote.origin.url={}", self.remote.url()),
            "remote.origin.promisor=true".to_owned(),
            "remote.origin.partialCloneFilter=blob:none".to_owned(),
        ];
        let mut args = ["--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none"]
            .map(str::to_owned)
            .to_vec();
        match step {
            Step::FetchTips => args.push("--depth=1".to_owned()),
            // Contents are asked for by id; the usual negotiation would look for commits
            // of that id and fail ("bad revision").
            _ => config.push("fetch.negotiationAlgorithm=noop".to_owned()),
        }
        args.extend(["--stdin", "origin"].map(str::to_owned));
        let call = Call {
            step,
            repository: Some(store.folder()),
            remote: Some((&self.remote, &self.access)),
            config,
            args,
            input: input.into_bytes(),
        };
        let fetched = self.git.output(call).await;
        fetched.map_err(|error| answer::remote(&self.remote, &self.access, step, error))?;
        Ok(())
    }

    async fn local(
        &self,
        store: &Store,
        step: Step,
        args: Vec<String>,
        input: Vec<u8>,
    ) -> Result<Vec<u8>, Trouble> {
        let output = self.git.output(local_call(store, step, args, input)).await;
        output.map_err(|error| answer::local(&self.remote, step, error))
    }

    /// A push moved the branch; nobody needs to ask the remote about it.
    pub(crate) async fn pushed(&self, store: &Arc<Store>, branch: &Arc<str>, tip: &ObjectId) {
        let mut turn = self.turn.lock().await;
        if let Some(listing) = &mut turn.listing {
            listing.heads.insert(Arc::clone(branch), tip.clone());
        }
        if turn.store.as_ref().is_some_and(|present| Arc::ptr_eq(present, store)) {
            turn.tips.insert(tip.clone());
        }
    }

    /// Throws the store away after a command failed in it for no other reason; `false` if it
    /// is so new that this would not help.
    pub(crate) async fn condemn(&self, store: &Arc<Store>, words: &str) -> bool {
        let mut turn = self.turn.lock().await;
        let present = turn.store.as_ref().is_some_and(|present| Arc::ptr_eq(present, store));
        if present {
            self.give_up_store(&mut turn, words);
        }
        present
    }

    fn give_up_store(&self, turn: &mut Turn, words: &str) {
        self.warn_of_damage(words);
        if let Some(store) = turn.store.take() {
            store.condemn();
        }
        turn.tips.clear();
        turn.snapshots = Snapshots::default();
        turn.fresh = true;
    }

    fn warn_of_damage(&self, words: &str) {
        self.git.counters.rebuilt();
        tracing::warn!(remote = %self.remote, cause = words, "the mirror is damaged, it is built afresh");
    }

    fn cache_error(&self, cause: io::Error) -> Trouble {
        Trouble::Git(GitError::Cache { folder: self.settings.cache.clone(), cause })
    }
}

fn local_call(store: &Store, step: Step, args: Vec<String>, input: Vec<u8>) -> Call<'_> {
    Call { step, repository: Some(store.folder()), remote: None, config: Vec::new(), args, input }
}

/// Where a mirror keeps the tip of a branch. Not under the branch's own name: after `a` has
/// gone a remote may have `a/b`, and git could not hold both.
pub(crate) fn ref_of(branch: &str) -> String {
    let hash = Sha256::digest(branch);
    let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("refs/tips/{hash}")
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
