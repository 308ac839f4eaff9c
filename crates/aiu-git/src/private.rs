//! A folder of this process alone, for what must not be seen by others: a socket, keys for the
//! time of one command.
//!
//! It stands in the system's temporary folder. A lock beside it belongs to the living process;
//! what a killed one left is removed by the next that starts (spec 30 F20).

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use secrecy::{ExposeSecret as _, SecretString};

/// How the names of such folders begin.
const PREFIX: &str = "argocd-image-updater-";

/// The folder; removed when dropped.
pub(crate) struct PrivateFolder {
    folder: PathBuf,
    lock: PathBuf,
    /// Held open for as long as the folder is in use.
    _held: File,
    files: AtomicU64,
}

/// A file in it; removed when dropped.
pub(crate) struct PrivateFile(PathBuf);

impl PrivateFolder {
    /// Clears what killed processes left in `parent`, and makes a folder there.
    pub(crate) fn within(parent: &Path) -> io::Result<Self> {
        clear(parent);
        let name = format!("{PREFIX}{}", random_hex(8)?);
        let (folder, lock) = (parent.join(&name), parent.join(format!("{name}.lock")));
        let held = File::options().create_new(true).write(true).mode(0o600).open(&lock)?;
        held.try_lock().map_err(io::Error::from)?;
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self { folder, lock, _held: held, files: AtomicU64::new(0) })
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A new file with this content, for our eyes only.
    pub(crate) fn file(&self, content: &SecretString) -> io::Result<PrivateFile> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(number.to_string());
        let mut file = File::options().create_new(true).write(true).mode(0o600).open(&path)?;
        let written = PrivateFile(path);
        file.write_all(content.expose_secret().as_bytes())?;
        Ok(written)
    }
}

impl PrivateFile {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next process.
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_file(&self.lock);
    }
}

/// Removes folders whose lock nobody holds. What belongs to others cannot be removed, which is
/// as it should be.
fn clear(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if !name.starts_with(PREFIX) || path.extension().is_none_or(|it| it != "lock") {
            continue;
        }
        let Ok(lock) = File::options().write(true).open(&path) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(path.with_extension(""));
            let _ = fs::remove_file(&path);
        }
    }
}

/// So many random bytes, in hex.
pub(crate) fn random_hex(bytes: usize) -> io::Result<String> {
    let mut random = vec![0; bytes];
    aws_lc_rs::rand::fill(&mut random).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(random.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use secrecy::SecretString;

    use super::{PREFIX, PrivateFolder};

    #[test]
    fn it_is_ours_alone_and_disappears() {
        let parent = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::within(parent.path()).unwrap();
        let file = folder.file(&SecretString::from("key")).unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(folder.path("").as_path()), mode(file.path())), (0o700, 0o600));
        let path = file.path().to_owned();
        drop(file);
        assert!(!path.exists());
        drop(folder);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_cleared_and_what_a_living_one_has_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let living = PrivateFolder::within(parent.path()).unwrap();
        let dead = parent.path().join(format!("{PREFIX}dead"));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("0"), "key").unwrap();
        fs::write(dead.with_extension("lock"), "").unwrap();
        let own = PrivateFolder::within(parent.path()).unwrap();
        assert!(!dead.exists() && !dead.with_extension("lock").exists());
        assert!(living.path("").exists() && own.path("").exists());
    }
}
