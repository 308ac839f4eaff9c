//! Commits, made by one `fast-import` stream on top of a tip: no work tree, no index, and no
//! content of any other file is needed.
//!
//! Equal inputs, the date included, give equal commits. Who signs commits re-makes them over
//! the trees that the stream made ([`sign`]).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use aiu_core::batch::FilePath;

use crate::command::{Call, CallError, Git, Step};
use crate::mirror::Store;
use crate::object::ObjectId;
use crate::signing::{self, Ready};
use crate::stack::{ChangedFile, Splice};
use crate::tree::Mode;

/// A name and a mail address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    name: String,
    email: String,
}

impl Identity {
    /// An identity, if both parts are given (spec 30 §5.2). Characters that git keeps out of
    /// identities are dropped.
    pub fn new(name: &str, email: &str) -> Option<Self> {
        let plain = |text: &str| {
            let text: String =
                text.chars().filter(|c| !c.is_control() && !"<>".contains(*c)).collect();
            text.trim().to_owned()
        };
        let (name, email) = (plain(name), plain(email));
        (!name.is_empty() && !email.is_empty()).then_some(Self { name, email })
    }
}

impl Default for Identity {
    /// The one of spec 30 §5.2.
    fn default() -> Self {
        Self { name: "argocd-image-updater".to_owned(), email: "noreply@argoproj.io".to_owned() }
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// Who makes a commit, and when.
#[derive(Clone, Debug)]
pub struct Signature {
    /// On whose behalf.
    pub author: Identity,
    /// Who does it.
    pub committer: Identity,
    /// When; given from outside, so that it can be the same again.
    pub date: SystemTime,
    /// Whether the committer signs off (`--git-commit-sign-off`).
    pub sign_off: bool,
}

/// A commit to be made.
pub(crate) struct NewCommit<'a> {
    pub(crate) signature: Signature,
    pub(crate) message: String,
    /// Of one draft or several, in their order.
    pub(crate) splices: Vec<&'a Splice>,
}

/// The texts that the first of several commits is made from, by path.
pub(crate) type Texts = BTreeMap<FilePath, ChangedFile>;

/// Makes the commits, each on the one before, the first on `tip`, and lets `reference` name the
/// last; gives their ids.
pub(crate) async fn commit(
    git: &Git,
    store: &Store,
    reference: &str,
    tip: &ObjectId,
    texts: &Texts,
    commits: &[NewCommit<'_>],
) -> Result<Vec<ObjectId>, CallError> {
    let args = ["--quiet", "--force", "--done", "--date-format=raw"];
    let input = stream(reference, tip, texts, commits).map(String::into_bytes);
    let call = Call::new(Step::Commit, &args).within(store.folder()).input_parts(input);
    let output = git.output(call).await?;
    let ids: Vec<ObjectId> =
        String::from_utf8_lossy(&output).lines().filter_map(ObjectId::parse).collect();
    if ids.len() == commits.len() {
        Ok(ids)
    } else {
        let words = format!("{} commits were made of {}", ids.len(), commits.len());
        Err(CallError::Failed { words })
    }
}

/// Makes the commits over again, signed, each on the one before, the first on `tip`; gives their
/// ids.
pub(crate) async fn sign(
    git: &Git,
    store: &Store,
    tip: &ObjectId,
    made: &[ObjectId],
    commits: &[NewCommit<'_>],
) -> Result<Vec<ObjectId>, CallError> {
    let private = git.vault.private().await.map_err(CallError::NotEquipped)?;
    let ready = git.signer.ready(private).await.map_err(CallError::NotEquipped)?;
    let mut ids: Vec<ObjectId> = Vec::new();
    let mut failed = None;
    for (unsigned, commit) in made.iter().zip(commits) {
        let parent = ids.last().unwrap_or(tip);
        match sign_one(git, store, ready, parent, unsigned, commit).await {
            Ok(id) => ids.push(id),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    ready.rest().await;
    failed.map_or(Ok(ids), Err)
}

async fn sign_one(
    git: &Git,
    store: &Store,
    ready: &Ready,
    parent: &ObjectId,
    unsigned: &ObjectId,
    commit: &NewCommit<'_>,
) -> Result<ObjectId, CallError> {
    let NewCommit { signature, message, .. } = commit;
    let tree = format!("{unsigned}^{{tree}}");
    let args = [&ready.option, "-p", parent.as_str(), "-F", "-", &tree];
    let date = format!("{} +0000", seconds(signature));
    let mut call = Call::new(Step::Sign, &args)
        .within(store.folder())
        .setting(ready.format)
        .variable("GIT_AUTHOR_DATE", &date)
        .variable("GIT_COMMITTER_DATE", &date)
        .variable("GIT_AUTHOR_NAME", &signature.author.name)
        .variable("GIT_AUTHOR_EMAIL", &signature.author.email)
        .variable("GIT_COMMITTER_NAME", &signature.committer.name)
        .variable("GIT_COMMITTER_EMAIL", &signature.committer.email)
        .input(finished(message, signature));
    for (name, value) in signing::variables(ready) {
        call = call.variable(name, value);
    }
    let output = git.output(call).await?;
    let said = String::from_utf8_lossy(&output).into_owned();
    ObjectId::parse(said.trim()).ok_or(CallError::Failed { words: said })
}

fn seconds(signature: &Signature) -> u64 {
    signature.date.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The stream, a commit at a time, since together they hold every text as often as it changes;
/// after each commit it asks for its id.
fn stream<'a>(
    reference: &'a str,
    tip: &'a ObjectId,
    texts: &Texts,
    commits: &'a [NewCommit<'a>],
) -> impl Iterator<Item = String> + Send + 'a {
    let before = |file: &ChangedFile| file.before.as_deref().unwrap_or_default().to_owned();
    let mut texts: BTreeMap<FilePath, String> =
        texts.iter().map(|(path, file)| (path.clone(), before(file))).collect();
    let start = std::iter::once("feature done\n".to_owned());
    let made = commits.iter().enumerate().map(move |(at, commit)| {
        let parent = if at == 0 { tip.to_string() } else { format!(":{at}") };
        one(reference, at + 1, &parent, &mut texts, commit)
    });
    start.chain(made).chain(std::iter::once("done\n".to_owned()))
}

fn one(
    reference: &str,
    mark: usize,
    parent: &str,
    texts: &mut BTreeMap<FilePath, String>,
    NewCommit { signature, message, splices }: &NewCommit<'_>,
) -> String {
    let date = seconds(signature);
    let mut out = format!(
        "commit {reference}\nmark :{mark}\nauthor {} {date} +0000\ncommitter {} {date} +0000\n",
        signature.author, signature.committer
    );
    data(&mut out, &finished(message, signature));
    let _ = writeln!(out, "from {parent}");
    let mut files: BTreeMap<&FilePath, Mode> = BTreeMap::new();
    for splice in splices {
        splice.apply(texts.entry(splice.path.clone()).or_default());
        files.insert(&splice.path, splice.mode);
    }
    for (path, mode) in files {
        let _ = writeln!(out, "M {} inline {}", mode.as_str(), quoted(path.as_str()));
        data(&mut out, &texts[path]);
    }
    let _ = write!(out, "\nget-mark :{mark}\n");
    out
}

fn data(out: &mut String, text: &str) {
    let _ = write!(out, "data {}\n{text}\n", text.len());
}

/// A path as `fast-import` reads it back; it holds no line break.
fn quoted(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The message as `git commit -F` would store it, signed off if that is wanted; for an empty
/// one the original's text (spec 30 §5.3).
fn finished(message: &str, signature: &Signature) -> String {
    let mut message = tidy(message);
    if message.is_empty() {
        message.push_str("Update parameters\n");
    }
    if signature.sign_off {
        let line = format!("Signed-off-by: {}", signature.committer);
        match last_paragraph_of_trailers(&message) {
            Some(trailers) if trailers.lines().any(|trailer| trailer == line) => return message,
            Some(_) => {}
            None => message.push('\n'),
        }
        message.push_str(&line);
        message.push('\n');
    }
    message
}

/// No blanks at the ends of lines, no empty lines at the ends, one between paragraphs, and a
/// line feed after the last line; what git calls the clean-up mode "whitespace".
fn tidy(message: &str) -> String {
    let mut out = String::with_capacity(message.len() + 1);
    let mut gap = false;
    for line in message.lines().map(str::trim_end) {
        if line.is_empty() {
            gap = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            out.push('\n');
        }
        out.push_str(&line.replace('\0', ""));
        out.push('\n');
    }
    out
}

/// The last paragraph, if it is not the subject and all its lines read `Token: value`.
fn last_paragraph_of_trailers(message: &str) -> Option<&str> {
    let (_, last) = message.trim_end().rsplit_once("\n\n")?;
    let token = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    last.lines()
        .all(|line| line.split_once(": ").is_some_and(|(name, _)| token(name)))
        .then_some(last)
}

#[cfg(test)]
#[path = "commit/tests.rs"]
mod tests;
