//! Log lines in the established format, on standard error (spec 22 §9).
//!
//! `tracing` events become logfmt-like text or JSON objects; the fields that every line of
//! the program carries are added here.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::Write as _;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `time="…" level=info msg="…" key=value`.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts logging. Called once, before anything logs.
pub fn init(level: LevelFilter, format: Format) {
    tracing_subscriber::registry().with(Lines { format }.with_filter(OwnLines(level))).init();
}

/// Lets our own lines through at the chosen level, and warnings of libraries.
struct OwnLines(LevelFilter);

impl<S> tracing_subscriber::layer::Filter<S> for OwnLines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: &Context<'_, S>) -> bool {
        let own = metadata.target().starts_with("aiu_")
            || metadata.target().starts_with("argocd_image_updater");
        let limit = if own { self.0 } else { self.0.min(LevelFilter::WARN) };
        *metadata.level() <= limit
    }
}

struct Lines {
    format: Format,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let line = match self.format {
            Format::Text => text(&now, *event.metadata().level(), &fields),
            Format::Json => json(&now, *event.metadata().level(), &fields),
        };
        // Nobody is left to tell if standard error is gone.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }
}

/// An event's message and its other fields, sorted by name.
#[derive(Default)]
struct Fields {
    message: String,
    others: BTreeMap<&'static str, String>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: String) {
        match field.name() {
            "message" => self.message = value,
            name => {
                self.others.insert(name, value);
            }
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.to_owned());
    }
}

/// Fields on every line the program itself writes.
const STANDING: [(&str, &str); 3] = [
    ("controller", "imageupdater"),
    ("controllerGroup", "argocd-image-updater.argoproj.io"),
    ("controllerKind", "ImageUpdater"),
];

fn level_word(level: Level) -> &'static str {
    match level {
        Level::TRACE => "trace",
        Level::DEBUG => "debug",
        Level::INFO => "info",
        Level::WARN => "warning",
        Level::ERROR => "error",
    }
}

fn all_fields(fields: &Fields) -> BTreeMap<&str, &str> {
    let own = fields.others.iter().map(|(name, value)| (*name, value.as_str()));
    STANDING.into_iter().chain(own).collect()
}

fn text(now: &str, level: Level, fields: &Fields) -> String {
    let mut line = format!("time=\"{now}\" level={} msg=", level_word(level));
    quoted(&mut line, &fields.message);
    for (name, value) in all_fields(fields) {
        let _ = write!(line, " {name}=");
        quoted(&mut line, value);
    }
    line.push('\n');
    line
}

/// Bare if made only of letters, digits and `-._/@^+`, else quoted as Go does.
fn quoted(line: &mut String, value: &str) {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-._/@^+".contains(c);
    if value.chars().all(bare) {
        line.push_str(value);
        return;
    }
    line.push('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => {
                line.push('\\');
                line.push(c);
            }
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            c if c.is_control() || is_direction_mark(c) => {
                let _ = write!(line, "\\u{:04x}", u32::from(c));
            }
            c => line.push(c),
        }
    }
    line.push('"');
}

/// Marks that reorder text: a tag may not hold them, but other people's messages may.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn json(now: &str, level: Level, fields: &Fields) -> String {
    let mut object = serde_json::Map::new();
    for (name, value) in all_fields(fields) {
        object.insert(name.to_owned(), value.into());
    }
    object.insert("level".to_owned(), level_word(level).into());
    object.insert("msg".to_owned(), fields.message.as_str().into());
    object.insert("time".to_owned(), now.into());
    let mut line = serde_json::Value::Object(object).to_string();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(message: &str, others: &[(&'static str, &str)]) -> Fields {
        let others = others.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Fields { message: message.to_owned(), others }
    }

    /// Spec 22 §9, conformance table.
    #[test]
    fn text_lines_are_quoted_as_in_the_reference() {
        #[rustfmt::skip]
        let rows = [
            ("starting", &[][..], Level::INFO, "level=info msg=starting controller=imageupdater"),
            ("x y", &[("image_registry", "127.0.0.1:5000")], Level::WARN, "image_registry=\"127.0.0.1:5000\""),
            (r"Invalid match option syntax '^[0-9]+\.[0-9]+$', ignoring", &[], Level::WARN,
             r#"msg="Invalid match option syntax '^[0-9]+\\.[0-9]+$', ignoring""#),
            ("x", &[("image_registry", "")], Level::WARN, "image_registry= "),
            ("a\nb\u{202e}", &[], Level::ERROR, r#"msg="a\nb\u202e""#),
            ("x", &[], Level::WARN, "level=warning"),
        ];
        for (message, others, level, expected) in rows {
            let line = text("2026-01-02T03:04:05Z", level, &fields(message, others));
            let line = line.trim_end().to_owned() + " ";
            assert!(line.contains(expected), "{line}");
        }
    }

    #[test]
    fn json_lines_are_one_object_with_sorted_keys() {
        let line = json(
            "2026-01-02T03:04:05Z",
            Level::INFO,
            &fields("a \"b\"", &[("application", "argocd/x")]),
        );
        let expected = concat!(
            r#"{"application":"argocd/x","controller":"imageupdater","controllerGroup":"argocd-image-updater.argoproj.io","#,
            r#""controllerKind":"ImageUpdater","level":"info","msg":"a \"b\"","time":"2026-01-02T03:04:05Z"}"#,
            "\n"
        );
        assert_eq!(line, expected);
    }
}
