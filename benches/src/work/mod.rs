//! Whole passes of the built program, by name. A work makes its world, lets the program loose on
//! it, and tells what that took.

mod m1;
mod m3;
mod m4;

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

pub const WORKS: [Work; 3] = [
    ("m1", "200 Applications with 3 images each over 60 repositories of 400 tags", m1::run),
    ("m3", "the newest build of 400 tags, each an index of two platforms", m3::run),
    ("m4", "20,000 tags of one repository", m4::run),
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
    /// What a pass took. Limits hold for a release build alone.
    fn took(&self, name: &str, pass: &Pass, limits: Limits) -> Vec<Figure> {
        let figure = |what: &str, unit, measured, limit: Option<f64>| {
            let figure = Figure::new(format!("{name}: {what}"), unit, measured);
            match limit.filter(|_| self.release) {
                Some(limit) => figure.at_most(limit),
                None => figure,
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
