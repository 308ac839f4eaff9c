//! The folder that holds all mirrors, and what earlier processes left in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};

use super::store::{MARKER, Store};

/// Mirrors that nobody has used for so long are removed.
const UNUSED: Duration = Duration::from_hours(30 * 24);

/// The folder of mirrors.
pub(super) struct Cache {
    folder: PathBuf,
    swept: Once,
}

impl Cache {
    /// Nothing is touched before the first mirror is needed.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, swept: Once::new() }
    }

    /// Claims a folder for a mirror of that name.
    pub(super) fn claim(&self, name: &str) -> io::Result<Store> {
        self.swept.call_once(|| sweep(&self.folder, SystemTime::now()));
        Store::claim(&self.folder, name)
    }
}

/// Removes mirrors that a killed process never completed, and those that have not been used for
/// long; whatever a living process holds is left alone. The lock files stay: somebody may be
/// about to take them.
fn sweep(cache: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(cache) else { return };
    for lock in entries.flatten().map(|entry| entry.path()) {
        let folder = lock.with_extension("");
        if lock.extension().is_none_or(|it| it != "lock") || !folder.is_dir() {
            continue;
        }
        let Ok(held) = File::options().write(true).open(&lock) else { continue };
        if held.try_lock().is_err() {
            continue;
        }
        let used = held.metadata().and_then(|about| about.modified());
        let age = used.ok().and_then(|used| now.duration_since(used).ok());
        if !folder.join(MARKER).exists() || age.is_some_and(|age| age > UNUSED) {
            // What cannot be removed now is wiped by the next who claims the folder.
            let _ = fs::remove_dir_all(&folder);
        }
        let _ = held.unlock();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::SystemTime;

    use super::{Cache, MARKER, UNUSED, sweep};

    #[test]
    fn what_is_unfinished_or_long_unused_goes_and_what_is_held_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        let names = ["held-unfinished", "unfinished", "old", "recent"];
        let mut held = None;
        for name in names {
            let store = cache.claim(name).unwrap();
            fs::create_dir(store.folder()).unwrap();
            if !name.ends_with("unfinished") {
                fs::write(store.folder().join(MARKER), "").unwrap();
            }
            if name.starts_with("held") {
                held = Some(store);
            }
        }
        let now = SystemTime::now();
        let lock = File::options().write(true).open(folder.path().join("old-0.lock")).unwrap();
        lock.set_modified(now - UNUSED * 2).unwrap();
        sweep(folder.path(), now);
        let left = names.map(|name| folder.path().join(format!("{name}-0")).exists());
        assert_eq!(left, [true, false, false, true], "{names:?}");
        drop(held);
        sweep(folder.path(), now);
        assert!(!folder.path().join("held-unfinished-0").exists(), "nobody holds it any more");
    }
}
