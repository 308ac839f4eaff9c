//! What is proved against real peers. One file per subject; a case is an async function from the
//! world to a result, and has repositories of its own, so that no case minds what another left.

mod admission;
mod argo_cd;
pub(crate) mod bench;
mod clouds;
mod controller;
mod folder;
mod git;
mod guide;
mod image;
mod manifests;
mod oracle;
mod registries;
mod self_check;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};

pub(crate) use oracle::Oracle;

use crate::peers::{ArgoCd, Peers};
use crate::program::Program;

/// What a case is given.
pub(crate) struct World {
    pub(crate) folder: PathBuf,
    pub(crate) peers: Peers,
    /// Absent when the peers are checked alone.
    pub(crate) program: Option<Program>,
    /// Absent where there is no Go toolchain.
    pub(crate) oracle: Option<Oracle>,
}

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// What the name of a case must contain to be run.
    only: Option<String>,
}

impl Tally {
    /// Whether the case of that name is not asked for.
    fn skips(&self, name: &str) -> bool {
        self.only.as_ref().is_some_and(|words| !name.contains(words))
    }

    /// Runs one case and prints what came of it.
    async fn case(&mut self, name: &str, case: impl Future<Output = Result<()>>) {
        if !self.skips(name) {
            self.case_for(name, case).await;
        }
    }

    /// Runs a case that others stand on, whatever its name.
    async fn case_for(&mut self, name: &str, case: impl Future<Output = Result<()>>) {
        let started = Instant::now();
        let outcome = case.await;
        let seconds = started.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("ok     {seconds:5.2} s  {name}");
            }
            Err(error) => {
                self.failed += 1;
                println!("FAILED {seconds:5.2} s  {name}\n{error:#}");
            }
        }
    }
}

/// Runs every case, one after the other: a failure of one is no reason to skip the next.
pub(crate) async fn run_all(world: &World, only: Option<String>) -> Tally {
    let mut tally = Tally { only, ..Tally::default() };
    tally.case("the registry lists what was pushed", self_check::registry(world)).await;
    tally.case("git is cloned and pushed over HTTP", self_check::git_over_http(world)).await;
    tally.case("the API server serves, counts and refuses", self_check::kubernetes(world)).await;
    if let Some(program) = &world.program {
        controller::run_first(&mut tally, world, program).await;
    }
    let case = admission::rows(world);
    tally.case("ImageUpdaters are taken and refused as the original's", case).await;
    tally
        .case("what is applied is read back, and again is unchanged", admission::read_back(world))
        .await;
    tally.case("ImageUpdaters are shown in four columns", admission::columns(world)).await;
    tally.case("the install manifests hold what the original's hold", manifests::file(world)).await;
    tally.case("the install manifests are patched by users", manifests::patched(world)).await;
    tally.case("the install manifests are applied, and again", manifests::applied(world)).await;
    tally
        .case("the install manifests permit enough, and no more", manifests::permitted(world))
        .await;
    tally.case("the image is built as it must be run", async { image::recipe() }).await;
    tally.case("the image's tools do what scripts ask", image::tools(world)).await;
    match &world.oracle {
        Some(oracle) => ask_oracle(&mut tally, oracle).await,
        None => println!("skipped          ours against Go: there is no Go toolchain on the path"),
    }
    if let Some(program) = &world.program {
        let case = program_prints_definition(world, program);
        tally.case("the program prints the definition that is installed", case).await;
        let case = folder::is_updated_once(world, program);
        tally.case("a folder of two Applications is updated, once", case).await;
        git::run(&mut tally, world, program).await;
        let stalled = registries::run(&mut tally, world, program).await;
        clouds::run(&mut tally, world, program).await;
        controller::run(&mut tally, world, program).await;
        if let Some(stalled) = stalled {
            stalled.finish(&mut tally).await;
        }
    }
    tally
}

/// Runs the cases with Argo CD itself.
pub(crate) async fn run_argo_cd(world: &World) -> Result<Tally> {
    let mut tally = Tally::default();
    let folder = crate::files::subfolder(&world.folder, "argo-cd")?;
    let mut argo = ArgoCd::start(&folder, &world.peers.kubernetes).await?;
    match &world.program {
        Some(program) => argo_cd::run(&mut tally, world, program, &mut argo).await,
        None => argo.lives()?,
    }
    Ok(tally)
}

/// Runs the cases that need no peer but the Go toolchain.
pub(crate) async fn run_oracle(oracle: &Oracle, only: Option<String>) -> Tally {
    let mut tally = Tally { only, ..Tally::default() };
    ask_oracle(&mut tally, oracle).await;
    tally
}

async fn ask_oracle(tally: &mut Tally, oracle: &Oracle) {
    tally.case("versions and constraints are Go's", oracle::semver(oracle)).await;
    tally.case("shell patterns are Go's", oracle::glob(oracle)).await;
    tally.case("regular expressions are Go's", oracle::regexp(oracle)).await;
    tally.case("templates are Go's", oracle::template(oracle)).await;
}

async fn program_prints_definition(world: &World, program: &Program) -> Result<()> {
    let run = program.run("crd", &["crd"], &world.folder).await?;
    ensure!(run.code == Some(0), "`crd` ended with {:?}{}", run.code, run.said);
    manifests::definition(&crate::files::read(&world.folder, "crd.out")?)
}

/// Fails, showing both, if the two differ.
fn same(what: &str, found: &str, expected: &str) -> Result<()> {
    ensure!(found == expected, "{what}\n--- found ---\n{found}\n--- expected ---\n{expected}");
    Ok(())
}
