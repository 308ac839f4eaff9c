//! Log lines in the established format, on standard error (spec 22 §9).
//!
//! `tracing` events become logfmt-like text or JSON objects. The fields of the spans around them
//! and those that every line of a command carries are added here.

mod line;
mod progress;

use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Scope};
use tracing_subscriber::util::SubscriberInitExt as _;

use line::{Fields, Standing};
use progress::ERASE;

pub use progress::Progress;

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `time="…" level=info msg="…" key=value`.
    Text,
    /// One JSON object a line.
    Json,
}

/// Fields on every line that the controller writes.
const CONTROLLER: [(&str, &str); 3] = [
    ("controller", "imageupdater"),
    ("controllerGroup", "argocd-image-updater.argoproj.io"),
    ("controllerKind", "ImageUpdater"),
];

/// Starts logging for `run` and `webhook`. Called once, before anything logs.
pub fn init(level: LevelFilter, format: Format) {
    start(level, format, &CONTROLLER);
}

/// Starts logging for commands that people type, whose lines carry no fields of a controller.
pub fn init_for_command(level: LevelFilter, format: Format) {
    start(level, format, &[]);
}

/// Starts logging for `test`, whose lines carry a field of their own and are always text.
pub fn init_for_test(level: LevelFilter) {
    start(level, Format::Text, &[("command", "test")]);
}

fn start(level: LevelFilter, format: Format, standing: &'static Standing) {
    let is_colored = format == Format::Text
        && std::io::stderr().is_terminal()
        && std::env::var("ENABLE_LOG_COLORS").ok().as_deref() != Some("false");
    let look = match format {
        Format::Json => Look::Json,
        Format::Text if is_colored => Look::Colored,
        Format::Text => Look::Text,
    };
    let lines = Lines { look, standing, started: Instant::now() };
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

/// Lets our own lines through at the chosen level, and warnings of libraries. The fields of our
/// spans are wanted at any level.
struct OwnLines(LevelFilter);

impl<S> tracing_subscriber::layer::Filter<S> for OwnLines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: &Context<'_, S>) -> bool {
        let own = metadata.target().starts_with("aiu_")
            || metadata.target().starts_with("argocd_image_updater");
        if metadata.is_span() {
            return own;
        }
        let limit = if own { self.0 } else { self.0.min(LevelFilter::WARN) };
        *metadata.level() <= limit
    }
}

/// What lines look like here.
#[derive(Clone, Copy)]
enum Look {
    Text,
    /// Text on a terminal.
    Colored,
    Json,
}

struct Lines {
    look: Look,
    /// Fields on every line.
    standing: &'static Standing,
    started: Instant,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        new_span(attributes, id, &context);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        record(id, values, &context);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let (level, fields) = collected(event, &context);
        let line = match self.look {
            Look::Text => line::text(&line::now(), level, &fields, self.standing),
            Look::Json => line::json(&line::now(), level, &fields, self.standing),
            Look::Colored => {
                line::colored(self.started.elapsed().as_secs(), level, &fields, self.standing)
            }
        };
        let foot = progress::foot();
        let line = match &*foot {
            Some(foot) => format!("{ERASE}{line}{foot}"),
            None => line,
        };
        // Nobody is left to tell if standard error is gone.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }
}

fn new_span<S>(attributes: &Attributes<'_>, id: &Id, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let mut fields = Fields::default();
    attributes.record(&mut fields);
    if let Some(span) = context.span(id) {
        span.extensions_mut().insert(fields);
    }
}

fn record<S>(id: &Id, values: &Record<'_>, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    if let Some(span) = context.span(id)
        && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
    {
        values.record(fields);
    }
}

/// The fields of an event and of the spans around it, the innermost last.
fn collected<S>(event: &Event<'_>, context: &Context<'_, S>) -> (&'static str, Fields)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let mut fields = Fields::default();
    for span in context.event_scope(event).into_iter().flat_map(Scope::from_root) {
        if let Some(around) = span.extensions().get::<Fields>() {
            fields.extend(around);
        }
    }
    event.record(&mut fields);
    (fields.level(*event.metadata().level()), fields)
}

#[cfg(test)]
mod tests;
