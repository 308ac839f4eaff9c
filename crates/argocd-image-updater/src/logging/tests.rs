use std::sync::{Arc, Mutex};

use tracing::{Level, error, info, info_span, trace, warn};

use super::*;

const NOW: &str = "2026-01-02T03:04:05Z";

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
        ("x", &[("application", "argocd/shop")], Level::INFO, " application=argocd/shop "),
        ("say \"hi\"", &[], Level::INFO, r#"msg="say \"hi\"""#),
        ("a\nb\u{202e}", &[], Level::ERROR, r#"msg="a\nb\u202e""#),
        ("\u{1b}[31m\u{7}\u{7f}\u{85}é", &[], Level::ERROR, r#"msg="\x1b[31m\a\x7f\u0085é""#),
        ("x", &[], Level::TRACE, "level=trace"),
        ("x", &[], Level::DEBUG, "level=debug"),
        ("x", &[], Level::WARN, "level=warning"),
        ("x", &[], Level::ERROR, "level=error"),
    ];
    for (message, others, level, expected) in rows {
        let fields = Fields::of(message, others);
        let line = line::text(NOW, fields.level(level), &fields, &CONTROLLER);
        assert!(line.starts_with("time=\"2026-01-02T03:04:05Z\" level="), "{line}");
        let line = line.trim_end().to_owned() + " ";
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn json_lines_are_one_object_with_sorted_keys() {
    let fields = Fields::of("a \"b\"", &[("application", "argocd/x"), ("msg", "other")]);
    let line = line::json(NOW, "info", &fields, &CONTROLLER);
    let expected = concat!(
        r#"{"application":"argocd/x","controller":"imageupdater","controllerGroup":"argocd-image-updater.argoproj.io","#,
        r#""controllerKind":"ImageUpdater","fields.msg":"other","level":"info","msg":"a \"b\"","time":"2026-01-02T03:04:05Z"}"#,
        "\n"
    );
    assert_eq!(line, expected);
}

#[test]
fn lines_on_a_terminal_are_colored_and_cannot_steer_it() {
    let fields = Fields::of("over \u{1b}[2J here\n", &[("application", "a/b c")]);
    let line = line::colored(7, "warning", &fields, &[]);
    let message = r"over \x1b[2J here\n";
    let expected =
        format!("\x1b[33mWARN\x1b[0m[0007] {message:<44}  \x1b[33mapplication\x1b[0m=\"a/b c\"\n");
    assert_eq!(line, expected);
}

/// Collects what a layer would write.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<String>>>);

struct Into(Written);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Into {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        new_span(attributes, id, &context);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        record(id, values, &context);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let (level, fields) = collected(event, &context);
        self.0.0.lock().unwrap().push(line::text(NOW, level, &fields, &[]));
    }
}

/// What is written while `work` runs.
fn written(level: LevelFilter, work: impl FnOnce()) -> Vec<String> {
    let all = Written::default();
    let layer = Into(all.clone()).with_filter(OwnLines(level));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
    let lines = all.0.lock().unwrap();
    lines.iter().map(|line| line.split_once(" level=").unwrap().1.trim_end().to_owned()).collect()
}

#[test]
fn lines_carry_the_fields_of_the_spans_around_them() {
    let lines = written(LevelFilter::WARN, || {
        let span = info_span!(
            "pass",
            logger = "reconcile",
            imageUpdater_name = "a",
            took = tracing::field::Empty
        );
        let _entered = span.enter();
        let _inner =
            info_span!("app", application = "argocd/shop", imageUpdater_name = "b").entered();
        span.record("took", 7);
        warn!(errors = 3, done = true, "one");
        info!("not at this level");
        error!(application = "argocd/other", "two");
    });
    let expected = [
        "warning msg=one application=argocd/shop done=true errors=3 imageUpdater_name=b logger=reconcile took=7",
        "error msg=two application=argocd/other imageUpdater_name=b logger=reconcile took=7",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn libraries_are_heard_from_warnings_on() {
    let work = || {
        info!(target: "hyper::proto", "a library's news");
        warn!(target: "hyper::proto", "a library's warning");
        trace!("our own trace");
        error!(fatal = true, "the end");
    };
    #[rustfmt::skip]
    let rows = [
        (LevelFilter::TRACE, &["warning msg=\"a library's warning\"", "trace msg=\"our own trace\"", "fatal msg=\"the end\""][..]),
        (LevelFilter::INFO, &["warning msg=\"a library's warning\"", "fatal msg=\"the end\""]),
        (LevelFilter::ERROR, &["fatal msg=\"the end\""]),
    ];
    for (level, expected) in rows {
        assert_eq!(written(level, work), expected, "{level}");
    }
}
