//! From words to a command with its flags: what `clap` is told, and what it answers, in the
//! sentences of the reference (spec 22 §1).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::flags::{self, FLAGS, Flag, Kind};
use super::retired;
use super::value::Value;
use super::verbs::{VERBS, Verb, VerbRow};

/// The program's name.
pub const NAME: &str = "argocd-image-updater";

/// What was asked for. Not printable: values may be secrets.
pub struct Line {
    pub verb: Verb,
    /// What stood behind the command.
    pub arguments: Vec<String>,
    given: BTreeMap<&'static str, Vec<String>>,
}

/// Why there is nothing to do.
pub enum Unusable {
    /// Help, for standard output; no failure.
    Help(String),
    /// Wrong usage: one sentence, and how it should look.
    Usage { problem: String, usage: String },
}

impl Line {
    /// The words after the program's name.
    pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, Unusable> {
        let words = command_first(text(words)?);
        if let Some(problem) = words
            .iter()
            .enumerate()
            .find_map(|(at, word)| retired::flag(word, words.get(at + 1).map(String::as_str)))
        {
            return Err(Unusable::Usage { problem, usage: hint(None) });
        }
        let verb = words.iter().find_map(|word| VERBS.iter().find(|row| row.name == word));
        let full = std::iter::once(NAME.to_owned()).chain(words);
        let matches =
            command().try_get_matches_from(full).map_err(|error| unusable(&error, verb))?;
        let Some((name, matches)) = matches.subcommand() else {
            return Err(Unusable::Help(command().render_long_help().to_string()));
        };
        let row = VERBS.iter().find(|row| row.name == name).expect("clap knows our commands only");
        let line = Self::of(row, matches);
        line.check().map_err(|problem| Unusable::Usage { problem, usage: hint(Some(row)) })?;
        Ok(line)
    }

    /// A command without any flags.
    pub fn bare(verb: Verb) -> Self {
        Self { verb, arguments: Vec::new(), given: BTreeMap::new() }
    }

    /// The last value of a flag, if it was given. Also an empty one.
    pub fn given(&self, name: &str) -> Option<&str> {
        self.given.get(name).and_then(|values| values.last()).map(String::as_str)
    }

    /// Every value of a flag.
    pub fn all(&self, name: &str) -> &[String] {
        self.given.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a switch was given, and not taken back.
    pub fn is_given(&self, name: &str) -> bool {
        let value = self.given(name).map(|text| Value::of(flags::row(self.verb, name), text));
        value == Some(Ok(Value::Switch(true)))
    }

    fn of(row: &VerbRow, matches: &ArgMatches) -> Self {
        let values = |id: &str| -> Option<Vec<String>> {
            Some(matches.get_many::<String>(id)?.cloned().collect())
        };
        Self {
            verb: row.verb,
            arguments: if row.most > 0 { values(ARGUMENT).unwrap_or_default() } else { Vec::new() },
            given: flags::of(row.verb)
                .filter_map(|flag| Some((flag.name, values(flag.name)?)))
                .collect(),
        }
    }

    fn check(&self) -> Result<(), String> {
        for (name, values) in &self.given {
            for value in values {
                Value::of(flags::row(self.verb, name), value)
                    .map_err(|wrong| wrong.of_flag(name, value))?;
            }
        }
        Ok(())
    }
}

/// Words that are no text cannot name anything here.
fn text(words: impl IntoIterator<Item = OsString>) -> Result<Vec<String>, Unusable> {
    let one = |word: OsString| {
        word.into_string().map_err(|word| Unusable::Usage {
            problem: format!("argument {} is not UTF-8", word.to_string_lossy()),
            usage: hint(None),
        })
    };
    words.into_iter().map(one).collect()
}

/// Brings the command to the front: flags may stand before it (spec 22 §1).
fn command_first(mut words: Vec<String>) -> Vec<String> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(flag) = word.strip_prefix("--") else {
            if word.starts_with('-') {
                at += 1;
                continue;
            }
            words[..=at].rotate_right(1);
            return words;
        };
        let takes_word = FLAGS.iter().any(|row| row.name == flag && row.takes_word());
        at += if takes_word { 2 } else { 1 };
    }
    words
}

const ARGUMENT: &str = "argument";

/// Everything that `clap` must know: commands and flags of the tables.
pub fn command() -> Command {
    let verbs = VERBS.iter().map(|row| {
        let argument = (row.most > 0).then(|| {
            let arg = Arg::new(ARGUMENT).value_name(row.argument).help(row.argument_help);
            if row.most > 1 { arg.num_args(0..).action(ArgAction::Append) } else { arg }
        });
        Command::new(row.name)
            .about(row.about)
            .hide(row.is_hidden)
            .after_help(row.examples)
            .args(argument)
            .args(flags::of(row.verb).map(argument_of))
    });
    Command::new(NAME)
        .about("Keeps container images of Argo CD Applications up to date.")
        .after_help("Flags may stand before the command as well.")
        .disable_version_flag(true)
        .subcommands(verbs)
}

/// The help of a command.
pub fn help(verb: Verb) -> String {
    let mut all = command();
    all.build();
    let one = all.find_subcommand_mut(verb.row().name);
    one.map(|one| one.render_help().to_string()).unwrap_or_default()
}

fn argument_of(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.name)
        .long(flag.name)
        .help(help_of(flag))
        .help_heading(flag.group.heading())
        .value_name(value_name(flag.kind))
        .allow_hyphen_values(true);
    match flag.kind {
        Kind::Switch => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        _ => arg.num_args(1),
    }
    .action(ArgAction::Append)
}

/// How a value is called in usages.
pub(super) fn value_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Switch => "BOOL",
        Kind::Text | Kind::Repeated => "TEXT",
        Kind::Secret => "SECRET",
        Kind::Number { .. } => "N",
        Kind::Duration => "DURATION",
        Kind::List => "LIST",
        Kind::Choice(_) => "WORD",
    }
}

fn help_of(flag: &Flag) -> String {
    let mut help = flag.help.to_owned();
    if let Kind::Choice(words) = flag.kind {
        let _ = write!(help, " [{}]", words.join(", "));
    }
    if !flag.default.is_empty() {
        let _ = write!(help, " [default: {}]", flag.default);
    }
    if let Some(variable) = flag.env.first() {
        let _ = write!(help, " [env: {variable}]");
    }
    help
}

/// What `clap` found wrong, in the sentences that users of the original know.
fn unusable(error: &clap::Error, verb: Option<&VerbRow>) -> Unusable {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" "),
        _ => String::new(),
    };
    let argument = context(ContextKind::InvalidArg);
    let name = argument.split([' ', '=']).next().unwrap_or_default().to_owned();
    let problem = match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::DisplayVersion => return Unusable::Help(error.render().to_string()),
        ErrorKind::InvalidSubcommand => {
            format!("unknown command {:?} for {NAME:?}", context(ContextKind::InvalidSubcommand))
        }
        ErrorKind::UnknownArgument if name.starts_with("--") => format!("unknown flag: {name}"),
        ErrorKind::UnknownArgument if name.starts_with('-') => {
            let letter = name.chars().nth(1).unwrap_or('-');
            format!("unknown shorthand flag: '{letter}' in {name}")
        }
        // Whether a word is a wrong command or one too many depends on what came before it.
        ErrorKind::UnknownArgument if verb.is_none() => {
            format!("unknown command {argument:?} for {NAME:?}")
        }
        ErrorKind::UnknownArgument | ErrorKind::TooManyValues => {
            format!("unexpected argument {argument:?}")
        }
        ErrorKind::InvalidValue | ErrorKind::NoEquals | ErrorKind::WrongNumberOfValues => {
            format!("flag needs an argument: {name}")
        }
        _ => error.to_string().trim().trim_start_matches("error: ").to_owned(),
    };
    Unusable::Usage { problem, usage: hint(verb) }
}

/// The usage of a command, and where its flags are listed.
fn hint(verb: Option<&VerbRow>) -> String {
    let Some(row) = verb else {
        return format!("Run '{NAME} --help' for usage.");
    };
    let argument = if row.most > 0 { format!(" [{}]", row.argument) } else { String::new() };
    format!(
        "Usage: {NAME} {} [flags]{argument}\nRun '{NAME} {} --help' for its flags.",
        row.name, row.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Line, Unusable> {
        Line::parse(line.split_whitespace().map(OsString::from))
    }

    /// What came of a command line, as a test can compare it.
    fn shown(line: &str) -> String {
        match parse(line) {
            Ok(line) => {
                let name = line.verb.row().name;
                let given = line.given.iter().map(|(flag, values)| format!(" {flag}={values:?}"));
                format!("{name} {:?}{}", line.arguments, given.collect::<String>())
            }
            Err(Unusable::Help(text)) => format!("help: {}", text.lines().next().unwrap()),
            Err(Unusable::Usage { problem, .. }) => format!("Error: {problem}"),
        }
    }

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    /// Spec 22 §1.
    #[test]
    fn command_lines_are_understood_as_in_the_reference() {
        let about = "help: Keeps container images of Argo CD Applications up to date.";
        #[rustfmt::skip]
        let rows = [
            ("run --once", "run [] once=[\"true\"]"),
            // Flags before the command.
            ("--git-commit-method=API run", "Error: invalid value \"API\" for --git-commit-method: must be 'git' or 'api'"),
            ("--interval 2m --git-commit-method API run", "Error: invalid value \"API\" for --git-commit-method: must be 'git' or 'api'"),
            ("--metrics-bind-address=:8443 run --interval 5m", "run [] interval=[\"5m\"] metrics-bind-address=[\":8443\"]"),
            ("--dry-run run", "run [] dry-run=[\"true\"]"),
            ("--argocd-namespace run run", "run [] argocd-namespace=[\"run\"]"),
            ("--loglevel debug --dry-run explain a/b", "Error: unknown flag: --dry-run"),
            // What there is not.
            ("run --bogus", "Error: unknown flag: --bogus"),
            ("run --bogus=1", "Error: unknown flag: --bogus"),
            ("--bogus run", "Error: unknown flag: --bogus"),
            ("--interval 2m", "Error: unknown flag: --interval"),
            ("run -x", "Error: unknown shorthand flag: 'x' in -x"),
            ("bogus", "Error: unknown command \"bogus\" for \"argocd-image-updater\""),
            ("run bogus", "Error: unexpected argument \"bogus\""),
            ("explain a b", "Error: unexpected argument \"b\""),
            ("", about),
            ("--help", about),
            ("-h", about),
            ("help", about),
            ("version --short", "version [] short=[\"true\"]"),
            // Values.
            ("run --interval -1s", "run [] interval=[\"-1s\"]"),
            ("run --metrics-secure=false", "run [] metrics-secure=[\"false\"]"),
            ("run --metrics-secure=F", "run [] metrics-secure=[\"F\"]"),
            ("run --metrics-secure=maybe", "Error: invalid argument \"maybe\" for \"--metrics-secure\" flag: use true or false"),
            ("run --interval", "Error: flag needs an argument: --interval"),
            ("run --interval 5", "Error: invalid argument \"5\" for \"--interval\" flag: a duration needs a unit, such as 2m or 90s"),
            ("run --max-concurrent-apps x", "Error: invalid argument \"x\" for \"--max-concurrent-apps\" flag: use a whole number"),
            ("run --max-concurrent-apps 0", "Error: invalid argument \"0\" for \"--max-concurrent-apps\" flag: use 1 or more"),
            ("run --webhook-port 70000", "Error: invalid argument \"70000\" for \"--webhook-port\" flag: use 65535 or less"),
            ("run --once --once=false", "run [] once=[\"true\", \"false\"]"),
            ("test --ignore-tags a,b --ignore-tags c img", "test [\"img\"] ignore-tags=[\"a,b\", \"c\"]"),
            // The 0.x line.
            ("run --health-port 8080", "Error: unknown flag: --health-port (0.x); use --health-probe-bind-address :8080"),
        ];
        for (line, expected) in rows {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    /// Spec 22 §3, "`-h/--help` exists on each command".
    #[test]
    fn every_command_has_help() {
        for row in VERBS {
            for flag in ["-h", "--help"] {
                let help = shown(&format!("{} {flag}", row.name));
                assert_eq!(help, format!("help: {}", row.about));
            }
        }
    }

    #[test]
    fn wrong_usage_tells_the_right_one() {
        let Err(Unusable::Usage { usage, .. }) = parse("run --bogus") else { panic!("accepted") };
        assert!(usage.starts_with("Usage: argocd-image-updater run [flags]\n"), "{usage}");
        let Err(Unusable::Usage { usage, .. }) = parse("bogus") else { panic!("accepted") };
        assert_eq!(usage, "Run 'argocd-image-updater --help' for usage.");
    }
}
