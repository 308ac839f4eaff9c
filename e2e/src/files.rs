//! Folders and files that peers and cases work with; an error names the path.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Makes a new folder.
pub(crate) fn subfolder(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    std::fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
    Ok(path)
}

/// Writes a file, and makes the folders above it.
pub(crate) fn write(folder: &Path, path: &str, text: &str) -> Result<()> {
    let file = folder.join(path);
    let parent = file.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// The text of a file.
pub(crate) fn read(folder: &Path, path: &str) -> Result<String> {
    let file = folder.join(path);
    std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
}
