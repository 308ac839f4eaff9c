use super::*;

fn compiled(text: &str) -> GoRegexp {
    GoRegexp::new(text).unwrap_or_else(|error| panic!("'{text}': {error}"))
}

/// Where the `regex` crate alone would say something else; the vectors hold the long list.
#[test]
fn expressions_mean_what_go_means() {
    #[rustfmt::skip]
    let rows = [
        // expression, finds, does not find
        (r"^\d+$",         "19",       "٣"),
        (r"^\w$",          "_",        "é"),
        (r"(?i)^\w$",      "ſ",        "é"),
        (r"(?i)^\W$",      "é",        "ſ"),
        (r"a\b",           "aé",       "ab"),
        (r"é\B",           "é",        "éa"),
        (r".ß|\B",         "vß1",      "v"),
        (r"^[a&&b]$",      "&",        "c"),
        (r"^[[a]b]$",      "[b]",      "b"),
        (r"^a{,2}$",       "a{,2}",    "a"),
        (r"^a{02}$",       "a{02}",    "aa"),
        (r"^(a+)?$",       "",         "b"),
        (r"^(a{2}){3}$",   "aaaaaa",   "aaa"),
        (r"^(?:(b?)+)?c$", "c",        "b"),
        (r"^\Qa.b\E$",     "a.b",      "axb"),
        (r"^\Qab\E*$",     "abb",      "abab"),
        (r"^\101$",        "A",        "101"),
        (r"^[^a]$",        "\n",       "a"),
        (r"^\p{greek}$",   "α",        "a"),
        (r"^\P{^L}$",      "a",        "1"),
        (r"x|^(?i)a|b$",   "B",        "X"),
        (r"(?i:a)b$",      "Ab",       "AB"),
        (r"(?i-s:a.)b$",   "A.b",      "A\nb"),
        (r"\x{d800}|b",    "b",        "a"),
        (r"^[\x{d700}-\x{e000}]$", "\u{d700}", "\u{e001}"),
        (r"[^\x{d7ff}\x{e000}]", "a", "\u{d7ff}"),
        (r"[^\x{d7ff}-\x{e000}]", "\u{d7fe}", "\u{e000}"),
    ];
    for (expression, found, missed) in rows {
        let compiled = compiled(expression);
        assert!(compiled.is_match(found), "{expression} finds {found:?}");
        assert!(!compiled.is_match(missed), "{expression} does not find {missed:?}");
    }
}

#[test]
fn broken_expressions_say_why() {
    #[rustfmt::skip]
    let rows = [
        (r"\Z",             r"invalid escape sequence: `\Z`"),
        (r"(a)\1",          r"invalid escape sequence: `\1`"),
        (r"a\",             r"trailing backslash at end of expression"),
        (r"[b-a]",          r"invalid character class range: `b-a`"),
        (r"[a-\d]",         r"invalid escape sequence: `\d`"),
        (r"[[:foo:]]",      r"invalid character class range: `[:foo:]`"),
        (r"\p{sc=Greek}",   r"invalid character class range: `\p{sc=Greek}`"),
        (r"\p{Grek}",       r"invalid character class range: `\p{Grek}`"),
        (r"x[a",            r"missing closing ]: `[a`"),
        (r"(a",             r"missing closing ): `(a`"),
        (r"a)",             r"unexpected )"),
        (r"(?P<n-a>a)",     r"invalid named capture: `(?P<n-a>`"),
        (r"(?-)a",          r"invalid or unsupported Perl syntax: `(?-)`; for look-around, exclude tags by ignore patterns instead"),
        (r"*-alpine",       r"missing argument to repetition operator: `*`; write `.*` for any text"),
        (r"a{2}??",         r"invalid nested repetition operator: `{2}??`"),
        (r"((a{10}){0,10}){11}", r"invalid repeat count: `{11}`"),
        (r"a{99999999999}", r"invalid repeat count: `{99999999999}`"),
    ];
    for (expression, message) in rows {
        let error = GoRegexp::new(expression).expect_err(expression);
        assert_eq!((error.to_string().as_str(), error.reason()), (message, "AllowTagsSyntax"));
    }
}

/// Whoever may write an annotation must not be able to stop the program.
#[test]
fn hostile_expressions_are_bounded() {
    let nested = |open: &str, close: &str| format!("{}a{}", open.repeat(999), close.repeat(999));
    #[rustfmt::skip]
    let rows = [
        ("a".repeat(1024 * 1024),      "expression too long: 1048576 bytes, at most 32768 are read"),
        ("(".repeat(30_000),           "expression nests too deeply"),
        (nested("(x", ")*"),           "expression nests too deeply"),
        (r"(?:\pL{100}){10}".into(),   "expression too large: it would take too much memory to match"),
        ("(a|b|c){1000}".repeat(2000), "expression too large: it would take too much memory to match"),
        (r"\pL".repeat(10_000),        "expression too large: it would take too much memory to match"),
    ];
    for (expression, message) in rows {
        let error = GoRegexp::new(&expression).expect_err(message);
        assert_eq!(error.to_string(), message);
    }
    assert!(!compiled("(a+)+$").is_match(&format!("{}b", "a".repeat(10_000))));
    assert!(compiled(&nested("(", ")")).is_match("a"));
    let quoted = GoRegexp::new(&"[a".repeat(10_000)).unwrap_err().to_string();
    assert!(quoted.len() < 100, "messages stay readable: {quoted}");
}
