//! Odd places in a text, each set, extended or refused on its own.

use super::tree::Style;
use super::{PARSED_BYTES, Plan, Slot, Tree, Value, guard, scalar};
use crate::edit::helm_values::{Assignment, Role, set};
use crate::edit::{EditError, Edited, Problem};

fn put(text: &str, path: &str, value: &str) -> Result<Edited, EditError> {
    set(text, &[Assignment { role: Role::Version, path, value }])
}

fn assert_edits(rows: &[(&str, &str, &str, &str)]) {
    for &(before, path, value, after) in rows {
        let edited = put(before, path, value);
        assert_eq!(edited, Ok(Edited::Changed(after.to_owned())), "{path} = {value} in {before:?}");
        assert_eq!(put(after, path, value), Ok(Edited::Unchanged), "again in {after:?}");
    }
}

#[test]
fn a_value_is_set_where_nothing_stands() {
    assert_edits(&[
        ("tag: # by CI\nb: 1\n", "tag", "v1", "tag: v1 # by CI\nb: 1\n"),
        ("tag:   # by CI\n", "tag", "v1", "tag: v1   # by CI\n"),
        ("tag: \nb: 1\n", "tag", "v1", "tag: v1\nb: 1\n"),
        ("tag:", "tag", "v1", "tag: v1"),
        ("tag: &t\nb: *t\n", "tag", "v1", "tag: &t v1\nb: *t\n"),
        ("tag: !!str\nb: 1\n", "tag", "1.20", "tag: !!str 1.20\nb: 1\n"),
        ("tag: !!null\n", "tag", "v1", "tag: !!str v1\n"),
        ("a: {tag: }\n", "a.tag", "v1", "a: {tag: v1}\n"),
        ("a: {tag:}\n", "a.tag", "v1", "a: {tag: v1}\n"),
        ("a: {tag, b: 1}\n", "a.tag", "v1", "a: {tag: v1, b: 1}\n"),
        ("tags:\n-\n- b\n", "tags[0]", "v1", "tags:\n- v1\n- b\n"),
        ("tags:\n- a\n-  # c\n- b\n", "tags[1]", "v1", "tags:\n- a\n- v1  # c\n- b\n"),
    ]);
}

#[test]
fn a_tag_that_forbids_strings_gives_way_and_others_stay() {
    assert_edits(&[
        ("tag: !!int 5\n", "tag", "v1", "tag: !!str v1\n"),
        ("tag: !!float &t 1.5 # c\n", "tag", "1.6", "tag: !!str &t 1.6 # c\n"),
        ("tag: !!str 1.0\n", "tag", "1.30", "tag: !!str 1.30\n"),
        ("tag: ! 1.0\n", "tag", "1.30", "tag: ! 1.30\n"),
        ("tag: !mine 1.0\n", "tag", "1.30", "tag: !mine \"1.30\"\n"),
        ("tag: !mine 1.0\n", "tag", "v1", "tag: !mine v1\n"),
    ]);
}

#[test]
fn block_scalars_keep_their_form_and_lose_their_last_line_break() {
    assert_edits(&[
        ("tag: | # c\n  v1\n\nb: 1\n", "tag", "v2", "tag: |- # c\n  v2\n\nb: 1\n"),
        ("tag: >2\n   v1\n  more\nb: 1\n", "tag", "v2", "tag: >-\n   v2\nb: 1\n"),
        ("tag: |+\n  v1\n\n\nb: 1\n", "tag", "v2", "tag: |-\n  v2\n\n\nb: 1\n"),
        ("tag: &t |\n\n\n    v1\nb: *t\n", "tag", "v2", "tag: &t |-\n    v2\nb: *t\n"),
        ("tag: |-\n  v1", "tag", "v2", "tag: |-\n  v2"),
        ("tag: |\n  v1\nb: 1\n", "tag", "a\nb", "tag: \"a\\nb\"\nb: 1\n"),
        ("tag: | # c\n  v1\n  v2\n", "tag", " x", "tag: \" x\" # c\n"),
        ("tag: |-\nb: 1\n", "tag", "v1", "tag: \"v1\"\nb: 1\n"),
        ("tag: |-", "tag", "v1", "tag: \"v1\""),
        ("tags:\n- |\n  v1\n- >\n  v2\n", "tags[1]", "v3", "tags:\n- |\n  v1\n- >-\n  v3\n"),
        (
            "a:\r\n  tag: |\r\n    v1\r\n  b: 1\r\n",
            "a.tag",
            "v2",
            "a:\r\n  tag: |-\r\n    v2\r\n  b: 1\r\n",
        ),
    ]);
}

#[test]
fn values_of_several_lines_become_one() {
    assert_edits(&[
        ("tag: v1\n  and more # c\nb: 1\n", "tag", "v2", "tag: v2 # c\nb: 1\n"),
        ("tag: \"v1\\\n  more\"\n", "tag", "v2", "tag: \"v2\"\n"),
        ("tag: 'v1\n\n  more'\n", "tag", "it's", "tag: 'it''s'\n"),
        ("tag: 'v1'\n", "tag", "a\tb", "tag: \"a\\tb\"\n"),
    ]);
}

#[test]
fn a_key_is_added_behind_the_last_value_and_before_what_belongs_to_the_next() {
    assert_edits(&[
        (
            "a:\n  b: 1 # c\n  # d\n\n# e\nf: 1\n",
            "a.t",
            "v",
            "a:\n  b: 1 # c\n  t: v\n  # d\n\n# e\nf: 1\n",
        ),
        ("a:\n  b: |\n    x\n\n\nf: 1\n", "a.t", "v", "a:\n  b: |\n    x\n  t: v\n\n\nf: 1\n"),
        ("a:\n  b: |+\n    x\n\nf: 1\n", "a.t", "v", "a:\n  b: |+\n    x\n\n  t: v\nf: 1\n"),
        ("a:\n  b:\n  - x\n  -\n\nf: 1\n", "a.t", "v", "a:\n  b:\n  - x\n  -\n  t: v\n\nf: 1\n"),
        ("a:\n  b:\nf: 1\n", "a.t", "v", "a:\n  b:\n  t: v\nf: 1\n"),
        ("a:\n  b: [\n  ] # c\nf: 1\n", "a.t", "v", "a:\n  b: [\n  ] # c\n  t: v\nf: 1\n"),
        ("a:\n- b: 1\n- c: 1\n", "a[0].t", "v", "a:\n- b: 1\n  t: v\n- c: 1\n"),
        ("a:\n-   b: 1\n", "a[0].t", "v", "a:\n-   b: 1\n    t: v\n"),
        ("a:\n    b: 1", "a.t", "v", "a:\n    b: 1\n    t: v"),
        ("a:\n    b: 1", "c.t", "v", "a:\n    b: 1\nc:\n    t: v"),
        ("\u{feff}a: 1\n", "t", "v", "\u{feff}a: 1\nt: v\n"),
        ("a: 1\r\nb: 2", "t", "v", "a: 1\r\nb: 2\r\nt: v"),
        ("? a\n: b: 1\n", "a.t", "v", "? a\n: b: 1\n  t: v\n"),
        ("&k a: 1\n", "t", "v", "&k a: 1\nt: v\n"),
        ("--- &r\na: 1\n...\n# c\n", "t", "v", "--- &r\na: 1\nt: v\n...\n# c\n"),
        ("a: 1\n---\nb: 1\n", "t", "v", "a: 1\nt: v\n---\nb: 1\n"),
        ("---\n# c\n---\nb: 1\n", "t", "v", "---\n# c\nt: v\n---\nb: 1\n"),
        ("# c", "t", "v", "# c\nt: v"),
        ("a: 1\n", "on.y", "off", "a: 1\n\"on\":\n  \"y\": \"off\"\n"),
    ]);
}

#[test]
fn keys_in_braces_stay_in_braces() {
    assert_edits(&[
        ("a: { b: 1 } # c\n", "a.t", "v", "a: { b: 1, t: v } # c\n"),
        ("a: {b: 1,}\n", "a.t", "v", "a: {b: 1, t: v}\n"),
        ("a: { }\n", "a.t", "v", "a: {t: v}\n"),
        ("a: { # c\n}\n", "a.t", "v", "a: { # c\nt: v}\n"),
        ("a: {\n  b: 1, # c\n  d: 2\n}\n", "a.t", "v", "a: {\n  b: 1, # c\n  d: 2,\n  t: v\n}\n"),
        ("a: {b: 1}\n", "a.c.t", "x, y", "a: {b: 1, c: {t: \"x, y\"}}\n"),
        ("a: [{b: 1}]\n", "a[0].t", "v", "a: [{b: 1, t: v}]\n"),
        (
            "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}\n",
            "a.t",
            "v",
            "{\n\t\"a\": {\n\t\t\"b\": 1,\n\t\t\"t\": \"v\"\n\t}\n}\n",
        ),
        ("{\"a\": {\"tag\": null}}", "a.tag", "v1", "{\"a\": {\"tag\": \"v1\"}}"),
        ("{\"a\": {}}", "a.t", "v", "{\"a\": {\"t\": \"v\"}}"),
    ]);
}

#[test]
fn an_anchored_value_moves_for_everyone_and_the_last_anchor_of_a_name_counts() {
    assert_edits(&[
        ("x: &a 1\ny: &a 2\ntag: *a\n", "tag", "v1", "x: &a 1\ny: &a v1\ntag: *a\n"),
        ("x: &a [v0]\ntags: *a\n", "tags[0]", "v1", "x: &a [v1]\ntags: *a\n"),
        ("x: &a {b: 1}\nimage: *a\n", "image.tag", "v1", "x: &a {b: 1, tag: v1}\nimage: *a\n"),
    ]);
}

#[test]
fn refusals_name_the_line() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let indented = (0..300).map(|at| " ".repeat(at) + "a:\n").collect::<String>();
    #[rustfmt::skip]
    let rows = [
        ("a: 1\nb: 1\na: 2\n", "line 3: the key 'a' stands twice in one mapping; remove one of them"),
        ("a:\n  tag: 1\n  \"tag\": 2\n", "line 3: the key 'tag' stands twice in one mapping; remove one of them"),
        ("a: 1\n{{- if .x }}\nb: 1\n{{- end }}\n", "line 2: the file holds template actions ({{ … }}); name a file that is plain YAML as the target"),
        ("a: 1\ntag: {{ .x }}\n", "line 2: the file holds template actions ({{ … }}); name a file that is plain YAML as the target"),
        ("a: \"{{ .x }}\"\nb: [\n", "line 2: not readable as YAML: unclosed bracket '['"),
        ("a: *b\n", "line 1: not readable as YAML: while parsing node, found unknown anchor"),
        (&deep, "line 1: not readable as YAML: recursion limit exceeded"),
        (&indented, "line 256: not readable as YAML: recursion limit exceeded"),
    ];
    for (text, expected) in rows {
        let error = put(text, "tag", "v1").map_err(|error| error.to_string());
        assert_eq!(error, Err(expected.to_owned()), "{:?}", &text[..text.len().min(80)]);
    }
}

#[test]
fn what_is_inserted_at_one_place_comes_in_the_order_of_its_depth() {
    let list = Value::Sequence(vec![Value::text("x")]);
    #[rustfmt::skip]
    let rows = [
        ("a:\n- 1\n", "a:\n- 1\n- x\nb: z\n"),
        ("a:\n  - 1", "a:\n  - 1\n  - x\nb: z"),
        ("a: []\n", "a:\n- x\nb: z\n"),
        ("a: # c", "a: # c\n- x\nb: z"),
    ];
    for (before, after) in rows {
        let tree = Tree::parse(before).unwrap();
        let mut plan = Plan::new(&tree);
        let root = tree.root(0).unwrap().unwrap();
        let a = tree.get(root, "a").unwrap();
        plan.put(Some(root), &["b"], Value::text("z")).unwrap();
        if tree.items(a).is_empty() {
            plan.fill(a, list.clone());
        } else {
            plan.arrange(a, vec![Slot::Old(0), Slot::New(Value::text("x"))]);
        }
        assert_eq!(plan.finish(), Ok(Edited::Changed(after.to_owned())), "{before:?}");
    }
}

#[test]
fn the_guard_refuses_what_would_change_more() {
    // What Go's readers take for `x` would become `x` and a line break.
    let error = put("a: |\n  x", "t", "v").unwrap_err();
    assert_eq!(error.problem, Problem::Guard("'a'".to_owned()));
    // A key without a colon, behind a question mark, would swallow the value.
    let error = put("? tag\nb: 1\n", "tag", "v1").unwrap_err();
    assert!(matches!(error.problem, Problem::Guard(_)), "{error}");
    // The anchor goes, its alias stays.
    let tree = Tree::parse("a: {d: &d 1, e: 2}\nb: *d\n").unwrap();
    let mut plan = Plan::new(&tree);
    let mapping = tree.get(tree.root(0).unwrap().unwrap(), "a").unwrap();
    plan.drop_key(mapping, "d");
    let error = plan.finish().unwrap_err();
    assert!(error.to_string().contains("unknown anchor"), "{error}");
}

#[test]
fn the_guard_sees_every_other_difference() {
    let text = "a: &x v1 # c\nb: [1, *x]\nc: {d: 'e'}\nf: &y 1\ntag: v1\n";
    let tree = Tree::parse(text).unwrap();
    let mut plan = Plan::new(&tree);
    let root = tree.root(0).unwrap().unwrap();
    plan.set(tree.get(root, "tag").unwrap(), "v2").unwrap();
    let planned = text.replace("tag: v1", "tag: v2");
    assert_eq!(guard::check(&plan, &planned), Ok(()));
    assert_eq!(guard::check(&plan, &planned.replace(" # c", "")), Ok(()), "comments are bytes");
    #[rustfmt::skip]
    let tampered = [
        ("tag: v2", "tag: v1"), ("tag: v2", "tag: v3"), ("tag: v2", "tag: [v2]"), ("tag: v2", "tag: *x"),
        ("tag: v2", "tag: !!int v2"), ("tag: v2", "tag: &z v2"), ("tag: v2\n", ""), ("tag:", "tags:"),
        ("&x v1", "&x v2"), ("&x v1", "&x 'v1'"), ("&x v1", "&x !!str v1"), ("&x v1", "&x\n  v1: 1"),
        ("1, *x", "1"), ("1, *x", "*x, 1"), ("1, *x", "1, v1"), ("1, *x", "1, *x, 2"), ("[1, *x]", "{1, *x : }"),
        ("b: [1, *x]", "b:\n- 1\n- *x"), ("'e'", "e"), ("'e'", "'e', g: 1"), ("d:", "e:"), ("{d: 'e'}", "{}"),
        ("c: {d: 'e'}\n", ""), ("f: &y 1", "f: &z 1"), ("f: &y 1", "f: 1"), ("f:", "f: 2\ng:"), ("f:", "c:"),
        ("a:", "---\n---\na:"), ("tag", "---\ntag"), ("a: &x", "a: x &x"), ("[1", "[[1"),
    ];
    for (from, to) in tampered {
        let text = planned.replacen(from, to, 1);
        assert!(guard::check(&plan, &text).is_err(), "{from} became {to}");
    }
    // An alias that is led elsewhere, with all names in place.
    let text = "a: &x 1\nb: *x\nc: &x 1\nd: *x\nlist: [*x, 2]\n";
    let tree = Tree::parse(text).unwrap();
    let mut plan = Plan::new(&tree);
    let root = tree.root(0).unwrap().unwrap();
    let list = tree.get(root, "list").unwrap();
    plan.arrange(list, vec![Slot::Old(1), Slot::Old(0)]);
    assert!(matches!(plan.finish(), Ok(Edited::Changed(_))));
    let tree = Tree::parse("list: [&x 1, *x, &x 2, *x]\n").unwrap();
    let mut plan = Plan::new(&tree);
    let list = tree.get(tree.root(0).unwrap().unwrap(), "list").unwrap();
    plan.arrange(list, vec![Slot::Old(0), Slot::Old(2), Slot::Old(1), Slot::Old(3)]);
    let error = plan.finish().unwrap_err();
    assert_eq!(error.problem, Problem::Guard("'list[1]'".to_owned()));
}

/// Documents before and behind the ones that change are compared, not parsed again.
#[test]
fn the_guard_sees_differences_in_every_document() {
    let text = "a: |+\n  1\n\n---\ntag: v1\n---\nb: 2\n";
    let tree = Tree::parse(text).unwrap();
    let mut plan = Plan::new(&tree);
    let root = tree.root(1).unwrap().unwrap();
    plan.set(tree.get(root, "tag").unwrap(), "v2").unwrap();
    let planned = text.replace("tag: v1", "tag: v2");
    assert_eq!(guard::check(&plan, &planned), Ok(()));
    #[rustfmt::skip]
    let tampered = [
        ("tag: v2", "tag: v1"), ("tag: v2", "tag: v2\nc: 3"), ("tag: v2", "tag: [v2"), ("tag: v2\n", "tag: v2"),
        ("a: |+", "b: |+"), ("  1\n\n", "  1\n"), ("b: 2", "b: 3"), ("b: 2\n", ""), ("b: 2\n", "b: 2\n---\n"),
        ("---\ntag", "tag"), ("---\ntag", "--- \n---\ntag"), ("---\ntag", "...\ntag"), ("---\nb", "b"),
        ("---\nb", "---\n---\nb"), ("---\nb", " ---\nb"), ("v2\n---", "v2\n...\n---\n---"),
    ];
    for (from, to) in tampered {
        let text = planned.replacen(from, to, 1);
        assert!(guard::check(&plan, &text).is_err(), "{from} became {to}");
    }
    let refused = guard::check(&plan, &planned.replace("v2", "[")).unwrap_err();
    assert!(refused.to_string().contains("line 5"), "{refused}");
}

#[test]
fn the_guard_parses_the_documents_that_change() {
    let parsed = |text: &str, documents: &[usize]| {
        let tree = Tree::parse(text).unwrap();
        let mut plan = Plan::new(&tree);
        for &document in documents {
            let root = tree.root(document).unwrap().unwrap();
            plan.set(tree.get(root, "tag").unwrap(), "new").unwrap();
        }
        let before = PARSED_BYTES.get();
        let Ok(Edited::Changed(text)) = plan.finish() else { panic!("{text} is not changed") };
        (PARSED_BYTES.get() - before, text.len())
    };
    let document = "---\ntag: old\n";
    let many = document.repeat(1_000);
    for at in [[0], [500], [999]] {
        assert_eq!(parsed(&many, &at), (document.len(), many.len()), "document {at:?}");
    }
    assert_eq!(parsed(&many, &[3, 700]).0, 698 * document.len());
    // Without a marker of its own a document is read with what stands around it.
    let (all, length) =
        parsed("tag: old\n...\n# c\ntag: old\n...\n%YAML 1.2\n---\ntag: old\n", &[1]);
    assert_eq!(all, length);
}

#[test]
fn keys_go_with_their_lines() {
    #[rustfmt::skip]
    let rows = [
        // text, keys that go, what is left
        ("a: 1\nb: 2 # c\nc: 3\n", "b", "a: 1\nc: 3\n"),
        ("a: 1\nb: 2\n# c\n", "b", "a: 1\n# c\n"),
        ("a: 1\r\nb: 2", "b", "a: 1"),
        ("a: 1\nb: |\n  x\n\nc: 3\n", "b", "a: 1\n\nc: 3\n"),
        ("a: 1\nb:\n- x\n- y\nc: 3\n", "b", "a: 1\nc: 3\n"),
        ("a: 1\n? b\n: 2\nc: 3\n", "b", "a: 1\nc: 3\n"),
        ("a: 1\n\"b\": 2\nc: 3\n", "a b", "c: 3\n"),
        ("{a: 1, b: 2, c: 3}\n", "a", "{b: 2, c: 3}\n"),
        ("{a: 1, b: 2, c: 3}\n", "b c", "{a: 1}\n"),
        ("{a: 1, b: 2,}\n", "b", "{a: 1,}\n"),
    ];
    for (text, keys, left) in rows {
        let tree = Tree::parse(text).unwrap();
        let mut plan = Plan::new(&tree);
        for key in keys.split(' ') {
            plan.drop_key(tree.root(0).unwrap().unwrap(), key);
        }
        assert_eq!(plan.finish(), Ok(Edited::Changed(left.to_owned())), "{keys} of {text:?}");
    }
}

#[test]
fn the_first_keys_of_a_list_item_leave_its_dash() {
    #[rustfmt::skip]
    let rows = [
        ("- a: 1\n  b: 2\n", "a", "- b: 2\n"),
        ("- a: 1\n  b: 2\n  c: 3\n", "a b", "- c: 3\n"),
        ("- a: 1 # of a\n  # of b\n  b: 2\n", "a", "-\n  # of b\n  b: 2\n"),
        ("- a: 1\n  b: 2", "b", "- a: 1"),
    ];
    for (text, keys, left) in rows {
        let tree = Tree::parse(text).unwrap();
        let mut plan = Plan::new(&tree);
        let item = tree.items(tree.root(0).unwrap().unwrap())[0];
        for key in keys.split(' ') {
            plan.drop_key(item, key);
        }
        assert_eq!(plan.finish(), Ok(Edited::Changed(left.to_owned())), "{keys} of {text:?}");
    }
}

/// Specification of manifest edits, "Plain or quoted".
#[test]
fn texts_are_quoted_where_some_reader_would_not_see_a_string() {
    let plain = [
        "v1.0.0",
        "1.2.3",
        "latest",
        "sha256-abc",
        "release-2024",
        "acme/web:1.0@sha256:aa",
        "sha-0e1234",
        "myapp",
        "-latest",
        "a'b",
        "a\"b",
        "\\",
        "v1#c",
        "é",
        "日本",
        "NaN",
        "1.0.0-rc.1",
        "_x",
        "1e",
        "0x",
        "12:345",
        "yesterday",
        "nullable",
        "1-2-3",
        "Infinity",
    ];
    let quoted = [
        "",
        "1.20",
        "16",
        "0755",
        "0x1F",
        "0o17",
        "0b11",
        "1e3",
        "12e03",
        ".5",
        ".inf",
        "-.INF",
        "+12",
        "1_000",
        "2024-01-02",
        "2024-01-02T10:00:00Z",
        "1:30",
        "190:20:30.15",
        "true",
        "False",
        "yes",
        "No",
        "ON",
        "off",
        "y",
        "N",
        "null",
        "~",
        "*a",
        "&a",
        "@r",
        "!x",
        "%x",
        "`x",
        "a: b",
        "tag #1",
        "text\ttab",
        "a\nb",
        " lead",
        "trail ",
        "x:",
        "-",
        "- x",
        "--- x",
        "...",
        "#c",
        "?x",
        "<<",
        "=",
        ".nan",
        "00",
        "1.",
        "1e400",
        "[a]",
        "{a}",
        ">",
        "|",
        "\u{feff}x",
        "a\u{2028}b",
    ];
    for text in plain {
        assert_eq!(scalar::print(text, Style::Plain, false, false), text);
    }
    for text in quoted {
        let printed = scalar::print(text, Style::Plain, false, false);
        assert!(printed.starts_with('"'), "{text:?} was printed {printed}");
    }
    for (text, flow) in [("a,b", true), ("a]", true), ("-]", true), ("a,b", false)] {
        let printed = scalar::print(text, Style::Plain, flow, false);
        assert_eq!(printed.starts_with('"'), flow, "{text} was printed {printed}");
    }
}

#[test]
fn new_lists_take_the_files_dashes() {
    let entries = Value::Sequence(vec![Value::Mapping(vec![
        ("name".to_owned(), Value::text("a")),
        ("list".to_owned(), Value::Sequence(vec![Value::text("1"), Value::Flag(true)])),
    ])]);
    #[rustfmt::skip]
    let rows = [
        ("a: 1\n", "a: 1\nnew:\n- name: a\n  list:\n  - \"1\"\n  - true\n"),
        ("a:\n  - 1\n", "a:\n  - 1\nnew:\n  - name: a\n    list:\n      - \"1\"\n      - true\n"),
        ("a:\n- 1\nb:\n  - 1\n", "a:\n- 1\nb:\n  - 1\nnew:\n- name: a\n  list:\n  - \"1\"\n  - true\n"),
        ("{}", "{new: [{name: a, list: [\"1\", true]}]}"),
    ];
    for (before, after) in rows {
        let tree = Tree::parse(before).unwrap();
        let mut plan = Plan::new(&tree);
        plan.put(tree.root(0).unwrap(), &["new"], entries.clone()).unwrap();
        assert_eq!(plan.finish(), Ok(Edited::Changed(after.to_owned())));
    }
}
