//! Wishes for plain manifests: nothing but image fields may differ, those of image volumes included.

#![no_main]

use aiu_core::edit::FileKind;
use fuzz::{Target, check_edit};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    check_edit(
        data,
        |_| Some(Target::File(FileKind::Manifest)),
        |path| path.last().is_some_and(|key| key == "image" || key == "reference"),
    );
});
