//! `VERSION NUL VERSION`: versions are in one order, and a printed one is read back.

#![no_main]

use aiu_core::version::Version;
use fuzz::parts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some([left, right]) = parts::<2>(data) else { return };
    let (left, right) = (Version::parse(left), Version::parse(right));
    for version in left.iter().chain(&right) {
        let printed = version.to_string();
        let again = Version::parse(&printed).expect("what is printed is a version");
        assert_eq!((&again, again.to_string()), (version, printed));
    }
    if let (Some(left), Some(right)) = (left, right) {
        assert_eq!(left.cmp(&right), right.cmp(&left).reverse());
    }
});
