//! What is proved against real peers. One file per subject; a case is an async function from the
//! world to a result, and has repositories of its own, so that no case minds what another left.

mod folder;
mod self_check;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::peers::Peers;
use crate::program::Program;

/// What a case is given.
pub(crate) struct World {
    pub(crate) folder: PathBuf,
    pub(crate) peers: Peers,
    /// Absent when the peers are checked alone.
    pub(crate) program: Option<Program>,
}

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Tally {
    /// Runs one case and prints what came of it.
    async fn case(&mut self, name: &str, case: impl Future<Output = Result<()>>) {
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
pub(crate) async fn run_all(world: &World) -> Tally {
    let mut tally = Tally::default();
    tally.case("the registry lists what was pushed", self_check::registry(world)).await;
    tally.case("git is cloned and pushed over HTTP", self_check::git_over_http(world)).await;
    if let Some(program) = &world.program {
        let case = folder::is_updated_once(world, program);
        tally.case("a folder of two Applications is updated, once", case).await;
    }
    tally
}

/// Fails, showing both, if the two differ.
fn same(what: &str, found: &str, expected: &str) -> Result<()> {
    ensure!(found == expected, "{what}\n--- found ---\n{found}\n--- expected ---\n{expected}");
    Ok(())
}
