//! Replacing a file so that a reader, or a crash, sees the old text or the new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::crash;

/// Ends the names of half-written files; a killed process may leave one behind.
const SUFFIX: &str = ".argocd-image-updater.tmp";

#[cfg(test)]
thread_local! {
    /// How many files this thread has replaced.
    pub(super) static REPLACED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Writes `text` beside `path` and renames it over it. The file's permissions are kept.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let temporary = temporary_name(path)?;
    let written = write_through(&temporary, path, text).and_then(|()| {
        crash::point("file.rename.before");
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        // Best effort: what stays is cleared at the next start.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    #[cfg(test)]
    REPLACED.set(REPLACED.get() + 1);
    crash::point("file.rename.after");
    // The rename itself is durable once the folder is; some file systems cannot do that.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn write_through(temporary: &Path, original: &Path, text: &str) -> io::Result<()> {
    let permissions = fs::metadata(original)?.permissions();
    let mut file = File::create(temporary)?;
    crash::point("file.created");
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    file.write_all(first)?;
    crash::point("file.half");
    file.write_all(second)?;
    file.set_permissions(permissions)?;
    file.sync_all()?;
    crash::point("file.synced");
    Ok(())
}

fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("not a file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(SUFFIX);
    Ok(path.with_file_name(hidden))
}

/// Whether a file of this name is a leftover of a killed process.
pub(super) fn is_leftover(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(SUFFIX)
}
