//! The text format of Prometheus, version 0.0.4, as the original's library writes it: families by
//! name, labels by name, nothing of families without series.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Before every name of ours.
const PREFIX: &str = "argocd_image_updater_";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// Families, by name.
#[derive(Default)]
pub(super) struct Page(BTreeMap<String, Family>);

pub(super) struct Family {
    name: String,
    kind: Kind,
    help: &'static str,
    samples: String,
}

impl Page {
    /// A family of ours.
    pub(super) fn family(&mut self, name: &str, kind: Kind, help: &'static str) -> &mut Family {
        self.foreign(&format!("{PREFIX}{name}"), kind, help)
    }

    /// A family that others name.
    pub(super) fn foreign(&mut self, name: &str, kind: Kind, help: &'static str) -> &mut Family {
        let family = Family { name: name.to_owned(), kind, help, samples: String::new() };
        self.0.entry(name.to_owned()).or_insert(family)
    }

    pub(super) fn finish(self) -> String {
        let mut page = String::new();
        for Family { name, kind, help, samples } in self.0.into_values() {
            if samples.is_empty() {
                continue;
            }
            let kind = match kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
            };
            let help = help.replace('\\', "\\\\").replace('\n', "\\n");
            let _ = write!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n{samples}");
        }
        page
    }
}

/// What a sample can be.
pub(super) trait Number {
    fn shown(self) -> String;
}

impl Number for f64 {
    fn shown(self) -> String {
        // Rust prints whole numbers without a fraction.
        self.to_string()
    }
}

impl Number for usize {
    fn shown(self) -> String {
        self.to_string()
    }
}

impl Family {
    /// A series. Labels are given in the order of their names.
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: impl Number) {
        let name = self.name.clone();
        self.line(&name, labels, &value.shown());
    }

    /// All series of a histogram without labels.
    pub(super) fn histogram(&mut self, histogram: &Histogram) {
        let bucket = format!("{}_bucket", self.name);
        let mut up_to = 0;
        for (bound, count) in histogram.bounds.iter().zip(&histogram.counts) {
            up_to += count;
            self.line(&bucket, &[("le", &bound.to_string())], &up_to.to_string());
        }
        self.line(&bucket, &[("le", "+Inf")], &histogram.count.to_string());
        let (sum, count) = (format!("{}_sum", self.name), format!("{}_count", self.name));
        self.line(&sum, &[], &histogram.sum.to_string());
        self.line(&count, &[], &histogram.count.to_string());
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        let escaped =
            |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.samples, "{name}{labels} {value}");
    }
}

/// How often a value fell below each bound.
#[derive(Debug)]
pub(super) struct Histogram {
    bounds: &'static [f64],
    /// Of the values between a bound and the one before.
    counts: Vec<u64>,
    count: u64,
    sum: f64,
}

impl Histogram {
    pub(super) fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len()], count: 0, sum: 0.0 }
    }

    pub(super) fn observe(&mut self, value: f64) {
        if let Some(at) = self.bounds.iter().position(|bound| value <= *bound) {
            self.counts[at] += 1;
        }
        self.count += 1;
        self.sum += value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_that_of_prometheus() {
        let mut page = Page::default();
        page.family("b", Kind::Gauge, "Without series");
        page.family("c_total", Kind::Counter, "A \\ b").sample(&[("x", "a\"b\\c\nd")], 3);
        page.family("a", Kind::Gauge, "First").sample(&[], 1.5);
        let mut histogram = Histogram::new(&[0.5, 1.0, 10.0]);
        for value in [0.5, 0.6, 3.0, 11.0] {
            histogram.observe(value);
        }
        page.family("d", Kind::Histogram, "Times").histogram(&histogram);
        let expected = r#"# HELP argocd_image_updater_a First
# TYPE argocd_image_updater_a gauge
argocd_image_updater_a 1.5
# HELP argocd_image_updater_c_total A \\ b
# TYPE argocd_image_updater_c_total counter
argocd_image_updater_c_total{x="a\"b\\c\nd"} 3
# HELP argocd_image_updater_d Times
# TYPE argocd_image_updater_d histogram
argocd_image_updater_d_bucket{le="0.5"} 1
argocd_image_updater_d_bucket{le="1"} 2
argocd_image_updater_d_bucket{le="10"} 3
argocd_image_updater_d_bucket{le="+Inf"} 4
argocd_image_updater_d_sum 15.1
argocd_image_updater_d_count 4
"#;
        assert_eq!(page.finish(), expected);
    }
}
