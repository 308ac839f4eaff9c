//! One measured figure.

use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;

use rustix::time::{ClockId, clock_gettime};

/// A figure, and its limit if it has one.
pub struct Figure {
    work: String,
    unit: &'static str,
    measured: f64,
    /// Of the figure itself, or of how often another one goes into it.
    limit: Option<(f64, Option<f64>)>,
    /// Whether it must be the limit itself.
    exact: bool,
}

impl Figure {
    pub fn new(work: impl Into<String>, unit: &'static str, measured: f64) -> Self {
        Self { work: work.into(), unit, measured, limit: None, exact: false }
    }

    /// It must not be above.
    #[must_use]
    pub fn at_most(self, limit: f64) -> Self {
        Self { limit: Some((limit, None)), ..self }
    }

    /// A count, and what it must be.
    pub fn count(work: impl Into<String>, counted: usize, expected: usize) -> Self {
        let limit = Some((number(expected as u64), None));
        Self { limit, exact: true, ..Self::new(work, "", number(counted as u64)) }
    }

    /// A count, and what it must not be above.
    pub fn count_at_most(work: impl Into<String>, counted: usize, limit: usize) -> Self {
        Self::new(work, "", number(counted as u64)).at_most(number(limit as u64))
    }

    /// It must not be above so many times the smaller figure.
    #[must_use]
    pub fn against(self, smaller: f64, times: f64) -> Self {
        Self { limit: Some((times, Some(smaller))), ..self }
    }

    fn holds(&self) -> bool {
        self.limit.is_none_or(|(limit, of)| {
            let measured = self.measured / of.unwrap_or(1.0);
            measured <= limit && (!self.exact || measured >= limit)
        })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work, unit, measured, limit, exact } = self;
        let digits = if unit.is_empty() && measured.fract() == 0.0 { 0 } else { 2 };
        write!(f, "| {work} | {measured:.digits$} {unit} | ")?;
        match limit {
            None => f.write_str("–")?,
            Some((limit, None)) if *exact => write!(f, "exactly {limit}")?,
            Some((limit, None)) => write!(f, "{limit} {unit}")?,
            Some((limit, Some(of))) => {
                write!(f, "{:.2} times the smaller; {limit}", measured / of)?;
            }
        }
        f.write_str(if self.holds() { " |" } else { " **broken** |" })
    }
}

/// Prints a table; a limit that is broken makes the program fail.
pub fn report(figures: &[Figure]) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "| Work | Measured | Limit |\n|---|---|---|")?;
    for figure in figures {
        writeln!(out, "{figure}")?;
    }
    let broken = figures.iter().filter(|figure| !figure.holds()).count();
    writeln!(out, "\n{} figures, {broken} beyond their limits\n", figures.len())?;
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A count as a number to reckon with.
#[expect(clippy::cast_precision_loss, reason = "no count here comes near 2^52")]
pub fn number(count: u64) -> f64 {
    count as f64
}

/// Bytes in units of 1,024.
pub fn kibibytes(bytes: u64) -> f64 {
    number(bytes) / 1024.0
}

/// Milliseconds of this thread's processor, the best of `runs`.
pub fn best_of<T>(runs: usize, mut work: impl FnMut() -> T) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        number(time.tv_sec.cast_unsigned()) * 1e3 + number(time.tv_nsec.cast_unsigned()) / 1e6
    };
    let run = |_| {
        let start = now();
        let made = work();
        let spent = now() - start;
        drop(made);
        spent
    };
    (0..runs).map(run).fold(f64::INFINITY, f64::min)
}
