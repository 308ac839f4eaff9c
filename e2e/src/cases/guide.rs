//! The guides as their readers take them: commands and files, word for word.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::files::read;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guides");

/// A page of `docs/guides`.
pub(super) struct Guide {
    text: String,
}

impl Guide {
    pub(super) fn read(name: &str) -> Result<Self> {
        Ok(Self { text: read(Path::new(FOLDER), name)? })
    }

    /// The one block of this language that contains the words.
    pub(super) fn block(&self, language: &str, words: &str) -> Result<&str> {
        let blocks = self.blocks().filter(|(of, block)| *of == language && block.contains(words));
        let found: Vec<&str> = blocks.map(|(_, block)| block).collect();
        let count = found.len();
        ensure!(count == 1, "the guide has {count} blocks of {language} with `{words}`, not one");
        found.first().copied().context("there is one")
    }

    /// The arguments of the one command that begins so, which are left out.
    pub(super) fn command(&self, begins: &str) -> Result<Vec<String>> {
        let blocks = self.blocks().filter(|(of, _)| *of == "sh");
        let lines = blocks.flat_map(|(_, block)| block.lines());
        let found: Vec<&str> = lines.filter_map(|line| line.strip_prefix(begins)).collect();
        let [rest] = found.as_slice() else {
            anyhow::bail!("the guide has {} commands `{begins}`, not one", found.len());
        };
        let line = rest.split(" #").next().unwrap_or_default();
        Ok(line.split_whitespace().map(str::to_owned).collect())
    }

    /// Language and text of each block.
    fn blocks(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'))
    }
}
