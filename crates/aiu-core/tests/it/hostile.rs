//! What somebody who may write an annotation, a file or a tag could send to stop the program: each
//! gets its answer, and none takes more than its bytes.

use aiu_core::edit::Edited;
use aiu_core::edit::helm_values::{Assignment, Role, set};
use aiu_core::glob::Glob;
use aiu_core::image::{ConfiguredImage, Tag};
use aiu_core::regexp::GoRegexp;
use aiu_core::template::{Template, commit_message};
use aiu_core::version::{Version, VersionConstraint};

const MEGABYTE: usize = 1024 * 1024;

fn matched(found: bool) -> String {
    if found { "match" } else { "no match" }.to_owned()
}

fn expression(text: &str, tag: &str) -> String {
    GoRegexp::new(text).map_or_else(|error| error.to_string(), |e| matched(e.is_match(tag)))
}

fn pattern(text: &str, tag: &str) -> String {
    Glob::new(text).map_or_else(|error| error.to_string(), |glob| matched(glob.matches(tag)))
}

/// Sets `image.tag`; what else stands in the text must stay.
fn edit(text: &str) -> String {
    match set(text, &[Assignment { role: Role::Version, path: "image.tag", value: "v2" }]) {
        Ok(Edited::Changed(new)) if new == text.replacen("v1", "v2", 1) => "edited".to_owned(),
        Ok(edited) => format!("{edited:?}"),
        Err(error) => error.to_string(),
    }
}

fn rendered(template: &str) -> String {
    match Template::parse(template) {
        Ok(template) => match commit_message(&template, "app", &[]).failure {
            Some(failure) => failure.to_string(),
            None => "rendered".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}

fn version(text: &str) -> String {
    Version::parse(text).map_or_else(|| "no version".to_owned(), |version| version.to_string())
}

fn range(text: &str, version: &str) -> String {
    let range: Result<VersionConstraint, _> = text.parse();
    let admits = |range: VersionConstraint| range.admits(&Version::parse(version).unwrap());
    range.map_or_else(|error| error.to_string(), |range| matched(admits(range)))
}

fn tag(text: &str) -> String {
    text.parse::<Tag>().map_or_else(|error| error.to_string(), |tag| tag.to_string())
}

/// A tag that is a list's element 2^60 times over, if one counts.
fn laughs() -> String {
    let level = |at: usize| format!("a{at}: &a{at} [*a{0}, *a{0}, *a{0}, *a{0}]\n", at - 1);
    format!("a0: &a0 [lol]\n{}image: {{tag: v1}}\n", (1..=30).map(level).collect::<String>())
}

#[test]
fn hostile_input_gets_a_bounded_answer() {
    type Row = (&'static str, fn() -> String, &'static str);
    #[rustfmt::skip]
    let rows: &[Row] = &[
        // Patterns.
        ("(a+)+$",                  || expression("(a+)+$", &format!("{}b", "a".repeat(10_000))), "no match"),
        ("{1000} in {1000}",        || expression("((a{1000}){1000}){1000}", "a"), "invalid repeat count: `{1000}`"),
        ("{1000} beside {1000}",    || expression(&"(a|b|c){1000}".repeat(2_000), "a"), "expression too large: it would take too much memory to match"),
        ("expression of 1 MB",      || expression(&"a".repeat(MEGABYTE), "a"), "expression too long: 1048576 bytes, at most 32768 are read"),
        ("expression of groups",    || expression(&"(".repeat(30_000), "a"), "expression nests too deeply"),
        ("pattern of 1 MB",         || pattern(&"*a".repeat(MEGABYTE / 2), &"a".repeat(128)), "no match"),
        ("pattern of stars, 1 MB",  || pattern(&"*".repeat(MEGABYTE), "a"), "match"),
        ("range of 1 MB",           || range(&">=1 ".repeat(MEGABYTE / 4), "1.2.3"), "match"),
        // YAML.
        ("billion laughs",          || edit(&laughs()), "edited"),
        ("nesting, 10,000 deep",    || edit(&format!("a: {}", "[".repeat(10_000))), "line 1: not readable as YAML: recursion limit exceeded"),
        ("lists in lists, as deep", || edit(&"- ".repeat(10_000)), "line 1: not readable as YAML: recursion limit exceeded"),
        ("scalar of 100 MB",        || edit(&"x".repeat(100 * MEGABYTE)), "not readable as YAML: 104857600 bytes, at most 67108864 are read"),
        ("scalar of 1 MB",          || edit(&format!("image: {{tag: v1}}\nb: {}\n", "x".repeat(MEGABYTE))), "edited"),
        ("duplicate anchors",       || edit("a: &x v0\nb: &x v3\nimage: {tag: v1}\nd: *x\n"), "edited"),
        ("alias of the last anchor", || edit("a: &x v0\nb: &x v1\nimage: {tag: *x}\nc: *x\n"), "edited"),
        ("anchor inside itself",    || edit("a: &x [*x]\nimage: {tag: v1}\n"), "edited"),
        // Templates.
        ("endless loop",            || rendered("{{range 1000000000}}{{end}}"), "line 1: the template runs too long or writes too much"),
        ("loops in loops",          || rendered(&format!("{}x{}", "{{range 1000}}".repeat(9), "{{end}}".repeat(9))), "line 1: the template runs too long or writes too much"),
        ("deep recursion",          || rendered("{{define \"t\"}}{{template \"t\"}}{{end}}{{template \"t\"}}"), "line 1: exceeded maximum template depth"),
        ("deep nesting",            || rendered(&format!("{}x{}", "{{if 1}}".repeat(101), "{{end}}".repeat(101))), "line 1: nested more than 100 levels deep"),
        ("megabytes of output",     || rendered("{{range 1000}}{{printf \"%1000000d\" 1}}{{end}}"), "line 1: the template runs too long or writes too much"),
        ("template of 1 MB",        || rendered(&"x".repeat(MEGABYTE)), "line 1: 1048576 bytes are more than the 65536 allowed"),
        // Versions and names.
        ("64 bits",                 || version("18446744073709551615.1"), "18446744073709551615.1.0"),
        ("beyond 64 bits",          || version("18446744073709551616.1"), "no version"),
        ("pre-release beyond",      || version("1.0.0-18446744073709551616"), "1.0.0-18446744073709551616"),
        ("range beyond 64 bits",    || range(">=18446744073709551616", "1.0.0"), "constraint parser error: '18446744073709551616' is not a version"),
        ("range at its end",        || range("~18446744073709551615", "18446744073709551615.9.9"), "match"),
        ("tag of 128 characters",   || tag(&"1".repeat(128)).len().to_string(), "128"),
        ("tag of 129 characters",   || tag(&"1".repeat(129)), "a tag must have 1 to 128 characters, this one has 129"),
        ("NUL in a tag",            || tag("1.0\0"), "a tag cannot contain '\\0' at position 3"),
        ("right-to-left mark",      || tag("1.0\u{200f}"), "a tag cannot contain '\\u{200f}' at position 3"),
        ("right-to-left override",  || tag("\u{202e}0.1"), "a tag cannot contain '\\u{202e}' at position 0"),
        ("NUL in a version",        || version("1.0\0"), "no version"),
        ("NUL in a range",          || range("1.0\0", "1.0.0"), "improper constraint: 1.0\0"),
        ("NUL in an expression",    || expression("a\0", "a"), "no match"),
        ("NUL in a pattern",        || pattern("a\0", "a"), "no match"),
        ("mark in a pattern",       || pattern("*\u{200f}*", "1.0"), "no match"),
        ("NUL in YAML",             || edit("a: \0\nimage: {tag: v1}\n"), "line 1: not readable as YAML: unexpected character: `\\u{0}'"),
        ("marks in YAML",           || edit("\u{202e}a: \u{200f}b\nimage: {tag: v1}\n"), "edited"),
        ("NUL in a name",           || "a\0b:1".parse::<ConfiguredImage>().map_or_else(|error| error.to_string(), |image| image.to_string()), "a\0b:1"),
    ];
    let answers: Vec<String> =
        rows.iter().map(|(name, ask, _)| format!("{name}: {}", ask())).collect();
    let expected: Vec<String> =
        rows.iter().map(|(name, _, answer)| format!("{name}: {answer}")).collect();
    assert_eq!(answers, expected);
}
