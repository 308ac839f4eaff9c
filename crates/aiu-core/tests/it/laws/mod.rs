//! What holds for every input, tried on generated ones.

mod patterns;
mod templates;
mod versions;

use proptest::test_runner::Config;

/// Few cases each, so that the whole core is tested in seconds; nothing is written to disk.
fn few_cases() -> Config {
    Config { cases: 64, failure_persistence: None, ..Config::default() }
}
