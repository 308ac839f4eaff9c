//! The answers of the reference program, held against ours.
//!
//! The files lie in `tests/vectors/` (its README says what a case looks like and when it is
//! right). Each has a module here of the same name, which answers its kinds. To add a file:
//! put it into the folder, write its module, and name it in the line `vector_files!`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// One line here makes a file's test, `vectors::of::<file>`.
macro_rules! vector_files {
    ($($file:ident),* $(,)?) => {
        const FILES: &[(&str, &Answers)] = &[$((stringify!($file), &$file::ANSWERS)),*];

        mod of {
            $(
                #[test]
                fn $file() {
                    let report = super::judge_file(stringify!($file), &super::$file::ANSWERS);
                    println!("{}", report.table());
                    assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
                }
            )*
        }
    };
}

mod config;
mod content;
mod glob;
mod helm_values_edit;
mod image_ref;
mod kustomization_edit;
mod override_file_edit;
mod regexp;
mod selection;
mod semver_constraints;
mod semver_parse;
mod semver_pick;
mod templates;
mod version_strategies;

vector_files! {
    config,
    glob,
    helm_values_edit,
    image_ref,
    kustomization_edit,
    override_file_edit,
    regexp,
    semver_constraints,
    semver_parse,
    semver_pick,
    templates,
    version_strategies,
}

/// Kinds that no code answers yet, by file.
const OPEN: &[(&str, &[&str])] = &[(
    "config",
    &["env_bool", "env_duration", "env_number", "manifest_target", "merge_verification"],
)];

/// Kinds that another crate answers, in tests of its own, by file.
const ELSEWHERE: &[(&str, &[&str])] = &[(
    "config",
    &[
        "annotations",
        "env_credentials",
        "merge_update_settings",
        "merge_write_back",
        "pull_secret",
        "secret_credentials",
        "write_back",
    ],
)];

/// What answers the cases of one file.
pub(crate) struct Answers {
    /// A handler for each kind.
    pub(crate) kinds: &'static [(&'static str, Handler)],
    /// Cases on which we differ on purpose: id and reason.
    pub(crate) deviations: &'static [(&'static str, &'static str)],
}

/// How one kind of case is answered and judged.
#[derive(Clone, Copy)]
pub(crate) struct Handler {
    answer: fn(&Case) -> Value,
    agrees: fn(expected: &Value, answer: &Value) -> bool,
    obeys: fn(&Case, answer: &Value) -> bool,
}

impl Handler {
    /// Answers in the shape of `out`; equal answers agree, error texts apart.
    pub(crate) const fn new(answer: fn(&Case) -> Value) -> Self {
        Self { answer, agrees: same_but_for_error_texts, obeys: no_rule }
    }

    /// Replaces equality, where only a part of `out` counts, or not literally.
    pub(crate) const fn agreeing(self, agrees: fn(&Value, &Value) -> bool) -> Self {
        Self { agrees, ..self }
    }

    /// Checks the cases whose right answer is told by `want_rule` alone.
    pub(crate) const fn obeying(self, obeys: fn(&Case, &Value) -> bool) -> Self {
        Self { obeys, ..self }
    }
}

/// One case of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) kind: String,
    #[serde(rename = "in")]
    pub(crate) input: Value,
    out: Option<Value>,
    #[serde(default)]
    upstream_fault: bool,
    pub(crate) fault: Option<String>,
    upstream_out: Option<Value>,
    want: Option<Value>,
    pub(crate) want_rule: Option<String>,
    note: Option<String>,
    /// What the file says for all its cases (`version_sets`).
    #[serde(skip)]
    pub(crate) shared: std::rc::Rc<BTreeMap<String, Value>>,
}

impl Case {
    /// A text of the input; empty if it is absent or null.
    pub(crate) fn text(&self, field: &str) -> &str {
        self.input[field].as_str().unwrap_or_default()
    }

    /// A list of texts of the input; empty if it is absent or null.
    pub(crate) fn texts(&self, field: &str) -> Vec<&str> {
        let list = self.input[field].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().map(|item| item.as_str().expect("a list of texts")).collect()
    }

    /// Whether `answer` is right by the rules of the README.
    fn accepts(&self, handler: &Handler, answer: &Value) -> bool {
        if !self.upstream_fault {
            let out = self.out.as_ref().expect("a case without fault has an answer");
            return (handler.agrees)(out, answer);
        }
        match (&self.want, &self.want_rule, &self.upstream_out) {
            (Some(want), _, _) => (handler.agrees)(want, answer),
            (None, Some(_), Some(wrong)) => {
                (handler.obeys)(self, answer) && !(handler.agrees)(wrong, answer)
            }
            _ => panic!("{} tells neither the right answer nor a rule", self.id),
        }
    }

    fn describe_failure(&self, answer: &Value) -> String {
        let mut text = format!("{} ({})\n  asked: {}", self.id, self.kind, self.input);
        let expected = [
            ("right", self.out.as_ref().or(self.want.as_ref())),
            ("wrong", self.upstream_out.as_ref()),
        ];
        for (label, value) in expected {
            if let Some(value) = value {
                let _ = write!(text, "\n  {label}: {value}");
            }
        }
        for remark in [&self.fault, &self.want_rule, &self.note].into_iter().flatten() {
            let _ = write!(text, "\n  remark: {remark}");
        }
        let _ = write!(text, "\n  ours:  {answer}");
        text
    }
}

/// What running one file came to.
struct Report {
    file: &'static str,
    /// Per kind: cases run, and those among them on which we differ on purpose.
    kinds: BTreeMap<String, (usize, usize)>,
    failures: Vec<String>,
}

impl Report {
    fn table(&self) -> String {
        let lines = self.kinds.iter().map(|(kind, (run, deviations))| {
            format!("{}/{kind}: {run} cases, {deviations} deviations\n", self.file)
        });
        lines.collect()
    }
}

fn judge_file(file: &'static str, answers: &Answers) -> Report {
    let mut report = Report { file, kinds: BTreeMap::new(), failures: Vec::new() };
    let mut deviations: BTreeMap<&str, &str> = answers.deviations.iter().copied().collect();
    for case in load(&folder().join(format!("{file}.json"))) {
        let Some(handler) = handler(answers, &case.kind) else { continue };
        let answer = (handler.answer)(&case);
        let right = case.accepts(handler, &answer);
        let excused = deviations.remove(case.id.as_str());
        let (run, deviating) = report.kinds.entry(case.kind.clone()).or_default();
        *run += 1;
        *deviating += usize::from(excused.is_some());
        match excused {
            None if !right => report.failures.push(case.describe_failure(&answer)),
            Some(reason) if right => {
                report.failures.push(format!("{} no longer deviates ({reason})", case.id));
            }
            _ => {}
        }
    }
    report.failures.extend(deviations.keys().map(|id| format!("deviation {id} is no case")));
    report
}

/// No kind is skipped silently, and none is listed as open that is not.
#[test]
fn every_kind_is_answered_or_listed_as_open() {
    let kinds_of = |&(file, kinds): &(&str, &[&str])| {
        kinds.iter().map(move |kind| (file.to_owned(), (*kind).to_owned())).collect::<Vec<_>>()
    };
    let open: BTreeSet<(String, String)> =
        OPEN.iter().chain(ELSEWHERE).flat_map(kinds_of).collect();
    let mut unanswered = BTreeSet::new();
    for path in vector_paths() {
        let file = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let answers = FILES.iter().find(|(name, _)| *name == file).map(|(_, answers)| *answers);
        for case in load(&path) {
            if answers.and_then(|answers| handler(answers, &case.kind)).is_none() {
                unanswered.insert((file.clone(), case.kind));
            }
        }
    }
    assert_eq!(unanswered, open, "left: kinds without handler; right: OPEN and ELSEWHERE");
}

/// A handler for a kind that no case has tests nothing.
#[test]
fn every_handler_has_cases() {
    for (file, answers) in FILES {
        let kinds: BTreeSet<String> = load(&folder().join(format!("{file}.json")))
            .into_iter()
            .map(|case| case.kind)
            .collect();
        for (kind, _) in answers.kinds {
            assert!(kinds.contains(*kind), "{file} has no kind '{kind}'");
        }
    }
}

fn handler<'a>(answers: &'a Answers, kind: &str) -> Option<&'a Handler> {
    answers.kinds.iter().find(|(name, _)| *name == kind).map(|(_, handler)| handler)
}

/// Reads one file.
#[expect(clippy::disallowed_methods, reason = "tests may read fixture files")]
fn load(path: &Path) -> Vec<Case> {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<Case>,
        #[serde(flatten)]
        shared: BTreeMap<String, Value>,
    }
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut file: File =
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let shared = std::rc::Rc::new(file.shared);
    for case in &mut file.cases {
        case.shared = shared.clone();
    }
    file.cases
}

#[expect(clippy::disallowed_methods, reason = "tests may list fixture files")]
fn vector_paths() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder of vectors is there");
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    paths.filter(|path| path.extension().is_some_and(|ext| ext == "json")).collect()
}

#[expect(clippy::disallowed_methods, reason = "the folder of vectors can be chosen")]
fn folder() -> PathBuf {
    match std::env::var_os("AIU_VECTORS") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"),
    }
}

/// Equal, where a text under `error` stands for any error.
fn same_but_for_error_texts(expected: &Value, answer: &Value) -> bool {
    match (expected, answer) {
        (Value::Object(expected), Value::Object(answer)) => {
            expected.len() == answer.len()
                && expected.iter().all(|(key, expected)| {
                    let Some(answer) = answer.get(key) else { return false };
                    let is_error = |value: &Value| value == true || value.is_string();
                    (key == "error" && is_error(expected) && is_error(answer))
                        || same_but_for_error_texts(expected, answer)
                })
        }
        _ => expected == answer,
    }
}

fn no_rule(case: &Case, _: &Value) -> bool {
    panic!("{}: the rule of this case is checked by nobody", case.id)
}
