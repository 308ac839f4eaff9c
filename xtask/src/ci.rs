//! The gate: what passes here passes in CI, since CI runs this and the real peers.
//!
//! Steps stand from cheap to dear, and the first failure ends the run. Their output is cargo's
//! own, unchanged; this module adds a line before and after each.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{cargo, check};

struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    /// Cargo with these arguments and these variables on top of the environment.
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// `cargo xtask check`, in this process.
    Check,
    /// cargo-deny, a tool of its own: used where it is installed, never installed from here.
    Deny,
}

const DENY: &[&str] = &["deny", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"];

const STEPS: [Step; 7] = [
    Step { name: "format", work: Work::Cargo(&["fmt", "--all", "--check"], &[]) },
    Step { name: "check", work: Work::Check },
    Step {
        name: "lint",
        work: Work::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
    },
    Step { name: "build", work: Work::Cargo(&["build", "--workspace"], &[]) },
    Step { name: "test", work: Work::Cargo(&["test", "--workspace"], &[]) },
    Step {
        name: "documents",
        work: Work::Cargo(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
    },
    Step { name: "dependencies", work: Work::Deny },
];

impl Work {
    fn title(&self) -> String {
        match self {
            Self::Cargo(arguments, _) => format!("cargo {}", arguments.join(" ")),
            Self::Check => "cargo xtask check".to_owned(),
            Self::Deny => format!("cargo {}", DENY.join(" ")),
        }
    }

    fn run(&self) -> Result<()> {
        match self {
            Self::Cargo(arguments, environment) => cargo::run(arguments, environment),
            Self::Check => check::run(),
            Self::Deny if cargo::has("deny")? => cargo::run(DENY, &[]),
            Self::Deny => {
                println!("cargo-deny is not installed: bans, licences and sources go unchecked");
                Ok(())
            }
        }
    }
}

/// Runs every step; says at the end what each took.
pub(crate) fn run() -> Result<()> {
    let started = Instant::now();
    let mut times = Vec::with_capacity(STEPS.len());
    for step in &STEPS {
        println!("\n== {}: {}", step.name, step.work.title());
        let step_started = Instant::now();
        step.work.run().with_context(|| {
            format!(
                "step `{}` failed after {}; the steps after it did not run",
                step.name,
                seconds(step_started.elapsed())
            )
        })?;
        times.push((step.name, step_started.elapsed()));
    }
    println!("\n== all steps passed in {}", seconds(started.elapsed()));
    for (name, time) in times {
        println!("{name:>14} {:>9}", seconds(time));
    }
    Ok(())
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
