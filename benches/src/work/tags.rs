//! Two million tags: 400 repositories of 5,000, each followed by one image.

use anyhow::{Result, ensure};

use super::{Limits, Subject};
use crate::bed::{Bed, Limit};
use crate::figure::{Figure, kibibytes, number};
use crate::program::Program;

const REPOSITORIES: usize = 400;
const TAGS: usize = 5_000;
const PAGE: usize = 1_000;
/// Images of one Application.
const IMAGES: usize = 4;

pub(super) fn run(subject: &Subject) -> Result<Vec<Figure>> {
    let mut bed = Bed::new(Limit::None)?;
    for repository in 0..REPOSITORIES {
        let tags = (0..TAGS).map(|at| format!("{}.{}.{}", at / 500 + 1, at / 10 % 50, at % 10));
        bed.registry.repository(&format!("acme/app-{repository}")).names(tags);
    }
    let newest = format!("{}.49.9", TAGS / 500);
    for app in 0..REPOSITORIES / IMAGES {
        let own = (0..IMAGES).map(|image| format!("acme/app-{}", app * IMAGES + image));
        let images: Vec<_> = own.map(|name| (name, newest.as_str(), "")).collect();
        bed.application(&images, "semver");
    }
    bed.lay_out()?;

    let mut program = Program::start(&subject.program, bed.folder(), &[])?;
    let mut figures = Vec::new();
    for name in ["first pass", "second pass"] {
        let pass = program.pass()?;
        ensure!(pass.words.ends_with("images_updated=0 errors=0"), "{}", pass.words);
        let counts = bed.registry.counts();
        bed.registry.reset_counts();
        let of = |what: &str| format!("tags, {name}: {what}");
        figures.push(Figure::count(of("requests"), counts.all, REPOSITORIES * TAGS / PAGE));
        figures.push(Figure::new(of("bodies received"), "KiB", kibibytes(counts.bytes)));
        // 300 MB.
        let limits = Limits { peak: Some(300e6 / 1024.0 / 1024.0), ..Limits::default() };
        figures.extend(subject.took(&format!("tags, {name}"), &pass, limits));
        let per_tag = pass.peak * 1024.0 * 1024.0 / number((REPOSITORIES * TAGS) as u64);
        figures.push(Figure::new(of("peak memory per tag"), "bytes", per_tag));
    }
    Ok(figures)
}
