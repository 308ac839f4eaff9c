//! 20,000 tags of one repository: pages of 1,000 are asked for, so that a listing takes 20
//! requests whatever the registry's own pages are.

use aiu_testkit::registry::{Links, Paging};
use anyhow::{Result, ensure};

use super::{Limits, Subject};
use crate::bed::{Bed, Limit};
use crate::figure::{Figure, kibibytes};
use crate::program::Program;

const TAGS: usize = 20_000;
const PAGE: usize = 1_000;

pub(super) fn run(subject: &Subject) -> Result<Vec<Figure>> {
    let mut bed = Bed::new(Limit::None)?;
    bed.registry.repository("acme/app").tags((0..TAGS).map(|minor| format!("1.{minor}.0")));
    bed.registry.paging(Paging { page_size: PAGE, links: Links::Relative });
    let newest = format!("1.{}.0", TAGS - 1);
    bed.application(&[("acme/app".to_owned(), &newest, "^1")], "semver");
    bed.lay_out()?;

    let mut program = Program::start(&subject.program, bed.folder(), &[])?;
    let mut figures = Vec::new();
    for (name, passes) in [("first pass", 1), ("steady pass", 10)] {
        let pass = program.passes(passes)?;
        ensure!(pass.words.ends_with("images_updated=0 errors=0"), "{}", pass.words);
        let counts = bed.registry.counts();
        bed.registry.reset_counts();
        let each = counts.all / passes as usize;
        figures.push(Figure::count(format!("m4, {name}: requests"), each, TAGS / PAGE));
        let received = kibibytes(counts.bytes) / f64::from(passes);
        figures.push(Figure::new(format!("m4, {name}: bodies received"), "KiB", received));
        let limits = Limits { wall: None, own: Some(0.05), peak: Some(30.0) };
        figures.extend(subject.took(&format!("m4, {name}"), &pass, limits));
    }
    Ok(figures)
}
