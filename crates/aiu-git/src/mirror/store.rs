//! One bare repository on disk: claimed, cleared of what a killed process left, measured,
//! thrown away.
//!
//! A lock file beside the folder belongs to one process. Who finds a folder taken uses the next
//! one instead of waiting: mirrors are cheap. A git command that outlives its killed process for
//! a moment does no lasting harm: at worst the mirror is found damaged, and built afresh.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

use tokio::sync::{RwLock, RwLockReadGuard};

use crate::settings::Growth;

/// Written when the first fetch is complete; a folder without it is of no use.
pub(super) const MARKER: &str = "mirror-complete";
/// How the names of the reports begin that a broken stream of commits leaves.
const CRASH: &str = "fast_import_crash_";
/// How many processes may have a mirror of one remote in one cache folder.
const SLOTS: u32 = 64;

/// A claimed folder; given up when dropped.
pub(crate) struct Store {
    folder: PathBuf,
    lock: File,
    making: RwLock<()>,
    first_bytes: AtomicU64,
    condemned: AtomicBool,
}

impl Store {
    /// Claims the first free folder of that name.
    pub(crate) fn claim(cache: &Path, name: &str) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(cache)?;
        for slot in 0..SLOTS {
            let folder = cache.join(format!("{name}-{slot}"));
            let path = cache.join(format!("{name}-{slot}.lock"));
            let lock = File::options().create(true).truncate(false).write(true).open(path)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(error),
            }
            touch(&lock);
            let (first_bytes, condemned) = (AtomicU64::new(0), AtomicBool::new(false));
            let making = RwLock::new(());
            return Ok(Self { folder, lock, making, first_bytes, condemned });
        }
        Err(io::Error::new(io::ErrorKind::WouldBlock, "all its folders are in use"))
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether an earlier process left a complete mirror here; clears what that process may
    /// have left unfinished.
    pub(crate) fn reopen(&self, format: &str) -> bool {
        let Ok(marker) = fs::read_to_string(self.folder.join(MARKER)) else { return false };
        let Some(("1", rest)) = marker.split_once(' ') else { return false };
        let Some((of, bytes)) = rest.trim_end().split_once(' ') else { return false };
        let Ok(bytes) = bytes.parse() else { return false };
        self.first_bytes.store(bytes, Ordering::Relaxed);
        of == format && clear_leftovers(&self.folder).is_ok()
    }

    /// Removes all content.
    pub(crate) fn wipe(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Notes that the mirror can be used from now on, and its size.
    pub(crate) fn complete(&self, format: &str) -> io::Result<()> {
        if self.first_bytes.load(Ordering::Relaxed) == 0 {
            let bytes = size(&self.folder)?.bytes.max(1);
            let unfinished = self.folder.join("mirror-complete.new");
            fs::write(&unfinished, format!("1 {format} {bytes}\n"))?;
            fs::rename(unfinished, self.folder.join(MARKER))?;
            self.first_bytes.store(bytes, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether it has become so large that a new one is better.
    pub(crate) fn has_outgrown(&self, growth: &Growth) -> bool {
        let first = self.first_bytes.load(Ordering::Relaxed);
        let Ok(now) = size(&self.folder) else { return false };
        now.packs > growth.packs
            || now.bytes > growth.floor.max(first.saturating_mul(growth.factor))
    }

    /// Removes the lock of a fetch that was ended, and what fetches and commits that broke off
    /// had written so far; git leaves it lying. The caller knows that no fetch is running.
    pub(crate) fn tidy(&self) {
        // Mostly there is none; what cannot be removed now is removed some other time.
        let _ = fs::remove_file(self.folder.join("shallow.lock"));
        if let Ok(_alone) = self.making.try_write() {
            let _ = remove_files(&self.folder, |name| name.starts_with(CRASH));
            let packs = self.folder.join("objects/pack");
            let _ = remove_files(&packs, |name| name.starts_with("tmp_"));
        }
    }

    /// While the answer lives commits are made here, and what they write is left alone.
    pub(crate) async fn commits(&self) -> RwLockReadGuard<'_, ()> {
        self.making.read().await
    }

    /// The folder is removed as soon as nobody uses it any more.
    pub(crate) fn condemn(&self) {
        self.condemned.store(true, Ordering::Relaxed);
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.condemned.load(Ordering::Relaxed) {
            // What cannot be removed now is wiped by the next who claims the folder: the
            // marker goes first.
            let _ = fs::remove_file(self.folder.join(MARKER));
            let _ = self.wipe();
        }
        touch(&self.lock);
        // Closing is not enough: a process that another thread is just starting may still have
        // the file open.
        let _ = self.lock.unlock();
    }
}

/// Notes on the lock when the mirror was last in use.
fn touch(lock: &File) {
    // Where that cannot be noted the mirror may be removed too early, which costs time only.
    let _ = lock.set_modified(SystemTime::now());
}

/// Removes locks and half-written files; nobody else works in the folder.
fn clear_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            clear_leftovers(&entry.path())?;
        } else if name.ends_with(".lock")
            || name.starts_with("tmp_")
            || name.starts_with(".tmp-")
            || name.starts_with(CRASH)
        {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Removes those files right in `folder` whose name is such.
fn remove_files(folder: &Path, is_such: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_such(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

struct Size {
    bytes: u64,
    packs: usize,
}

fn size(folder: &Path) -> io::Result<Size> {
    let mut total = Size { bytes: 0, packs: 0 };
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        if about.is_dir() {
            let below = size(&entry.path())?;
            total.bytes += below.bytes;
            total.packs += below.packs;
        } else {
            total.bytes += about.len();
            total.packs += usize::from(entry.path().extension().is_some_and(|it| it == "pack"));
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Store;
    use crate::settings::Growth;

    #[test]
    fn a_taken_folder_is_left_alone_and_a_given_up_one_used_again() {
        let cache = tempfile::tempdir().unwrap();
        let first = Store::claim(cache.path(), "m").unwrap();
        let second = Store::claim(cache.path(), "m").unwrap();
        assert_ne!(first.folder(), second.folder());
        let folder = first.folder().to_owned();
        drop(first);
        assert_eq!(Store::claim(cache.path(), "m").unwrap().folder(), folder);
    }

    #[test]
    fn only_a_complete_mirror_of_the_same_kind_is_reopened_and_cleared() {
        let cache = tempfile::tempdir().unwrap();
        let store = Store::claim(cache.path(), "m").unwrap();
        assert!(!store.reopen("sha1"), "there is nothing yet");
        let pack = store.folder().join("objects/pack");
        fs::create_dir_all(&pack).unwrap();
        let left = ["shallow.lock", "objects/pack/tmp_pack_x", "objects/tmp_obj_y", "config"];
        for name in left {
            fs::write(store.folder().join(name), "x").unwrap();
        }
        assert!(!store.reopen("sha1"), "the first fetch never ended");
        store.complete("sha1").unwrap();
        assert!(!store.reopen("sha256"), "the remote was made anew with another hash");
        assert!(store.reopen("sha1"));
        let still: Vec<_> = left.iter().filter(|it| store.folder().join(it).exists()).collect();
        assert_eq!(still, [&"config"]);
    }

    #[test]
    fn growth_counts_bytes_and_packs() {
        let cache = tempfile::tempdir().unwrap();
        let store = Store::claim(cache.path(), "m").unwrap();
        fs::create_dir_all(store.folder()).unwrap();
        fs::write(store.folder().join("1.pack"), [0; 1000]).unwrap();
        store.complete("sha1").unwrap();
        let growth = Growth { factor: 2, floor: 1500, packs: 2 };
        assert!(!store.has_outgrown(&growth));
        fs::write(store.folder().join("2.pack"), [0; 1500]).unwrap();
        assert!(store.has_outgrown(&growth), "twice and a half its size");
        assert!(!store.has_outgrown(&Growth { factor: 9, ..growth }));
        fs::write(store.folder().join("3.pack"), "").unwrap();
        assert!(store.has_outgrown(&Growth { factor: 9, ..growth }), "three packs");
    }

    #[test]
    fn a_condemned_folder_disappears_with_its_last_user() {
        let cache = tempfile::tempdir().unwrap();
        let store = Store::claim(cache.path(), "m").unwrap();
        fs::create_dir_all(store.folder()).unwrap();
        let folder = store.folder().to_owned();
        store.condemn();
        assert!(folder.exists());
        drop(store);
        assert!(!folder.exists());
    }
}
