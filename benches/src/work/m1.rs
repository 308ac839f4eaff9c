//! 200 Applications with three images each over 60 repositories of 400 tags, by version, nothing
//! to update.

use anyhow::{Result, ensure};

use super::{Limits, Subject};
use crate::bed::{Bed, Limit};
use crate::figure::{Figure, kibibytes};
use crate::program::Program;

const APPLICATIONS: usize = 200;
const IMAGES: usize = 3;
const REPOSITORIES: usize = 60;
const TAGS: usize = 400;

pub(super) fn run(subject: &Subject) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, limit, steady) in
        [("20 per second", Limit::Default, 3), ("no limit", Limit::None, 20)]
    {
        let bed = bed(limit)?;
        let mut program = Program::start(&subject.program, bed.folder(), &[])?;
        let first = program.pass()?;
        let words = format!("images_considered={} ", APPLICATIONS * IMAGES);
        ensure!(
            first.words.contains(&words) && first.words.ends_with("images_updated=0 errors=0"),
            "{}",
            first.words
        );
        let counts = bed.registry.counts();
        bed.registry.reset_counts();
        let of = |what: &str| format!("m1, {name}, first pass: {what}");
        figures.push(Figure::count(of("requests"), counts.all, REPOSITORIES));
        figures.push(Figure::count(of("pings"), counts.pings, 0));
        figures.push(Figure::new(of("bodies received"), "KiB", kibibytes(counts.bytes)));
        figures.extend(subject.took(&format!("m1, {name}, first pass"), &first, Limits::default()));

        let pass = program.passes(steady)?;
        let counts = bed.registry.counts();
        let passes = steady as usize;
        let of = |what: &str| format!("m1, {name}, steady pass: {what}");
        figures.push(Figure::count(of("requests"), counts.all / passes, REPOSITORIES));
        figures.push(Figure::count(of("answers 304"), counts.not_modified / passes, REPOSITORIES));
        let received = kibibytes(counts.bytes) / f64::from(steady);
        figures.push(Figure::new(of("bodies received"), "KiB", received));
        let limits = Limits { wall: Some(3.5), own: Some(0.1), peak: Some(30.0) };
        figures.extend(subject.took(&format!("m1, {name}, steady pass"), &pass, limits));
    }
    Ok(figures)
}

fn bed(limit: Limit) -> Result<Bed> {
    let mut bed = Bed::new(limit)?;
    bed.registry.offer_etags();
    for number in 0..REPOSITORIES {
        let tags = (0..TAGS).map(|minor| format!("1.{minor}.0"));
        bed.registry.repository(&format!("acme/app-{number}")).tags(tags);
    }
    for app in 0..APPLICATIONS {
        let own = (0..IMAGES).map(|image| (app * IMAGES + image) % REPOSITORIES);
        let images: Vec<_> = own.map(|n| (format!("acme/app-{n}"), "1.399.0", "^1")).collect();
        bed.application(&images, "semver");
    }
    bed.lay_out()?;
    Ok(bed)
}
