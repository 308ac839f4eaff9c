//! The reference page of the command line, made of the tables (`gen command-line`).

use std::fmt::Write as _;

use super::flags::{Built, FLAGS, Flag, Group, Kind};
use super::retired;
use super::verbs::{VERBS, Verb, VerbRow};
use super::words::value_name;

const HEAD: &str = "# Command line

<!-- Made by `argocd-image-updater gen command-line`; do not edit. -->

A value comes from the flag, else from the environment variable, else from the key of the ConfigMap
`argocd-image-updater-config`, else it is the default. In a cluster the Deployment hands keys on as variables;
in a folder of manifests they are read from the ConfigMap there. An empty variable counts as not set. Flags
may stand before the command. Secrets (`webhook.*-secret`) are keys of the Secret `argocd-image-updater-secret`.

Switches are `--flag`, `--flag=true` or `--flag=false`; as variables `true` or `false`. Durations are written
as in Go: `2m`, `1h30m`, `0`. A variable that cannot be read or lies outside of its limits is told in the log, and the
default holds; a flag like that ends the program with exit code 1.

Exit codes: 0 done, 1 something failed or was wrong, 3 an update is available (only `test --check`).
";

/// The page.
pub fn command_line() -> String {
    let mut page = HEAD.to_owned();
    page += "\n## Commands\n\n| Command | |\n|---|---|\n";
    for row in VERBS.iter().filter(|row| !row.is_hidden) {
        let argument = if row.most > 0 { format!(" [{}]", row.argument) } else { String::new() };
        let _ = writeln!(page, "| `{}{argument}` | {} |", row.name, row.about);
    }
    page += "\n`help` and `--help` tell the same.\n";
    for group in Group::ALL {
        let flags = FLAGS.iter().filter(|flag| flag.group == group);
        let rows: Vec<String> = flags.filter_map(row).collect();
        if !rows.is_empty() {
            let _ = write!(
                page,
                "\n## {}\n\n| Flag | Default | Variable, key | Commands | |\n|---|---|---|---|---|\n",
                group.heading()
            );
            page += &rows.concat();
        }
    }
    page += "\n## Flags of the 0.x line\n\nThey end the program with exit code 1 and this advice.\n\n| Flag | |\n|---|---|\n";
    for (flag, advice) in retired::FLAGS {
        let _ = writeln!(page, "| `--{flag}` | {advice} |");
    }
    page += "\nKeys of the 0.x line are named once in the log, and ignored: ";
    let keys: Vec<String> =
        retired::KEYS.iter().map(|(key, variable)| format!("`{key}` (`{variable}`)")).collect();
    let _ = writeln!(page, "{}.", keys.join(", "));
    page
}

fn row(flag: &Flag) -> Option<String> {
    let verbs: Vec<&VerbRow> = flag.on.iter().map(|verb: &Verb| verb.row()).collect();
    let verbs: Vec<&str> = verbs.iter().filter(|row| !row.is_hidden).map(|row| row.name).collect();
    if verbs.is_empty() {
        return None;
    }
    let mut about = flag.help.to_owned();
    match flag.kind {
        Kind::Choice(words) => {
            let _ = write!(about, " (`{}`)", words.join("`, `"));
        }
        Kind::Number { least, most } if most < i64::from(i32::MAX) => {
            let _ = write!(about, " ({least} to {most})");
        }
        _ => {}
    }
    match flag.built {
        Built::Yes => {}
        Built::Without(why) => {
            let _ = write!(about, ". *No effect yet: {why}.*");
        }
        Built::Refused(why) => {
            let _ = write!(about, ". *Refused in this version: {why}.*");
        }
    }
    let value = match flag.kind {
        Kind::Switch => String::new(),
        kind => format!(" {}", value_name(kind)),
    };
    let default =
        if flag.default.is_empty() { String::new() } else { format!("`{}`", flag.default) };
    let mut elsewhere: Vec<String> = flag.env.iter().map(|name| format!("`{name}`")).collect();
    elsewhere.extend(Some(flag.key).filter(|key| !key.is_empty()).map(|key| format!("`{key}`")));
    Some(format!(
        "| `--{}{value}` | {default} | {} | {} | {about} |\n",
        flag.name,
        elsewhere.join(", "),
        verbs.join(", "),
    ))
}
