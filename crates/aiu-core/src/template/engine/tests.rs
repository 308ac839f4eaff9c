use std::collections::BTreeMap;

use super::*;

/// `.Name`, `.Items` (of which each has `.Tag`) and `.Labels`.
fn data() -> Value {
    let labels = BTreeMap::from([("b".to_owned(), "2".to_owned()), ("a".into(), "1".into())]);
    let item = |tag| Value::record("item", vec![("Tag", Value::text(tag))]);
    Value::record(
        "data",
        vec![
            ("Name", Value::text("shop")),
            ("Items", Value::list([item("1.0"), item("1.1")])),
            ("Labels", Value::map(&labels)),
        ],
    )
}

/// The text, or what is wrong and whether that shows on reading or on rendering.
fn rendered(template: &str) -> String {
    match Engine::parse(template).map(|engine| engine.render(&data())) {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => format!("[fails] {error}"),
        Err(error) => format!("[invalid] {error}"),
    }
}

/// What the vectors cannot show, or show among many other things.
#[test]
fn templates_mean_what_go_means() {
    #[rustfmt::skip]
    let rows = [
        // text and trimming
        ("a \n {{- .Name -}} \n b",                         "ashopb"),
        ("{{/* said */ -}}  x{{- /* more */}}",             "x"),
        ("{{/*/}} */}}x",                                   "x"),
        ("{{-3}}{{- 3}}",                                   "-33"),
        // control structures
        ("{{range .Items}}{{.Tag}} {{end}}",                "1.0 1.1 "),
        ("{{range $i, $x := .Items}}{{$i}}{{$x.Tag}} {{end}}", "01.0 11.1 "),
        ("{{range $k, $v := .Labels}}{{$k}}{{$v}}{{end}}",  "a1b2"),
        ("{{range $k := .Labels}}{{$k}}{{end}}",            "12"),
        ("{{$x := 2}}{{range $i, $x}}{{$i}}{{end}}",        "01"),
        ("{{range 3}}{{.}}{{end}}{{range 0}}{{else}}-{{end}}", "012-"),
        ("{{$x := 0}}{{range $x = .Items}}{{end}}{{$x.Tag}}", "1.1"),
        ("{{range .Items}}{{range 2}}{{break}}{{end}}{{.Tag}}{{end}}", "1.01.1"),
        ("{{range .Items}}{{range 0}}{{else}}{{break}}{{end}}x{{end}}", "xx"),
        ("{{if .Labels.c}}a{{else if .Labels.b}}b{{else}}c{{end}}", "b"),
        ("{{with .Labels.c}}a{{else with .Labels.b}}{{.}}{{end}}", "2"),
        ("{{with $x := .Name}}{{$x}}{{$.Name}}{{.}}{{end}}", "shopshopshop"),
        ("{{define \"t\"}}<{{.}}{{$}}>{{end}}{{template \"t\" .Name}}{{template \"t\"}}", "<shopshop><<no value><no value>>"),
        ("{{block \"b\" .Name}}[{{.}}]{{end}}",             "[shop]"),
        // values
        ("{{.Labels.nope.more 1}}",                         "<no value>"),
        ("{{.Labels.nope}} {{index .Labels \"nope\"}}|",    "<no value> |"),
        ("{{.}}",                                           "{shop [{1.0} {1.1}] map[a:1 b:2]}"),
        ("{{print 1 2 \"a\" 3 nil}}",                       "1 2a3 <nil>"),
        (r#"{{"\\\u00e9\x41\101\t"}}{{`\n`}}"#,             "\\éAA\t\\n"),
        ("{{'a'}} {{0x1F}} {{1_000}} {{017}} {{1e3}} {{.5}}", "97 31 1000 15 1000 0.5"),
        ("{{1_0.2_5}} {{1e1_0}}",                           "10.25 1e+10"),
        ("{{1 | printf \"%d%d\" 2 | len}}",                 "2"),
        ("{{or .Labels.c .Name | printf \"%q\"}}",          "\"shop\""),
        ("{{printf \"%-4v|%04d|%+d|%x|%.1f|%6.2e|%g\" 1 2 3 .Name 1.25 1250.0 1e9}}", "1   |0002|+3|73686f70|1.2|1.25e+03|1e+09"),
        ("{{printf \"%#g|%#.3g|%#.0e|%#v\" 1.5 0.0 1250.0 1.0}}", "1.50000|0.00|1.e+03|1"),
        ("{{printf \"%#U|%#U|%w\" -1 65 .Labels}}",         "U+FFFFFFFFFFFFFFFF|U+0041 'A'|%!w(map[string]string=map[a:1 b:2])"),
        ("{{range .Items}}{{printf \"%p\" .}}{{break}}{{end}}", "%!p(item={1.0})"),
        ("{{printf \"%.2T|%.T|\" 1 1}}",                    "in||"),
        ("{{len (printf \"%0100000d%.100000d%.100000U\" 1 2 3)}}", "300002"),
        ("{{len (printf \"%.100000f%.100000e%.100000g%0100000f\" 1.5 1.5 1.5 -1.5)}}", "300011"),
        ("{{printf \"%[]\" 1}} {{printf \"%[]d\" 1}}",        "%!](BADINDEX) %!d(BADINDEX)"),
        ("{{printf \"%.\" 1}} {{printf \"%5.|\" 1}}",         "%!.(int=1) %!|(int=    1)"),
        ("{{len (printf \"%1000001d\" 1)}}",                "1000001"),
        ("{{printf \"%d %[1]q %s\" .Name}}",                "%!d(string=shop) \"shop\" %!s(MISSING)"),
        // mistakes
        ("x\n{{.Nope}}",                                    "[fails] line 2: can't evaluate field Nope in type data"),
        ("{{eq 1 \"1\"}}",                                  "[fails] line 1: error calling eq: incompatible types for comparison: int and string"),
        ("{{lt .Items 1}}",                                 "[fails] line 1: error calling lt: []item has no order"),
        ("{{index .Items 2}}",                              "[fails] line 1: error calling index: index out of range: 2"),
        ("{{index .Labels.nope}}",                          "[fails] line 1: error calling index: index of untyped nil"),
        ("{{slice \"é\" 0 1}}",                             "[fails] line 1: error calling slice: 0:1 cuts a character of \"é\""),
        ("{{$x = 1}}",                                      "[fails] line 1: undefined variable: $x"),
        ("{{.Name .Name}}",                                 "[fails] line 1: Name has arguments but cannot be invoked as function"),
        ("{{$x := .}}{{$x.Name 1}}",                        "[fails] line 1: Name has arguments but cannot be invoked as function"),
        ("{{template \"t\"}}",                              "[fails] line 1: template \"t\" not defined"),
        ("a\nb{{lower .Name}}",                             "[invalid] line 2: function \"lower\" not defined"),
        ("{{if .Name}}",                                    "[invalid] line 1: unexpected EOF"),
        ("{{.Name",                                         "[invalid] line 1: unclosed action"),
        ("{{break}}",                                       "[invalid] line 1: {{break}} outside {{range}}"),
        ("{{1 | 2}}",                                       "[invalid] line 1: non executable command in pipeline stage 2"),
        ("{{.Name)}}",                                      "[invalid] line 1: unexpected right paren"),
        ("{{if .Name}}{{else}}{{else}}{{end}}",             "[invalid] line 1: expected end; found {{else}}"),
        ("{{define \"t\"}}a{{end}}{{define \"t\"}}b{{end}}", "[invalid] line 1: multiple definition of template \"t\""),
        ("{{range $i, .Items}}{{end}}",                     "[invalid] line 1: range can only initialize variables"),
        ("{{1_.5}}",                                        "[invalid] line 1: illegal number syntax: \"1_.5\""),
        ("{{\"\\x1é\"}}",                                   "[invalid] line 1: invalid syntax in \"\\x1é\""),
    ];
    for (template, expected) in rows {
        assert_eq!(rendered(template), expected, "{template}");
    }
}

/// Whoever may write an annotation must not be able to stop the program.
#[test]
fn hostile_templates_are_bounded() {
    let too_long = "[fails] line 1: the template runs too long or writes too much";
    let too_long_to_print =
        "[fails] line 1: error calling printf: the template runs too long or writes too much";
    let too_deep = "[fails] line 1: exceeded maximum template depth";
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    #[rustfmt::skip]
    let rows = [
        ("{{range 1000000000}}{{end}}".to_owned(),                                   too_long),
        (nested("{{range 1000}}", "x", "{{end}}", 9),                                too_long),
        ("{{$s := \"xxxxxxxx\"}}{{range 99}}{{$s = print $s $s}}{{end}}".to_owned(), too_long),
        ("{{range 1000}}{{printf \"%1000000d\" 1}}{{end}}".to_owned(),               too_long),
        (format!("{{{{printf \"{}\" 1}}}}", "%1000000[1]v".repeat(2_000)),            too_long_to_print),
        ("{{define \"t\"}}{{template \"t\"}}{{end}}{{template \"t\"}}".to_owned(),   too_deep),
        (nested("{{if 1}}", "x", "{{end}}", 101),  "[invalid] line 1: nested more than 100 levels deep"),
        (format!("{{{{{}}}}}", nested("(", "1", ")", 101)),  "[invalid] line 1: nested more than 100 levels deep"),
    ];
    for (template, expected) in rows {
        assert_eq!(rendered(&template), expected, "{template:.80}");
    }
}

/// The deepest that is let through fits into the stack of an ordinary thread.
#[test]
fn the_deepest_template_fits_the_stack() {
    let parentheses = format!("{}1{}", "(".repeat(97), ")".repeat(97));
    let template = format!(
        "{{{{define \"t\"}}}}{{{{range 1}}}}{{{{with 1}}}}{{{{{parentheses}}}}}{{{{template \"t\"}}}}\
         {{{{end}}}}{{{{end}}}}{{{{end}}}}{{{{template \"t\"}}}}"
    );
    assert_eq!(rendered(&template), "[fails] line 1: exceeded maximum template depth");
    let nested = format!("{}x{}", "{{range 1}}".repeat(100), "{{end}}".repeat(100));
    assert_eq!(rendered(&nested), "x");
}
