//! Commit messages, branch names and the texts of requests, from Go templates (spec 30
//! §2.4 and §5.1, spec 31 §2).
//!
//! Templates are written in Go's `text/template` with its predefined functions: that is
//! what users of the original have in their settings and resources.

mod branch;
mod commit;
mod engine;
mod request;
#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use branch::{
    BranchData, BranchImage, BranchName, InvalidBranch, REQUEST_BRANCH, branch_name, target_key,
};
pub use commit::{CommitData, CommitImage, CommitMessage, DEFAULT_COMMIT_MESSAGE, commit_message};
pub use engine::{InvalidTemplate, RenderError};
pub use request::{RequestText, request_text};

use engine::Engine;

/// Longest template that is read, in bytes.
const MAX_LENGTH: usize = 64 * 1024;

/// A template that has been read. Clones share it; two are equal when their texts are.
#[derive(Clone)]
pub struct Template {
    text: Arc<str>,
    engine: Arc<Engine>,
}

impl Template {
    /// Reads a template to its end.
    pub fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        if text.len() > MAX_LENGTH {
            let problem = format!("{} bytes are more than the {MAX_LENGTH} allowed", text.len());
            return Err(InvalidTemplate { line: 1, problem });
        }
        Ok(Self { text: text.into(), engine: Arc::new(Engine::parse(text)?) })
    }

    /// The template as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the text holds this word, such as the name of a field that costs something to know.
    pub fn mentions(&self, word: &str) -> bool {
        self.text.contains(word)
    }

    fn render(&self, data: &engine::Value) -> Result<String, RenderError> {
        self.engine.render(data)
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Template {}

impl Hash for Template {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Template").field(&self.text).finish()
    }
}
