//! The controller against the real API server, with the permissions of the install manifests and
//! none besides. One namespace per case.

mod alike;
mod annotations;
mod commits;
mod credentials;
mod faults;
mod field;
mod installed;
mod lab;
mod metrics;
mod odd;
mod reports;
mod rights;
mod rows;
mod stage;
mod storms;
mod texts;
mod updates;

pub(super) use stage::{PREFIX, Stage};

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
    let case = commits::watched(world, program);
    tally.case("controller: what Argo CD knows of git is watched", case).await;
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
    let case = texts::alike(world, program);
    tally
        .case("controller: every scenario comes to the same in a folder and on a server", case)
        .await;
    let case = odd::when_asked(world, program);
    tally.case("controller: it looks when it is asked, and rests else", case).await;
    let case = odd::changed_meanwhile(world, program);
    tally.case("controller: what changed meanwhile is not written", case).await;
    let case = odd::objects(world, program);
    tally.case("controller: odd objects stop nobody", case).await;
    let case = rows::of_the_loop(world, program);
    tally.case("controller: rows of the loop, by number", case).await;
    let case = storms::conflicts(world, program);
    tally.case("controller: ten conflicts in a row end in one write", case).await;
    let case = storms::too_old(world, program);
    tally.case("controller: a watch that is too old is listed anew", case).await;
    let case = storms::flood(world, program);
    tally.case("controller: two thousand changes at once are a few passes", case).await;
    let case = storms::panic(world, program);
    tally.case("controller: a panic in one pass stays there", case).await;
    let case = rights::of_the_rest(world, program);
    tally.case("controller: rights beside the pass are needed, and their lack is told", case).await;
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
    let case = field::script(world, program);
    tally.case("controller: S0.1, credentials by a script", case).await;
    let case = lab::commits(world, program);
    tally.case("controller: S3.1, S3.2, S3.7, commits by git over HTTP", case).await;
    let case = lab::annotations(world, program);
    tally.case("controller: S3.3, annotations alone", case).await;
    let case = lab::credentials(world, program);
    tally.case("controller: S3.4, S3.5, a pull secret that comes and goes", case).await;
    let case = lab::unsuitable(world, program);
    tally.case("controller: S3.6, S3.8, what cannot be updated says why", case).await;
    let case = field::two_ways(world, program);
    tally.case("controller: S4.1, builds by patch and releases by git", case).await;
    let case = field::no_credentials(world, program);
    tally.case("controller: S4.6, missing credentials are told in the first cycle", case).await;
    let case = updates::many(world, program);
    tally.case("controller: three hundred updates are three hundred patches", case).await;
}
