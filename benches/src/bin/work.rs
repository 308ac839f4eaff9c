//! Whole passes of the built program, measured from outside: `work NAME PROGRAM [--debug]`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use benches::figure::report;
use benches::work::{Subject, run};

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (name, program, release) = match words[..] {
        [name, program] => (name, program, true),
        [name, program, "--debug"] => (name, program, false),
        _ => bail!("usage: work NAME PROGRAM [--debug]"),
    };
    let program = std::path::absolute(PathBuf::from(program))?;
    report(&run(name, &Subject { program, release })?)
}
