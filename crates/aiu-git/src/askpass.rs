//! Passwords for `git`, over a private socket.
//!
//! `git` asks a program for user and password (`GIT_ASKPASS`). That program is this one under a
//! second name: it hands a one-time id to the process that started git, which answers with what
//! belongs to the id. Neither arguments nor variables hold anything secret (spec 30 §3.4).

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use crate::private::{PrivateFolder, random_hex};

/// The second name of this program, in `ARGOCD_BINARY_NAME`.
pub const PERSONALITY: &str = "argocd-git-ask-pass";
/// Holds the one-time id.
pub const NONCE: &str = "ARGOCD_GIT_ASKPASS_NONCE";
/// Holds the path of the socket.
pub const SOCKET: &str = "ARGOCD_ASK_PASS_SOCK";
/// Where the original's socket is.
const DEFAULT_SOCKET: &str = "/tmp/reposerver-ask-pass.sock";
/// How long either side waits for the other.
const PATIENCE: Duration = Duration::from_secs(10);

type Entries = Arc<Mutex<HashMap<String, (String, SecretString)>>>;

/// The answering side.
pub(crate) struct AskPass {
    entries: Entries,
    socket: PathBuf,
    task: JoinHandle<()>,
}

/// An id that is answered for as long as this value lives.
pub(crate) struct Ticket {
    entries: Entries,
    pub(crate) nonce: String,
}

impl AskPass {
    /// Listens in a folder of our own.
    pub(crate) fn listen(folder: &PrivateFolder) -> io::Result<Self> {
        let socket = folder.path("s");
        let listener = UnixListener::bind(&socket)?;
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600))?;
        let entries = Entries::default();
        let known = Arc::clone(&entries);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let known = Arc::clone(&known);
                tokio::spawn(async move {
                    // Who hangs up got no answer, and says so itself.
                    let _ = tokio::time::timeout(PATIENCE, answer(stream, &known)).await;
                });
            }
        });
        Ok(Self { entries, socket, task })
    }

    pub(crate) fn socket(&self) -> &std::path::Path {
        &self.socket
    }

    /// Answers with this login from now on.
    pub(crate) fn ticket(&self, user: &str, password: &SecretString) -> io::Result<Ticket> {
        let nonce = random_hex(16)?;
        self.entries.lock().insert(nonce.clone(), (user.to_owned(), password.clone()));
        Ok(Ticket { entries: Arc::clone(&self.entries), nonce })
    }
}

impl Drop for AskPass {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.entries.lock().remove(&self.nonce);
    }
}

/// A line with the id and a line `user` or `password`; the answer is a mark and the text.
async fn answer(mut stream: UnixStream, known: &Entries) -> io::Result<()> {
    let mut question = Vec::new();
    (&mut stream).take(1024).read_to_end(&mut question).await?;
    let question = String::from_utf8_lossy(&question).into_owned();
    let mut lines = question.lines();
    let (nonce, what) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let found = known.lock().get(nonce).cloned();
    let answer = match (found, what) {
        (Some((user, _)), "user") => format!("+{user}"),
        (Some((_, password)), "password") => format!("+{}", password.expose_secret()),
        (Some(_), _) => "-unknown question".to_owned(),
        (None, _) => "-unknown nonce".to_owned(),
    };
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// The asking side: what `git` started with `arguments` after the program's name. `variable`
/// looks up the environment.
pub fn ask(
    arguments: &[String],
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let [prompt] = arguments else {
        return Err(format!("expected 1 argument, got {}", arguments.len()));
    };
    let nonce = variable(NONCE).filter(|nonce| !nonce.is_empty());
    let nonce = nonce.ok_or_else(|| format!("{NONCE} is not set"))?;
    let what = if prompt.starts_with("Username") {
        "user"
    } else if prompt.starts_with("Password") {
        "password"
    } else {
        return Err(format!("unknown credential type '{prompt}'"));
    };
    let socket = variable(SOCKET).filter(|socket| !socket.is_empty());
    let socket = socket.unwrap_or_else(|| DEFAULT_SOCKET.to_owned());
    let answer = exchange(&socket, &format!("{nonce}\n{what}\n"))
        .map_err(|error| format!("nobody answers at {socket}: {error}"))?;
    match answer.split_at_checked(1) {
        Some(("+", text)) => Ok(text.to_owned()),
        Some(("-", text)) => Err(text.to_owned()),
        _ => Err(format!("no answer at {socket}")),
    }
}

fn exchange(socket: &str, question: &str) -> io::Result<String> {
    let mut stream = std::os::unix::net::UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(question.as_bytes())?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::{AskPass, NONCE, SOCKET, ask};
    use crate::private::PrivateFolder;

    /// Spec 22 §1 and 30 §3.4, tables.
    #[tokio::test(flavor = "multi_thread")]
    async fn git_gets_an_answer_for_as_long_as_the_id_is_known() {
        let parent = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::within(parent.path()).unwrap();
        let server = AskPass::listen(&folder).unwrap();
        let ticket = server.ticket("bot", &SecretString::from("hunter2")).unwrap();
        let (socket, nonce) = (server.socket().display().to_string(), ticket.nonce.clone());
        let asked = move |words: &[&str], nonce: Option<&str>| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let (socket, nonce) = (socket.clone(), nonce.map(str::to_owned));
            tokio::task::spawn_blocking(move || {
                ask(&words, |name| match name {
                    NONCE => nonce.clone(),
                    SOCKET => Some(socket.clone()),
                    _ => None,
                })
            })
        };
        let known = Some(nonce.as_str());
        #[rustfmt::skip]
        let rows: [(&[&str], Option<&str>, Result<&str, &str>); 8] = [
            (&[], known, Err("expected 1 argument, got 0")),
            (&["a", "b"], known, Err("expected 1 argument, got 2")),
            (&["Username"], None, Err("ARGOCD_GIT_ASKPASS_NONCE is not set")),
            (&["Username"], known, Ok("bot")),
            (&["Username for 'https://h': "], known, Ok("bot")),
            (&["Password for 'https://bot@h': "], known, Ok("hunter2")),
            (&["Unknown"], known, Err("unknown credential type 'Unknown'")),
            (&["Password"], Some("0123"), Err("unknown nonce")),
        ];
        for (words, nonce, expected) in rows {
            let answer = asked(words, nonce).await.unwrap();
            let answer = answer.as_deref().map_err(String::as_str);
            assert_eq!(answer, expected, "{words:?}");
        }
        drop(ticket);
        assert_eq!(asked(&["Password"], known).await.unwrap(), Err("unknown nonce".to_owned()));
    }
}
