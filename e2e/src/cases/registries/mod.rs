//! The program at real registries, over folders of manifests: how it signs in, what it trusts, what
//! it does when they answer badly, and how often it asks, by their own logs. A name that begins
//! with `S` is a scenario of spec 00 §1 to §5.

mod faults;
mod limits;
mod pages;
mod scenarios;
mod sign_in;
mod signatures;
mod site;
mod tls;
mod tokens;

use std::path::PathBuf;

use anyhow::Result;

pub(super) use faults::Stalled;
pub(super) use site::Site;
use site::application;

use super::{Tally, World};
use crate::files::subfolder;
use crate::peers::registries::Guarded;
use crate::program::Program;
use crate::push::Image;

/// What the cases have in common.
pub(super) struct Stand<'w> {
    program: &'w Program,
    folder: PathBuf,
    /// Where the images are. Cases have repositories of their own.
    data: PathBuf,
    /// A registry over them that lets anybody pull and push.
    open: Guarded,
    /// The whole world, for its other peers.
    world: &'w World,
}

impl<'w> Stand<'w> {
    async fn prepare(world: &'w World, program: &'w Program) -> Result<Self> {
        let folder = subfolder(&world.folder, "registries")?;
        let data = folder.join("data");
        let open = Guarded::start("open", &folder, &data, &[], "").await?;
        Ok(Self { program, folder, data, open, world })
    }

    /// Pushes an image under each tag.
    async fn push(&self, repository: &str, tags: &[&str]) -> Result<()> {
        for tag in tags {
            self.open.push(repository, Image::new(tag)).await?;
        }
        Ok(())
    }

    /// A registry over the same images, for whom `section` of its configuration lets in.
    async fn guarded(&self, name: &str, section: &str) -> Result<Guarded> {
        Guarded::start(name, &self.folder, &self.data, &[], section).await
    }

    /// A folder for a case, with nothing in it.
    fn site(&self, name: &str) -> Result<Site<'w>> {
        Site::new(self.program, &self.folder, name)
    }
}

/// Runs all cases but one, which takes a minute of waiting; that one is only begun.
pub(super) async fn run<'w>(
    tally: &mut Tally,
    world: &'w World,
    program: &'w Program,
) -> Option<Stalled<'w>> {
    let names = NAMES.iter().chain([&faults::STALLED]);
    if names.clone().all(|name| tally.skips(name)) {
        return None;
    }
    let stand = match Stand::prepare(world, program).await {
        Ok(stand) => stand,
        Err(error) => {
            tally.case("registries are started", async { Err(error) }).await;
            return None;
        }
    };
    let stalled = Stalled::begin(tally, &stand).await;
    let [
        script,
        laptop,
        sources,
        denied,
        scopes,
        end,
        pages,
        tls,
        signed,
        broken,
        reset,
        name,
        proxy,
        busy,
        one,
        platform,
    ] = NAMES;
    tally.case(script, sign_in::script(&stand)).await;
    tally.case(laptop, sign_in::laptop(&stand)).await;
    tally.case(sources, sign_in::sources(&stand)).await;
    tally.case(denied, sign_in::denied(&stand)).await;
    tally.case(scopes, tokens::one_for_each_scope(&stand)).await;
    tally.case(end, tokens::end_between_pages(&stand)).await;
    tally.case(pages, pages::thousands(&stand)).await;
    tally.case(tls, tls::trust(&stand)).await;
    tally.case(signed, signatures::by_the_guide(&stand)).await;
    tally.case(broken, faults::broken(&stand)).await;
    tally.case(reset, faults::reset_every_second(&stand)).await;
    tally.case(name, faults::no_such_host(&stand)).await;
    tally.case(proxy, faults::proxy(&stand)).await;
    tally.case(busy, limits::too_often(&stand)).await;
    tally.case(one, limits::one_image_of_fifty(&stand)).await;
    tally.case(platform, scenarios::other_platform(&stand)).await;
    stalled
}

const NAMES: [&str; 16] = [
    "S0.1: a script signs in, once for all images, and its token is told nowhere",
    "S0.3: the same from a laptop, and a script that may not be run",
    "S2.3a, S2.3c, S4.6: credentials come from every source, or it is said why not",
    "S2.3b: a token without scope is told from a wrong one",
    "a registry's token serves all who want the same of it",
    "a token that ends between pages is replaced, and no page is lost",
    "five thousand tags are as many pages as the registry gives",
    "certificates of one's own are trusted where it is said, and nowhere else",
    "what cosign signed is written, and nothing else is",
    "answers that break off are asked for again, then told",
    "S2.7b: a connection that is reset every second time costs nobody an update",
    "S2.7a: a name that does not resolve is told as that",
    "S2.7c: a proxy that cannot be reached is told",
    "S4.4: a registry that is asked too often is left alone, and then asked again",
    "S4.5: one image of fifty Applications is listed once",
    "S3.8: images of another platform are named, and the way to want them",
];
