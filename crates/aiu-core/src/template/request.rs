//! Title and body of a pull or merge request (spec 31 §2.3).

use crate::batch::AppName;

/// Longest title that forges take, in characters.
const MAX_TITLE: usize = 255;
/// Longest body, in characters.
const MAX_BODY: usize = 65_536;

/// What a request says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestText {
    /// Its title, never blank.
    pub title: String,
    /// Its body; may be empty.
    pub body: String,
    /// Whether the title was longer.
    pub title_truncated: bool,
    /// Whether the body was longer.
    pub body_truncated: bool,
}

/// Title and body from a commit message: its first line, and the rest.
pub fn request_text(message: &str, app: &AppName) -> RequestText {
    let (first, rest) = match message.split_once('\n') {
        Some((first, rest)) => (first.trim(), rest.trim().to_owned()),
        None if message.is_empty() => ("", default_body(app)),
        None => (message.trim(), String::new()),
    };
    let title =
        if first.is_empty() { format!("chore: update images for {app}") } else { first.to_owned() };
    let (title, title_truncated) = cut(title, MAX_TITLE);
    let (body, body_truncated) = cut(rest, MAX_BODY);
    RequestText { title, body, title_truncated, body_truncated }
}

fn default_body(app: &AppName) -> String {
    format!(
        "This pull request was created automatically by argocd-image-updater for application {app}."
    )
}

/// The first `most` characters, and whether there were more.
fn cut(mut text: String, most: usize) -> (String, bool) {
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    text.truncate(end.unwrap_or(text.len()));
    (text, end.is_some())
}
