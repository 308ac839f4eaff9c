//! What people read on standard output: tables, sentences and diffs.
//!
//! Answers go to standard output, everything else to the log. No colour: meaning never hangs
//! on it, and output is read in CI.

mod diff;
mod json;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aiu_api::origin::Setting;
use aiu_controller::cluster::files::Problem;
use aiu_controller::report::{CycleReport, ImageReport};
use aiu_core::decide::{Current, CurrentSource, Decision, Verdict, explain};
use aiu_core::image::{Tag, TagRef};
use aiu_core::outcome::Outcome;
use aiu_core::policy::Reason;
use aiu_core::report::{Finding, Severity};

pub use diff::diff;
pub use json::json;

/// How many tags of one kind are named before the rest is only counted.
const SAMPLES: usize = 3;

/// Lays out rows in columns, two blanks apart. The last column is not padded.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The results of one pass: a table, then why each tag was or was not taken, then the sum.
pub fn results(report: &CycleReport, dry_run: bool) -> String {
    let mut rows: Vec<Vec<String>> =
        vec![["APPLICATION", "IMAGE", "FROM", "TO", "RESULT"].map(str::to_owned).to_vec()];
    rows.extend(report.images.iter().map(|image| row(image, dry_run)));
    for dropped in &report.dropped {
        rows.push(vec![
            dropped.application.to_string(),
            dropped.image.clone().unwrap_or_else(|| "-".to_owned()),
            "-".to_owned(),
            "-".to_owned(),
            format!("left out: {}", dropped.failure.reason),
        ]);
    }
    let mut text = if rows.len() > 1 { table(&rows) } else { String::new() };
    let reasons = image_reasons(report) + &other_reasons(report);
    if !reasons.is_empty() {
        let _ = write!(text, "\n{reasons}");
    }
    let _ = write!(text, "\n{}", sum(report, dry_run));
    text
}

/// The table and the reasons, then the diff of everything that would be written. `git apply`
/// takes all of it, since it passes over what stands before a diff.
pub fn planned(report: &CycleReport, problems: &[Problem]) -> String {
    let text = with_problems(problems, &results(report, true));
    if report.files.is_empty() { text } else { format!("{text}\n{}", diff(&report.files)) }
}

fn row(image: &ImageReport, dry_run: bool) -> Vec<String> {
    let from = image.current.as_ref().and_then(|current| current.reference.as_ref());
    let from = from.and_then(|from| from.tag.as_ref()).map(TagRef::as_tag_value);
    let dash = || "-".to_owned();
    vec![
        image.key.application.to_string(),
        image.key.image.to_string(),
        from.unwrap_or_else(dash),
        winner(image).unwrap_or_else(dash),
        result(image, dry_run),
    ]
}

fn winner(image: &ImageReport) -> Option<String> {
    match &image.decision.as_ref()?.verdict {
        Verdict::UpdateTo(tag) => Some(tag.as_tag_value()),
        _ => image.decision.as_ref()?.chosen.as_ref().map(ToString::to_string),
    }
}

fn result(image: &ImageReport, dry_run: bool) -> String {
    match &image.outcome {
        Outcome::Updated(_) if dry_run => "would be updated".to_owned(),
        Outcome::Updated(_) => "updated".to_owned(),
        Outcome::UpToDate => "up to date".to_owned(),
        Outcome::AlreadySo => "already written".to_owned(),
        Outcome::NotLive => "skipped: ImageNotLive".to_owned(),
        Outcome::NoCandidate => "no candidate".to_owned(),
        Outcome::Held => "held".to_owned(),
        Outcome::Dropped(failure) => format!("left out: {}", failure.reason),
        Outcome::Failed(failure) => format!("failed: {}", failure.reason),
    }
}

/// One paragraph per image that has something to tell.
fn image_reasons(report: &CycleReport) -> String {
    let mut text = String::new();
    for image in &report.images {
        if let Some(why) = why(image) {
            let _ = writeln!(text, "{}: {why}", image.key);
        }
        // A failure is told already, and notes are for `explain`.
        for finding in image.findings.iter().filter(|f| f.severity == Severity::Warning) {
            let _ = writeln!(text, "    {}", sentence(finding));
        }
    }
    text
}

fn sentence(finding: &Finding) -> String {
    format!("{}: {}; {}", finding.reason, finding.found, finding.fix)
}

/// What is to tell of Applications and resources rather than of their images.
fn other_reasons(report: &CycleReport) -> String {
    let mut text = String::new();
    for dropped in &report.dropped {
        let image = dropped.image.as_ref().map(|image| format!(" {image}")).unwrap_or_default();
        let _ = writeln!(text, "{}{image}: {}", dropped.application, dropped.failure.message);
    }
    for (app, finding) in &report.findings {
        let _ = writeln!(text, "{app}: {}; {}", finding.found, finding.fix);
    }
    for (updater, message) in &report.failed_updaters {
        let _ = writeln!(text, "ImageUpdater {updater}: {message}");
    }
    text
}

fn why(image: &ImageReport) -> Option<String> {
    match &image.outcome {
        Outcome::Failed(failure) | Outcome::Dropped(failure) => Some(failure.message.clone()),
        Outcome::NotLive => Some(format!(
            "nothing shows that this Application uses {}; check the name, or set force-update to write it all the same",
            image.repository
        )),
        // What did not change needs no reasons each time; `explain` has them.
        Outcome::UpToDate | Outcome::AlreadySo => None,
        Outcome::Updated(_) | Outcome::NoCandidate | Outcome::Held => {
            image.decision.as_ref().map(|decision| grounds(image, decision))
        }
    }
}

/// The verdict, then the losing tags by reason, a few of each named.
fn grounds(image: &ImageReport, decision: &Decision) -> String {
    let list = &decision.shortlist;
    let mut text = match (&decision.verdict, winner(image)) {
        (Verdict::UpdateTo(_), Some(winner)) => format!("{winner} wins among {} tags", list.len()),
        (verdict, _) => format!("{verdict} ({} tags)", list.len()),
    };
    let losers = list.candidates.iter().map(|candidate| &candidate.tag);
    let losers = losers.filter(|tag| decision.chosen.as_ref() != Some(tag)).map(Tag::as_str);
    group(&mut text, "outranked", &losers.collect::<Vec<_>>());
    let mut rejected: BTreeMap<Reason, Vec<&str>> = BTreeMap::new();
    for rejection in &list.rejected {
        rejected.entry(rejection.reason).or_default().push(rejection.tag.as_str());
    }
    // What came furthest is told first: it is what people ask about.
    for (reason, tags) in rejected.into_iter().rev() {
        let sentence = reason.sentence();
        group(&mut text, sentence.strip_prefix("is ").unwrap_or(sentence), &tags);
    }
    text
}

fn group(text: &mut String, reason: &str, tags: &[&str]) {
    if tags.is_empty() {
        return;
    }
    let named = tags.iter().take(SAMPLES).copied().collect::<Vec<_>>().join(", ");
    let _ = match tags.len().saturating_sub(SAMPLES) {
        0 => write!(text, "\n    {reason}: {named}"),
        more => write!(text, "\n    {reason}: {named} and {more} more"),
    };
}

/// For each image: the verdict, and every tag with what became of it.
pub fn explanations(report: &CycleReport) -> String {
    let mut text = String::new();
    for image in &report.images {
        let _ = writeln!(text, "{} ({})", image.key, image.configured);
        match &image.current {
            Some(Current { reference: Some(reference), source }) => {
                let _ = writeln!(text, "  now {reference}, {}", read_from(*source));
            }
            Some(Current { reference: None, .. }) => {
                text.push_str("  nothing says what it is at\n");
            }
            None => {}
        }
        text.push_str(&settings(&image.settings));
        match &image.decision {
            Some(decision) => {
                let at = image.current.as_ref().and_then(|current| current.reference.as_ref());
                let explanation = explain(decision, at.and_then(|at| at.tag.as_ref()));
                for line in explanation.to_string().lines() {
                    let _ = writeln!(text, "  {line}");
                }
                for finding in &image.findings {
                    let _ = writeln!(text, "  {}", sentence(finding));
                }
            }
            None => {
                let _ = writeln!(text, "  {}", why(image).unwrap_or_else(|| result(image, true)));
            }
        }
        text.push('\n');
    }
    text + &other_reasons(report)
}

/// What was set, and where; what nobody set in one line, as far as it says anything.
fn settings(settings: &[Setting]) -> String {
    let mut text = String::new();
    let mut defaults = Vec::new();
    for Setting { name, value, place, .. } in settings {
        match (value, place) {
            (Some(value), Some(place)) => {
                let _ = writeln!(text, "  {name}: {value}, set by {place}");
            }
            (Some(value), None) => defaults.push(format!("{name} {value}")),
            (None, _) => {}
        }
    }
    if !defaults.is_empty() {
        let _ = writeln!(text, "  by default: {}", defaults.join(", "));
    }
    text
}

fn read_from(source: CurrentSource) -> &'static str {
    match source {
        CurrentSource::Target => "read from where it is written",
        CurrentSource::Spec => "read from the Application's own source",
        CurrentSource::Live => "as Argo CD reports it",
        CurrentSource::Forced => "forced",
    }
}

/// The problems of the folder in front of an answer.
pub fn with_problems(problems: &[Problem], text: &str) -> String {
    let mut all = String::new();
    for problem in problems {
        let _ = writeln!(all, "{problem}");
    }
    if !all.is_empty() {
        all.push('\n');
    }
    all + text
}

fn sum(report: &CycleReport, dry_run: bool) -> String {
    let counters = report.counters();
    let plural = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    };
    let errors = counters.errors + report.dropped.len() + report.failed_updaters.len();
    let mut text = format!(
        "{}, {}: {} {}",
        plural(report.applications, "application"),
        plural(report.images.len(), "image"),
        counters.updated,
        if dry_run { "to update" } else { "updated" },
    );
    if errors > 0 {
        let _ = write!(text, ", {}", plural(errors, "failure"));
    }
    if counters.updated == 0 && errors == 0 {
        text.push_str(", nothing left to do");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["A", "LONG", "Z"], vec!["äöü", "b", "end"]]
            .map(|row| row.into_iter().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(table(&rows), "A    LONG  Z\näöü  b     end\n");
    }
}
