//! Log lines in the established format, on standard error (spec 22 §9).
//!
//! `tracing` events become logfmt-like text or JSON objects; the fields that every line of
//! the program carries are added here.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
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
    start(level, format, &CONTROLLER);
}

/// Starts logging for `test`, whose lines carry other fields and are always text.
pub fn init_for_test(level: LevelFilter) {
    start(level, Format::Text, &[("command", "test")]);
}

fn start(level: LevelFilter, format: Format, standing: &'static [(&'static str, &'static str)]) {
    let lines = Lines { format, standing };
    tracing_subscriber::registry().with(lines.with_filter(OwnLines(level))).init();
}

/// The word of a level, as `--loglevel` takes it.
pub fn level(word: &str) -> Option<LevelFilter> {
    Some(match word.to_lowercase().as_str() {
        "trace" => LevelFilter::TRACE,
        "debug" => LevelFilter::DEBUG,
        "info" => LevelFilter::INFO,
        "warn" | "warning" => LevelFilter::WARN,
        "error" => LevelFilter::ERROR,
        _ => return None,
    })
}

/// A line that tells how far a long command has come, redrawn in place below the log. Only on
/// a terminal: elsewhere nothing could take it back.
pub struct Progress(());

/// What stands at the foot of the terminal now.
static FOOT: Mutex<Option<String>> = Mutex::new(None);

/// Back to the start of the line, and nothing on it.
const ERASE: &str = "\r\x1b[K";

impl Progress {
    /// A line to be drawn on, if standard error is a terminal.
    pub fn on_terminal() -> Option<Self> {
        std::io::stderr().is_terminal().then_some(Self(()))
    }

    /// Shows this text instead of the last one.
    pub fn show(&self, text: String) {
        let mut foot = foot();
        // Nobody is left to tell if standard error is gone.
        let _ = write!(std::io::stderr().lock(), "{ERASE}{text}");
        *foot = Some(text);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if foot().take().is_some() {
            let _ = write!(std::io::stderr().lock(), "{ERASE}");
        }
    }
}

/// A panic while it is drawn leaves it as it is.
fn foot() -> std::sync::MutexGuard<'static, Option<String>> {
    FOOT.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
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
    /// Fields on every line.
    standing: &'static [(&'static str, &'static str)],
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Lines {
    /// What a span says of all its lines: of which resource they are.
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in
            context.event_scope(event).into_iter().flatten().collect::<Vec<_>>().iter().rev()
        {
            if let Some(of_span) = span.extensions().get::<Fields>() {
                fields.others.extend(of_span.others.clone());
            }
        }
        event.record(&mut fields);
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        // `tracing` knows no level above error.
        let fatal = fields.others.remove("fatal").is_some();
        let level = if fatal { "fatal" } else { level_word(*event.metadata().level()) };
        let line = match self.format {
            Format::Text => text(&now, level, &fields, self.standing),
            Format::Json => json(&now, level, &fields, self.standing),
        };
        let foot = foot();
        let line = match &*foot {
            Some(foot) => format!("{ERASE}{line}{foot}"),
            None => line,
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

/// Fields on every line that the controller writes.
const CONTROLLER: [(&str, &str); 3] = [
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

type Standing = [(&'static str, &'static str)];

fn all_fields<'a>(fields: &'a Fields, standing: &'a Standing) -> BTreeMap<&'a str, &'a str> {
    let own = fields.others.iter().map(|(name, value)| (*name, value.as_str()));
    standing.iter().copied().chain(own).collect()
}

fn text(now: &str, level: &str, fields: &Fields, standing: &Standing) -> String {
    let mut line = format!("time=\"{now}\" level={level} msg=");
    quoted(&mut line, &fields.message);
    for (name, value) in all_fields(fields, standing) {
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

fn json(now: &str, level: &str, fields: &Fields, standing: &Standing) -> String {
    let mut object = serde_json::Map::new();
    for (name, value) in all_fields(fields, standing) {
        object.insert(name.to_owned(), value.into());
    }
    object.insert("level".to_owned(), level.into());
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
            let fields = fields(message, others);
            let line = text("2026-01-02T03:04:05Z", level_word(level), &fields, &CONTROLLER);
            let line = line.trim_end().to_owned() + " ";
            assert!(line.contains(expected), "{line}");
        }
    }

    #[test]
    fn json_lines_are_one_object_with_sorted_keys() {
        let line = json(
            "2026-01-02T03:04:05Z",
            "info",
            &fields("a \"b\"", &[("application", "argocd/x")]),
            &CONTROLLER,
        );
        let expected = concat!(
            r#"{"application":"argocd/x","controller":"imageupdater","controllerGroup":"argocd-image-updater.argoproj.io","#,
            r#""controllerKind":"ImageUpdater","level":"info","msg":"a \"b\"","time":"2026-01-02T03:04:05Z"}"#,
            "\n"
        );
        assert_eq!(line, expected);
    }
}
