//! `ext:/path`: a program of the operator that prints `user:password` (spec 11 §6.5).

use super::login::without_line_break;
use super::program::{in_words, run};
use super::{CredentialError, Login};

/// Runs the script and reads what it prints. Its output is never logged.
pub(super) async fn fetch(path: &str) -> Result<Login, CredentialError> {
    if !path.starts_with('/') {
        return Err(CredentialError::ScriptRelative(path.to_owned()));
    }
    if let Err(error) = tokio::fs::metadata(path).await {
        let cause = in_words(&error);
        return Err(CredentialError::ScriptMissing { path: path.to_owned(), cause });
    }
    let output = run(path, &[], "").await;
    let output =
        output.map_err(|cause| CredentialError::ScriptFailed { path: path.to_owned(), cause })?;
    let malformed = || CredentialError::ScriptOutput(path.to_owned());
    let text = String::from_utf8(output).map_err(|_| malformed())?;
    let line = without_line_break(&text);
    // A second line would silently become a part of the password (spec 11 G16).
    if line.contains(['\n', '\r']) {
        return Err(malformed());
    }
    Login::split(line).ok_or_else(malformed)
}
