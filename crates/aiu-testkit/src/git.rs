//! Bare git remotes on disk: seeded, read back, written to by rivals, refusing pushes, counting.
//!
//! The real `git` serves them, by path or by HTTP; only loopback and temporary folders are
//! used. All functions panic when git fails: they are for tests.

#[cfg(feature = "tls")]
mod app;
mod http;
mod remote;
mod wrapper;

#[cfg(feature = "tls")]
pub use app::AppServer;
pub use http::HttpGit;
pub use remote::{Commit, GitRemote, Logged};
pub use wrapper::{Cut, GitWrapper};

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a script that can be run.
///
/// Another process does it: a file that this one has open for writing is inherited by whatever
/// other threads start at that moment, and as long as that lives nobody can run the script
/// ("text file busy").
pub fn write_program(path: &Path, script: &str) {
    let mut child = command(Path::new("sh"))
        .args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(script.as_bytes()).expect("the shell reads it");
    drop(stdin);
    assert!(child.wait().expect("the shell can be waited for").success(), "{}", path.display());
}

/// Runs `git` in a repository, without any configuration of the user, and gives its output.
fn git(repository: &Path, args: &[&str], input: &[u8]) -> Vec<u8> {
    try_git(repository, args, input).unwrap_or_else(|words| panic!("git {args:?}: {words}"))
}

fn try_git(repository: &Path, args: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = command(Path::new("git"))
        .arg("--git-dir")
        .arg(repository)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("git is installed");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    let feeding = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("git can be waited for");
    feeding.join().expect("the thread only writes").ok();
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A command that inherits nothing but the way to programs.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("HOME", "/dev/null").env("LC_ALL", "C").current_dir("/");
    command
}
