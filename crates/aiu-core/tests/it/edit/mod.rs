//! Edits as users see them: folders of texts before and after, and the two laws of every edit.

mod examples;
mod hostile;
mod laws;
mod list_laws;
mod texts;
