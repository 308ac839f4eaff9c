//! `CONSTRAINT NUL VERSION`: a constraint keeps its text, and `||` with itself changes nothing.

#![no_main]

use aiu_core::version::{Version, VersionConstraint};
use fuzz::parts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some([text, version]) = parts::<2>(data) else { return };
    let constraint = text.parse::<VersionConstraint>();
    let twice = format!("{text} || {text}").parse::<VersionConstraint>();
    assert_eq!(constraint.is_ok(), twice.is_ok());
    let (Ok(constraint), Ok(twice)) = (constraint, twice) else { return };
    assert_eq!(constraint.as_str(), text);
    let _ = constraint.is_exact();
    if let Some(version) = Version::parse(version) {
        assert_eq!(constraint.admits(&version), twice.admits(&version));
    }
});
