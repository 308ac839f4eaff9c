//! The files that the rules look at: what git tracks, and what it would track on `git add`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Every file of the repository, by its path from the root (with `/`), read once.
#[derive(Default)]
pub(super) struct Tree {
    /// `None` for what is not text: pictures and the like.
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the tracked files and the untracked ones that are not ignored.
    pub(super) fn load(root: &Path) -> Result<Self> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("cannot start git, which lists the files to check")?;
        ensure!(
            output.status.success(),
            "git cannot list the files of {}: {}",
            root.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let listed = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
        let mut tree = Self::default();
        for path in listed.split_terminator('\0') {
            let file = root.join(path);
            // Listed but gone: deleted and not committed yet. A link to a folder has no text.
            if file.is_file() {
                let bytes = std::fs::read(&file).with_context(|| format!("cannot read {path}"))?;
                tree.files.insert(path.to_owned(), String::from_utf8(bytes).ok());
            }
        }
        Ok(tree)
    }

    /// A tree in memory: for the tests of the rules.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|&(path, text)| (path.to_owned(), Some(text.to_owned())));
        Self { files: files.collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Path and text of every text file.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Path and text of the files with this extension.
    pub(super) fn with_extension(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| {
            Path::new(path).extension().is_some_and(|found| found == extension)
        })
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether the path names a file, or a folder that holds one.
    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        path.is_empty()
            || self.files.contains_key(path)
            || self
                .files
                .range(folder.clone()..)
                .next()
                .is_some_and(|(p, _)| p.starts_with(&folder))
    }
}
