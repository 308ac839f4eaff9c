//! Wishes for a kustomization file: nothing but its images may differ.

#![no_main]

use aiu_core::edit::FileKind;
use fuzz::{Target, check_edit};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    check_edit(
        data,
        |_| Some(Target::File(FileKind::Kustomization)),
        |path| path.first().is_some_and(|key| key == "images"),
    );
});
