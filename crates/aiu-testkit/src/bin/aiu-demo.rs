//! Shows the demo with the program that was built beside this one (`make demo`).

#![expect(clippy::print_stdout, reason = "showing is what the demo is for")]

use std::process::ExitCode;

use anyhow::{Context as _, Result};

fn main() -> ExitCode {
    match show() {
        Ok(text) => {
            println!(
                "# A registry, a git repository and four Applications (examples/demo), all on this machine.\n"
            );
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("the demo failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn show() -> Result<String> {
    let program = std::env::current_exe()?.with_file_name("argocd-image-updater");
    let runtime = tokio::runtime::Runtime::new().context("cannot start a runtime")?;
    runtime.block_on(aiu_testkit::demo::demo(&program))
}
