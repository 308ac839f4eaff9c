use std::fmt::Write;
use std::sync::Arc;

use aiu_core::batch::BranchKey;

use super::{Listing, is_branch_name};

/// Ids of one letter each: `main a, dev b, HEAD a, tag:v1 c, ->main`.
fn listing(refs: &str) -> Listing {
    let mut output = String::new();
    for entry in refs.split(", ").filter(|entry| !entry.is_empty()) {
        if let Some(target) = entry.strip_prefix("->") {
            writeln!(output, "ref: refs/heads/{target}\tHEAD").unwrap();
            continue;
        }
        let (name, letter) = entry.split_once(' ').unwrap();
        let name = match name.strip_prefix("tag:") {
            Some(tag) => format!("refs/tags/{tag}"),
            None if name == "HEAD" => "HEAD".to_owned(),
            None => format!("refs/heads/{name}"),
        };
        writeln!(output, "{}\t{name}", letter.repeat(40)).unwrap();
    }
    Listing::parse(&output, true)
}

#[test]
fn a_key_means_the_head_if_it_exists_else_the_base() {
    const USUAL: &str = "->main, HEAD a, main a, dev b, feature/x c, tag:v1.0 d, tag:v1.0^{} e";
    let commit = "0123456789abcdef0123456789abcdef01234567";
    #[rustfmt::skip]
    let rows = [
        // refs, base, head, what is meant
        (USUAL, "",      "",          "main read at a, pushed"),
        (USUAL, "HEAD",  "",          "main read at a, pushed"),
        (USUAL, "dev",   "",          "dev read at b, pushed"),
        (USUAL, "refs/heads/dev", "", "dev read at b, pushed"),
        (USUAL, "dev",   "feature/x", "feature/x read at c, pushed"),
        (USUAL, "dev",   "new",       "dev read at b, new pushed"),
        (USUAL, "gone",  "feature/x", "feature/x read at c, pushed"),
        (USUAL, "main",  "main",      "main read at a, pushed"),
        ("HEAD b, main a, dev b", "", "", "dev read at b, pushed"),
        (USUAL, "dve",   "", "branch 'dve' does not exist in R; nearest are dev, main, feature/x; the remote's default is main"),
        (USUAL, "v1.0",  "", "'v1.0' is a tag of R, and only a branch can be written to; set the branch of the git write-back (it has main)"),
        (USUAL, commit,  "", "'0123456789abcdef0123456789abcdef01234567' is a commit of R, and only a branch can be written to; set the branch of the git write-back (it has main)"),
        (USUAL, "dev", "a:b", "'a:b' is not a valid name of a branch; see `git help check-ref-format`"),
        ("", "",      "", "R has no branches yet; push a first commit to it"),
        ("", "main",  "", "R has no branches yet; push a first commit to it"),
        ("->gone, dev b", "",         "", "no default branch found in remote R; set the branch (it has dev)"),
        ("HEAD b, main b, dev b", "", "", "no default branch found in remote R; set the branch (it has dev, main)"),
        ("HEAD c, main b", "",        "", "no default branch found in remote R; set the branch (it has main)"),
    ];
    for (refs, base, head, expected) in rows {
        let name = |text: &str| (!text.is_empty()).then(|| Arc::from(text));
        let key = BranchKey { remote: "R".into(), base: name(base), head: name(head) };
        let meant = match listing(refs).resolve(&"R".into(), &key) {
            Err(error) => error.to_string(),
            Ok(it) if it.lease().is_some() => {
                format!("{} read at {}, pushed", it.read, &it.tip.as_str()[..1])
            }
            Ok(it) => {
                format!("{} read at {}, {} pushed", it.read, &it.tip.as_str()[..1], it.pushed)
            }
        };
        assert_eq!(meant, expected, "given {refs}: {base}:{head}");
    }
}

#[test]
fn names_of_branches_follow_gits_rules() {
    for name in ["main", "a/b", "image-updater-foo/bar-1.1", "ü", "a@b", "-".repeat(0).as_str()] {
        assert_eq!(is_branch_name(name), !name.is_empty(), "{name}");
    }
    let wrong = "-a .a a/.b a..b a~ a^ a:b a? a* a[ a\\ a. a.lock a.lock/b /a a/ a//b @ a@{b HEAD";
    for name in wrong.split(' ').chain(["a b", "a\x7f"]) {
        assert!(!is_branch_name(name), "{name}");
    }
}
