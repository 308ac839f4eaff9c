//! Links in Markdown files: a relative link names a file that is there, an anchor a heading of it.
//!
//! Addresses with a scheme are not asked: the gate runs without a network.

mod markdown;

use super::{Finding, Tree};
use markdown::Page;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("md") {
        let page = Page::read(text);
        for link in &page.links {
            if let Some((what, remedy)) = judge(tree, path, &page, &link.target) {
                findings.push(Finding::new(path, link.line, what, remedy));
            }
        }
        for (line, label) in page.undefined_labels() {
            let what = format!("no line defines the link label `[{label}]`");
            findings.push(Finding::new(path, line, what, "add `[label]: target`"));
        }
    }
    findings
}

/// What is wrong with one link, and what to do about it.
fn judge(tree: &Tree, path: &str, page: &Page, target: &str) -> Option<(String, &'static str)> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let Some(file) = resolve(path, file) else {
        let what = format!("link to `{target}` leaves the repository");
        return Some((what, "link to a file of the repository, or write the whole address"));
    };
    if !tree.has(&file) {
        let what = format!("link to `{target}`, and there is no `{file}`");
        return Some((what, "correct the path, or add the file"));
    }
    let has_anchor = match tree.text(&file).filter(|_| is_markdown(&file)) {
        _ if anchor.is_empty() => true,
        _ if file == path => page.has_anchor(anchor),
        Some(text) => Page::read(text).has_anchor(anchor),
        // Lines of source files, `#L10`: nothing to compare with.
        None => true,
    };
    (!has_anchor).then(|| {
        let what = format!("link to `{target}`, and `{file}` has no heading `#{anchor}`");
        (what, "take the anchor from the heading: lower case, spaces as hyphens, no punctuation")
    })
}

fn is_markdown(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|extension| extension == "md")
}

/// The path from the root that a link names; nothing if it climbs out of the repository.
fn resolve(from: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(from.to_owned());
    }
    let link = link.replace("%20", " ");
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let start = if link.starts_with('/') { "" } else { folder };
    let mut parts = Vec::new();
    for part in start.split('/').chain(link.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = "# Guide\n\n## First *steps*, `run --once`\n\n## Notes\n\n## Notes\n";

    fn found(line: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("README.md", "# Read me\n"),
            ("docs/a page.md", line),
            ("docs/guide.md", GUIDE),
            ("src/main.rs", ""),
        ]);
        check(&tree).iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
    }

    #[test]
    fn links_that_lead_somewhere() {
        let page = "\
# A page
[a](guide.md) [b](../README.md) [c](/src/main.rs#L3) [d](../src) [e](.) [f](#a-page)
[g](guide.md#first-steps-run---once) [h](guide.md#notes-1 \"title\") [i](<a page.md>)
[j](a%20page.md) [k](https://example.org/x) [l](mailto:a@example.org) ![m](../README.md)
[wrapped
text](guide.md) [n][label] and [o](guide.md), `[code](nowhere.md)`, [`p`](guide.md)

[label]: guide.md#guide

```text
[q](nowhere.md)
```

<a id=\"anchor\"></a> [r](#anchor)
";
        assert_eq!(found(page), [""; 0]);
    }

    #[test]
    fn links_that_lead_nowhere() {
        #[rustfmt::skip]
        let rows = [
            // page, what is found
            ("[a](nowhere.md)",          "1: link to `nowhere.md`, and there is no `docs/nowhere.md`"),
            ("\n\n[a](../../x.md)",      "3: link to `../../x.md` leaves the repository"),
            ("[a](#nothing)",            "1: link to `#nothing`, and `docs/a page.md` has no heading `#nothing`"),
            ("[a](guide.md#steps)",      "1: link to `guide.md#steps`, and `docs/guide.md` has no heading `#steps`"),
            ("[a](guide.md#notes-2)",    "1: link to `guide.md#notes-2`, and `docs/guide.md` has no heading `#notes-2`"),
            ("![a](logo.png)",           "1: link to `logo.png`, and there is no `docs/logo.png`"),
            ("x\n[a]: gone.md",          "2: link to `gone.md`, and there is no `docs/gone.md`"),
            ("[a][b]",                   "1: no line defines the link label `[b]`"),
        ];
        for (page, expected) in rows {
            assert_eq!(found(page), [expected], "given {page}");
        }
    }
}
