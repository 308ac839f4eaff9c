//! Texts made to hurt: what cannot be edited is refused, and nothing takes more than its bytes.

use aiu_core::edit::helm_values::{Assignment, Role, set};
use aiu_core::edit::{Edited, FileKind, Keys, Wish, apply};

const SET: [Assignment<'static>; 1] =
    [Assignment { role: Role::Version, path: "image.tag", value: "v2" }];

/// The text with `tag: v1` in its place becomes the same with `v2`.
fn assert_sets(text: &str) {
    let expected = text.replacen("tag: v1", "tag: v2", 1);
    assert!(set(text, &SET) == Ok(Edited::Changed(expected)), "{:?}…", &text[..60]);
}

#[test]
fn aliases_are_not_expanded() {
    let mut bomb = String::from("a0: &a0 [lol, lol]\n");
    for level in 1..60 {
        let below = format!("*a{}", level - 1);
        bomb.extend([format!("a{level}: &a{level} [{below}, {below}, {below}, {below}]\n")]);
    }
    assert_sets(&format!("{bomb}image:\n  tag: v1\n"));
    // A list that is an element of itself.
    assert_sets("x: &x [*x, {y: *x}]\nimage:\n  tag: v1\n");
    let maps = "a: &a {b: *c}\n";
    assert!(set(maps, &SET).is_err(), "an alias to nothing");
}

#[test]
fn a_list_that_is_used_often_is_looked_at_once() {
    let items = "  - image: acme/web:1\n".repeat(1_000);
    let users = "---\n".to_owned()
        + &format!("pod: &pod\n{items}")
        + &(0..1_000)
            .map(|at| format!("u{at}: {{containers: *pod}}\n"))
            .collect::<Vec<_>>()
            .concat();
    let wish = Wish { keys: Keys::Manifest, image: "acme/web:2".parse().unwrap() };
    let edited = apply(FileKind::Manifest, Some(&users), &[wish]);
    assert!(edited == Ok(Edited::Changed(users.replace("web:1", "web:2"))));
}

#[test]
fn nesting_is_bounded() {
    let depth = 10_000;
    let deep = [
        "[".repeat(depth),
        "{a: ".repeat(depth),
        "- ".repeat(depth),
        "? ".repeat(depth),
        "[".repeat(depth) + &"]".repeat(depth),
        "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth),
        (0..400).map(|at| " ".repeat(at) + "a:\n").collect::<String>(),
    ];
    for text in deep {
        let error = set(&text, &SET).unwrap_err().to_string();
        assert!(error.contains("recursion limit exceeded"), "{error}");
    }
    // The deepest that is read can be dropped, compared and edited.
    let nested = "a: ".to_owned() + &"[".repeat(250) + &"]".repeat(250);
    assert_sets(&format!("{nested}\nimage:\n  tag: v1\n"));
    let path = vec!["a"; 10_000].join(".");
    let assignment = Assignment { role: Role::Name, path: &path, value: "v" };
    let error = set("b: 1\n", &[assignment]).unwrap_err().to_string();
    assert!(error.contains("more than 64 parts"), "{error}");
}

#[test]
fn big_scalars_and_long_lines_cost_their_length() {
    let size = 500_000;
    let line = "x".repeat(size);
    assert_sets(&format!("big: {line}\nimage:\n  tag: v1\n"));
    assert_sets(&format!("big: \"{line}\"\nimage: {{tag: v1}}\n"));
    assert_sets(&format!("big: |\n{}image:\n  tag: v1\n", "  xxxxxxxxx\n".repeat(size / 12)));
    assert_sets(&format!("{}image:\n  tag: v1\n", "# xxxxxxxxx\n".repeat(size / 12)));
    assert_sets(&format!("image:\n  tag: v1\n{}", "\n".repeat(size)));
    let json = format!("{{\"image\": {{\"list\": [{}1]}}}}", "1,".repeat(10_000));
    let expected = json.replace("]}", "], \"tag\": \"v2\"}");
    assert!(set(&json, &SET) == Ok(Edited::Changed(expected)));
}

#[test]
fn many_blank_items_and_block_scalars_are_no_recursion() {
    for item in ["-\n", "- |\n  x\n", "- &a\n", "-  # c\n"] {
        let list = format!("images:\n{}", item.repeat(5_000));
        let value = [Assignment { role: Role::Name, path: "images[4999]", value: "v" }];
        assert!(matches!(set(&list, &value), Ok(Edited::Changed(_))), "{item:?}");
        let value = [Assignment { role: Role::Name, path: "new", value: "v" }];
        assert!(set(&list, &value) == Ok(Edited::Changed(format!("{list}new: v\n"))), "{item:?}");
    }
}

#[test]
fn many_keys_are_searched_for_duplicates_once() {
    let keys: String = (0..10_000).map(|at| format!("k{at}: 1\n")).collect::<Vec<_>>().concat();
    assert_sets(&format!("{keys}image:\n  tag: v1\n"));
    let error = set(&format!("{keys}k7: 2\n"), &SET).unwrap_err().to_string();
    assert_eq!(error, "line 10001: the key 'k7' stands twice in one mapping; remove one of them");
}
