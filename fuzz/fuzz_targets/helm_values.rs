//! Wishes for a values file. What differs afterwards may stand anywhere: the wishes name the keys.

#![no_main]

use aiu_core::edit::FileKind;
use fuzz::{Target, check_edit};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    check_edit(data, |_| Some(Target::File(FileKind::HelmValues)), |_| true);
});
