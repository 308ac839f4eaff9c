//! Tells the program what it was built from. `SOURCE_DATE_EPOCH` makes builds reproducible.

use std::process::Command;

fn main() {
    let commit = std::env::var("AIU_COMMIT").ok().or_else(|| output("git", &["rev-parse", "HEAD"]));
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!("cargo::rustc-env=AIU_GIT_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=AIU_BUILD_DATE={}", build_date());
    println!(
        "cargo::rustc-env=AIU_RUSTC={}",
        output(&rustc, &["--version"]).as_deref().unwrap_or("unknown")
    );
    println!("cargo::rerun-if-env-changed=AIU_COMMIT");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    if let Some(folder) = output("git", &["rev-parse", "--git-dir"]) {
        println!("cargo::rerun-if-changed={folder}/logs/HEAD");
    }
}

/// The date of the source where it is given, else that of the last commit: never the clock,
/// so that one source makes one binary.
fn build_date() -> String {
    let epoch = std::env::var("SOURCE_DATE_EPOCH").ok();
    epoch
        .and_then(|epoch| {
            output("date", &["-u", "-d", &format!("@{epoch}"), "+%Y-%m-%dT%H:%M:%SZ"])
        })
        .or_else(|| output("git", &["log", "-1", "--format=%cI"]))
        .unwrap_or_else(|| "unknown".to_owned())
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
