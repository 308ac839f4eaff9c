//! The controller against the real API server, with the permissions of the install manifests and
//! none besides. One namespace per case.

mod alike;
mod annotations;
mod commits;
mod credentials;
mod faults;
mod installed;
mod metrics;
mod odd;
mod reports;
mod stage;
mod updates;

pub(super) use stage::Stage;

use super::{Tally, World};
use crate::program::Program;

/// What needs a server that does not know our kind yet.
pub(super) async fn run_first(tally: &mut Tally, world: &World, program: &Program) {
    let case = annotations::without_definition(world, program);
    tally.case("controller: annotations count without the definition", case).await;
}

/// All other cases.
pub(super) async fn run(tally: &mut Tally, world: &World, program: &Program) {
    let case = updates::by_patch(world, program);
    tally.case("controller: an Application is patched, told and left alone", case).await;
    let case = annotations::rows(world, program);
    tally.case("controller: annotations count as the mode says", case).await;
    let case = updates::conflict(world, program);
    tally.case("controller: a conflict loses nobody's change", case).await;
    let case = commits::by_repository_secret(world, program);
    tally.case("controller: a repository Secret signs in to git", case).await;
    let case = credentials::by_secret(world, program);
    tally.case("controller: S3.4, S3.5: a Secret comes later, and is replaced", case).await;
    let case = credentials::by_script(world, program);
    tally
        .case("controller: S0.1, S3.4: a script runs again when it must, and not before", case)
        .await;
    let case = metrics::secured(world, program);
    tally.case("controller: metrics are for whom the cluster allows", case).await;
    let case = faults::broken_resource(world, program);
    tally.case("controller: a broken ImageUpdater stops no other", case).await;
    let case = faults::narrow_permissions(world, program);
    tally.case("controller: a missing permission is named", case).await;
    let case = alike::folder_and_server(world, program);
    tally.case("controller: a folder and the API server come to the same", case).await;
    let case = odd::when_asked(world, program);
    tally.case("controller: it looks when it is asked, and rests else", case).await;
    let case = odd::changed_meanwhile(world, program);
    tally.case("controller: what changed meanwhile is not written", case).await;
    let case = odd::objects(world, program);
    tally.case("controller: odd objects stop nobody", case).await;
    let case = updates::idle(world, program);
    tally.case("controller: with nothing to do nothing is written or listed", case).await;
    let case = faults::two_replicas(world, program);
    tally.case("controller: of two replicas one works, and the other takes over", case).await;
    let case = faults::swap(world, program);
    tally
        .case("controller: the original's election and ours never both hold the lease", case)
        .await;
    let case = faults::server_away(world, program);
    tally.case("controller: the API server may go and come back", case).await;
    let case = installed::one_cycle(world, program);
    tally.case("controller: one cycle as installed, in which nothing is forbidden", case).await;
    let case = installed::each_right_is_needed(world, program);
    tally.case("controller: each right is needed, and its lack is told", case).await;
    let case = installed::killed_in_a_pass(world, program);
    tally.case("controller: a leader is killed in the middle of a pass", case).await;
    tally
        .case("controller: date tags go into parameters", reports::date_tags(world, program))
        .await;
    tally.case("controller: refresh makes a pass at once", reports::refresh(world, program)).await;
    let case = updates::many(world, program);
    tally.case("controller: three hundred updates are three hundred patches", case).await;
}
