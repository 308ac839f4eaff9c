//! How long the core's work takes.
//!
//! Times are of one thread's processor, the best of several runs, so that a busy machine disturbs
//! them little. Allocations are not counted here: counting makes them slower.

use std::process::ExitCode;

use benches::figure::{Figure, best_of, report};
use benches::{edits, tags};

fn main() -> anyhow::Result<ExitCode> {
    let mut figures = Vec::new();
    let policy = tags::policy();
    let (few, many) = (tags::names(20_000), tags::names(200_000));
    let one = best_of(15, || tags::ranked(&few, &policy));
    let ten = best_of(7, || tags::ranked(&many, &policy));
    figures.push(Figure::new("parse and rank 20,000 tags", "ms", one).at_most(20.0));
    figures.push(Figure::new("parse and rank 200,000 tags", "ms", ten).against(one, 14.0));
    for (name, make) in edits::SHAPES {
        let (small, large) = (make(1_000_000), make(10_000_000));
        let one = best_of(7, || edits::edit(&small));
        let ten = best_of(3, || edits::edit(&large));
        let of =
            |megabytes, time| Figure::new(format!("edit {megabytes} MB of {name}"), "ms", time);
        // The limits are for files that people have, and for the shape that takes longest in the
        // parser; the others show where time goes.
        let is_usual = ["a chart's values", "documents"].contains(&name);
        figures.push(if is_usual { of(1, one).at_most(200.0) } else { of(1, one) });
        figures.push(if is_usual { of(10, ten).against(one, 11.0) } else { of(10, ten) });
    }
    let plain = edits::manifests(1_000_000);
    let moved = best_of(7, || edits::move_in_manifests(&plain));
    let work = "move one image in ten of 1 MB of plain manifests";
    figures.push(Figure::new(work, "ms", moved).at_most(200.0));
    report(&figures)
}
