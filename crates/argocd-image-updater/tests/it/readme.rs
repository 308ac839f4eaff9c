//! What the README shows is what the program prints.

use std::path::Path;

/// Commit ids differ from run to run: seven hexadecimal digits at the start of a line.
fn masked(text: &str) -> String {
    let mask = |line: &str| match line.split_once(' ') {
        Some((id, rest)) if id.len() == 7 && id.bytes().all(|b| b.is_ascii_hexdigit()) => {
            format!("0000000 {rest}")
        }
        _ => line.to_owned(),
    };
    text.trim().lines().map(mask).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_readme_shows_what_the_demo_prints() {
    let printed = aiu_testkit::demo::demo(&crate::program::path()).await.unwrap();
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let start = readme.find("<!-- demo -->").expect("the README has a block for the demo");
    let block = readme[start..].split("```").nth(1).expect("a fenced block follows");
    let shown = block.strip_prefix("text").unwrap_or(block);
    assert_eq!(masked(shown), masked(&printed), "paste what `make demo` prints into README.md");
}
