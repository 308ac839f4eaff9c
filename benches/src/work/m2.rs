//! 100 Applications whose kustomizations stand in one repository of 50,000 files, all updated on
//! one branch; and the pass after it.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use aiu_testkit::git::{Commit, Cut, GitRemote, GitWrapper, HttpGit};
use anyhow::{Context as _, Result, ensure};

use super::{Limits, Subject};
use crate::bed::{Bed, Limit};
use crate::figure::{Figure, kibibytes};
use crate::program::{Pass, Program, REST};
use crate::proxy::Proxy;
use crate::tree::{Watch, size};

const APPLICATIONS: usize = 100;
const FOLDERS: usize = 2_500;
const FILES_PER_FOLDER: usize = 20;

pub(super) fn run(subject: &Subject) -> Result<Vec<Figure>> {
    let mut figures = counted(subject)?;
    figures.extend(timed(subject)?);
    Ok(figures)
}

/// A repository behind a way that counts, and the Applications.
struct World {
    // The program talks to what comes after it.
    bed: Bed,
    remote: GitRemote,
    server: HttpGit,
    proxy: Proxy,
}

impl World {
    fn new() -> Result<Self> {
        let mut bed = Bed::new(Limit::None)?;
        bed.registry.repository("acme/web").tags(["1.0.0", "1.1.0"]);
        let remote = repository();
        let server = bed.serve(remote.path());
        let proxy = Proxy::to(server.port())?;
        let url = format!("http://127.0.0.1:{}/repository.git", proxy.port());
        for app in 0..APPLICATIONS {
            bed.git_application("acme/web", &url, &folder(app * FOLDERS / APPLICATIONS));
        }
        bed.lay_out()?;
        Ok(Self { bed, remote, server, proxy })
    }

    /// What both passes come to, whatever is measured.
    fn check(&self, first: &Pass, second: &Pass) -> Result<()> {
        ensure!(first.words.ends_with("images_updated=100 errors=0"), "{}", first.words);
        ensure!(second.words.ends_with("images_updated=0 errors=0"), "{}", second.words);
        let commits = self.remote.log("main").len() - 1;
        ensure!(commits == APPLICATIONS, "{commits} commits");
        ensure!(self.remote.paths("main").len() == FOLDERS * FILES_PER_FOLDER);
        Ok(())
    }
}

/// By the wrapper around git and the server's log; the wrapper costs time, which is not counted.
fn counted(subject: &Subject) -> Result<Vec<Figure>> {
    let world = World::new()?;
    let wrapper = GitWrapper::new(&world.bed.folder().join("wrapper"), Cut::Never);
    let mut command = Command::new(&subject.program);
    command.env("PATH", before_path(&wrapper.bin())?);
    let mut program = Program::launch(command, world.bed.folder(), REST, &[])?;
    let first = program.pass()?;
    let calls = wrapper.calls();
    let pushes = world.remote.pushes();
    let second = program.pass()?;
    let later = wrapper.calls().split_off(calls.len());
    drop(program);
    world.check(&first, &second)?;
    let of = |step: &str| calls.iter().filter(|call| call.contains(step)).count();
    let figure = |what: &str, counted, expected| {
        Figure::count(format!("m2, first pass: {what}"), counted, expected)
    };
    let (files, _) = size(&world.bed.folder().join("cache"));
    Ok(vec![
        figure("questions", of(" ls-remote "), 1),
        figure("fetches of the tip", of("--depth=1"), 1),
        figure("fetches of contents", of("negotiationAlgorithm=noop"), 1),
        figure("streams of commits", of(" fast-import "), 1),
        figure("pushes", pushes.0, 1),
        figure("commits", world.remote.log("main").len() - 1, APPLICATIONS),
        Figure::count_at_most("m2, first pass: git processes", calls.len(), 12),
        Figure::count_at_most("m2: files on disk", files, 40),
        Figure::count(
            "m2, second pass: questions",
            later.iter().filter(|it| it.contains(" ls-remote ")).count(),
            1,
        ),
        Figure::count("m2, second pass: git processes", later.len(), 1),
    ])
}

fn timed(subject: &Subject) -> Result<Vec<Figure>> {
    let world = World::new()?;
    let mut program = Program::start(&subject.program, world.bed.folder(), &[])?;
    let watch = Watch::over(program.id());
    let first = program.pass()?;
    let memory = watch.peak();
    let received = world.proxy.received();
    let second = program.pass()?;
    let again = world.proxy.received();
    drop(program);
    world.check(&first, &second)?;
    let requests = world.server.requests().len();
    let limits = Limits { wall: Some(5.0), own: Some(6.0), peak: Some(150.0) };
    let mut figures = subject.took("m2, first pass", &first, limits);
    let all = first.own + first.children;
    figures.push(subject.held("m2, first pass: processor with git's", "s", all, 6.0));
    figures.push(subject.held("m2, first pass: peak memory with git's", "MiB", memory, 150.0));
    figures
        .push(Figure::new("m2, first pass: received", "KiB", kibibytes(received)).at_most(2048.0));
    figures.extend(subject.took("m2, second pass", &second, Limits::default()));
    figures.push(Figure::new("m2, second pass: received", "KiB", kibibytes(again)));
    figures.push(Figure::count_at_most("m2, both passes: requests of git", requests, 14));
    Ok(figures)
}

fn folder(number: usize) -> String {
    format!("teams/team-{}/app-{number}", number % 50)
}

fn repository() -> GitRemote {
    let remote = GitRemote::empty();
    let mut seed = Commit::new("seed");
    for number in 0..FOLDERS {
        let folder = folder(number);
        let text = "images:\n- name: registry.test/acme/web\n  newTag: 1.0.0\n";
        seed = seed.file(&format!("{folder}/kustomization.yaml"), text);
        for file in 1..FILES_PER_FOLDER {
            let mut text = String::new();
            for line in 0..8 {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "key-{line}: value-{number}-{file}");
            }
            seed = seed.file(&format!("{folder}/resource-{file}.yaml"), &text);
        }
    }
    remote.commit("main", &seed);
    // As a server keeps it.
    remote.configure("http.receivepack", "true");
    remote.pack();
    remote
}

/// The `PATH` of this process with a folder before it.
fn before_path(folder: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").context("there is a PATH")?;
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(folders)?)
}
