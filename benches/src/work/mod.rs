//! Whole passes of the built program, by name. A work makes its world, lets the program loose on
//! it, and tells what that took.

mod m1;
mod m2;
mod m3;
mod m4;
mod passes;
mod tags;

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::figure::Figure;
use crate::program::Pass;

/// The program that is measured.
pub struct Subject {
    pub program: PathBuf,
    /// Whether it is a release build; otherwise counts alone are held against limits.
    pub release: bool,
}

/// What a pass may take.
#[derive(Clone, Copy, Default)]
pub struct Limits {
    /// Seconds from its beginning to its end.
    pub wall: Option<f64>,
    /// Seconds of the processor, the program's own.
    pub own: Option<f64>,
    /// MiB of memory since the start.
    pub peak: Option<f64>,
}

/// Every work: its name, what it is, and how it is done.
type Work = (&'static str, &'static str, fn(&Subject) -> Result<Vec<Figure>>);

pub const WORKS: [Work; 6] = [
    ("m1", "200 Applications with 3 images each over 60 repositories of 400 tags", m1::run),
    (
        "m2",
        "100 Applications of one repository of 50,000 files, all updated on one branch",
        m2::run,
    ),
    ("m3", "the newest build of 400 tags, each an index of two platforms", m3::run),
    ("m4", "20,000 tags of one repository", m4::run),
    (
        "passes",
        "1,000 passes with a change each, 100 of them against a remote that fails",
        passes::run,
    ),
    ("tags", "2,000,000 tags: 400 repositories of 5,000", tags::run),
];

/// Does the work of this name.
pub fn run(name: &str, subject: &Subject) -> Result<Vec<Figure>> {
    let Some((_, _, work)) = WORKS.iter().find(|(known, ..)| *known == name) else {
        let names: Vec<&str> = WORKS.iter().map(|(name, ..)| *name).collect();
        bail!("there is no work `{name}`; there are {}", names.join(", "))
    };
    work(subject)
}

impl Subject {
    /// A figure with a limit that holds for a release build alone.
    fn held(&self, work: &str, unit: &'static str, measured: f64, limit: f64) -> Figure {
        let figure = Figure::new(work, unit, measured);
        if self.release { figure.at_most(limit) } else { figure }
    }

    /// What a pass took. Limits hold for a release build alone.
    fn took(&self, name: &str, pass: &Pass, limits: Limits) -> Vec<Figure> {
        let figure = |what: &str, unit, measured, limit: Option<f64>| {
            let work = format!("{name}: {what}");
            match limit {
                Some(limit) => self.held(&work, unit, measured, limit),
                None => Figure::new(work, unit, measured),
            }
        };
        let mut figures = vec![
            figure("wall", "s", pass.wall, limits.wall),
            figure("processor", "s", pass.own, limits.own),
            figure("peak memory", "MiB", pass.peak, limits.peak),
        ];
        if pass.children > 0.0 {
            figures.push(figure("processor of its children", "s", pass.children, None));
        }
        figures
    }
}
