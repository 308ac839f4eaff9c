//! A thousand passes with a change each, a hundred of them against a remote that fails: nothing
//! grows.

use std::fs;
use std::process::Command;
use std::time::Duration;

use aiu_testkit::git::{Commit, GitRemote};
use anyhow::{Result, ensure};

use super::Subject;
use crate::bed::{Bed, Limit};
use crate::figure::{Figure, number};
use crate::program::Program;
use crate::proxy::Proxy;
use crate::tree::{Held, size};

const PASSES: usize = 1_000;
/// One pass in so many fails: its push is refused and nobody answers, in turn.
const FAILS: usize = 10;
const APPLICATIONS: usize = 20;
/// Long enough for the next tag to be there when the next pass begins.
const REST: Duration = Duration::from_millis(100);
/// How many passes there are between two looks.
const LOOK: usize = 100;

pub(super) fn run(subject: &Subject) -> Result<Vec<Figure>> {
    let mut bed = Bed::new(Limit::None)?;
    let remote = repository();
    let server = bed.serve(remote.path());
    let proxy = Proxy::to(server.port())?;
    let url = format!("http://127.0.0.1:{}/repository.git", proxy.port());
    for app in 0..APPLICATIONS {
        bed.registry.repository(&format!("acme/app-{app}")).tags(["1.0.0"]);
        bed.git_application(&format!("acme/app-{app}"), &url, &format!("a{app}"));
    }
    bed.lay_out()?;
    let temporary = bed.folder().join("tmp");
    fs::create_dir(&temporary)?;
    let mut command = Command::new(&subject.program);
    command.env("TMPDIR", &temporary);
    let mut program = Program::launch(command, bed.folder(), REST, &[])?;
    let cache = bed.folder().join("cache");
    let (mut looks, mut mirror, mut failed) = (Vec::new(), (0, 0), 0);
    program.pass()?;
    for pass in 1..=PASSES {
        let fails = pass % FAILS == 0;
        proxy.close(fails && pass % (2 * FAILS) == 0);
        if fails && pass % (2 * FAILS) != 0 {
            remote.refuse("not today");
        }
        let app = pass % APPLICATIONS;
        bed.registry.repository(&format!("acme/app-{app}")).tags([format!("1.{pass}.0")]);
        // A pass that was under way when the tag came has seen nothing of it.
        let words = loop {
            let words = program.pass()?.words;
            if !words.ends_with("images_updated=0 errors=0") {
                break words;
            }
        };
        ensure!(words.ends_with("errors=0") != fails, "pass {pass}: {words}");
        failed += usize::from(fails);
        if fails {
            proxy.close(false);
            if pass % (2 * FAILS) != 0 {
                remote.accept();
            }
        }
        let (files, bytes) = size(&cache);
        mirror = (files.max(mirror.0), bytes.max(mirror.1));
        if pass % LOOK == 0 {
            looks.push(Held::by(program.id()));
        }
    }
    // What failed last is written by now or by the next pass.
    program.pass()?;
    let left = size(&temporary).0;
    drop(program);
    let commits = remote.log("main").len() - 1;
    ensure!(commits >= PASSES - failed, "{commits} commits");
    figures(&looks, mirror, [failed, left, size(&temporary).0, commits])
}

/// Nothing may be more at the last look than at the second; at the first, all is not warm.
fn figures(
    looks: &[Held],
    mirror: (usize, u64),
    [failed, left, leftovers, commits]: [usize; 4],
) -> Result<Vec<Figure>> {
    ensure!(looks.len() > 2, "there are too few passes");
    let (early, last) = (looks[1], looks[looks.len() - 1]);
    let of = |what: &str| format!("passes: {what}");
    let flat = |what: &str, early: usize, last: usize| {
        Figure::count_at_most(
            of(&format!("{what} at the end, of {early} at the 200th")),
            last,
            early,
        )
    };
    let zombies: usize = looks.iter().map(|look| look.zombies).sum();
    Ok(vec![
        Figure::count(of("passes that failed"), failed, PASSES / FAILS),
        Figure::new(of("commits"), "", number(commits as u64)),
        Figure::new(of("memory at the end"), "MiB", last.memory).against(early.memory, 1.1),
        flat("open files", early.files, last.files),
        flat("sockets", early.sockets, last.sockets),
        flat("children", early.children, last.children),
        Figure::count(of("children that nobody waited for"), zombies, 0),
        Figure::new(of("most files of the mirror"), "", number(mirror.0 as u64)),
        Figure::new(of("most bytes of the mirror"), "KiB", number(mirror.1) / 1024.0)
            .at_most(64.0 * 1024.0),
        Figure::count_at_most(of("files in the temporary folder, while at rest"), left, 2),
        Figure::count(of("files in the temporary folder, afterwards"), leftovers, 0),
    ])
}

fn repository() -> GitRemote {
    let remote = GitRemote::empty();
    let mut seed = Commit::new("seed");
    for app in 0..APPLICATIONS {
        let text = format!("images:\n- name: registry.test/acme/app-{app}\n  newTag: 1.0.0\n");
        seed = seed.file(&format!("a{app}/kustomization.yaml"), &text);
    }
    remote.commit("main", &seed);
    remote.configure("http.receivepack", "true");
    remote
}
