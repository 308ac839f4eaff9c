//! Single git commands of a mirror: what is asked, and what an answer means.
//!
//! The mirror's configuration names no promisor, so that no command fetches anything behind our
//! back; only the fetches here are told that the mirror is a partial one.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use aiu_core::batch::FilePath;
use aiu_core::edit::ManifestFolder;

use super::{Mirror, Store};
use crate::answer::{self, Trouble};
use crate::command::{Call, Step};
use crate::listing::Listing;
use crate::object::{BlobReader, Content, ObjectId};
use crate::tree::{Found, TreeReader};

impl Mirror {
    /// Asks the remote. Branches alone are cheap; with `HEAD` the server sends all its refs,
    /// on some forges one per pull request ever made.
    pub(super) async fn list(&self, complete: bool) -> Result<Listing, Trouble> {
        let url = self.remote.url();
        let args: &[&str] = if complete {
            &["--symref", "--", url, "HEAD", "refs/heads/*", "refs/tags/*"]
        } else {
            &["--heads", "--", url]
        };
        let call = Call::new(Step::LsRemote, args).towards(&self.remote, &self.access);
        let output = self.git.output(call).await.map_err(|error| {
            let trouble = answer::remote(&self.remote, &self.access, Step::LsRemote, error);
            Trouble::Git(trouble.into_error(&self.remote))
        })?;
        Ok(Listing::parse(&String::from_utf8_lossy(&output), complete))
    }

    /// Makes an empty repository.
    pub(super) async fn init(&self, store: &Store, format: &str) -> Result<(), Trouble> {
        let format = format!("--object-format={format}");
        let call = Call::new(Step::Init, &["--quiet", "--bare", "--template=", &format]);
        self.local(store, Step::Init, call, &mut |_| {}).await
    }

    /// The commits that an earlier process fetched or made.
    pub(super) async fn known_tips(&self, store: &Store) -> Result<HashSet<ObjectId>, Trouble> {
        let call = Call::new(Step::ListRefs, &["--format=%(objectname)", "refs/tips/"]);
        let mut output = Vec::new();
        self.local(store, Step::ListRefs, call, &mut |piece| output.extend_from_slice(piece))
            .await?;
        Ok(String::from_utf8_lossy(&output).lines().filter_map(ObjectId::parse).collect())
    }

    /// What stands at some paths of a commit.
    pub(super) async fn list_tree(
        &self,
        store: &Store,
        tip: &ObjectId,
        paths: &BTreeSet<FilePath>,
        folders: &BTreeSet<ManifestFolder>,
    ) -> Result<Found, Trouble> {
        let mut reader = TreeReader::new(paths, folders);
        let call = Call::new(Step::ListTree, &["-r", "-z", "--full-tree", tip.as_str()]);
        self.local(store, Step::ListTree, call, &mut |piece| reader.take(piece)).await?;
        Ok(reader.finish())
    }

    /// The contents that are here, and which are not.
    pub(super) async fn cat(
        &self,
        store: &Store,
        blobs: &BTreeSet<ObjectId>,
    ) -> Result<(HashMap<ObjectId, Content>, BTreeSet<ObjectId>), Trouble> {
        let mut reader = BlobReader::new(self.settings.max_file_bytes);
        let call = Call::new(Step::ReadBlobs, &["--batch"]).input(lines(blobs));
        self.local(store, Step::ReadBlobs, call, &mut |piece| reader.take(piece)).await?;
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

    /// One fetch of what stands on the lines of `wanted`, with the contents of all files if it
    /// is `whole`.
    pub(super) async fn fetch(
        &self,
        store: &Store,
        step: Step,
        wanted: String,
        whole: bool,
    ) -> Result<(), Trouble> {
        let mut args = vec!["--quiet", "--no-tags", "--no-write-fetch-head"];
        if !whole {
            args.push("--filter=blob:none");
        }
        if step == Step::FetchTips {
            args.push("--depth=1");
        }
        args.extend(["--stdin", "origin"]);
        let mut call = Call::new(step, &args)
            .within(store.folder())
            .towards(&self.remote, &self.access)
            .setting(format!("remote.origin.url={}", self.remote.url()))
            .input(wanted);
        if !whole {
            call = call
                .setting("remote.origin.promisor=true")
                .setting("remote.origin.partialCloneFilter=blob:none");
        }
        if step == Step::FetchBlobs {
            // Contents are asked for by id; the usual negotiation would look for commits of
            // that id and fail ("bad revision").
            call = call.setting("fetch.negotiationAlgorithm=noop");
        }
        store.tidy();
        let fetched = self.git.output(call).await;
        fetched.map_err(|error| answer::remote(&self.remote, &self.access, step, error))?;
        Ok(())
    }

    /// Runs a command that stays on this machine.
    async fn local(
        &self,
        store: &Store,
        step: Step,
        call: Call<'_>,
        take: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<(), Trouble> {
        let ended = self.git.run(call.within(store.folder()), take).await;
        ended.map_err(|error| answer::local(&self.remote, step, error))
    }
}

/// One id per line.
pub(super) fn lines<'a>(ids: impl IntoIterator<Item = &'a ObjectId>) -> String {
    ids.into_iter().fold(String::new(), |mut text, id| {
        let _ = writeln!(text, "{id}");
        text
    })
}
