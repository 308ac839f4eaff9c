//! A program to be run instead of `git`: it notes how it was called, hands the call on, and
//! kills its caller where a test wants that.

use std::fs;
use std::path::{Path, PathBuf};

use super::write_program;

/// A stand-in for `git` in a folder of the test's.
pub struct GitWrapper {
    folder: PathBuf,
}

/// Where the process that called git is killed, `kill -9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nowhere.
    Never,
    /// When it starts its `n`th git command, which does not run.
    Before(usize),
    /// When its `n`th git command has done its work.
    After(usize),
}

/// `$1` and so on are git's; the folder, the cut and the real git are written into it.
const SCRIPT: &str = r#"#!/bin/sh
echo "$*" >> "FOLDER/calls"
call=$(wc -l < "FOLDER/calls")
[ "$call" -eq "BEFORE" ] && kill -9 "$PPID" && exit 1
export GIT_TRACE2_EVENT="FOLDER/trace"
"REAL" "$@"
status=$?
[ "$call" -eq "AFTER" ] && kill -9 "$PPID" && exit 1
exit "$status"
"#;

impl GitWrapper {
    /// Writes the program into a folder.
    pub fn new(folder: &Path, cut: Cut) -> Self {
        let (before, after) = match cut {
            Cut::Never => (0, 0),
            Cut::Before(call) => (call, 0),
            Cut::After(call) => (0, call),
        };
        let script = SCRIPT
            .replace("FOLDER", &folder.display().to_string())
            .replace("REAL", &real_git().display().to_string())
            .replace("BEFORE", &before.to_string())
            .replace("AFTER", &after.to_string());
        let wrapper = Self { folder: folder.to_owned() };
        fs::create_dir_all(wrapper.bin()).expect("the test's folder can be made");
        write_program(&wrapper.program(), &script);
        wrapper
    }

    /// The program.
    pub fn program(&self) -> PathBuf {
        self.bin().join("git")
    }

    /// The folder that holds it and nothing else, to stand first in a `PATH`.
    pub fn bin(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// The arguments of all calls so far.
    pub fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// How often a remote's side was started by those calls, also by git itself: `upload-pack`
    /// for each question and fetch, `receive-pack` for each push.
    pub fn connections(&self, service: &str) -> usize {
        let trace = fs::read_to_string(self.folder.join("trace")).unwrap_or_default();
        let started = format!("\"argv\":[\"git-{service} ");
        let starts = trace.lines().filter(|line| line.contains("\"child_start\""));
        starts.filter(|line| line.contains(&started)).count()
    }
}

/// The git that is found by its name.
fn real_git() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("git"));
    found.into_iter().find(|program| program.is_file()).expect("git is on the path")
}
