//! One bare repository.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{git, try_git, write_program};

/// A bare repository in a temporary folder. Its `HEAD` names `main`.
pub struct GitRemote {
    _folder: TempDir,
    path: PathBuf,
}

/// A commit to be made, or what it would contain.
#[derive(Default)]
pub struct Commit {
    message: String,
    entries: Vec<u8>,
}

/// A commit as it is found on a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Its id.
    pub id: String,
    /// `Name <mail> seconds zone`.
    pub author: String,
    /// `Name <mail> seconds zone`.
    pub committer: String,
    /// The whole message.
    pub message: String,
    /// The paths that it changes, sorted.
    pub files: Vec<String>,
}

/// Before anything is taken in: counts, refuses, or lets a rival be faster. Whatever it runs
/// must not know of the push (git forbids to move refs from within one).
const PRE_RECEIVE: &str = r#"#!/bin/sh
cd "$(dirname "$0")/../.."
echo tried >> tried
if [ -f refusal ]; then cat refusal >&2; exit 1; fi
rival=$(cat rivals 2>/dev/null || echo 0)
if [ -f alternating ]; then
  tried=$(wc -l < tried)
  rival=$((tried % 2 * tried))
elif [ "$rival" -gt 0 ]; then
  echo $((rival - 1)) > rivals
fi
if [ "$rival" -gt 0 ]; then
  read -r old new ref
  env -i PATH="$PATH" git --git-dir=repository.git fast-import --quiet <<END
commit $ref
committer Rival <rival@example.com> 1700000000 +0000
data 6
rival

from $ref^0
M 100644 inline rival-$rival.txt
data 6
rival

END
fi
"#;

/// After it was taken in: counts.
const POST_RECEIVE: &str = "#!/bin/sh\ncd \"$(dirname \"$0\")/../..\"\necho landed >> landed\n";

impl GitRemote {
    /// A repository without any commit.
    pub fn empty() -> Self {
        Self::with_format("sha1")
    }

    /// A repository without any commit, of another hash function.
    pub fn with_format(format: &str) -> Self {
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let path = folder.path().join("repository.git");
        let format = format!("--object-format={format}");
        let args = ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", &format];
        git(&path, &args, b"");
        git(&path, &["config", "uploadpack.allowFilter", "true"], b"");
        git(&path, &["config", "gc.auto", "0"], b"");
        let remote = Self { _folder: folder, path };
        remote.hook("pre-receive", PRE_RECEIVE);
        remote.hook("post-receive", POST_RECEIVE);
        remote
    }

    /// A repository with one commit on `main`.
    pub fn seeded<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let remote = Self::empty();
        let commit = files
            .into_iter()
            .fold(Commit::new("seed"), |commit, (path, text)| commit.file(path, text));
        remote.commit("main", &commit);
        remote
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its address on this machine.
    pub fn url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    /// Sets a value in the repository's configuration.
    pub fn configure(&self, key: &str, value: &str) {
        git(&self.path, &["config", key, value], b"");
    }

    /// Puts a commit on top of a branch, or makes the branch; gives its id.
    pub fn commit(&self, branch: &str, commit: &Commit) -> String {
        let reference = format!("refs/heads/{branch}");
        let from = self.tip(branch).map_or_else(String::new, |tip| format!("from {tip}\n"));
        let (message, length) = (&commit.message, commit.message.len());
        let mut stream = format!(
            "commit {reference}\ncommitter Rival <rival@example.com> 1700000000 +0000\n\
             data {length}\n{message}\n{from}"
        )
        .into_bytes();
        stream.extend_from_slice(&commit.entries);
        git(&self.path, &["fast-import", "--quiet"], &stream);
        self.tip(branch).expect("it was just made")
    }

    /// Puts all objects into one pack, as servers do from time to time.
    pub fn pack(&self) {
        git(&self.path, &["repack", "-a", "-d", "-q"], b"");
    }

    /// Lets a branch begin where another is.
    pub fn branch(&self, name: &str, from: &str) {
        git(&self.path, &["branch", "--force", name, from], b"");
    }

    /// Removes a branch.
    pub fn delete_branch(&self, name: &str) {
        git(&self.path, &["update-ref", "-d", &format!("refs/heads/{name}")], b"");
    }

    /// Names a commit or branch by a tag.
    pub fn tag(&self, name: &str, at: &str) {
        git(&self.path, &["tag", name, at], b"");
    }

    /// Lets `HEAD` name a branch, which need not exist.
    pub fn set_default(&self, branch: &str) {
        git(&self.path, &["symbolic-ref", "HEAD", &format!("refs/heads/{branch}")], b"");
    }

    /// The id of a branch's newest commit.
    pub fn tip(&self, branch: &str) -> Option<String> {
        let reference = format!("refs/heads/{branch}");
        let output = try_git(&self.path, &["rev-parse", "--verify", "--quiet", &reference], b"");
        output.ok().map(|id| String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// The bytes of a file at the tip of a branch.
    pub fn bytes(&self, branch: &str, path: &str) -> Option<Vec<u8>> {
        try_git(&self.path, &["cat-file", "blob", &format!("refs/heads/{branch}:{path}")], b"").ok()
    }

    /// The text of a file at the tip of a branch.
    pub fn text(&self, branch: &str, path: &str) -> Option<String> {
        self.bytes(branch, path).map(|bytes| String::from_utf8(bytes).expect("it is text"))
    }

    /// The mode of a file at the tip of a branch: `100644`, `100755`.
    pub fn mode(&self, branch: &str, path: &str) -> Option<String> {
        let args = ["ls-tree", "-z", "--full-tree", &format!("refs/heads/{branch}"), "--", path];
        let output = String::from_utf8(git(&self.path, &args, b"")).expect("it is text");
        output.split_once(' ').map(|(mode, _)| mode.to_owned())
    }

    /// All paths of the tip of a branch.
    pub fn paths(&self, branch: &str) -> Vec<String> {
        let args = ["ls-tree", "-r", "-z", "--name-only", &format!("refs/heads/{branch}")];
        zeros(&git(&self.path, &args, b""))
    }

    /// The names of all branches.
    pub fn branches(&self) -> Vec<String> {
        let args = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"];
        let names = String::from_utf8(git(&self.path, &args, b"")).expect("names are text");
        names.lines().map(str::to_owned).collect()
    }

    /// The commits of a branch, newest first.
    pub fn log(&self, branch: &str) -> Vec<Logged> {
        let range = format!("refs/heads/{branch}");
        let ids = String::from_utf8(git(&self.path, &["rev-list", &range], b"")).expect("hex");
        ids.lines().map(|id| self.logged(id)).collect()
    }

    fn logged(&self, id: &str) -> Logged {
        let raw = git(&self.path, &["cat-file", "commit", id], b"");
        let raw = String::from_utf8(raw).expect("messages are text");
        let (head, message) = raw.split_once("\n\n").expect("a commit has a message");
        let field = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().trim().to_owned()
        };
        let args = ["diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", id];
        Logged {
            id: id.to_owned(),
            author: field("author"),
            committer: field("committer"),
            message: message.to_owned(),
            files: zeros(&git(&self.path, &args, b"")),
        }
    }

    /// Refuses pushes from now on, with these words.
    pub fn refuse(&self, words: &str) {
        fs::write(self.beside("refusal"), format!("{words}\n")).expect("the folder is ours");
    }

    /// Takes pushes again.
    pub fn accept(&self) {
        fs::remove_file(self.beside("refusal")).expect("it refused");
    }

    /// During each of the next pushes a rival is faster: a file `rival-N.txt`, N counting down.
    pub fn rivals(&self, count: u32) {
        fs::write(self.beside("rivals"), count.to_string()).expect("the folder is ours");
    }

    /// From now on a rival is faster in every other push, beginning with the first of all: a
    /// file `rival-N.txt`, N being the number of the push.
    pub fn rival_alternates(&self) {
        fs::write(self.beside("alternating"), "").expect("the folder is ours");
    }

    /// How many pushes reached the repository, and how many were taken in.
    pub fn pushes(&self) -> (usize, usize) {
        let lines =
            |name| fs::read_to_string(self.beside(name)).map_or(0, |text| text.lines().count());
        (lines("tried"), lines("landed"))
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.path.with_file_name(name)
    }

    /// Installs a hook.
    pub fn hook(&self, name: &str, script: &str) {
        let hooks = self.path.join("hooks");
        fs::create_dir_all(&hooks).expect("the folder is ours");
        write_program(&hooks.join(name), script);
    }
}

impl Commit {
    /// A commit that changes nothing yet.
    pub fn new(message: &str) -> Self {
        Self { message: message.to_owned(), entries: Vec::new() }
    }

    /// With this file.
    #[must_use]
    pub fn file(self, path: &str, text: &str) -> Self {
        self.bytes(path, text.as_bytes())
    }

    /// With this file, which need not be text.
    #[must_use]
    pub fn bytes(self, path: &str, bytes: &[u8]) -> Self {
        self.entry("100644", path, bytes)
    }

    /// With this file, executable.
    #[must_use]
    pub fn executable(self, path: &str, text: &str) -> Self {
        self.entry("100755", path, text.as_bytes())
    }

    /// With this symbolic link.
    #[must_use]
    pub fn symlink(self, path: &str, target: &str) -> Self {
        self.entry("120000", path, target.as_bytes())
    }

    /// With a submodule.
    #[must_use]
    pub fn submodule(mut self, path: &str) -> Self {
        let line = format!("M 160000 {} {}\n", "1".repeat(40), quoted(path));
        self.entries.extend_from_slice(line.as_bytes());
        self
    }

    /// Without this file.
    #[must_use]
    pub fn remove(mut self, path: &str) -> Self {
        self.entries.extend_from_slice(format!("D {}\n", quoted(path)).as_bytes());
        self
    }

    fn entry(mut self, mode: &str, path: &str, bytes: &[u8]) -> Self {
        let head = format!("M {mode} inline {}\ndata {}\n", quoted(path), bytes.len());
        self.entries.extend_from_slice(head.as_bytes());
        self.entries.extend_from_slice(bytes);
        self.entries.push(b'\n');
        self
    }
}

fn quoted(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// NUL-ended strings.
fn zeros(output: &[u8]) -> Vec<String> {
    let parts = output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}
