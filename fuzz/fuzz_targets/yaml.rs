//! `PATH NUL VALUE NUL TEXT`: a value set in any YAML text changes that value and nothing else.

#![no_main]

use aiu_core::edit::helm_values::{Assignment, Role, set};
use fuzz::{check_edit_of, parts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some([path, value, text]) = parts::<3>(data) else { return };
    check_edit_of(
        text,
        |text| set(text, &[Assignment { role: Role::Version, path, value }]),
        |found| keys(&found.join(".")) == keys(path),
    );
});

/// The keys of a path. Indexes do not count, and neither does where a key is cut: it may have dots
/// and brackets of its own.
fn keys(path: &str) -> String {
    let is_index = |step: &&str| {
        let digits = step.trim_end_matches(']').trim_start_matches(['+', '-']);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    path.split(['.', '[']).filter(|step| !is_index(step)).collect()
}
