//! The newest build of 400 tags, each an index of two platforms.

use aiu_testkit::registry::Image;
use anyhow::{Result, ensure};

use super::{Limits, Subject};
use crate::bed::{Bed, Limit};
use crate::figure::{Figure, kibibytes};
use crate::program::Program;

const TAGS: usize = 400;
/// What the original asks for the first time: a listing, a ping, and three for each tag.
const ORIGINAL: usize = 1202;
const STEADY: u32 = 10;

pub(super) fn run(subject: &Subject) -> Result<Vec<Figure>> {
    let mut bed = Bed::new(Limit::None)?;
    let repository = bed.registry.repository("acme/app");
    for at in 0..TAGS {
        repository.push_index(&name(at), &images(at));
    }
    bed.application(&[("acme/app".to_owned(), &name(TAGS - 1), "")], "newest-build");
    bed.lay_out()?;

    let mut program = Program::start(&subject.program, bed.folder(), &[])?;
    let first = program.pass()?;
    ensure!(first.words.ends_with("images_updated=0 errors=0"), "{}", first.words);
    let counts = bed.registry.counts();
    bed.registry.reset_counts();
    let mut figures = vec![
        Figure::count_at_most("m3, first pass: requests", counts.all, ORIGINAL),
        Figure::count_at_most("m3, first pass: listings", counts.listings, 1),
        Figure::new("m3, first pass: bodies received", "KiB", kibibytes(counts.bytes)),
    ];
    figures.extend(subject.took("m3, first pass", &first, Limits::default()));

    let pass = program.passes(STEADY)?;
    let asked = bed.registry.counts();
    figures.push(Figure::count("m3, steady pass: requests", asked.all / STEADY as usize, 1));
    figures.extend(subject.took("m3, steady pass", &pass, Limits::default()));
    Ok(figures)
}

/// The first is the youngest by name and the oldest by date.
fn name(at: usize) -> String {
    format!("build-{:03}", TAGS - at)
}

fn images(at: usize) -> [Image; 2] {
    let created = format!("2024-{:02}-{:02}T{:02}:00:00Z", at / 336 + 1, at / 12 % 28 + 1, at % 12);
    ["linux/amd64", "linux/arm64"].map(|platform| Image::new().created(&created).platform(platform))
}
