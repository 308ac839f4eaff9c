//! What this program is told about itself from outside: environment variables, and the files
//! that they name.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::super::program::in_words;

/// Looks up environment variables. An empty value counts as unset.
#[derive(Clone)]
pub struct Variables(Arc<dyn Fn(&str) -> Option<String> + Send + Sync>);

impl Variables {
    /// Those of the process.
    pub fn of_process() -> Self {
        Self(Arc::new(|name| std::env::var(name).ok()))
    }

    /// These and no others.
    pub fn given<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let pairs: BTreeMap<String, String> = pairs.into_iter().map(owned).collect();
        Self(Arc::new(move |name| pairs.get(name).cloned()))
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Whether this is a pod. There, what the machine is allowed is not what the pod is (spec 11
    /// CLD-007).
    pub(super) fn in_kubernetes(&self) -> bool {
        self.text("KUBERNETES_SERVICE_HOST").is_some()
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables")
    }
}

/// The text of a file without blanks around it; the error is a cause in words.
pub(super) async fn file(path: &str) -> Result<String, String> {
    match tokio::fs::read_to_string(Path::new(path)).await {
        Ok(text) if text.trim().is_empty() => Err("it is empty".to_owned()),
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) => Err(in_words(&error)),
    }
}
