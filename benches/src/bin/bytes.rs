//! How much memory the core's work takes.

use std::process::ExitCode;

use allocation_counter::measure;
use benches::figure::{Figure, number, report};
use benches::{edits, tags};

fn main() -> anyhow::Result<ExitCode> {
    let mut figures = Vec::new();
    let policy = tags::policy();
    let names = tags::names(20_000);
    let spent = measure(|| drop(tags::ranked(&names, &policy)));
    let per_tag = number(spent.count_total) / 20_000.0;
    figures.push(Figure::new("allocations per tag, of 20,000", "", per_tag).at_most(2.0));
    let peak = number(spent.bytes_max) / 20_000.0;
    figures.push(Figure::new("heap per tag, of 20,000", "bytes", peak));
    for (name, make) in edits::SHAPES {
        let text = make(1_000_000);
        let peak = number(measure(|| edits::edit(&text)).bytes_max) / number(text.len() as u64);
        let work = format!("peak heap while 1 MB of {name} is edited");
        figures.push(Figure::new(work, "times the text", peak));
    }
    report(&figures)
}
